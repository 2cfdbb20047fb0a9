// Positions as angles.
#ifndef MEKIK_GRAPH_ROTARY
#define MEKIK_GRAPH_ROTARY

include "compiler/graph/GraphBase.td"

def Graph_RotaryOp : Graph_Op<"rotary", [DeclareOpInterfaceMethods<CompositeOpInterface>, Differentiable,
                                         SameOperandsAndResultType]> {
  let summary = "Pair i of row t, of n elements, turned by the angle t base^(-2 i / n); `back` turns the other way";
  let description = [{
    Rows lie along the last axis, t counts along the one before it. pairs "halves": element i and element i + n/2 are
    pair i; "neighbours": elements 2 i and 2 i + 1.
  }];
  let arguments = (ins FloatTensor:$operand, DefaultValuedAttr<F64Attr, "10000.0">:$base,
                       DefaultValuedStrAttr<StrAttr, "halves">:$pairs, DefaultValuedAttr<BoolAttr, "false">:$back);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif
