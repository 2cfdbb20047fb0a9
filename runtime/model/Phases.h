// A function of the model cut into phases: runs of dispatches in which no share of the work touches what another share
// writes, so that the threads meet once a phase instead of once a dispatch. What a tile touches is said by
// MekikBuffer::parts; everything here follows from that table and the number of shares, before the first call.
//
// A dispatch of many tiles is split evenly and contiguously, so that a share meets the rows it wrote before. One that
// cannot be split goes to the share that has written what it reads, else to the one with the least to do: small kernels
// that need nothing of each other run side by side.
#ifndef MEKIK_RUNTIME_MODEL_PHASES_H
#define MEKIK_RUNTIME_MODEL_PHASES_H

#include "runtime/abi/MekikAbi.h"
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mekik::model {

/// Tiles of one dispatch. `buffers` are its addresses.
struct TileRange {
  MekikKernel kernel;
  void *const *buffers;
  int64_t first, last;
};

class Phases {
public:
  /// `buffers[d]` are the addresses of dispatch d. The descriptor was checked. shares >= 1.
  Phases(const MekikFunction &function, const std::vector<void *const *> &buffers, int shares);

  size_t count() const { return busy.size(); }
  /// Shares of the phase that have work, at least one: shares 0 .. n - 1 are to be run.
  int sharesOf(size_t phase) const { return busy[phase]; }
  /// Runs one share of a phase. `scratch` as in MekikKernel.
  void run(size_t phase, int share, void *scratch) const;

private:
  void append(std::vector<std::vector<TileRange>> &open);

  size_t shares;
  std::vector<TileRange> ranges;
  std::vector<size_t> starts; // by phase and share, into ranges; one share's ranges end where the next begin
  std::vector<int> busy;      // by phase
};

} // namespace mekik::model

#endif
