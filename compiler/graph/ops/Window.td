// Windows that slide along axes: as a value of their own, as an operand of a sum of products, and what networks make of
// both, convolution and pooling.
#ifndef MEKIK_GRAPH_WINDOW
#define MEKIK_GRAPH_WINDOW

include "compiler/graph/GraphBase.td"

def Graph_WindowsOp : Graph_Op<"windows", [DeclareOpInterfaceMethods<ElementOpInterface, ["element"]>, Differentiable,
                                           InfersType]> {
  let summary = "Axis axes[i] becomes two, (which window, where in it): positions w strides[i] + p dilations[i]";
  let description = [{
    The first of the two axes has as many positions as windows of sizes[i] fit into the operand, the second sizes[i].
  }];
  let arguments = (ins AnyStaticTensor:$operand, DenseI64ArrayAttr:$axes, DenseI64ArrayAttr:$sizes,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations);
  let results = (outs AnyStaticTensor:$result);
  let assemblyFormat = [{$operand $axes `sizes` $sizes `strides` $strides `dilations` $dilations attr-dict `:`
                         type($operand)}];
}

def Graph_ContractWindowsOp : Graph_Op<"contract_windows",
    [DeclareOpInterfaceMethods<ContractionOpInterface, ["leftLabels", "rightLabels", "resultLabels", "leftLayout"]>,
     Differentiable, InfersType]> {
  let summary = "The contraction of the windows of `lhs` with `rhs`; the windows are read where they lie";
  let description = [{
    The equation is that of `contract` with the result of `windows` as its left operand. Of the two letters of each
    windowed axis one stands in `rhs` and one in the result; the first letters all stand in the same of the two.
  }];
  let arguments = (ins FloatTensor:$lhs, FloatTensor:$rhs, StrAttr:$equation, DenseI64ArrayAttr:$axes,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = [{$equation $lhs $axes `sizes` $sizes `strides` $strides `dilations` $dilations `,` $rhs
                         attr-dict `:` type($lhs) `,` type($rhs)}];
}

def Graph_ConvolutionOp : Graph_Op<"convolution", [DeclareOpInterfaceMethods<CompositeOpInterface>, InfersType]> {
  let summary = "Filters slid over the axes before the last: x [..., places, in], filter [places, in / groups, out]";
  let description = [{
    One entry of strides, low, high and dilations for each sliding axis; low[i] zeros stand before and high[i] behind it.
    The channels of both sides are cut into `groups`, each filtered by itself.
  }];
  let arguments = (ins FloatTensor:$operand, FloatTensor:$filter, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$dilations, I64Attr:$groups);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = [{$operand `,` $filter `strides` $strides `low` $low `high` $high `dilations` $dilations `groups`
                         $groups attr-dict `:` type($operand) `,` type($filter)}];
}

class Graph_PoolOp<string mnemonic> : Graph_Op<mnemonic, [DeclareOpInterfaceMethods<CompositeOpInterface>, InfersType]> {
  let arguments = (ins FloatTensor:$operand, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = [{$operand `sizes` $sizes `strides` $strides `low` $low `high` $high attr-dict `:`
                         type($operand)}];
}

def Graph_MaxPoolOp : Graph_PoolOp<"max_pool"> {
  let summary = "Largest element of each window over the axes before the last; what is added around is -inf";
}
def Graph_AveragePoolOp : Graph_PoolOp<"average_pool"> {
  let summary = "Mean of each window over the axes before the last; what is added around is 0 and counts";
}

#endif
