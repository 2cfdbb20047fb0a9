#include "runtime/estimate/DispatchTime.h"
#include <algorithm>

namespace mekik::estimate {

/// What the beginning of a dispatch costs a thread.
static constexpr double beginSeconds = 100e-9;

std::vector<double> dispatchSeconds(std::span<const Work> dispatches, double workingSet, int64_t threads,
                                    const MachineSpeed &speed) {
  int64_t mostTiles = 1;
  for (const Work &work : dispatches)
    mostTiles = std::max(mostTiles, work.tiles);
  double cores = static_cast<double>(std::min({threads, mostTiles, int64_t{speed.cores}})), set = workingSet / cores;
  std::vector<double> seconds;
  for (const auto &[cost, tiles] : dispatches) {
    double parts = std::clamp<double>(static_cast<double>(tiles), 1, cores);
    double compute = cost.cycles / (speed.cyclesPerSecond(cost.contraction != 0) * parts);
    double memory = cost.traffic / (speed.bytesPerSecond(set) * parts / static_cast<double>(speed.cores));
    // A row's next elements arrive while it computes; a contraction packs first and multiplies then.
    bool isNear = set <= static_cast<double>(speed.levels.front().bytes);
    double both = cost.contraction ? compute + (isNear ? 0 : memory) : std::max(compute, memory);
    seconds.push_back(both + beginSeconds);
  }
  return seconds;
}

std::vector<double> dispatchSeconds(const MekikModel &model, const MekikFunction &function, int64_t threads,
                                    const MachineSpeed &speed) {
  std::vector<Work> dispatches;
  for (uint64_t i = 0; i < function.dispatchCount; ++i)
    dispatches.push_back({function.dispatches[i].cost, function.dispatches[i].tiles});
  uint64_t set = model.parameterBytes + model.stateBytes + function.workBytes;
  return dispatchSeconds(dispatches, static_cast<double>(set), threads, speed);
}

} // namespace mekik::estimate
