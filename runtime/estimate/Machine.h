// How fast this machine is: the numbers that an estimate of time needs from it.
#ifndef MEKIK_RUNTIME_ESTIMATE_MACHINE_H
#define MEKIK_RUNTIME_ESTIMATE_MACHINE_H

#include "runtime/abi/MekikAbi.h"
#include "runtime/base/Status.h"
#include <array>

namespace mekik::estimate {

/// Speeds are those of all cores together, working at once.
struct MachineSpeed {
  /// f32 additions and multiplications a second in registers: a limit that no program exceeds. The best of several
  /// moments, so that a neighbour's does not count.
  double operations = 0;
  /// The same of a product of matrices out of the second-level cache, as kernels compute them.
  double products = 0;
  /// Bytes a second that an optimizer's update (four arrays read, three of them written) moves, by the size of its
  /// arrays, in an ordinary moment.
  struct Level {
    int64_t bytes = 0; // of all arrays, on each core
    double speed = 0;
  };
  std::array<Level, 3> levels{};
  int64_t cores = 0; // that this process may run on

  /// Of one core. A contraction counts multiply-adds of whole vectors, two a cycle, and waits for the second-level
  /// cache as the measured product did.
  double cyclesPerSecond(bool contraction) const;
  /// Bytes a second for work on a set of `bytes` on each core.
  double bytesPerSecond(double bytes) const;
};

/// The measurement kept in machine.json of base::cacheFolder for this processor and as many cores, else a new one,
/// which takes about a second and is then kept there. Without a folder that can be written it is made and forgotten.
/// Errors: ResourceExhausted if memory or threads are not to be had.
base::StatusOr<MachineSpeed> machineSpeed();

} // namespace mekik::estimate

#endif
