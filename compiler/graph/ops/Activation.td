// Smooth gates, defined through simpler functions.
#ifndef MEKIK_GRAPH_ACTIVATION
#define MEKIK_GRAPH_ACTIVATION

include "compiler/graph/GraphBase.td"

def Expands : DeclareOpInterfaceMethods<CompositeOpInterface>;

def Graph_GeluOp : Graph_Op<"gelu", [Expands, Differentiable, SameOperandsAndResultType]> {
  let summary = "x Phi(x); form \"tanh\": 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), \"erf\": 0.5 x (1 + erf(x / sqrt 2))";
  let arguments = (ins FloatTensor:$operand, DefaultValuedStrAttr<StrAttr, "tanh">:$form);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_SiluOp : Graph_Op<"silu", [Expands, Differentiable, SameOperandsAndResultType]> {
  let summary = "x sigmoid(x)";
  let arguments = (ins FloatTensor:$operand);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

#endif
