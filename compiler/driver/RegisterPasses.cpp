// The passes known to mekik-opt by name. The registration functions are inline: a pass is linked only once it is named
// here.
#include "compiler/driver/Passes.h"
#include "mlir/Transforms/Passes.h"

namespace mekik {
#define GEN_PASS_REGISTRATION
#include "compiler/driver/Passes.h.inc"
} // namespace mekik

namespace mekik::driver {

void registerPasses() {
  mlir::registerCanonicalizer();
  mlir::registerCSE();
  registerDeriveFunctions();
  registerExpandComposites();
  registerCompactScatters();
  registerFormKernels();
  registerRematerialize();
  registerMarkUnread();
  registerDeduplicateKernels();
  registerPlanMemory();
  registerEmitLoops();
  registerLowerToLlvm();
}

} // namespace mekik::driver
