// F32 reduces in f64 arithmetic: the product of the 24 bits of x and 29 bits of 2/pi is exact there. F64 has two ways:
// pi/2 in three parts (Cody and Waite) below 2^20, and above that integer arithmetic on the bits of 2/pi.
#include "compiler/numerics/TurnReduction.h"

#include "compiler/numerics/Format.h"

#include <cstddef>
#include <limits>
#include <vector>

namespace mekik::numerics {

namespace {

/// The nearest integer to x, |x| < 2^51, and its low bits.
struct Nearest {
  Expression integer; ///< F64
  Expression bits;    ///< I64
};

Nearest nearest(Expression x) {
  constexpr double roundToInteger = 0x1.8p52;
  Expression sum = x + roundToInteger;
  return {sum - roundToInteger, sum.bitcast(ElementType::I64)};
}

} // namespace

/// The bits of 2/pi from a window's first on, in parts of 29, 29 and 53 bits. A window serves 26 binary exponents of x
/// (the first all below 2^50): what is missing in front of it, times x, is a multiple of 4, and its first product is
/// below 2^51. Fractions of the two exact products add up without error, save one rounding relative to the result.
TurnFraction reduceSingle(Expression single) {
  static constexpr double windows[4][3] = {
      {0x1.45f306dp-1, 0x1.9391054p-30, 0x1.4fe13abe8fa9ap-59},
      {0x1.b939105p-26, 0x1.29fc274p-56, 0x1.7d1f534ddc0dbp-84},
      {0x1.529fc27p-52, 0x1.5f47d4cp-82, 0x1.377036d8a5665p-110},
      {0x1.d5f47d4p-78, 0x1.a6ee06dp-107, 0x1.6295993c43904p-136},
  };
  Expression x = single.convert(ElementType::F64);
  Expression beyond[3] = {x >= 0x1p50, x >= 0x1p76, x >= 0x1p102};
  auto part = [&](int index) {
    Expression chosen = x.like(windows[0][index]);
    for (int window = 1; window < 4; ++window)
      chosen = select(beyond[window - 1], x.like(windows[window][index]), chosen);
    return chosen;
  };
  Expression high = x * part(0);
  Nearest highInteger = nearest(high);
  Expression highFraction = high - highInteger.integer;
  Expression middle = x * part(1);
  Nearest middleInteger = nearest(middle);
  Expression middleFraction = middle - middleInteger.integer;
  Nearest sumInteger = nearest(highFraction + middleFraction);
  Expression fraction = (highFraction - sumInteger.integer) + middleFraction;
  fraction = fma(x, part(2), fraction);
  Expression quadrant = (highInteger.bits + middleInteger.bits + sumInteger.bits).convert(ElementType::I32);
  Expression angle = (fraction * 0x1.921fb54442d18p+0).convert(ElementType::F32);
  return {quadrant, angle, angle.like(0.0)};
}

namespace {

/// high + low, |low| at most half an ulp of high.
struct Pair {
  Expression high, low;
};

Pair exactSum(Expression a, Expression b) { // D. Knuth, The Art of Computer Programming 2, 4.2.2
  Expression sum = a + b;
  Expression bPart = sum - a;
  return {sum, (a - (sum - bPart)) + (b - bPart)};
}

TurnFraction reduceModerate(Expression x) {
  Nearest n = nearest(x * 0x1.45f306dc9c883p-1);
  Expression first = fma(n.integer, -0x1.921fb54442d18p+0, x); // exact: both are multiples of 2^-53
  Expression product = n.integer * 0x1.1a62633145c07p-54;
  Expression productLow = fma(n.integer, 0x1.1a62633145c07p-54, -product);
  Pair sum = exactSum(first, -product);
  Expression tail = sum.low - fma(n.integer, -0x1.f1976b7ed8fbcp-110, productLow);
  Expression angle = sum.high + tail;
  return {n.bits, angle, (sum.high - angle) + tail};
}

/// x = m 2^k with m of 53 bits. The 192 bits of 2/pi that matter, times m, modulo 2^192, is x 2/pi in units of 2^-190
/// modulo 4: schoolbook multiplication of 32-bit digits, in 64-bit integers, most significant digit first.
TurnFraction reduceLarge(Expression x) {
  // Binary digits of 2/pi; digit i weighs 2^(-32 (i + 1)).
  static constexpr int64_t twoOverPi[] = {
      0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
      0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
      0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
      0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
      0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab};
  constexpr int64_t digitMask = 0xffffffff;
  constexpr int digits = 6;

  Expression bits = x.bitcast(ElementType::I64);
  // With x = m 2^k, k = field - 1075; 2/pi 2^k modulo 4 starts at binary digit k - 2 of 2/pi (counted from weight
  // 2^-1), which for k = 2 is digit 0. offset = k - 2 + 64: the table is led by two zero digits.
  Expression offset = (bits >> 52) - (1075 + 2 - 64);
  Expression digit = offset >> 5;
  std::vector<Expression> window = {bits.like(0), bits.like(0)};
  for (int64_t value : twoOverPi)
    window.push_back(bits.like(value));
  // window[i] becomes the digit at `digit` + i: halve the choice once for every bit of `digit`.
  for (int step = 32; step >= 1; step /= 2) {
    Expression moves = (digit & step) != 0;
    std::vector<Expression> next;
    std::size_t needed = digits + 1 + step - 1;
    for (std::size_t i = 0; i < needed && i < window.size(); ++i)
      next.push_back(i + step < window.size() ? select(moves, window[i + step], window[i]) : window[i]);
    window = next;
  }
  // Shift by the remaining 0..31 bits, a product with a power of two.
  Expression power = (((offset & 31) + 1023) << 52).bitcast(ElementType::F64).convert(ElementType::I64);
  std::vector<Expression> factor;
  for (int i = 0; i < digits; ++i)
    factor.push_back(((window[i] * power) & digitMask) | (window[i + 1] * power).shiftRightUnsigned(32));

  Expression m = (bits & 0xfffffffffffff) | (int64_t(1) << 52);
  Expression mLow = m & digitMask, mHigh = m.shiftRightUnsigned(32);
  // Digit i of the product collects low halves of m_low f_i and m_high f_(i+1), high halves of the next ones.
  std::vector<Expression> product(digits, bits.like(0));
  Expression carry = bits.like(0);
  for (int i = digits - 1; i >= 0; --i) {
    Expression low = mLow * factor[i];
    Expression sum = carry + (low & digitMask);
    carry = low.shiftRightUnsigned(32);
    if (i + 1 < digits) {
      Expression high = mHigh * factor[i + 1]; // below 2^53
      sum = sum + (high & digitMask);
      carry = carry + high.shiftRightUnsigned(32);
    }
    product[i] = sum & digitMask;
    carry = carry + sum.shiftRightUnsigned(32);
  }
  // The top 64 bits hold 2 of integer and 62 of fraction; rounding to nearest makes the fraction signed.
  Expression top = (product[0] << 32) | product[1];
  Expression quadrant = (top + (int64_t(1) << 61)).shiftRightUnsigned(62);
  Expression signedTop = top - (quadrant << 62);
  // Three exact pieces of at most 32 significant bits each, summed from the small end.
  Expression a = (signedTop >> 32).convert(ElementType::F64) * 0x1p-30;
  Expression b = product[1].convert(ElementType::F64) * 0x1p-62;
  Expression c = product[2].convert(ElementType::F64) * 0x1p-94;
  Expression d = product[3].convert(ElementType::F64) * 0x1p-126;
  Pair upper = exactSum(a, b);
  Pair lower = exactSum(upper.low, c);
  Pair whole = exactSum(upper.high, lower.high);
  Expression rest = (lower.low + d) + whole.low;
  Expression fraction = whole.high + rest;
  Expression fractionLow = (whole.high - fraction) + rest;
  Expression angle = fraction * 0x1.921fb54442d18p+0;
  Expression tail = fma(fraction, 0x1.921fb54442d18p+0, -angle);
  tail = fma(fraction, 0x1.1a62633145c07p-54, fma(fractionLow, 0x1.921fb54442d18p+0, tail));
  return {quadrant, angle, tail};
}

} // namespace

TurnFraction reduceDouble(Expression x) {
  TurnFraction moderate = reduceModerate(x);
  TurnFraction large = reduceLarge(x);
  Expression isLarge = x >= 0x1p20;
  Expression angle = select(isLarge, large.angle, moderate.angle);
  // Infinity and NaN have digits too; they must not come out as an angle.
  angle = select(x < std::numeric_limits<double>::infinity(), angle, x - x);
  return {select(isLarge, large.quadrant, moderate.quadrant), angle, select(isLarge, large.tail, moderate.tail)};
}

} // namespace mekik::numerics
