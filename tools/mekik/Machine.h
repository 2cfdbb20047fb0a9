// How fast this machine multiplies and adds: the one number an estimate of training time needs from it.
#ifndef MEKIK_TOOLS_MEKIK_MACHINE_H
#define MEKIK_TOOLS_MEKIK_MACHINE_H

#include <cstdint>
#include <string>

namespace mekik::tool {

struct MachineSpeed {
  double operations = 0; // f32 additions and multiplications a second on all cores together
  int64_t cores = 0;
  bool fromFile = false;
};

/// Fused multiply-adds in registers, for half a second on every core at once: a limit that no program exceeds. The best
/// of five parts counts, so that a neighbour's moment does not.
MachineSpeed measureMachine();

/// The measurement kept in `folder` for this processor, else a new one, which is then kept there. A folder that cannot
/// be written is no failure.
MachineSpeed machineSpeed(const std::string &folder);

} // namespace mekik::tool

#endif
