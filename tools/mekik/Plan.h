// What a model needs, counted from the compilation itself: parameters by block, work and bytes of each function,
// arenas.
#ifndef MEKIK_TOOLS_MEKIK_PLAN_H
#define MEKIK_TOOLS_MEKIK_PLAN_H

#include "compiler/driver/Compiler.h"
#include "runtime/base/Status.h"
#include "runtime/estimate/DispatchTime.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mekik::tool {

struct ParameterPlan {
  std::string name, type, group;
  std::vector<int64_t> shape;
  int64_t count = 0;
};

/// Parameters of the same block, or, outside of blocks, those used together.
struct GroupPlan {
  std::string name;
  int64_t parameters = 0, tensors = 0;
};

struct DispatchPlan {
  std::string kernel;
  unsigned line = 0;   // of the source; 0 if unknown
  estimate::Work work; // what the compiled program will say of it
};

struct FunctionPlan {
  std::string name;
  int64_t dispatches = 0, kernels = 0; // kernels: distinct ones among the dispatches
  double operations = 0;               // floating-point operations of a call
  double bytes = 0;                    // read and written by its dispatches
  int64_t workBytes = 0;
  std::vector<DispatchPlan> schedule;
};

struct Plan {
  std::string model, configuration;
  std::vector<ParameterPlan> parameters;
  std::vector<GroupPlan> groups; // in order of their first parameter
  std::vector<FunctionPlan> functions;
  int64_t unitsPerStep = 0; // symbols of a training step for a model about text, else examples; 0 without inputs
  bool isAboutText = false; // its inputs are ids, by [batch, context]
  int64_t parameterBytes = 0, stateBytes = 0, workBytes = 0, scratchBytes = 0;

  int64_t parameterCount() const;
};

/// `compiler` is at stage Graph; it is advanced to Vector.
base::StatusOr<Plan> makePlan(driver::Compiler &compiler, std::string &messages);

} // namespace mekik::tool

#endif
