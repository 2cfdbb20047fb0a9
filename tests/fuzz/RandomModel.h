// Random valid models from a seed: every op of the graph dialect in odd shapes and odd company, with a loss that every
// parameter influences. The same seed gives the same model on every machine.
#ifndef MEKIK_TESTS_FUZZ_RANDOM_MODEL_H
#define MEKIK_TESTS_FUZZ_RANDOM_MODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <cstdint>

namespace mekik::fuzz {

struct RandomModelOptions {
  bool f64 = false;
  int ops = 12; ///< about so many ops between inputs and loss
};

/// A module as the front end would give it (compiler/graph/ModelConventions.h): @train, @eval, an optimizer.
mlir::OwningOpRef<mlir::ModuleOp> randomModel(mlir::MLIRContext &context, uint64_t seed,
                                              const RandomModelOptions &options = {});

} // namespace mekik::fuzz

#endif
