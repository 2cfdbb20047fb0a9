// How fast this machine is: the numbers that an estimate of training time needs from it.
#ifndef MEKIK_TOOLS_MEKIK_MACHINE_H
#define MEKIK_TOOLS_MEKIK_MACHINE_H

#include <array>
#include <cstdint>
#include <string>

namespace mekik::tool {

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
  int64_t cores = 0;
  bool fromFile = false;

  /// Of one core. A contraction counts multiply-adds of whole vectors, two a cycle, and waits for the second-level cache
  /// as the measured product did.
  double cyclesPerSecond(bool contraction) const;
  /// Bytes a second for work on a set of `bytes` on each core.
  double bytesPerSecond(double bytes) const;
};

/// Takes about a second.
MachineSpeed measureMachine();

/// The measurement kept in `folder` for this processor, else a new one, which is then kept there. A folder that cannot
/// be written is no failure.
MachineSpeed machineSpeed(const std::string &folder);

} // namespace mekik::tool

#endif
