// Places buffers with known lifetimes in one arena. Knows nothing of kernels or IR.
#ifndef MEKIK_MEMORY_ARENA_PLANNER_H
#define MEKIK_MEMORY_ARENA_PLANNER_H

#include <cstdint>
#include <vector>

namespace mekik::memory {

/// Alive from dispatch `first` to dispatch `last`, both included.
struct Lifetime {
  int64_t bytes;
  int64_t first;
  int64_t last;
  int64_t offset = -1; ///< set by placeInArena, a multiple of the alignment
};

struct ArenaSize {
  int64_t bytes;      ///< what the placement needs
  int64_t lowerBound; ///< no placement can need less: the most bytes alive at one dispatch
};

/// Gives every buffer an offset such that buffers alive at once do not overlap: largest first, each as low as it fits.
ArenaSize placeInArena(std::vector<Lifetime> &buffers, int64_t alignment);

} // namespace mekik::memory

#endif
