// The order of the passes, and nothing else.
#include "compiler/driver/Pipeline.h"
#include "mlir/Transforms/Passes.h"

namespace mekik::driver {

void addPassesTo(Stage stage, mlir::OpPassManager &passes, const PipelineOptions &options) {
  switch (stage) {
  case Stage::Gradient:
    passes.addPass(createDeriveFunctions({options.gradientFunction}));
    passes.addPass(mlir::createCanonicalizerPass());
    passes.addPass(mlir::createCSEPass());
    return;
  case Stage::Kernels:
    passes.addPass(createExpandComposites());
    passes.addPass(createCompactScatters({options.largeBytes}));
    passes.addPass(mlir::createCanonicalizerPass());
    passes.addPass(mlir::createCSEPass());
    passes.addPass(createFormKernels({options.largeBytes}));
    passes.addPass(createRematerialize({options.largeBytes}));
    passes.addPass(createMarkUnread());
    passes.addPass(createDeduplicateKernels());
    return;
  case Stage::Vector:
    passes.addPass(createPlanMemory());
    passes.addPass(createEmitLoops({options.cpu, options.tileElements}));
    return;
  case Stage::Llvm:
    passes.addPass(createLowerToLlvm());
    return;
  case Stage::Ast:
  case Stage::Graph:
  case Stage::Asm:
  case Stage::Obj:
  case Stage::Lib:
  case Stage::Exe:
    return;
  }
}

} // namespace mekik::driver
