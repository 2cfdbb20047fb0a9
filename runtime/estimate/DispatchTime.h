// How long the dispatches of a function take on a machine, from what the compiler counted of them and what was measured
// of the machine. The only place of this arithmetic: `mekik plan` shows it before anything runs, `train --profile`
// beside what was measured. An estimate, not a limit.
#ifndef MEKIK_RUNTIME_ESTIMATE_DISPATCHTIME_H
#define MEKIK_RUNTIME_ESTIMATE_DISPATCHTIME_H

#include "runtime/estimate/Machine.h"
#include <span>
#include <vector>

namespace mekik::estimate {

struct Work {
  MekikCost cost;
  int64_t tiles;
};

/// Seconds of each dispatch of a function on `threads` cores, the others working beside it. `workingSet`: bytes of
/// parameters, optimizer state and the function's part of the work arena.
std::vector<double> dispatchSeconds(std::span<const Work> dispatches, double workingSet, int64_t threads,
                                    const MachineSpeed &speed);

/// The same of a function of a compiled model.
std::vector<double> dispatchSeconds(const MekikModel &model, const MekikFunction &function, int64_t threads,
                                    const MachineSpeed &speed);

} // namespace mekik::estimate

#endif
