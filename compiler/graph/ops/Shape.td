// Values made from nothing, and the same elements under another shape or order.
#ifndef MEKIK_GRAPH_SHAPE
#define MEKIK_GRAPH_SHAPE

include "compiler/graph/GraphBase.td"

def FromElements : DeclareOpInterfaceMethods<ElementOpInterface>;

def Graph_ConstantOp : Graph_Op<"constant", [ConstantLike, FromElements, Differentiable]> {
  let summary = "Every element has the same value";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs AnyStaticTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Graph_IotaOp : Graph_Op<"iota", [FromElements, Differentiable]> {
  let summary = "The position along `axis`";
  let arguments = (ins I64Attr:$axis);
  let results = (outs StaticShapeTensorOf<[I32]>:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_BroadcastOp : Graph_Op<"broadcast", [FromElements, Differentiable]> {
  let summary = "Operand axis i becomes result axis dims[i]; an axis of size 1 is repeated";
  let arguments = (ins AnyStaticTensor:$operand, DenseI64ArrayAttr:$dims);
  let results = (outs AnyStaticTensor:$result);
  let assemblyFormat = "$operand $dims attr-dict `:` type($operand) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_ReshapeOp : Graph_Op<"reshape", [ViewOpInterface, Differentiable]> {
  let summary = "The same elements in row-major order under another shape";
  let arguments = (ins AnyStaticTensor:$operand);
  let results = (outs AnyStaticTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_TransposeOp : Graph_Op<"transpose", [FromElements, Differentiable, InfersType]> {
  let summary = "Result axis i is operand axis permutation[i]";
  let arguments = (ins AnyStaticTensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs AnyStaticTensor:$result);
  let assemblyFormat = "$operand $permutation attr-dict `:` type($operand)";
  let hasFolder = 1;
}

def Graph_SliceOp : Graph_Op<"slice", [FromElements, Differentiable, InfersType]> {
  let summary = "Elements offsets[i] .. offsets[i] + sizes[i] - 1 of every axis";
  let arguments = (ins AnyStaticTensor:$operand, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$sizes);
  let results = (outs AnyStaticTensor:$result);
  let assemblyFormat = "$operand $offsets $sizes attr-dict `:` type($operand)";
  let hasFolder = 1;
}

def Graph_PadOp : Graph_Op<"pad", [FromElements, Differentiable, InfersType]> {
  let summary = "The operand with low[i] zeros before and high[i] zeros behind every axis";
  let arguments = (ins AnyStaticTensor:$operand, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs AnyStaticTensor:$result);
  let assemblyFormat = "$operand $low $high attr-dict `:` type($operand)";
  let hasFolder = 1;
}

def Graph_ReverseOp : Graph_Op<"reverse", [FromElements, Differentiable, InfersType]> {
  let summary = "The elements of `axes` in the opposite order";
  let arguments = (ins AnyStaticTensor:$operand, DenseI64ArrayAttr:$axes);
  let results = (outs AnyStaticTensor:$result);
  let assemblyFormat = "$operand $axes attr-dict `:` type($operand)";
  let hasFolder = 1;
}

def Graph_ConcatOp : Graph_Op<"concat", [FromElements, Differentiable, InfersType]> {
  let summary = "The operands one behind the other along `axis`";
  let arguments = (ins Variadic<AnyStaticTensor>:$operands, I64Attr:$axis);
  let results = (outs AnyStaticTensor:$result);
  let assemblyFormat = "$axis `of` $operands attr-dict `:` type($operands)";
  let hasFolder = 1;
}

#endif
