// Draws of the runtime (which windows a step sees, which symbol the sampler takes) as pure functions of
// (seed, stream, step, element), on the Philox definition shared with compiled code. There is no state to save.
#ifndef MEKIK_RUNTIME_BASE_RANDOM_H
#define MEKIK_RUNTIME_BASE_RANDOM_H

#include "runtime/abi/MekikPhilox.h"
#include <cstdint>

namespace mekik::base {

/// 64 random bits: those of the elements 2 * element (low half) and 2 * element + 1 (high half) of the stream.
inline uint64_t randomBits64(uint64_t seed, uint32_t stream, uint64_t step, uint64_t element) {
  uint64_t low = mekikRandomBits(seed, stream, step, 2 * element);
  uint64_t high = mekikRandomBits(seed, stream, step, 2 * element + 1);
  return high << 32 | low;
}

/// Uniform in [0, count), count > 0: the high 64 bits of randomBits64 * count. A value's probability is off from
/// 1/count by less than 2^-64.
inline uint64_t uniformIndex(uint64_t seed, uint32_t stream, uint64_t step, uint64_t element, uint64_t count) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(randomBits64(seed, stream, step, element)) * count >> 64);
}

/// Uniform in [0, 1): a multiple of 2^-53, from the upper 53 of randomBits64.
inline double uniformDouble(uint64_t seed, uint32_t stream, uint64_t step, uint64_t element) {
  return static_cast<double>(randomBits64(seed, stream, step, element) >> 11) * 0x1p-53;
}

} // namespace mekik::base

#endif
