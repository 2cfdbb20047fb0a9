// Sixteen lanes as the numerics contract uses them: masks for the last elements of a row, and the order of a fold.
#ifndef MEKIK_LOWERING_LANES_H
#define MEKIK_LOWERING_LANES_H

#include "compiler/lowering/KernelEmitter.h"

namespace mekik::lowering {

using numerics::kFoldChunk;

/// Lanes 0 .. count - 1.
mlir::Value maskOf(mlir::OpBuilder &builder, mlir::Location loc, int64_t count);

/// Sixteen accumulators at the identity of `fold`.
mlir::Value identityLanes(mlir::OpBuilder &builder, mlir::Location loc, graph::ReductionOpInterface fold);
/// Folds `element` into the accumulators, in the lanes of `mask` if there is one.
mlir::Value foldInto(mlir::OpBuilder &builder, mlir::Location loc, graph::ReductionOpInterface fold,
                     mlir::Value accumulators, numerics::Number element, mlir::Value mask);
/// Accumulators l and l + 8, then l + 4, l + 2, l + 1: one number.
numerics::Number foldLanes(mlir::OpBuilder &builder, mlir::Location loc, graph::ReductionOpInterface fold,
                           mlir::Value accumulators);
/// The same for 1, 2 or 4 rows, in fewer steps: rows share a vector as soon as half of one is enough for each.
llvm::SmallVector<numerics::Number> foldLanesOfRows(mlir::OpBuilder &builder, mlir::Location loc,
                                                    graph::ReductionOpInterface fold,
                                                    llvm::ArrayRef<mlir::Value> accumulators);

} // namespace mekik::lowering

#endif
