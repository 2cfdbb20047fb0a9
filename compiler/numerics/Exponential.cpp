// exp and the functions made of it: expm1, sigmoid, tanh, erf.
//
// Method (textbook argument reduction, W. J. Cody and W. Waite, "Software Manual for the Elementary Functions", 1980):
// x = n ln 2 + r with n the nearest integer, |r| <= ln 2 / 2; exp(r) = 1 + r + r^2 q(r) with q a minimax polynomial
// (Remez exchange on the relative error of exp); the result is scaled by 2^n. ln 2 is taken in two parts; with fma the
// product by the first is exact, so r is off by less than an ulp of the second part's product.
#include "compiler/numerics/Exponential.h"

#include "compiler/numerics/Format.h"
#include "compiler/numerics/Functions.h"

#include <cmath>

namespace mekik::numerics {

namespace {

struct Reduced {
  Expression powerMinusOne; ///< exp(r) - 1
  Expression power;         ///< 2^n as it was asked for
};

/// The number whose sum with x leaves n in the low bits, as they stand in front of the fraction of 2^(n + offset): what
/// is shifted out by the left end is the rest of that number. n + offset is 1 - bias or more, and bias or less; at
/// -bias the power is 0.
double roundToPower(const Format &format, int64_t offset) {
  return format.roundToInteger + static_cast<double>(format.bias + offset);
}

/// `power` is 2^(n + offset) for `round` = roundToPower(offset). `tail`, if given, is a small addition to x.
Reduced reduce(Expression x, Expression round, const Expression *tail = nullptr) {
  Format format = Format::of(x.type());
  Expression shifted = fma(x, x.like(0x1.71547652b82fep0), round);
  Expression n = shifted - round;
  Expression r = fma(n, format.pick(-0x1.62e43p-1, -0x1.62e42fefa39efp-1), x);
  if (tail)
    r = r + *tail;
  r = fma(n, format.pick(0x1.05c61p-29, -0x1.abc9e3b39803fp-56), r);
  // Relative error of 1 + r + r^2 q(r), coefficients as rounded: 2^-28.1 in F32, 2^-57.1 in F64.
  Expression q =
      format.isSingle()
          ? polynomial(r, {0x1.fffffcp-2, 0x1.55549p-3, 0x1.5558d8p-5, 0x1.123b6ap-7, 0x1.6a2016p-10})
          : polynomial(r, {0x1.000000000000ap-1, 0x1.55555555554f7p-3, 0x1.55555555506b7p-5, 0x1.1111111128465p-7,
                           0x1.6c16c18494b99p-10, 0x1.a01a012845ee4p-13, 0x1.a01998daa3924p-16, 0x1.71df2814eed18p-19,
                           0x1.28ae9a6b97265p-22, 0x1.ad7e0e4346b5ap-26});
  Expression power = (shifted.bitcast(format.integer) << format.fractionBits).bitcast(format.type);
  return {fma(r * r, q, r), power};
}

// exp(r) 2^n in two steps, so that n may reach beyond the exponents of the format and a denormal result is rounded
// once: 2^(n + lift), which is a normal number wherever the result is not 0, then 2^-lift. Products, not sums of
// exponent bits, because NaN must come through.

/// How far a power is lifted for x < 0: two more than the fraction has bits.
int64_t liftOf(const Format &format) { return format.fractionBits + 2; }

/// What x < 0 is kept from falling below. There 2^(n + lift) is 0 by its bits, and so is the result; rounding a product
/// that is too small for the format takes processors a hundred times longer, and masked scores make it common. Written
/// so that NaN stays x.
Expression clampLow(Expression x) {
  Expression low = x.like(Format::of(x.type()).pick(-105.36, -746.52)); // n + lift = -bias
  return select(low > x, low, x);
}

/// The end of the range gives infinity already. Written so that NaN stays x.
Expression clampHigh(Expression x) {
  Expression high = x.like(Format::of(x.type()).pick(89.0, 710.0));
  return select(high < x, high, x);
}

/// exp(x + tail) for x between the clamps. Above 0 the power is lowered by 1 instead, for 2^128 would not fit.
Expression exponentialBetween(Expression x, const Expression *tail) {
  Format format = Format::of(x.type());
  int64_t lift = liftOf(format);
  Expression isNegative = x < 0;
  Expression round = select(isNegative, x.like(roundToPower(format, lift)), roundToPower(format, -1));
  Expression back = select(isNegative, x.like(std::ldexp(1.0, -static_cast<int>(lift))), 2.0);
  Reduced reduced = reduce(x, round, tail);
  return (reduced.powerMinusOne + 1) * reduced.power * back;
}

} // namespace

Expression exponential(Expression x) { return exponentialBetween(clampHigh(clampLow(x)), nullptr); }

Expression exponentialOfNonPositive(Expression x) {
  Format format = Format::of(x.type());
  int64_t lift = liftOf(format);
  Reduced reduced = reduce(clampLow(x), x.like(roundToPower(format, lift)));
  return (reduced.powerMinusOne + 1) * reduced.power * std::ldexp(1.0, -static_cast<int>(lift));
}

Expression exponentialOfModerate(Expression x) {
  Reduced reduced = reduce(x, x.like(roundToPower(Format::of(x.type()), 0)));
  return (reduced.powerMinusOne + 1) * reduced.power;
}

Expression exponentialOfSum(Expression x, Expression tail) {
  Expression clamped = clampHigh(clampLow(x));
  Expression keptTail = select(clamped == x, tail, 0.0);
  return exponentialBetween(clamped, &keptTail);
}

Number exp(Arithmetic &arithmetic, Number x) { return exponential({arithmetic, x}); }

Number expNonPositive(Arithmetic &arithmetic, Number x) { return exponentialOfNonPositive({arithmetic, x}); }

/// 2^n (exp(r) - 1) + (2^n - 1), the second term exact wherever it matters. Half of it is doubled at the end because
/// 2^n alone may overflow.
Number expm1(Arithmetic &arithmetic, Number number) {
  Expression x(arithmetic, number);
  Format format = Format::of(x.type());
  Expression low = x.like(format.pick(-20.0, -40.0)); // exp(low) is below half an ulp of 1
  Reduced reduced = reduce(clampHigh(select(low > x, low, x)), x.like(roundToPower(format, -1)));
  Expression half = reduced.power;
  Expression result = fma(reduced.powerMinusOne, half, half - 0.5) * 2;
  return select(abs(x) < format.pick(0x1p-60, 0x1p-120), x, result);
}

/// With e = exp(-|x|): 1 / (1 + e) for x >= 0, e / (1 + e) for x < 0 (1 / (1 + exp(-x)) would overflow where the result
/// is still a denormal). The quotient is corrected by its residual against the unrounded 1 + e, so that the error of e
/// is the only one that counts.
Number sigmoid(Arithmetic &arithmetic, Number number) {
  Expression x(arithmetic, number);
  Expression e = exponentialOfNonPositive(-abs(x));
  Expression numerator = select(x < 0, e, 1.0);
  Expression inverse = 1 / (1 + e);
  Expression quotient = numerator * inverse;
  Expression residual = fma(-quotient, e, numerator - quotient);
  return fma(residual, inverse, quotient);
}

/// |x| < 0.55: x + x^3 q(x^2), minimax; above: 1 - 2 / (exp(2|x|) + 1), where the error of exp is damped. The result
/// is 1 from the clamp on.
Number tanh(Arithmetic &arithmetic, Number number) {
  Expression x(arithmetic, number);
  Format format = Format::of(x.type());
  Expression magnitude = abs(x);
  Expression limit = x.like(format.pick(9.25, 19.5));
  Expression clamped = select(magnitude > limit, limit, magnitude);
  Expression large = 1 - 2 / (exponentialOfModerate(clamped + clamped) + 1);
  Expression square = magnitude * magnitude;
  Expression q =
      format.isSingle()
          ? polynomial(square, {-0x1.55554cp-2, 0x1.110d42p-3, -0x1.b92bb4p-5, 0x1.5956aap-6, -0x1.9bba2ap-8})
          : polynomial(square,
                       {-0x1.555555555554fp-2, 0x1.11111111107ebp-3, -0x1.ba1ba1b981afdp-5, 0x1.664f485a551cbp-6,
                        -0x1.226e2f30b30c3p-7, 0x1.d6d29fe69eef9p-9, -0x1.7d9009926ac76p-10, 0x1.34855e0b6d481p-11,
                        -0x1.e9807f30e25aap-13, 0x1.5da32c2c91711p-14, -0x1.478220f9b5a35p-16});
  Expression small = fma(magnitude * square, q, magnitude);
  return format.withSignOf(x, select(magnitude < 0.55, small, large));
}

/// |x| < 0.9275: x + x q(x^2); above: 1 - exp(-p(|x|)) with p a polynomial for -log(erfc), both minimax for the error
/// of erf. The result is 1 from the clamp on. (The form of the upper part is N. Juffa's, the coefficients are not.)
Number erf(Arithmetic &arithmetic, Number number) {
  Expression x(arithmetic, number);
  Format format = Format::of(x.type());
  Expression magnitude = abs(x);
  Expression limit = x.like(format.pick(4.0, 6.0));
  Expression clamped = select(magnitude > limit, limit, magnitude);
  Expression p = format.isSingle()
                     ? polynomial(clamped, {0x1.5d1ef4p-13, 0x1.20b75p0, 0x1.4621c2p-1, 0x1.aa72ep-4, -0x1.6d9c48p-6,
                                            0x1.91cba4p-9, -0x1.9fb04cp-13})
                     : polynomial(clamped, {-0x1.95448b243098p-26,  0x1.20dd7a23e93d1p0,    0x1.45f2c82b1ccbp-1,
                                            0x1.a4fc6b6c32b5cp-4,   -0x1.39b8484c698c9p-6,  -0x1.637f9478d1d49p-13,
                                            0x1.ac286bc67119ep-10,  -0x1.0bac60c02d3bfp-11, -0x1.d2cd81835c67fp-15,
                                            0x1.1646c320869cfp-13,  -0x1.4056f49a95d16p-14, 0x1.eb905aa2ba24ep-16,
                                            -0x1.1edf5fab49aebp-17, 0x1.08b4f4184ddd4p-19,  -0x1.8588418ece486p-22,
                                            0x1.c5d3fb6910008p-25,  -0x1.9a563e25794e9p-28, 0x1.15e81f6ebfbecp-31,
                                            -0x1.0955ecf558fccp-35, 0x1.3e53b454baf98p-40,  -0x1.68ac6f82bd33dp-46});
  Expression large = 1 - exponentialOfModerate(-p);
  Expression square = magnitude * magnitude;
  Expression q = format.isSingle()
                     ? polynomial(square, {0x1.06eba6p-3, -0x1.8126e2p-2, 0x1.ce19bep-4, -0x1.b68054p-6, 0x1.46f63ep-8,
                                           -0x1.38ef9ap-11})
                     : polynomial(square, {0x1.06eba8214db69p-3, -0x1.812746b0379dfp-2, 0x1.ce2f21a0424d6p-4,
                                           -0x1.b82ce31262985p-6, 0x1.565bcd07c3138p-8, -0x1.c02db2a0ee7eep-11,
                                           0x1.f9a2f8f049d9cp-14, -0x1.f4ce607955372p-17, 0x1.b9aba6c5a9b82p-20,
                                           -0x1.5d2bd265dc726p-23, 0x1.dfbc508f2a83cp-27, -0x1.c7d16b87f3603p-31});
  Expression small = fma(magnitude, q, magnitude);
  return format.withSignOf(x, select(magnitude < 0.9275, small, large));
}

/// In F32 exp(-x^2 / 2) q(|x|) for x < 0, the rest to 1 for x > 0, with q minimax for the error of the result: the
/// density of the same x, which whoever needs this slope needs too, is the same exponential. From the clamp on q stands
/// still; what that costs the product is less than the error. In F64, where q would have 25 coefficients, by erf.
Number normalCdf(Arithmetic &arithmetic, Number number) {
  Expression x(arithmetic, number);
  if (number.type == ElementType::F64)
    return (x.make(erf(arithmetic, x * 0x1.6a09e667f3bcdp-1)) + 1) * 0.5;
  Expression bell = exponentialOfNonPositive(x * x * -0.5);
  Expression magnitude = abs(x);
  Expression limit = x.like(4.75);
  Expression clamped = select(magnitude > limit, limit, magnitude);
  Expression q = polynomial(clamped, {0x1p-1, -0x1.98840ep-2, 0x1.fff51cp-3, -0x1.100c4ap-3, 0x1.fbe18p-5,
                                      -0x1.a30ec2p-6, 0x1.2a2534p-7, -0x1.5aa1ep-9, 0x1.31f94cp-11, -0x1.765a48p-14,
                                      0x1.1584b8p-17, -0x1.730b8ap-22});
  Expression tail = bell * q;
  return select(x < 0, tail, 1 - tail);
}

Number rsqrt(Arithmetic &arithmetic, Number number) {
  Expression x(arithmetic, number);
  return 1 / sqrt(x);
}

} // namespace mekik::numerics
