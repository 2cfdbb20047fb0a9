// Greedy by size: for neural networks within a few per cent of the bound, and simple enough to trust.
#include "compiler/memory/ArenaPlanner.h"
#include <algorithm>
#include <map>
#include <numeric>

namespace mekik::memory {

static int64_t alignUp(int64_t value, int64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

static int64_t mostAlive(const std::vector<Lifetime> &buffers, int64_t alignment) {
  std::map<int64_t, int64_t> change;
  for (const Lifetime &buffer : buffers) {
    change[buffer.first] += alignUp(buffer.bytes, alignment);
    change[buffer.last + 1] -= alignUp(buffer.bytes, alignment);
  }
  int64_t alive = 0, most = 0;
  for (auto [time, bytes] : change)
    most = std::max(most, alive += bytes);
  return most;
}

ArenaSize placeInArena(std::vector<Lifetime> &buffers, int64_t alignment) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });

  std::vector<size_t> placed; // sorted by offset
  int64_t size = 0;
  for (size_t index : order) {
    Lifetime &buffer = buffers[index];
    int64_t bytes = alignUp(buffer.bytes, alignment), offset = 0;
    for (size_t other : placed) {
      const Lifetime &taken = buffers[other];
      if (taken.last < buffer.first || buffer.last < taken.first)
        continue;
      if (offset + bytes <= taken.offset)
        break;
      offset = std::max(offset, taken.offset + alignUp(taken.bytes, alignment));
    }
    buffer.offset = offset;
    size = std::max(size, offset + bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), index,
                                   [&](size_t a, size_t b) { return buffers[a].offset < buffers[b].offset; }),
                  index);
  }
  return {size, mostAlive(buffers, alignment)};
}

} // namespace mekik::memory
