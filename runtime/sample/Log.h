// The natural logarithm in double precision out of +, *, / and bit operations, so that losses of counted models are the
// same on every machine and no libm is linked.
//
// x = 2^n m with sqrt(1/2) <= m < sqrt(2); ln m = 2 artanh(f) with f = (m - 1) / (m + 1), |f| < 0.1716, and artanh is
// its series up to f^25, whose remainder is below 1e-20. The error of the whole is below 4e-16 relative.
#ifndef MEKIK_RUNTIME_SAMPLE_LOG_H
#define MEKIK_RUNTIME_SAMPLE_LOG_H

#include <bit>
#include <cstdint>
#include <limits>

namespace mekik::sample {

/// ln x for finite x > 0; -infinity for 0, infinity for infinity, NaN for what is negative or NaN.
inline double portableLog(double x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!(x > 0.0))
    return x == 0.0 ? -infinity : std::numeric_limits<double>::quiet_NaN();
  if (x == infinity)
    return x;
  int exponent = 0;
  if (x < 0x1p-1022) { // subnormal
    x *= 0x1p54;
    exponent = -54;
  }
  auto bits = std::bit_cast<uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFu) | 0x3FF0000000000000u);
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    ++exponent;
  }
  double f = (m - 1.0) / (m + 1.0), square = f * f, sum = 0.0;
  for (int power = 25; power >= 3; power -= 2)
    sum = (sum + 1.0 / power) * square;
  // n ln 2 in two parts, the first exact.
  double tail = exponent * 0x1.a39ef35793c76p-33 + 2.0 * f * sum;
  return exponent * 0x1.62e42feep-1 + (2.0 * f + tail);
}

} // namespace mekik::sample

#endif
