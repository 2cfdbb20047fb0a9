// What training makes small.
#ifndef MEKIK_GRAPH_LOSS
#define MEKIK_GRAPH_LOSS

include "compiler/graph/GraphBase.td"

def Graph_CrossEntropyOp : Graph_Op<"cross_entropy", [DeclareOpInterfaceMethods<CompositeOpInterface>, Differentiable, InferTypeOpAdaptor]> {
  let summary = "-log softmax(logits)[target], over the last axis";
  let description = [{
    reduction "mean" divides by the number of rows kept, "sum" adds them, "none" gives one loss a row. Rows whose target
    equals `ignore` count nothing; if no row is kept, the mean is 0. Smoothing s mixes the target with the uniform
    distribution: (1 - s) * -log p[target] + s * mean over classes of -log p.
  }];
  let arguments = (ins FloatTensor:$logits, IdTensor:$targets, DefaultValuedStrAttr<StrAttr, "mean">:$reduction,
                       OptionalAttr<I64Attr>:$ignore, DefaultValuedAttr<F64Attr, "0.0">:$smoothing);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$logits `,` $targets attr-dict `:` type($logits) `,` type($targets)";
}

def Graph_BinaryCrossEntropyOp : Graph_Op<"binary_cross_entropy", [DeclareOpInterfaceMethods<CompositeOpInterface>,
    Differentiable, InferTypeOpAdaptor, SameTypeOperands]> {
  let summary = "softplus(x) - x t for logits x and targets t in [0, 1]; \"mean\", \"sum\" or \"none\"";
  let arguments = (ins FloatTensor:$logits, FloatTensor:$targets, DefaultValuedStrAttr<StrAttr, "mean">:$reduction);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$logits `,` $targets attr-dict `:` type($logits)";
}

def Graph_MseOp : Graph_Op<"mse", [DeclareOpInterfaceMethods<CompositeOpInterface>, Differentiable, InferTypeOpAdaptor, SameTypeOperands]> {
  let summary = "(x - y)^2; \"mean\", \"sum\" or \"none\"";
  let arguments = (ins FloatTensor:$lhs, FloatTensor:$rhs, DefaultValuedStrAttr<StrAttr, "mean">:$reduction);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

#endif
