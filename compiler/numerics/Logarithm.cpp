// log and the functions made of it: log1p, softplus.
//
// Method: x = 2^e m with sqrt(1/2) <= m < sqrt(2), f = m - 1, log x = e ln 2 + log(1 + f), ln 2 in two parts. F32 takes
// log(1 + f) = f - f^2/2 + f^3 q(f); F64, where that would need twenty coefficients, takes s = f / (2 + f) and the
// series of 2 atanh(s), as log(1 + f) = f - s (f - s^2 q(s^2)) (the arrangement is that of FreeBSD's e_log.c). The q
// are minimax polynomials (Remez exchange on the relative error of log(1 + f)).
#include "compiler/numerics/Logarithm.h"

#include "compiler/numerics/Exponential.h"
#include "compiler/numerics/Format.h"
#include "compiler/numerics/Functions.h"

#include <limits>

namespace mekik::numerics {

SplitNumber splitNumber(Expression x) {
  Format format = Format::of(x.type());
  double smallestNormal = format.pick(0x1p-126, 0x1p-1022);
  double lift = format.pick(0x1p23, 0x1p52);
  Expression isDenormal = x < smallestNormal;
  Expression bits = select(isDenormal, x * lift, x).bitcast(format.integer);
  int64_t rootOfHalf = format.isSingle() ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
  Expression exponent = (bits - rootOfHalf) >> format.fractionBits;
  Expression m = (bits - (exponent << format.fractionBits)).bitcast(format.type);
  Expression wasLifted = select(isDenormal, x.like(-static_cast<double>(format.fractionBits)), 0.0);
  return {m - 1, exponent.convert(format.type) + wasLifted};
}

namespace {

/// e ln 2 + log(1 + f) for sqrt(1/2) <= 1 + f < sqrt(2).
Expression combine(SplitNumber number) {
  auto [f, exponent] = number;
  Format format = Format::of(f.type());
  Expression correction = f; // log(1 + f) - f + e * (low part of ln 2)
  if (format.isSingle()) {
    Expression square = f * f;
    Expression q = polynomial(f, {0x1.555554p-2, -0x1.000228p-2, 0x1.99a014p-3, -0x1.5471dp-3, 0x1.22d926p-3,
                                  -0x1.0d8a06p-3, 0x1.05660ep-3, -0x1.38b6eap-4});
    correction = fma(square, -0.5, fma(square * f, q, exponent * -0x1.05c61p-29));
  } else {
    Expression s = f / (f + 2);
    Expression square = s * s;
    Expression q =
        polynomial(square, {0x1.5555555555593p-1, 0x1.999999997fb30p-2, 0x1.2492494217bbfp-2, 0x1.c71c51e7e2c51p-3,
                            0x1.7466463077219p-3, 0x1.39a0f4a58738cp-3, 0x1.2f0d91f417ef4p-3});
    correction = fma(s, fma(square, q, -f), exponent * 0x1.abc9e3b39803fp-56);
  }
  return fma(exponent, format.pick(0x1.62e43p-1, 0x1.62e42fefa39efp-1), f + correction);
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

} // namespace

Expression logarithm(Expression x) {
  Expression result = combine(splitNumber(x));
  result = select(x < infinity, result, x);
  result = select(x == 0, -infinity, result);
  return select(x < 0, nan, result);
}

/// The exponent e is that of 1 + x as rounded, but f = 2^-e x + (2^-e - 1) is computed from x itself, without error
/// where e is not 0 and as x where it is.
Expression logarithmOfOnePlus(Expression x) {
  Format format = Format::of(x.type());
  int64_t rootOfHalf = format.isSingle() ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
  Expression exponent = ((x + 1).bitcast(format.integer) - rootOfHalf) >> format.fractionBits;
  Expression shift = exponent << format.fractionBits;
  Expression scaled = (x.bitcast(format.integer) - shift).bitcast(format.type);
  // 4 * 2^-e stays a normal number where 2^-e would not.
  Expression four = (((format.bias + 2) << format.fractionBits) - shift).bitcast(format.type);
  Expression f = scaled + fma(four, 0.25, -1.0);
  Expression result = combine({f, exponent.convert(format.type)});
  result = select(x < infinity, result, x);
  result = select(x == 0, x, result);
  result = select(x == -1, -infinity, result);
  return select(x < -1, nan, result);
}

Number log(Arithmetic &arithmetic, Number x) { return logarithm({arithmetic, x}); }

Number log1p(Arithmetic &arithmetic, Number x) { return logarithmOfOnePlus({arithmetic, x}); }

Number softplus(Arithmetic &arithmetic, Number number) {
  Expression x(arithmetic, number);
  Expression tail = logarithmOfOnePlus(exponentialOfNonPositive(-abs(x)));
  return select(x > 0, x, 0.0) + tail;
}

} // namespace mekik::numerics
