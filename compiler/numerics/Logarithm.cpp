// log and the functions made of it.
//
// Method: x = 2^e m with sqrt(1/2) <= m < sqrt(2), f = m - 1, log x = e ln 2 + log(1 + f), ln 2 in two parts. F32 takes
// log(1 + f) = f - f^2/2 + f^3 q(f); F64, where that would need twenty coefficients, takes s = f / (2 + f) and the
// series of 2 atanh(s), as log(1 + f) = f - s (f - s^2 q(s^2)) (the arrangement is that of FreeBSD's e_log.c). The q
// are minimax polynomials (Remez exchange on the relative error of log(1 + f)).
#include "compiler/numerics/Format.h"
#include "compiler/numerics/Functions.h"

#include <limits>

namespace mekik::numerics {

namespace {

struct Split {
  Expression f;        ///< m - 1
  Expression exponent; ///< e, as a number of x's type
};

/// x is positive and finite (other values give some number, never undefined behaviour).
Split split(Expression x) {
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

Expression logarithm(Expression x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Format format = Format::of(x.type());
  auto [f, exponent] = split(x);
  Expression correction = f; // log(1 + f) - f + e * (low part of ln 2)
  if (format.isSingle()) {
    Expression square = f * f;
    Expression q = polynomial(f, {0x1.555548p-2, -0x1.ffffeap-3, 0x1.99a31ap-3, -0x1.556462p-3, 0x1.236b28p-3,
                                  -0x1.f8618p-4, 0x1.dd6742p-4, -0x1.015444p-3, 0x1.68c622p-4});
    correction = fma(square, -0.5, fma(square * f, q, exponent * -0x1.05c61p-29));
  } else {
    Expression s = f / (f + 2);
    Expression square = s * s;
    Expression q =
        polynomial(square, {0x1.5555555555593p-1, 0x1.999999997fb30p-2, 0x1.2492494217bbfp-2, 0x1.c71c51e7e2c51p-3,
                            0x1.7466463077219p-3, 0x1.39a0f4a58738cp-3, 0x1.2f0d91f417ef4p-3});
    correction = fma(s, fma(square, q, -f), exponent * 0x1.abc9e3b39803fp-56);
  }
  Expression result = fma(exponent, format.pick(0x1.62e43p-1, 0x1.62e42fefa39efp-1), f + correction);
  result = select(x < infinity, result, x);
  result = select(x == 0, -infinity, result);
  return select(x < 0, nan, result);
}

} // namespace

Number log(Arithmetic &arithmetic, Number x) { return logarithm({arithmetic, x}); }

} // namespace mekik::numerics
