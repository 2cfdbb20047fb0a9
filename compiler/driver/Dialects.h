// Every dialect the compiler works in, for tools and contexts alike.
#ifndef MEKIK_DRIVER_DIALECTS_H
#define MEKIK_DRIVER_DIALECTS_H

#include "mlir/IR/DialectRegistry.h"

namespace mekik::driver {

/// The graph dialect, the MLIR dialects it is lowered through, and their translation to LLVM IR.
mlir::DialectRegistry dialects();

} // namespace mekik::driver

#endif
