// pow(x, y) = exp(y log |x|) with the sign and the special cases of C.
//
// An error of log grows by y log x, which reaches 745: F32 therefore goes by way of f64, and F64 carries log to about
// 2^-65 in pairs of doubles (T. J. Dekker, "A floating-point technique for extending the available precision", 1971;
// the series is that of Logarithm.cpp).
#include "compiler/numerics/Exponential.h"
#include "compiler/numerics/Format.h"
#include "compiler/numerics/Functions.h"
#include "compiler/numerics/Logarithm.h"

#include <limits>

namespace mekik::numerics {

namespace {

/// high + low, |low| at most about an ulp of high.
struct Pair {
  Expression high, low;
};

/// Needs |a| >= |b| or a = 0.
Pair orderedSum(Expression a, Expression b) {
  Expression sum = a + b;
  return {sum, (a - sum) + b};
}

Pair product(Pair a, Pair b) {
  Expression high = a.high * b.high;
  return {high, fma(a.high, b.high, -high) + fma(a.high, b.low, a.low * b.high)};
}

/// x of F64, positive and finite.
Pair preciseLogarithm(Expression x) {
  SplitNumber number = splitNumber(x);
  Expression f = number.f;
  Expression denominator = f + 2;
  Expression denominatorLow = f - (denominator - 2);
  Expression quotient = f / denominator;
  Expression residual = fma(-quotient, denominatorLow, fma(-quotient, denominator, f));
  Pair s = {quotient, residual / denominator};
  Pair square = product(s, s);
  // log(1 + f) = 2 s + s s^2 (2/3 + s^2 q(s^2)), q minimax with relative error 2^-64.7 of the whole.
  Expression q =
      polynomial(square.high, {0x1.9999999999b33p-2, 0x1.24924924577fap-2, 0x1.c71c722de428bp-3, 0x1.745ce9b68d12dp-3,
                               0x1.3b1ef4698dda5p-3, 0x1.0f7f2002f19afp-3, 0x1.0e4a35cb5be40p-3});
  Pair factor = orderedSum(x.like(0x1.5555555555555p-1), square.high * q);
  factor.low = factor.low + 0x1.5555555555555p-55;
  Pair cubic = product(s, product(square, factor));
  // The first part of ln 2 has 42 bits: its product with the exponent is exact.
  Pair sum = orderedSum(number.exponent * 0x1.62e42fefa38p-1, s.high + s.high);
  Pair whole = orderedSum(sum.high, cubic.high);
  Expression low = fma(number.exponent, 0x1.ef35793c7673p-45, s.low + s.low + cubic.low);
  return orderedSum(whole.high, whole.low + (sum.low + low));
}

/// exp(y log |x|) in F64 for finite positive |x|, infinite and zero ones; y not 0.
Expression magnitudeOfPower(Expression x, Expression y, bool precise) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!precise)
    return exponential(y * logarithm(x));
  Pair log = preciseLogarithm(x);
  Expression high = select(x < infinity, log.high, x);
  high = select(x == 0, -infinity, high);
  Expression exponent = y * high;
  // Meaningless where the exponent is not finite; there it is dropped with the clamp of exp.
  Expression tail = fma(y, high, -exponent) + y * log.low;
  return exponentialOfSum(exponent, tail);
}

struct Parity {
  Expression isInteger, isOdd;
};

/// y of F64. Numbers from 2^53 on, infinity among them, are even integers.
Parity parity(Expression y) {
  auto isWhole = [](Expression value) { return (value + 0x1p52) - 0x1p52 == value; };
  Expression magnitude = abs(y);
  Expression isInteger = (magnitude >= 0x1p52) | isWhole(magnitude);
  Expression isEven = (magnitude >= 0x1p53) | isWhole(magnitude * 0.5);
  Expression isTrue = isEven == isEven;
  return {isInteger, isInteger & (isEven ^ isTrue)};
}

} // namespace

Number pow(Arithmetic &arithmetic, Number base, Number power) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  bool isDouble = base.type == ElementType::F64;
  Expression x = Expression(arithmetic, base).convert(ElementType::F64);
  Expression y = Expression(arithmetic, power).convert(ElementType::F64);
  Expression magnitude = abs(x);
  Expression value = magnitudeOfPower(magnitude, y, isDouble);
  value = select((y == 0) | (magnitude == 1), 1.0, value);
  auto [isInteger, isOdd] = parity(y);
  Format format = Format::of(ElementType::F64);
  value = select(isOdd, format.withSignOf(x, value), value);
  // With y an integer or x = -inf the sign above is the whole story.
  Expression isFraction = (isInteger == isInteger) ^ isInteger;
  value = select((x < 0) & (x > -infinity) & isFraction, nan, value);
  value = select((y != y) & (x != 1), y, value);
  value = select((x != x) & (y != 0), x, value);
  return value.convert(base.type);
}

} // namespace mekik::numerics
