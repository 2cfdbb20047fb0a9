// exp and the functions made of it: sigmoid, tanh.
//
// Method (textbook argument reduction, W. J. Cody and W. Waite, "Software Manual for the Elementary Functions", 1980):
// x = n ln 2 + r with n the nearest integer, |r| <= ln 2 / 2; exp(r) = 1 + r + r^2 q(r) with q a minimax polynomial
// (Remez exchange on the relative error of exp); the result is scaled by 2^n. ln 2 is taken in two parts; with fma the
// product by the first is exact, so r is off by less than an ulp of the second part's product.
#include "compiler/numerics/Exponential.h"

#include "compiler/numerics/Format.h"
#include "compiler/numerics/Functions.h"

namespace mekik::numerics {

namespace {

struct Reduced {
  Expression power;    ///< exp(r)
  Expression exponent; ///< integer whose low bits are n, whose high bits are those of Format::roundToInteger
};

Reduced reduce(Expression x) {
  Format format = Format::of(x.type());
  Expression shifted = fma(x, 0x1.71547652b82fep0, format.roundToInteger);
  Expression n = shifted - format.roundToInteger;
  Expression r = fma(n, format.pick(-0x1.62e43p-1, -0x1.62e42fefa39efp-1), x);
  r = fma(n, format.pick(0x1.05c61p-29, -0x1.abc9e3b39803fp-56), r);
  // Relative error of 1 + r + r^2 q(r), coefficients as rounded: 2^-26.4 in F32, 2^-57.1 in F64.
  Expression q =
      format.isSingle()
          ? polynomial(r, {0x1.fffffcp-2, 0x1.55549p-3, 0x1.55588p-5, 0x1.1236ap-7, 0x1.6af6eap-10})
          : polynomial(r, {0x1.000000000000ap-1, 0x1.55555555554f7p-3, 0x1.55555555506b7p-5, 0x1.1111111128465p-7,
                           0x1.6c16c18494b99p-10, 0x1.a01a012845ee4p-13, 0x1.a01998daa3924p-16, 0x1.71df2814eed18p-19,
                           0x1.28ae9a6b97265p-22, 0x1.ad7e0e4346b5ap-26});
  Expression power = fma(r * r, q, r) + 1;
  return {power, shifted.bitcast(format.integer)};
}

/// 2^n for the n in the low bits of `exponent`; its high bits leave by the left end of the shift.
Expression powerOfTwo(Expression exponent, const Format &format) {
  return ((exponent << format.fractionBits) + (format.bias << format.fractionBits)).bitcast(format.type);
}

/// power * 2^n in two steps, so that n may reach beyond the exponents of the format on both sides and a denormal result
/// is rounded once. Products, not sums of exponent bits, because NaN must come through.
Expression scale(Reduced reduced) {
  Format format = Format::of(reduced.power.type());
  Expression half = reduced.exponent.shiftRightUnsigned(1);
  return reduced.power * powerOfTwo(half, format) * powerOfTwo(reduced.exponent - half, format);
}

/// The ends of the range give 0 and infinity through `scale` already. Written so that NaN stays x.
Expression clampLow(Expression x) {
  Expression low = x.like(Format::of(x.type()).pick(-104.0, -746.0));
  return select(low > x, low, x);
}

Expression clampHigh(Expression x) {
  Expression high = x.like(Format::of(x.type()).pick(89.0, 710.0));
  return select(high < x, high, x);
}

} // namespace

Expression exponential(Expression x) { return scale(reduce(clampHigh(clampLow(x)))); }

Expression exponentialOfNonPositive(Expression x) { return scale(reduce(clampLow(x))); }

Expression exponentialOfModerate(Expression x) {
  Reduced reduced = reduce(x);
  return reduced.power * powerOfTwo(reduced.exponent, Format::of(x.type()));
}

Number exp(Arithmetic &arithmetic, Number x) { return exponential({arithmetic, x}); }

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
  Expression q = format.isSingle()
                     ? polynomial(square, {-0x1.55554cp-2, 0x1.110d3cp-3, -0x1.b92bbap-5, 0x1.595684p-6, -0x1.9bba6p-8})
                     : polynomial(square, {-0x1.555555555554fp-2, 0x1.11111111107ebp-3, -0x1.ba1ba1b981afdp-5,
                                           0x1.664f485a551cbp-6, -0x1.226e2f30b30c3p-7, 0x1.d6d29fe69eef9p-9,
                                           -0x1.7d9009926ac76p-10, 0x1.34855e0b6d481p-11, -0x1.e9807f30e25aap-13,
                                           0x1.5da32c2c91711p-14, -0x1.478220f9b5a35p-16});
  Expression small = fma(magnitude * square, q, magnitude);
  return format.withSignOf(x, select(magnitude < 0.55, small, large));
}

Number rsqrt(Arithmetic &arithmetic, Number number) {
  Expression x(arithmetic, number);
  return 1 / sqrt(x);
}

} // namespace mekik::numerics
