// The order of the passes between two stages.
#ifndef MEKIK_DRIVER_PIPELINE_H
#define MEKIK_DRIVER_PIPELINE_H

#include "compiler/driver/Passes.h"
#include "compiler/driver/Stage.h"
#include "mlir/Pass/PassManager.h"
#include <string>

namespace mekik::driver {

struct PipelineOptions {
  /// "x86-64-v3" or "x86-64-v4".
  std::string cpu = "x86-64-v3";
  /// Also derive @gradient.
  bool gradientFunction = false;
  /// Tensors of at least this many bytes are worth a look when memory is saved.
  int64_t largeBytes = kLargeBytes;
  /// About how many elements a tile computes.
  int64_t tileElements = kTileElements;
};

/// Appends the passes that lead from `stage`'s predecessor to `stage`; Gradient, Kernels, Vector or Llvm.
void addPassesTo(Stage stage, mlir::OpPassManager &passes, const PipelineOptions &options);

} // namespace mekik::driver

#endif
