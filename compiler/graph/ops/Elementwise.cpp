// Elementwise ops: what each computes, and its gradient. A gradient that would be infinite or undefined at a point
// where it is defined to be 0 keeps the dangerous operand away from that point (`safe`), so that no 0 * inf arises
// there when the gradient is differentiated in turn.
#include "compiler/graph/Build.h"
#include "compiler/graph/Graph.h"
#include "compiler/numerics/Functions.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::graph;
using numerics::Arithmetic;
using numerics::Comparison;
using numerics::ElementType;
using numerics::Number;
using Numbers = ArrayRef<Number>;

namespace {

bool isFloat(Value tensor) { return isa<FloatType>(cast<RankedTensorType>(tensor.getType()).getElementType()); }

/// True if `attribute` is a constant whose every element is `value`; +0 is not -0.
bool isSplatOf(Attribute attribute, double value) {
  std::optional<double> number = splatValue(attribute);
  return number && *number == value && std::signbit(*number) == std::signbit(value);
}

/// The value of an operand that is a constant, the same everywhere.
std::optional<double> constantOf(Value operand) {
  Attribute attribute;
  if (!matchPattern(operand, m_Constant(&attribute)))
    return std::nullopt;
  return splatValue(attribute);
}

std::optional<Comparison> comparisonOf(StringRef how) {
  return llvm::StringSwitch<std::optional<Comparison>>(how)
      .Case("eq", Comparison::Equal)
      .Case("ne", Comparison::NotEqual)
      .Case("lt", Comparison::Less)
      .Case("le", Comparison::LessEqual)
      .Case("gt", Comparison::Greater)
      .Case("ge", Comparison::GreaterEqual)
      .Default(std::nullopt);
}

/// `x`, or `instead` where x is 0.
Value awayFromZero(Build &build, Value isZero, Value x) { return build.select(isZero, build.constantLike(x, 1), x); }

/// Gradients of a binary op that picks the operand for which `wins` holds; equal operands take half each.
SmallVector<Value> pickedGradient(Build &build, StringRef wins, Value lhs, Value rhs, Value upstream) {
  if (!isFloat(lhs))
    return {Value(), Value()};
  Value zero = build.constantLike(upstream, 0);
  Value shared = build.select(build.compare("eq", lhs, rhs), build.mul(upstream, 0.5), zero);
  return {build.select(build.compare(wins, lhs, rhs), upstream, shared),
          build.select(build.compare(wins, rhs, lhs), upstream, shared)};
}

} // namespace

// Negation, absolute value, roots.

Number NegOp::compute(Arithmetic &arithmetic, Numbers x) { return arithmetic.neg(x[0]); }
Value NegOp::simplified(ArrayRef<Attribute>) {
  auto inner = getOperand().getDefiningOp<NegOp>();
  return inner ? inner.getOperand() : Value();
}
SmallVector<Value> NegOp::gradient(OpBuilder &builder, Value upstream) {
  if (!isFloat(getOperand()))
    return {Value()};
  return {Build(builder, getLoc()).unary<NegOp>(upstream)};
}

Number AbsOp::compute(Arithmetic &arithmetic, Numbers x) { return arithmetic.abs(x[0]); }
SmallVector<Value> AbsOp::gradient(OpBuilder &builder, Value upstream) {
  if (!isFloat(getOperand()))
    return {Value()};
  Build build(builder, getLoc());
  Value zero = build.constantLike(upstream, 0);
  Value negative = build.select(build.compare("lt", getOperand(), zero), build.unary<NegOp>(upstream), zero);
  return {build.select(build.compare("gt", getOperand(), zero), upstream, negative)};
}

Number SqrtOp::compute(Arithmetic &arithmetic, Numbers x) { return arithmetic.sqrt(x[0]); }
SmallVector<Value> SqrtOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  Value zero = build.constantLike(upstream, 0);
  Value isZero = build.compare("eq", getOperand(), zero);
  Value safe = awayFromZero(build, isZero, getOperand());
  Value slope = build.div(build.mul(upstream, 0.5), build.unary<SqrtOp>(safe));
  return {build.select(isZero, zero, slope)};
}

Number RsqrtOp::compute(Arithmetic &arithmetic, Numbers x) { return numerics::rsqrt(arithmetic, x[0]); }
SmallVector<Value> RsqrtOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  Value cube = build.mul(getResult(), build.mul(getResult(), getResult()));
  return {build.mul(build.mul(upstream, cube), -0.5)};
}

// Elementary functions.

Number ExpOp::compute(Arithmetic &arithmetic, Numbers x) { return numerics::exp(arithmetic, x[0]); }
SmallVector<Value> ExpOp::gradient(OpBuilder &builder, Value upstream) {
  return {Build(builder, getLoc()).mul(upstream, getResult())};
}

Number ExpNonPositiveOp::compute(Arithmetic &arithmetic, Numbers x) {
  return numerics::expNonPositive(arithmetic, x[0]);
}
SmallVector<Value> ExpNonPositiveOp::gradient(OpBuilder &builder, Value upstream) {
  return {Build(builder, getLoc()).mul(upstream, getResult())};
}

Number LogOp::compute(Arithmetic &arithmetic, Numbers x) { return numerics::log(arithmetic, x[0]); }
SmallVector<Value> LogOp::gradient(OpBuilder &builder, Value upstream) {
  return {Build(builder, getLoc()).div(upstream, getOperand())};
}

Number TanhOp::compute(Arithmetic &arithmetic, Numbers x) { return numerics::tanh(arithmetic, x[0]); }
SmallVector<Value> TanhOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  return {build.mul(upstream, build.sub(1.0, build.mul(getResult(), getResult())))};
}

Number SigmoidOp::compute(Arithmetic &arithmetic, Numbers x) { return numerics::sigmoid(arithmetic, x[0]); }
SmallVector<Value> SigmoidOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  return {build.mul(upstream, build.mul(getResult(), build.sub(1.0, getResult())))};
}

Number SoftplusOp::compute(Arithmetic &arithmetic, Numbers x) { return numerics::softplus(arithmetic, x[0]); }
SmallVector<Value> SoftplusOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  return {build.mul(upstream, build.unary<SigmoidOp>(getOperand()))};
}

Number ErfOp::compute(Arithmetic &arithmetic, Numbers x) { return numerics::erf(arithmetic, x[0]); }
SmallVector<Value> ErfOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  Value bell = build.unary<ExpNonPositiveOp>(build.unary<NegOp>(build.mul(getOperand(), getOperand())));
  return {build.mul(upstream, build.mul(bell, 1.1283791670955126))}; // 2 / sqrt(pi)
}

Number NormalCdfOp::compute(Arithmetic &arithmetic, Numbers x) { return numerics::normalCdf(arithmetic, x[0]); }
SmallVector<Value> NormalCdfOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  return {build.mul(upstream, build.normalDensity(getOperand()))};
}

Number SinOp::compute(Arithmetic &arithmetic, Numbers x) { return numerics::sin(arithmetic, x[0]); }
SmallVector<Value> SinOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  return {build.mul(upstream, build.unary<CosOp>(getOperand()))};
}

Number CosOp::compute(Arithmetic &arithmetic, Numbers x) { return numerics::cos(arithmetic, x[0]); }
SmallVector<Value> CosOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  return {build.unary<NegOp>(build.mul(upstream, build.unary<SinOp>(getOperand())))};
}

Number ReluOp::compute(Arithmetic &arithmetic, Numbers x) {
  return arithmetic.maximum(x[0], arithmetic.constant(x[0].type, 0.0));
}
SmallVector<Value> ReluOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  Value zero = build.constantLike(upstream, 0);
  return {build.select(build.compare("gt", getOperand(), zero), upstream, zero)};
}

// Two operands.

Number AddOp::compute(Arithmetic &arithmetic, Numbers x) { return arithmetic.add(x[0], x[1]); }
SmallVector<Value> AddOp::gradient(OpBuilder &, Value upstream) {
  if (!isFloat(getLhs()))
    return {Value(), Value()};
  return {upstream, upstream};
}

Number SubOp::compute(Arithmetic &arithmetic, Numbers x) { return arithmetic.sub(x[0], x[1]); }
// x - 0 is x for every x, x + 0 is not: -0 + 0 is +0.
Value SubOp::simplified(ArrayRef<Attribute> operands) { return isSplatOf(operands[1], 0.0) ? getLhs() : Value(); }
SmallVector<Value> SubOp::gradient(OpBuilder &builder, Value upstream) {
  if (!isFloat(getLhs()))
    return {Value(), Value()};
  return {upstream, Build(builder, getLoc()).unary<NegOp>(upstream)};
}

Number MulOp::compute(Arithmetic &arithmetic, Numbers x) { return arithmetic.mul(x[0], x[1]); }
Value MulOp::simplified(ArrayRef<Attribute> operands) {
  if (isSplatOf(operands[1], 1.0))
    return getLhs();
  return isSplatOf(operands[0], 1.0) ? getRhs() : Value();
}
SmallVector<Value> MulOp::gradient(OpBuilder &builder, Value upstream) {
  if (!isFloat(getLhs()))
    return {Value(), Value()};
  Build build(builder, getLoc());
  return {build.mul(upstream, getRhs()), build.mul(upstream, getLhs())};
}

Number DivOp::compute(Arithmetic &arithmetic, Numbers x) { return arithmetic.div(x[0], x[1]); }
Value DivOp::simplified(ArrayRef<Attribute> operands) { return isSplatOf(operands[1], 1.0) ? getLhs() : Value(); }
SmallVector<Value> DivOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  Value lhs = build.div(upstream, getRhs());
  return {lhs, build.unary<NegOp>(build.mul(lhs, getResult()))};
}

Number PowOp::compute(Arithmetic &arithmetic, Numbers x) { return numerics::pow(arithmetic, x[0], x[1]); }
SmallVector<Value> PowOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  Value base = getLhs(), exponent = getRhs();
  if (std::optional<double> constant = constantOf(exponent)) {
    if (*constant == 0)
      return {build.constantLike(base, 0), Value()};
    if (*constant == 1)
      return {upstream, Value()};
    Value power = *constant == 2 ? base : build.pow(base, build.constantLike(base, *constant - 1));
    return {build.mul(upstream, build.mul(power, *constant)), Value()};
  }
  // With respect to the base: y x^(y-1), and 0 where y is 0 whatever x is.
  Value zero = build.constantLike(upstream, 0);
  Value isZero = build.compare("eq", exponent, zero);
  Value safeExponent = awayFromZero(build, isZero, exponent);
  Value power = build.pow(base, build.sub(safeExponent, build.constantLike(exponent, 1)));
  Value ofBase = build.select(isZero, zero, build.mul(upstream, build.mul(exponent, power)));
  // With respect to the exponent: x^y log x where x is positive, 0 elsewhere.
  Value isPositive = build.compare("gt", base, zero);
  Value safeBase = build.select(isPositive, base, build.constantLike(base, 1));
  Value slope = build.mul(build.pow(safeBase, exponent), build.unary<LogOp>(safeBase));
  return {ofBase, build.select(isPositive, build.mul(upstream, slope), zero)};
}

Number MaximumOp::compute(Arithmetic &arithmetic, Numbers x) { return arithmetic.maximum(x[0], x[1]); }
SmallVector<Value> MaximumOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  return pickedGradient(build, "gt", getLhs(), getRhs(), upstream);
}

Number MinimumOp::compute(Arithmetic &arithmetic, Numbers x) { return arithmetic.minimum(x[0], x[1]); }
SmallVector<Value> MinimumOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  return pickedGradient(build, "lt", getLhs(), getRhs(), upstream);
}

// Comparisons and choices.

Number CompareOp::compute(Arithmetic &arithmetic, Numbers x) {
  return arithmetic.compare(*comparisonOf(getHow()), x[0], x[1]);
}
LogicalResult CompareOp::verify() {
  if (!comparisonOf(getHow()))
    return emitOpError() << "cannot compare by \"" << getHow()
                         << "\"; expected one of \"eq\", \"ne\", \"lt\", \"le\", \"gt\", \"ge\"";
  return success();
}
LogicalResult CompareOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                          DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  auto operand = dyn_cast<RankedTensorType>(operands[0].getType());
  if (!operand)
    return emitOptionalError(location, "graph.compare takes tensors, got ", operands[0].getType());
  types.push_back(RankedTensorType::get(operand.getShape(), IntegerType::get(context, 1)));
  return success();
}
SmallVector<Value> CompareOp::gradient(OpBuilder &, Value) { return {Value(), Value()}; }

Number SelectOp::compute(Arithmetic &arithmetic, Numbers x) { return arithmetic.select(x[0], x[1], x[2]); }
Value SelectOp::simplified(ArrayRef<Attribute> operands) {
  if (getIfTrue() == getIfFalse())
    return getIfTrue();
  if (std::optional<Number> condition = splatNumber(operands[0]))
    return condition->bits & 1 ? getIfTrue() : getIfFalse();
  return {};
}
SmallVector<Value> SelectOp::gradient(OpBuilder &builder, Value upstream) {
  if (!isFloat(getIfTrue()))
    return {Value(), Value(), Value()};
  Build build(builder, getLoc());
  Value zero = build.constantLike(upstream, 0);
  return {Value(), build.select(getCondition(), upstream, zero), build.select(getCondition(), zero, upstream)};
}

Number AndOp::compute(Arithmetic &arithmetic, Numbers x) { return arithmetic.bitAnd(x[0], x[1]); }
SmallVector<Value> AndOp::gradient(OpBuilder &, Value) { return {Value(), Value()}; }

Number OrOp::compute(Arithmetic &arithmetic, Numbers x) { return arithmetic.bitOr(x[0], x[1]); }
SmallVector<Value> OrOp::gradient(OpBuilder &, Value) { return {Value(), Value()}; }

Number NotOp::compute(Arithmetic &arithmetic, Numbers x) {
  return arithmetic.bitXor(x[0], arithmetic.constant(ElementType::Bool, int64_t{1}));
}
Value NotOp::simplified(ArrayRef<Attribute>) {
  auto inner = getOperand().getDefiningOp<NotOp>();
  return inner ? inner.getOperand() : Value();
}
SmallVector<Value> NotOp::gradient(OpBuilder &, Value) { return {Value()}; }

Number CastOp::compute(Arithmetic &arithmetic, Numbers x) { return arithmetic.convert(x[0], elementType(getResult())); }
LogicalResult CastOp::verify() {
  if (elementType(getResult()) == ElementType::Bool && elementType(getOperand()) != ElementType::Bool)
    return emitOpError() << "cannot turn " << getOperand().getType() << " into booleans; compare it with something";
  return success();
}
Value CastOp::simplified(ArrayRef<Attribute>) {
  if (getOperand().getType() == getResult().getType())
    return getOperand();
  // Widened and narrowed again.
  auto inner = getOperand().getDefiningOp<CastOp>();
  if (!inner || inner.getOperand().getType() != getResult().getType())
    return {};
  ElementType narrow = elementType(getResult()), wide = elementType(getOperand());
  bool exact = (narrow == ElementType::F32 && wide == ElementType::F64) ||
               (narrow == ElementType::I32 && (wide == ElementType::I64 || wide == ElementType::F64));
  return exact ? inner.getOperand() : Value();
}
SmallVector<Value> CastOp::gradient(OpBuilder &builder, Value upstream) {
  if (!isFloat(getOperand()) || !isFloat(getResult()))
    return {Value()};
  return {Build(builder, getLoc()).cast(upstream, cast<RankedTensorType>(getOperand().getType()).getElementType())};
}
