// Rows turned into probabilities. A row whose entries are all -inf gives zeros and zero gradients (softmax), or stays as
// it is (log_softmax: the logarithms of these zeros).
#ifndef MEKIK_GRAPH_SOFTMAX
#define MEKIK_GRAPH_SOFTMAX

include "compiler/graph/GraphBase.td"

class Graph_SoftmaxLikeOp<string mnemonic>
    : Graph_Op<mnemonic, [DeclareOpInterfaceMethods<CompositeOpInterface>, Differentiable, SameOperandsAndResultType]> {
  let arguments = (ins FloatTensor:$operand, DefaultValuedAttr<I64Attr, "-1">:$axis);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_SoftmaxOp : Graph_SoftmaxLikeOp<"softmax"> {
  let summary = "exp(x - max) / sum(exp(x - max)) along `axis`";
  let description = [{
    A causal one is that of rows that end at the diagonal: of x[..., i, j] with j <= i along the last axis, as if there
    were nothing behind. Behind it the result is 0, whatever x is there, and x has no gradient.
  }];
  let arguments = (ins FloatTensor:$operand, DefaultValuedAttr<I64Attr, "-1">:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$causal);
}
def Graph_LogSoftmaxOp : Graph_SoftmaxLikeOp<"log_softmax"> {
  let summary = "(x - max) - log(sum(exp(x - max))) along `axis`";
}

#endif
