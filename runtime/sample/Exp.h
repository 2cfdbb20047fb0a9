// e^x in double precision out of +, *, and bit operations, so that samples are the same on every machine and no libm is
// linked.
//
// x = n ln 2 + r with |r| <= ln 2 / 2; ln 2 is split into a high part of 32 significant bits, so that n * high is
// exact, and the rest. e^r is its Taylor polynomial of degree 13, whose remainder is below 5e-18. The error of the
// whole is below 2 units in the last place (4.5e-16 relative); results below 2^-1022 are rounded once more to a
// subnormal.
#ifndef MEKIK_RUNTIME_SAMPLE_EXP_H
#define MEKIK_RUNTIME_SAMPLE_EXP_H

#include <bit>
#include <cstdint>
#include <limits>

namespace mekik::sample {

/// 2^n for -1022 <= n <= 1023.
inline double powerOfTwo(int n) { return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52); }

/// e^x; 0 below -745.2, infinity above 709.8, NaN for NaN.
inline double portableExp(double x) {
  if (x != x)
    return x;
  if (x > 709.79)
    return std::numeric_limits<double>::infinity();
  if (x < -745.2)
    return 0.0;
  int n = static_cast<int>(x * 0x1.71547652b82fep+0 + (x < 0 ? -0.5 : 0.5));
  double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  static constexpr double inverseFactorials[] = {
      1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0,
      1.0 / 5040.0,       1.0 / 720.0,       1.0 / 120.0,      1.0 / 24.0,      1.0 / 6.0,      0.5};
  double sum = 0.0;
  for (double coefficient : inverseFactorials)
    sum = sum * r + coefficient;
  double result = 1.0 + (r + r * r * sum);
  // Scaled in two steps, so that neither factor leaves the normal range.
  int half = n / 2;
  return result * powerOfTwo(half) * powerOfTwo(n - half);
}

} // namespace mekik::sample

#endif
