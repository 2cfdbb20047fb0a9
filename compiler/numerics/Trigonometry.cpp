// sin and cos over every finite argument.
//
// Method: x = (n + r) pi/2 with |r| <= 1/2 and n known modulo 4, then the minimax polynomials of sin and cos on
// +-pi/4, chosen and signed by n. The work is in r, which must keep its relative accuracy next to multiples of pi/2 and
// for arguments whose last bit is worth many turns: 2/pi is taken only from the bits on that matter modulo 4, after
// M. Payne and R. Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18 (1983).
#include "compiler/numerics/TurnReduction.h"

#include "compiler/numerics/Format.h"
#include "compiler/numerics/Functions.h"

namespace mekik::numerics {

namespace {

/// sin of angle + tail.
Expression sineNearZero(Expression angle, Expression tail, const Format &format) {
  Expression square = angle * angle;
  if (format.isSingle())
    return fma(angle * square, polynomial(square, {-0x1.555544p-3, 0x1.1106a2p-7, -0x1.9908f4p-13}), angle);
  Expression q = polynomial(square, {-0x1.5555555555546p-3, 0x1.111111110f322p-7, -0x1.a01a019b61b78p-13,
                                     0x1.71de34dbcc85bp-19, -0x1.ae5de9fdd9b04p-26, 0x1.5d6e7a1f87f9ep-33});
  return angle + fma(angle * square, q, tail);
}

/// cos of angle + tail.
Expression cosineNearZero(Expression angle, Expression tail, const Format &format) {
  Expression square = angle * angle;
  if (format.isSingle()) {
    Expression q = polynomial(square, {0x1.555548p-5, -0x1.6c0b32p-10, 0x1.99ab76p-16});
    return fma(square, fma(square, q, -0.5), 1.0);
  }
  Expression q = polynomial(square, {0x1.5555555555548p-5, -0x1.6c16c16c14939p-10, 0x1.a01a019be4966p-16,
                                     -0x1.27e4f776c0953p-22, 0x1.1ee9888575acfp-29, -0x1.8f7b7acf0c4d4p-37});
  Expression rest = fma(square * square, q, -(angle * tail));
  return 1 + fma(square, -0.5, rest);
}

/// sin(|x| + quarters pi/2), with its sign changed if `flip` has the sign bit set.
Expression circular(Expression x, int quarters, Expression flip) {
  Format format = Format::of(x.type());
  TurnFraction turn = format.isSingle() ? reduceSingle(abs(x)) : reduceDouble(abs(x));
  Expression quadrant = turn.quadrant + quarters;
  Expression isOdd = (quadrant & 1) != 0;
  Expression value =
      select(isOdd, cosineNearZero(turn.angle, turn.tail, format), sineNearZero(turn.angle, turn.tail, format));
  Expression sign = (quadrant & 2) << (format.isSingle() ? 30 : 62);
  return (value.bitcast(format.integer) ^ sign ^ flip).bitcast(format.type);
}

} // namespace

/// On |x|, with the sign put back, so that -0 gives -0.
Number sin(Arithmetic &arithmetic, Number number) {
  Expression x(arithmetic, number);
  return circular(x, 0, Format::of(x.type()).signBit(x));
}

Number cos(Arithmetic &arithmetic, Number number) {
  Expression x(arithmetic, number);
  Expression none = x.make(arithmetic.constant(Format::of(x.type()).integer, int64_t(0)));
  return circular(x, 1, none);
}

} // namespace mekik::numerics
