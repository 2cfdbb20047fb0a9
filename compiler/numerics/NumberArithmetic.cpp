// Must be built with -ffp-contract=off and without fast-math flags: a fused a * b + c here would be another number.
#include "compiler/numerics/NumberArithmetic.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace mekik::numerics {

Number fromFloat(float value) { return {ElementType::F32, std::bit_cast<uint32_t>(value)}; }
Number fromDouble(double value) { return {ElementType::F64, std::bit_cast<uint64_t>(value)}; }
Number fromInt32(int32_t value) { return {ElementType::I32, static_cast<uint32_t>(value)}; }
Number fromInt64(int64_t value) { return {ElementType::I64, static_cast<uint64_t>(value)}; }
Number fromBool(bool value) { return {ElementType::Bool, value ? 1u : 0u}; }
float toFloat(Number number) { return std::bit_cast<float>(static_cast<uint32_t>(number.bits)); }
double toDouble(Number number) { return std::bit_cast<double>(number.bits); }
int32_t toInt32(Number number) { return static_cast<int32_t>(static_cast<uint32_t>(number.bits)); }
int64_t toInt64(Number number) { return static_cast<int64_t>(number.bits); }
bool toBool(Number number) { return number.bits & 1; }

namespace {

Number wrap(float value) { return fromFloat(value); }
Number wrap(double value) { return fromDouble(value); }

/// Calls `ifF32` or `ifF64` with the values of the operands.
template <typename Operation> Number onFloats(Operation operation, Number a) {
  assert(a.type == ElementType::F32 || a.type == ElementType::F64);
  return a.type == ElementType::F32 ? wrap(operation(toFloat(a))) : wrap(operation(toDouble(a)));
}

template <typename Operation> Number onFloats(Operation operation, Number a, Number b) {
  assert(a.type == b.type);
  return a.type == ElementType::F32 ? wrap(operation(toFloat(a), toFloat(b)))
                                    : wrap(operation(toDouble(a), toDouble(b)));
}

/// Makes an integer or Bool number out of the low bits of `bits`; this is where wrapping happens.
Number integer(ElementType type, uint64_t bits) {
  switch (type) {
  case ElementType::I32:
    return {type, static_cast<uint32_t>(bits)};
  case ElementType::Bool:
    return {type, bits & 1};
  default:
    return {type, bits};
  }
}

/// The value of an integer, sign extended; a Bool is 0 or 1.
int64_t integerValue(Number a) { return a.type == ElementType::I32 ? toInt32(a) : toInt64(a); }

unsigned bitWidth(ElementType type) { return type == ElementType::I32 ? 32 : type == ElementType::I64 ? 64 : 1; }

template <typename Float> Float ieeeMaximum(Float x, Float y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<Float>::quiet_NaN();
  if (x == y)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

template <typename Float> Float ieeeMinimum(Float x, Float y) { return -ieeeMaximum(-x, -y); }

template <typename Value> bool holds(Comparison how, Value x, Value y) {
  switch (how) {
  case Comparison::Equal:
    return x == y;
  case Comparison::NotEqual:
    return x != y;
  case Comparison::Less:
    return x < y;
  case Comparison::LessEqual:
    return x <= y;
  case Comparison::Greater:
    return x > y;
  case Comparison::GreaterEqual:
    return x >= y;
  }
  return false;
}

/// Truncation toward zero; a value outside the type (where the contract leaves the result open) gives the nearest end
/// of the range, NaN gives 0.
int64_t truncate(double value, ElementType to) {
  if (std::isnan(value))
    return 0;
  if (to == ElementType::I32) {
    if (value >= 0x1p31)
      return std::numeric_limits<int32_t>::max();
    return value <= -0x1p31 ? std::numeric_limits<int32_t>::min() : static_cast<int32_t>(value);
  }
  if (value >= 0x1p63)
    return std::numeric_limits<int64_t>::max();
  return value <= -0x1p63 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

} // namespace

Number NumberArithmetic::constant(ElementType type, double value) {
  switch (type) {
  case ElementType::F32:
    return fromFloat(static_cast<float>(value));
  case ElementType::F64:
    return fromDouble(value);
  default:
    return integer(type, static_cast<uint64_t>(truncate(value, type)));
  }
}

Number NumberArithmetic::constant(ElementType type, int64_t value) {
  if (isFloat(type))
    return constant(type, static_cast<double>(value));
  return integer(type, static_cast<uint64_t>(value));
}

Number NumberArithmetic::add(Number a, Number b) {
  if (!isFloat(a.type))
    return integer(a.type, a.bits + b.bits);
  return onFloats([](auto x, auto y) { return x + y; }, a, b);
}

Number NumberArithmetic::sub(Number a, Number b) {
  if (!isFloat(a.type))
    return integer(a.type, a.bits - b.bits);
  return onFloats([](auto x, auto y) { return x - y; }, a, b);
}

Number NumberArithmetic::mul(Number a, Number b) {
  if (!isFloat(a.type))
    return integer(a.type, a.bits * b.bits);
  return onFloats([](auto x, auto y) { return x * y; }, a, b);
}

Number NumberArithmetic::div(Number a, Number b) {
  return onFloats([](auto x, auto y) { return x / y; }, a, b);
}

Number NumberArithmetic::fma(Number a, Number b, Number c) {
  if (fmaClass == FmaClass::ProductThenSum)
    return add(mul(a, b), c);
  if (a.type == ElementType::F32)
    return fromFloat(std::fma(toFloat(a), toFloat(b), toFloat(c)));
  return fromDouble(std::fma(toDouble(a), toDouble(b), toDouble(c)));
}

Number NumberArithmetic::sqrt(Number a) {
  return onFloats([](auto x) { return std::sqrt(x); }, a);
}

Number NumberArithmetic::neg(Number a) {
  if (a.type == ElementType::F32)
    return {a.type, a.bits ^ 0x80000000u};
  if (a.type == ElementType::F64)
    return {a.type, a.bits ^ 0x8000000000000000u};
  return integer(a.type, -a.bits);
}

Number NumberArithmetic::abs(Number a) {
  if (a.type == ElementType::F32)
    return {a.type, a.bits & 0x7fffffffu};
  if (a.type == ElementType::F64)
    return {a.type, a.bits & 0x7fffffffffffffffu};
  return integerValue(a) < 0 ? neg(a) : a;
}

Number NumberArithmetic::maximum(Number a, Number b) {
  if (!isFloat(a.type))
    return integerValue(a) > integerValue(b) ? a : b;
  return onFloats([](auto x, auto y) { return ieeeMaximum(x, y); }, a, b);
}

Number NumberArithmetic::minimum(Number a, Number b) {
  if (!isFloat(a.type))
    return integerValue(a) < integerValue(b) ? a : b;
  return onFloats([](auto x, auto y) { return ieeeMinimum(x, y); }, a, b);
}

Number NumberArithmetic::bitAnd(Number a, Number b) { return {a.type, a.bits & b.bits}; }
Number NumberArithmetic::bitOr(Number a, Number b) { return {a.type, a.bits | b.bits}; }
Number NumberArithmetic::bitXor(Number a, Number b) { return {a.type, a.bits ^ b.bits}; }

Number NumberArithmetic::shiftLeft(Number a, unsigned amount) {
  assert(amount < bitWidth(a.type));
  return integer(a.type, a.bits << amount);
}

Number NumberArithmetic::shiftRight(Number a, unsigned amount) {
  assert(amount < bitWidth(a.type));
  return integer(a.type, static_cast<uint64_t>(integerValue(a) >> amount));
}

Number NumberArithmetic::shiftRightUnsigned(Number a, unsigned amount) {
  assert(amount < bitWidth(a.type));
  return integer(a.type, a.bits >> amount);
}

Number NumberArithmetic::mulHighUnsigned(Number a, Number b) {
  assert(a.type == ElementType::I32 && b.type == ElementType::I32);
  return integer(ElementType::I32, (a.bits * b.bits) >> 32);
}

Number NumberArithmetic::compare(Comparison how, Number a, Number b) {
  assert(a.type == b.type);
  if (a.type == ElementType::F32)
    return fromBool(holds(how, toFloat(a), toFloat(b)));
  if (a.type == ElementType::F64)
    return fromBool(holds(how, toDouble(a), toDouble(b)));
  return fromBool(holds(how, integerValue(a), integerValue(b)));
}

Number NumberArithmetic::select(Number condition, Number ifTrue, Number ifFalse) {
  assert(condition.type == ElementType::Bool && ifTrue.type == ifFalse.type);
  return toBool(condition) ? ifTrue : ifFalse;
}

Number NumberArithmetic::convert(Number a, ElementType to) {
  if (a.type == to)
    return a;
  if (isFloat(a.type)) {
    double value = a.type == ElementType::F32 ? static_cast<double>(toFloat(a)) : toDouble(a);
    if (to == ElementType::Bool)
      return fromBool(value != 0);
    return constant(to, value);
  }
  int64_t value = integerValue(a);
  // Straight from the integer: by way of double an I64 would be rounded twice.
  if (to == ElementType::F32)
    return fromFloat(static_cast<float>(value));
  if (to == ElementType::F64)
    return fromDouble(static_cast<double>(value));
  if (to == ElementType::Bool)
    return fromBool(value != 0);
  return integer(to, static_cast<uint64_t>(value));
}

Number NumberArithmetic::bitcast(Number a, ElementType to) { return {to, a.bits}; }

} // namespace mekik::numerics
