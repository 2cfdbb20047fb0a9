// Sums of products: matrix products of every orientation, batched or not.
#ifndef MEKIK_GRAPH_CONTRACTION
#define MEKIK_GRAPH_CONTRACTION

include "compiler/graph/GraphBase.td"

def Graph_ContractOp : Graph_Op<"contract", [DeclareOpInterfaceMethods<ContractionOpInterface, ["triangle"]>,
                                             Differentiable, InfersType]> {
  let summary = "Two-operand Einstein sum, \"btw,whs->bhts\"";
  let description = [{
    One letter an axis. A letter of the result stands in at least one operand; a letter that stands in both operands but
    not in the result is contracted, and at least one is. No letter repeats within one operand or the result, and every
    letter of an operand stands in the other operand or in the result.

    A triangle "tu" restricts the sum to positions u <= t, as in attention that looks at nothing later: other products do
    not exist, whatever the operands hold there. Each operand and the result has one of the two letters or both.
  }];
  let arguments = (ins FloatTensor:$lhs, FloatTensor:$rhs, StrAttr:$equation, OptionalAttr<StrAttr>:$triangle);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$equation (`triangle` $triangle^)? $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
  let hasCanonicalizer = 1;
}

#endif
