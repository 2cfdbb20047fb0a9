// Folds along axes. The order of additions is part of each op's definition: see docs/numerics.md.
#ifndef MEKIK_GRAPH_REDUCTION
#define MEKIK_GRAPH_REDUCTION

include "compiler/graph/GraphBase.td"

class Graph_ReductionOp<string mnemonic>
    : Graph_Op<mnemonic, [DeclareOpInterfaceMethods<ReductionOpInterface, ["identity", "combine"]>, Differentiable,
                          InfersType]> {
  let arguments = (ins FloatTensor:$operand, DenseI64ArrayAttr:$axes);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$operand $axes attr-dict `:` type($operand)";
}

def Graph_SumOp : Graph_ReductionOp<"sum"> { let summary = "Sum over `axes`, which the result no longer has"; }
def Graph_MaxOp : Graph_ReductionOp<"max"> {
  let summary = "Largest element over `axes`; NaN if any is; ties share the gradient evenly";
}
/// For whoever finds NaN by other means, with a fifth of the work of max.
def Graph_PeakOp : Graph_ReductionOp<"peak"> {
  let summary = "Largest element over `axes`, folded by x > y ? x : y; where one is NaN, any element, or -inf";
}

/// The axes of the language: any set, split by the expansion into what one reduction may fold.
def Graph_MeanOp : Graph_Op<"mean", [DeclareOpInterfaceMethods<CompositeOpInterface>, Differentiable, InfersType]> {
  let summary = "Sum over `axes` divided by the number of elements folded";
  let arguments = (ins FloatTensor:$operand, DenseI64ArrayAttr:$axes);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$operand $axes attr-dict `:` type($operand)";
}

#endif
