// The passes: constructors, options, and their registration for mekik-opt.
#ifndef MEKIK_DRIVER_PASSES_H
#define MEKIK_DRIVER_PASSES_H

#include "mlir/Pass/Pass.h"
#include <memory>

namespace mekik {

#define GEN_PASS_DECL
#include "compiler/driver/Passes.h.inc"

} // namespace mekik

namespace mekik::driver {

/// Makes every pass of Passes.td, and the pipelines of Pipeline.h, known to a tool by name.
void registerPasses();

} // namespace mekik::driver

#endif
