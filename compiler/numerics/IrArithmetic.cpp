// One MLIR op for one operation of the vocabulary. None carries a fast-math flag: what is written is what is computed.
#include "compiler/numerics/IrArithmetic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"

#include <type_traits>

using namespace mlir;

namespace mekik::numerics {

bool isElementType(Type type) {
  return type.isF32() || type.isF64() || type.isSignlessInteger(32) || type.isSignlessInteger(64) ||
         type.isSignlessInteger(1);
}

ElementType elementTypeOf(Type scalar) {
  assert(isElementType(scalar));
  if (scalar.isF32())
    return ElementType::F32;
  if (scalar.isF64())
    return ElementType::F64;
  if (scalar.isSignlessInteger(32))
    return ElementType::I32;
  return scalar.isSignlessInteger(64) ? ElementType::I64 : ElementType::Bool;
}

Type scalarTypeOf(ElementType type, MLIRContext *context) {
  switch (type) {
  case ElementType::F32:
    return Float32Type::get(context);
  case ElementType::F64:
    return Float64Type::get(context);
  case ElementType::I32:
    return IntegerType::get(context, 32);
  case ElementType::I64:
    return IntegerType::get(context, 64);
  case ElementType::Bool:
    return IntegerType::get(context, 1);
  }
  return {};
}

Number toNumber(Value value) {
  return {elementTypeOf(getElementTypeOrSelf(value.getType())),
          static_cast<uint64_t>(reinterpret_cast<uintptr_t>(value.getAsOpaquePointer()))};
}

Value toValue(Number number) {
  return Value::getFromOpaquePointer(reinterpret_cast<void *>(static_cast<uintptr_t>(number.bits)));
}

namespace {

VectorType vectorTypeOf(Value value) { return dyn_cast<VectorType>(value.getType()); }

/// `scalar`, or a vector of it with the shape of `like`.
Type withShapeOf(Type scalar, Value like) {
  if (VectorType vector = vectorTypeOf(like))
    return vector.clone(scalar);
  return scalar;
}

arith::CmpFPredicate floatPredicate(Comparison how) {
  switch (how) {
  case Comparison::Equal:
    return arith::CmpFPredicate::OEQ;
  case Comparison::NotEqual:
    return arith::CmpFPredicate::UNE;
  case Comparison::Less:
    return arith::CmpFPredicate::OLT;
  case Comparison::LessEqual:
    return arith::CmpFPredicate::OLE;
  case Comparison::Greater:
    return arith::CmpFPredicate::OGT;
  case Comparison::GreaterEqual:
    return arith::CmpFPredicate::OGE;
  }
  return arith::CmpFPredicate::AlwaysFalse;
}

/// A Bool orders false before true, which as one-bit numbers is the unsigned order.
arith::CmpIPredicate integerPredicate(Comparison how, bool isUnsigned) {
  using P = arith::CmpIPredicate;
  switch (how) {
  case Comparison::Equal:
    return P::eq;
  case Comparison::NotEqual:
    return P::ne;
  case Comparison::Less:
    return isUnsigned ? P::ult : P::slt;
  case Comparison::LessEqual:
    return isUnsigned ? P::ule : P::sle;
  case Comparison::Greater:
    return isUnsigned ? P::ugt : P::sgt;
  case Comparison::GreaterEqual:
    return isUnsigned ? P::uge : P::sge;
  }
  return P::eq;
}

} // namespace

/// A splat constant becomes a dense constant of the shape at once; the scalar one dies if nothing else uses it.
Value IrArithmetic::splat(Value value, VectorType shape) {
  VectorType type = shape.clone(value.getType());
  TypedAttr scalar;
  if (matchPattern(value, m_Constant(&scalar)))
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, Attribute(scalar)));
  return vector::BroadcastOp::create(builder, loc, type, value);
}

void IrArithmetic::sameShape(Value &a, Value &b) {
  VectorType vectorA = vectorTypeOf(a), vectorB = vectorTypeOf(b);
  assert((!vectorA || !vectorB || vectorA.getShape() == vectorB.getShape()) && "vectors of one length");
  if (vectorA && !vectorB)
    b = splat(b, vectorA);
  else if (vectorB && !vectorA)
    a = splat(a, vectorB);
}

template <typename FloatOp, typename IntOp> Number IrArithmetic::binary(Number a, Number b) {
  assert(a.type == b.type);
  Value x = toValue(a), y = toValue(b);
  sameShape(x, y);
  if (isFloat(a.type))
    return toNumber(FloatOp::create(builder, loc, x, y));
  return toNumber(IntOp::create(builder, loc, x, y));
}

template <typename IntOp> Number IrArithmetic::integerBinary(Number a, Number b) {
  assert(a.type == b.type && !isFloat(a.type));
  Value x = toValue(a), y = toValue(b);
  sameShape(x, y);
  return toNumber(IntOp::create(builder, loc, x, y));
}

template <typename ShiftOp> Number IrArithmetic::shift(Number a, unsigned amount) {
  return integerBinary<ShiftOp>(a, constant(a.type, static_cast<int64_t>(amount)));
}

Number IrArithmetic::constant(ElementType type, double value) {
  assert(isFloat(type));
  Type scalar = scalarTypeOf(type, builder.getContext());
  if (type == ElementType::F32) // the rounding is that of NumberArithmetic
    return toNumber(arith::ConstantOp::create(builder, loc, FloatAttr::get(scalar, APFloat(float(value)))));
  return toNumber(arith::ConstantOp::create(builder, loc, FloatAttr::get(scalar, APFloat(value))));
}

Number IrArithmetic::constant(ElementType type, int64_t value) {
  if (isFloat(type))
    return constant(type, static_cast<double>(value));
  Type scalar = scalarTypeOf(type, builder.getContext());
  APInt bits(scalar.getIntOrFloatBitWidth(), static_cast<uint64_t>(value), /*isSigned=*/false, /*implicitTrunc=*/true);
  return toNumber(arith::ConstantOp::create(builder, loc, IntegerAttr::get(scalar, bits)));
}

Number IrArithmetic::add(Number a, Number b) { return binary<arith::AddFOp, arith::AddIOp>(a, b); }
Number IrArithmetic::sub(Number a, Number b) { return binary<arith::SubFOp, arith::SubIOp>(a, b); }
Number IrArithmetic::mul(Number a, Number b) { return binary<arith::MulFOp, arith::MulIOp>(a, b); }
Number IrArithmetic::div(Number a, Number b) {
  assert(isFloat(a.type) && a.type == b.type);
  Value x = toValue(a), y = toValue(b);
  sameShape(x, y);
  return toNumber(arith::DivFOp::create(builder, loc, x, y));
}

Number IrArithmetic::fma(Number a, Number b, Number c) {
  assert(isFloat(a.type) && a.type == b.type && a.type == c.type);
  if (fmaClass == FmaClass::ProductThenSum)
    return add(mul(a, b), c);
  Value x = toValue(a), y = toValue(b), z = toValue(c);
  sameShape(x, y);
  sameShape(x, z);
  sameShape(x, y);
  return toNumber(math::FmaOp::create(builder, loc, x, y, z));
}

Number IrArithmetic::sqrt(Number a) { return toNumber(math::SqrtOp::create(builder, loc, toValue(a))); }

Number IrArithmetic::neg(Number a) {
  if (isFloat(a.type))
    return toNumber(arith::NegFOp::create(builder, loc, toValue(a)));
  return sub(constant(a.type, int64_t(0)), a);
}

Number IrArithmetic::abs(Number a) {
  if (isFloat(a.type))
    return toNumber(math::AbsFOp::create(builder, loc, toValue(a)));
  return select(compare(Comparison::Less, a, constant(a.type, int64_t(0))), neg(a), a);
}

Number IrArithmetic::maximum(Number a, Number b) {
  if (a.type == ElementType::Bool)
    return bitOr(a, b);
  return binary<arith::MaximumFOp, arith::MaxSIOp>(a, b);
}

Number IrArithmetic::minimum(Number a, Number b) {
  if (a.type == ElementType::Bool)
    return bitAnd(a, b);
  return binary<arith::MinimumFOp, arith::MinSIOp>(a, b);
}

Number IrArithmetic::bitAnd(Number a, Number b) { return integerBinary<arith::AndIOp>(a, b); }
Number IrArithmetic::bitOr(Number a, Number b) { return integerBinary<arith::OrIOp>(a, b); }
Number IrArithmetic::bitXor(Number a, Number b) { return integerBinary<arith::XOrIOp>(a, b); }
Number IrArithmetic::shiftLeft(Number a, unsigned amount) { return shift<arith::ShLIOp>(a, amount); }
Number IrArithmetic::shiftRight(Number a, unsigned amount) { return shift<arith::ShRSIOp>(a, amount); }
Number IrArithmetic::shiftRightUnsigned(Number a, unsigned amount) { return shift<arith::ShRUIOp>(a, amount); }

Number IrArithmetic::mulHighUnsigned(Number a, Number b) {
  assert(a.type == ElementType::I32 && b.type == ElementType::I32);
  Value x = toValue(a), y = toValue(b);
  sameShape(x, y);
  return toNumber(arith::MulUIExtendedOp::create(builder, loc, x, y).getHigh());
}

Number IrArithmetic::compare(Comparison how, Number a, Number b) {
  assert(a.type == b.type);
  Value x = toValue(a), y = toValue(b);
  sameShape(x, y);
  if (isFloat(a.type))
    return toNumber(arith::CmpFOp::create(builder, loc, floatPredicate(how), x, y));
  return toNumber(arith::CmpIOp::create(builder, loc, integerPredicate(how, a.type == ElementType::Bool), x, y));
}

Number IrArithmetic::select(Number condition, Number ifTrue, Number ifFalse) {
  assert(condition.type == ElementType::Bool && ifTrue.type == ifFalse.type);
  Value chosen = toValue(condition), x = toValue(ifTrue), y = toValue(ifFalse);
  sameShape(x, y);
  if (VectorType shape = vectorTypeOf(chosen); shape && !vectorTypeOf(x)) {
    x = splat(x, shape);
    y = splat(y, shape);
  }
  return toNumber(arith::SelectOp::create(builder, loc, chosen, x, y));
}

Number IrArithmetic::convert(Number a, ElementType to) {
  if (a.type == to)
    return a;
  Value value = toValue(a);
  Type type = withShapeOf(scalarTypeOf(to, builder.getContext()), value);
  if (to == ElementType::Bool)
    return compare(Comparison::NotEqual, a, constant(a.type, int64_t(0)));
  if (isFloat(a.type)) {
    if (!isFloat(to))
      return toNumber(arith::FPToSIOp::create(builder, loc, type, value));
    if (to == ElementType::F64)
      return toNumber(arith::ExtFOp::create(builder, loc, type, value));
    return toNumber(arith::TruncFOp::create(builder, loc, type, value));
  }
  if (a.type == ElementType::Bool) {
    if (isFloat(to))
      return toNumber(arith::UIToFPOp::create(builder, loc, type, value));
    return toNumber(arith::ExtUIOp::create(builder, loc, type, value));
  }
  if (isFloat(to))
    return toNumber(arith::SIToFPOp::create(builder, loc, type, value));
  if (to == ElementType::I64)
    return toNumber(arith::ExtSIOp::create(builder, loc, type, value));
  return toNumber(arith::TruncIOp::create(builder, loc, type, value));
}

Number IrArithmetic::bitcast(Number a, ElementType to) {
  Value value = toValue(a);
  Type type = withShapeOf(scalarTypeOf(to, builder.getContext()), value);
  return toNumber(arith::BitcastOp::create(builder, loc, type, value));
}

} // namespace mekik::numerics
