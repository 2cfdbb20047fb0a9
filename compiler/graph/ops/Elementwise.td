// One result element from the operand elements at the same index. Operands have equal shapes; the front end inserts
// `graph.broadcast`.
#ifndef MEKIK_GRAPH_ELEMENTWISE
#define MEKIK_GRAPH_ELEMENTWISE

include "compiler/graph/GraphBase.td"

def PerElement : DeclareOpInterfaceMethods<ElementOpInterface, ["readsInPlace", "operationsPerElement"]>;

/// An elementwise op is its `compute`: the one definition for emitted code, for the evaluator and for folding. With
/// `simplifies` it also has `simplified`: an operand (or an operand's operand) that equals the result in every bit.
class Graph_ElementwiseOp<string mnemonic, list<Trait> traits = [], bit simplifies = 0>
    : Graph_Op<mnemonic, !listconcat([PerElement, Differentiable], traits)> {
  let results = (outs AnyStaticTensor:$result);
  let extraClassDeclaration = [{
    ::mekik::numerics::Number compute(::mekik::numerics::Arithmetic &arithmetic,
                                      ::llvm::ArrayRef<::mekik::numerics::Number> operands);
    ::mlir::Value simplified(::llvm::ArrayRef<::mlir::Attribute> operands);
  }];
  let extraClassDefinition = [{
    ::mekik::numerics::Number $cppClass::element(::mekik::graph::ElementReader &reader,
                                                 ::llvm::ArrayRef<::mekik::graph::Index> index) {
      ::llvm::SmallVector<::mekik::numerics::Number, 3> operands;
      for (unsigned i = 0; i < getOperation()->getNumOperands(); ++i)
        operands.push_back(reader.read(i, index));
      return compute(reader.arithmetic(), operands);
    }
    bool $cppClass::readsInPlace() { return true; }
    double $cppClass::operationsPerElement() { return 1; }
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor adaptor) {
      if (::mlir::Value same = simplified(adaptor.getOperands()))
        return same;
      return ::mekik::graph::foldElementwise(*this, adaptor.getOperands());
    }
  }] # !if(simplifies, "", [{
    ::mlir::Value $cppClass::simplified(::llvm::ArrayRef<::mlir::Attribute>) { return {}; }
  }]);
  let hasFolder = 1;
}

class Graph_UnaryOp<string mnemonic, Type type = FloatTensor, bit simplifies = 0>
    : Graph_ElementwiseOp<mnemonic, [SameOperandsAndResultType], simplifies> {
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

/// Made by expansions alone: by its traits it is not called by its name.
class Graph_InnerUnaryOp<string mnemonic> : Graph_ElementwiseOp<mnemonic, [AllTypesMatch<["operand", "result"]>]> {
  let arguments = (ins FloatTensor:$operand);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

class Graph_BinaryOp<string mnemonic, Type type = NumberTensor, list<Trait> traits = [], bit simplifies = 0>
    : Graph_ElementwiseOp<mnemonic, !listconcat([SameOperandsAndResultType], traits), simplifies> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Graph_NegOp : Graph_UnaryOp<"neg", NumberTensor, 1> { let summary = "-x"; }
def Graph_AbsOp : Graph_UnaryOp<"abs", NumberTensor> { let summary = "|x|; the gradient at 0 is 0"; }
def Graph_SqrtOp : Graph_UnaryOp<"sqrt"> { let summary = "Square root; the gradient at 0 is 0"; }
def Graph_RsqrtOp : Graph_UnaryOp<"rsqrt"> { let summary = "1 / sqrt(x), two operations"; }
def Graph_ExpOp : Graph_UnaryOp<"exp"> { let summary = "e^x"; }
def Graph_ExpNonPositiveOp : Graph_InnerUnaryOp<"exp_nonpositive"> {
  let summary = "e^x for x <= 0 and NaN, with less work than exp";
}
def Graph_NormalCdfOp : Graph_InnerUnaryOp<"normal_cdf"> { let summary = "(1 + erf(x / sqrt 2)) / 2"; }
def Graph_LogOp : Graph_UnaryOp<"log"> { let summary = "Natural logarithm"; }
def Graph_TanhOp : Graph_UnaryOp<"tanh"> { let summary = "Hyperbolic tangent"; }
def Graph_SigmoidOp : Graph_UnaryOp<"sigmoid"> { let summary = "1 / (1 + e^-x)"; }
def Graph_SoftplusOp : Graph_UnaryOp<"softplus"> { let summary = "log(1 + e^x), accurate at both ends"; }
def Graph_ErfOp : Graph_UnaryOp<"erf"> { let summary = "Error function"; }
def Graph_SinOp : Graph_UnaryOp<"sin"> { let summary = "Sine of radians"; }
def Graph_CosOp : Graph_UnaryOp<"cos"> { let summary = "Cosine of radians"; }
def Graph_ReluOp : Graph_UnaryOp<"relu"> { let summary = "max(x, 0), NaN stays NaN; the gradient at 0 is 0"; }

def Graph_AddOp : Graph_BinaryOp<"add", NumberTensor, [Commutative]> { let summary = "x + y"; }
def Graph_SubOp : Graph_BinaryOp<"sub", NumberTensor, [], 1> { let summary = "x - y"; }
def Graph_MulOp : Graph_BinaryOp<"mul", NumberTensor, [Commutative], 1> { let summary = "x * y"; }
def Graph_DivOp : Graph_BinaryOp<"div", FloatTensor, [], 1> { let summary = "x / y, IEEE"; }
def Graph_PowOp : Graph_BinaryOp<"pow", FloatTensor> { let summary = "x^y"; }
def Graph_MaximumOp : Graph_BinaryOp<"maximum", NumberTensor> {
  let summary = "The larger; NaN if either is; ties share the gradient evenly";
}
def Graph_MinimumOp : Graph_BinaryOp<"minimum", NumberTensor> {
  let summary = "The smaller; NaN if either is; ties share the gradient evenly";
}

def Graph_CompareOp : Graph_ElementwiseOp<"compare", [SameOperandsShape, InfersType, SameTypeOperands]> {
  let summary = "eq, ne, lt, le, gt, ge; false for NaN, except ne";
  let arguments = (ins NumberTensor:$lhs, NumberTensor:$rhs, StrAttr:$how);
  let results = (outs BoolTensor:$result);
  let assemblyFormat = "$how $lhs `,` $rhs attr-dict `:` type($lhs)";
  let hasVerifier = 1;
}

def Graph_SelectOp : Graph_ElementwiseOp<"select", [AllShapesMatch<["condition", "ifTrue", "ifFalse", "result"]>,
    AllTypesMatch<["ifTrue", "ifFalse", "result"]>], 1> {
  let summary = "ifTrue where the condition holds, ifFalse elsewhere; no gradient reaches the side not taken";
  let arguments = (ins BoolTensor:$condition, AnyStaticTensor:$ifTrue, AnyStaticTensor:$ifFalse);
  let assemblyFormat = "$condition `,` $ifTrue `,` $ifFalse attr-dict `:` type($condition) `,` type($result)";
}

def Graph_AndOp : Graph_BinaryOp<"and", BoolTensor> { let summary = "Both"; }
def Graph_OrOp : Graph_BinaryOp<"or", BoolTensor> { let summary = "Either"; }
def Graph_NotOp : Graph_UnaryOp<"not", BoolTensor, 1> { let summary = "The opposite"; }

def Graph_CastOp : Graph_ElementwiseOp<"cast", [SameOperandsAndResultShape], 1> {
  let summary = "To another element type; gradients flow between floating-point types only";
  let arguments = (ins AnyStaticTensor:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasVerifier = 1;
}

#endif
