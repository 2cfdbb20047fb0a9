// The numbers of the contract that schedules, evaluator and ops must agree on (docs/numerics.md). They decide bits: none
// of them is a tuning knob.
#ifndef MEKIK_NUMERICS_CONTRACT_H
#define MEKIK_NUMERICS_CONTRACT_H

#include <cstdint>

namespace mekik::numerics {

/// Accumulators of a row, and lanes of elementwise code, on every target.
inline constexpr int64_t kLanes = 16;

/// A row of more elements than this is folded in chunks of this many.
inline constexpr int64_t kFoldChunk = 4096;

} // namespace mekik::numerics

#endif
