// Axes as the model language writes them: negative ones count from the back.
#ifndef MEKIK_GRAPH_AXIS_H
#define MEKIK_GRAPH_AXIS_H

#include "compiler/graph/Graph.h"

namespace mekik::graph {

/// `axis` counted from the front. It must lie in [-rank, rank).
inline int64_t positiveAxis(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

/// Checks that `axis` names an axis of a tensor of this shape; reports through `op` otherwise.
inline mlir::LogicalResult verifyAxis(mlir::Operation *op, int64_t axis, llvm::ArrayRef<int64_t> shape) {
  auto rank = static_cast<int64_t>(shape.size());
  if (rank == 0)
    return op->emitOpError("expects a tensor with at least one axis, got a scalar");
  if (axis < -rank || axis >= rank)
    return op->emitOpError() << "expects an axis from " << -rank << " to " << rank - 1 << " of shape "
                             << shapeText(shape) << ", got " << axis;
  return mlir::success();
}

} // namespace mekik::graph

#endif
