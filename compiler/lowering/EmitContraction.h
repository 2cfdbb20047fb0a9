// Emits the loops of a contraction: register blocks of independent multiply-add chains, k innermost, in the order of
// the numerics contract whatever the plan.
#ifndef MEKIK_LOWERING_EMIT_CONTRACTION_H
#define MEKIK_LOWERING_EMIT_CONTRACTION_H

#include "compiler/graph/Graph.h"
#include "compiler/lowering/Contraction.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mekik::lowering {

/// Where the lanes of a finished vector go: `lanes` elements of the row-major result, lane l to `offset` +
/// spread.of(l). The vector may be wider; the lanes beyond are without meaning. A run of consecutive elements may cross
/// from one row of the result's last axis into the next where the contraction allows it.
struct ContractionPosition {
  mlir::Value offset; // index
  int64_t lanes;
  LaneSpread spread;
};

/// Receives each vector of finished sums exactly once and returns what is stored in its place (same type). May emit
/// ops.
using ContractionEpilogue =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value, const ContractionPosition &)>;

/// Emits tiles [first, last) (index values) of `plan`. `left` and `right` are the operands as written (before any
/// exchange), `result` the result: dense memrefs of f32 or f64. `scratch` is a memref<Nxi8>, N >= plan.scratchBytes(),
/// or null if that is 0. Without an epilogue the sums themselves are stored.
void emitContraction(mlir::OpBuilder &builder, mlir::Location loc, const ContractionPlan &plan, mlir::Value left,
                     mlir::Value right, mlir::Value result, mlir::Value scratch, mlir::Value first, mlir::Value last,
                     ContractionEpilogue epilogue = nullptr);

/// The same from an op. Tiles and scratch follow from the op's shapes and the target alone.
ContractionPlan planContraction(graph::ContractionOpInterface op, const Target &target);
int64_t contractionTiles(graph::ContractionOpInterface op, const Target &target);
ContractionParts contractionParts(graph::ContractionOpInterface op, const Target &target);
int64_t contractionScratchBytes(graph::ContractionOpInterface op, const Target &target);
void emitContraction(mlir::OpBuilder &builder, mlir::Location loc, graph::ContractionOpInterface op, mlir::Value left,
                     mlir::Value right, mlir::Value result, mlir::Value scratch, mlir::Value first, mlir::Value last,
                     const Target &target, ContractionEpilogue epilogue = nullptr);

} // namespace mekik::lowering

#endif
