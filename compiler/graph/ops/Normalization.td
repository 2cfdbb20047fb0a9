// Rows brought to a common scale.
#ifndef MEKIK_GRAPH_NORMALIZATION
#define MEKIK_GRAPH_NORMALIZATION

include "compiler/graph/GraphBase.td"

class Graph_NormalizationOp<string mnemonic>
    : Graph_Op<mnemonic, [DeclareOpInterfaceMethods<CompositeOpInterface>, Differentiable, SameOperandsAndResultType]> {
  let arguments = (ins FloatTensor:$operand, DefaultValuedAttr<I64Attr, "-1">:$axis,
                       DefaultValuedAttr<F64Attr, "1e-5">:$eps);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_NormalizeOp : Graph_NormalizationOp<"normalize"> {
  let summary = "(x - mean) / sqrt(variance + eps) along `axis`; the variance is divided by the count, in two passes";
}
def Graph_RmsNormalizeOp : Graph_NormalizationOp<"rms_normalize"> {
  let summary = "x / sqrt(mean(x^2) + eps) along `axis`";
}

#endif
