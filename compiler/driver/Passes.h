// The passes: constructors, options, and their registration for mekik-opt.
#ifndef MEKIK_DRIVER_PASSES_H
#define MEKIK_DRIVER_PASSES_H

#include "mlir/Pass/Pass.h"
#include <memory>

namespace mekik {

/// From this many bytes on a tensor is large: it no longer fits the nearest big cache of a core (the second level holds
/// 0.25 to 2 MiB on the machines of our targets), so that writing it and reading it back costs what memory costs.
inline constexpr int64_t kLargeBytes = 2 << 20;

/// About how many elements a tile computes: enough to be worth its beginning, few enough for every thread to have some.
inline constexpr int64_t kTileElements = 2048;

#define GEN_PASS_DECL
#include "compiler/driver/Passes.h.inc"

} // namespace mekik

namespace mekik::driver {

/// Makes every pass of Passes.td, and the pipelines of Pipeline.h, known to a tool by name.
void registerPasses();

} // namespace mekik::driver

#endif
