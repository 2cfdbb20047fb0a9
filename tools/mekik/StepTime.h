// How long a training step takes on a machine, kernel by kernel, before it has run once: the estimates of its
// dispatches (runtime/estimate/DispatchTime.h) brought together.
#ifndef MEKIK_TOOLS_MEKIK_STEP_TIME_H
#define MEKIK_TOOLS_MEKIK_STEP_TIME_H

#include "tools/mekik/Plan.h"

namespace mekik::tool {

struct StepTime {
  struct Kernel {
    std::string name;
    unsigned line = 0; // of the source; 0 if unknown
    int64_t calls = 0;
    double seconds = 0; // of all calls, on one core
  };
  std::vector<Kernel> kernels;      // the dearest first
  double oneCore = 0, allCores = 0; // seconds of a step
};

/// Of the function train_step; zeros if the plan has none. `speed` was measured.
StepTime estimateStep(const Plan &plan, const estimate::MachineSpeed &speed);

/// Ends with a line that says how long the configured steps take, if `steps` is not 0.
std::string stepTimeForPeople(const StepTime &time, const estimate::MachineSpeed &speed, int64_t steps);
/// A JSON object.
std::string stepTimeForPrograms(const StepTime &time);

} // namespace mekik::tool

#endif
