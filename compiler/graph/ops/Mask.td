// Scores that may not be looked at become -inf.
#ifndef MEKIK_GRAPH_MASK
#define MEKIK_GRAPH_MASK

include "compiler/graph/GraphBase.td"

def Graph_CausalOp : Graph_Op<"causal", [DeclareOpInterfaceMethods<CompositeOpInterface>, Differentiable,
                                         SameOperandsAndResultType]> {
  let summary = "x[..., i, j] where j <= i, -inf where j > i";
  let arguments = (ins FloatTensor:$operand);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_MaskOp : Graph_Op<"mask", [DeclareOpInterfaceMethods<CompositeOpInterface>, Differentiable,
    AllShapesMatch<["operand", "keep", "result"]>, AllTypesMatch<["operand", "result"]>]> {
  let summary = "x where `keep` holds, -inf elsewhere";
  let arguments = (ins FloatTensor:$operand, BoolTensor:$keep);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$operand `,` $keep attr-dict `:` type($result) `,` type($keep)";
}

#endif
