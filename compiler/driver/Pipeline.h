// The order of the passes between two stages.
#ifndef MEKIK_DRIVER_PIPELINE_H
#define MEKIK_DRIVER_PIPELINE_H

#include "compiler/driver/Stage.h"
#include "mlir/Pass/PassManager.h"
#include <string>

namespace mekik::driver {

struct PipelineOptions {
  /// "x86-64-v3" or "x86-64-v4".
  std::string cpu = "x86-64-v3";
  /// Also derive @gradient.
  bool gradientFunction = false;
};

/// Appends the passes that lead from `stage`'s predecessor to `stage`; Gradient, Kernels, Vector or Llvm.
void addPassesTo(Stage stage, mlir::OpPassManager &passes, const PipelineOptions &options);

} // namespace mekik::driver

#endif
