// Arguments at which the functions are judged, and a way to run a definition of one argument in both forms.
#ifndef MEKIK_TESTS_NUMERICS_SAMPLES_H
#define MEKIK_TESTS_NUMERICS_SAMPLES_H

#include "compiler/numerics/NumberArithmetic.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace mekik::numerics {

template <typename Float> std::vector<Float> specialValues() {
  using Limits = std::numeric_limits<Float>;
  std::vector<Float> values;
  for (Float value : {Float(0), Limits::denorm_min(), Limits::min(), std::nextafter(Limits::min(), Float(0)),
                      Limits::epsilon(), Float(0.25), Float(0.5), Float(1), std::nextafter(Float(1), Float(0)),
                      std::nextafter(Float(1), Float(2)), Float(2), Float(3), Float(1.5), Float(20), Float(100),
                      Float(1e10), Limits::max(), Limits::infinity(), Limits::quiet_NaN()}) {
    values.push_back(value);
    values.push_back(-value);
  }
  return values;
}

/// Every 2^12-th float and the floats around every power of two, both signs.
inline std::vector<float> denseFloats() {
  std::vector<float> values = specialValues<float>();
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 4096)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits + bits / 4096 % 4096)));
  for (uint32_t exponent = 0; exponent < 256; ++exponent)
    for (int32_t delta = -8; delta <= 8; ++delta)
      for (uint32_t sign : {0u, 0x80000000u})
        values.push_back(std::bit_cast<float>(sign ^ static_cast<uint32_t>((exponent << 23) + delta)));
  return values;
}

inline uint64_t nextRandom(uint64_t &state) { // splitmix64, G. Steele et al.
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Doubles spread over all exponents, and more of them where the functions change.
inline std::vector<double> denseDoubles(unsigned count) {
  std::vector<double> values = specialValues<double>();
  uint64_t state = 1;
  for (unsigned i = 0; i < count; ++i) {
    uint64_t bits = nextRandom(state);
    values.push_back(std::bit_cast<double>(bits));
    uint64_t exponent = 1023 - 30 + nextRandom(state) % 41; // 2^-30 .. 2^10
    values.push_back(std::bit_cast<double>((bits & 0x800fffffffffffffu) | exponent << 52));
    values.push_back((static_cast<double>(bits >> 11) * 0x1p-53 - 0.5) * 4);
  }
  for (uint64_t exponent = 0; exponent < 2048; ++exponent)
    for (int64_t delta = -2; delta <= 2; ++delta)
      values.push_back(std::bit_cast<double>(static_cast<uint64_t>((exponent << 52) + delta)));
  return values;
}

template <typename Float> bool sameBits(Float a, Float b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

} // namespace mekik::numerics

#endif
