// Pass `compact-scatters`: the gradient of an embedding is a table nearly all of whose rows are zero. If it is large,
// the rows that are hit are summed in a small table, and the large one becomes an element op that picks its rows from
// there. Where that is read by element ops alone, no buffer ever holds it.
//
//   slot[t]    n - (the first position with the id of position t), so 1 .. n; n the number of positions
//   small      scatter_add of the updates by slot: rows 0 .. n, and row 0 is hit by none
//   where[r]   the slot of id r, 0 if no position has it
//   result     rows `where` of `small`
//
// Rows are the same chains of the same updates from +0, and the others are +0: the bits stay.
#include "compiler/driver/Passes.h"
#include "compiler/graph/Build.h"

namespace mekik {
#define GEN_PASS_DEF_COMPACTSCATTERS
#include "compiler/driver/Passes.h.inc"
} // namespace mekik

using namespace mlir;
using namespace mekik;
using graph::shapeOf;

namespace {

/// The small table is at most half of the large one, finding equal ids costs less than one pass over the large one, and
/// slots are exact in f32.
bool pays(graph::ScatterAddOp op, int64_t largeBytes) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t positions = ShapedType::getNumElements(shapeOf(op.getIds())), rows = shapeOf(op.getResult()).front();
  return type.getNumElements() * (type.getElementTypeBitWidth() / 8) >= largeBytes && 2 * (positions + 1) <= rows &&
         positions <= type.getNumElements() / positions && positions < (1 << 24);
}

Value compact(OpBuilder &builder, graph::ScatterAddOp op) {
  graph::Build build(builder, op.getLoc());
  int64_t positions = ShapedType::getNumElements(shapeOf(op.getIds())), rows = shapeOf(op.getResult()).front();
  auto idType = cast<RankedTensorType>(op.getIds().getType()).getElementType();
  auto numberType = cast<RankedTensorType>(op.getResult().getType()).getElementType();
  SmallVector<int64_t> updatesShape(shapeOf(op.getResult()));
  updatesShape.front() = positions;
  Value ids = build.reshape(op.getIds(), {positions}), updates = build.reshape(op.getUpdates(), updatesShape);

  // n - t for position t, along the last axis of `shape`.
  auto fromTheEnd = [&](ArrayRef<int64_t> shape) {
    Value position = build.cast(build.iota(shape, shape.size() - 1), numberType);
    return build.sub(static_cast<double>(positions), position);
  };
  SmallVector<int64_t> pairs = {positions, positions};
  Value equal = build.compare("eq", build.broadcastAlong(ids, {1}, pairs), build.broadcastAlong(ids, {0}, pairs));
  Value candidates = fromTheEnd(pairs);
  Value slot = build.max(build.select(equal, candidates, build.constantLike(candidates, 0)), {1});
  Value own = fromTheEnd({positions});
  Value first = build.select(build.compare("eq", slot, own), slot, build.constantLike(slot, 0));

  auto scatter = [&](Value to, Value what, int64_t size) -> Value {
    return graph::ScatterAddOp::create(builder, op.getLoc(), to, what, size);
  };
  Value small = scatter(build.cast(slot, idType), updates, positions + 1);
  Value where = build.cast(build.reshape(scatter(ids, build.reshape(first, {positions, 1}), rows), {rows}), idType);
  return graph::EmbeddingOp::create(builder, op.getLoc(), where, small);
}

struct CompactScatters : mekik::impl::CompactScattersBase<CompactScatters> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<graph::ScatterAddOp> scatters;
    getOperation().walk([&](graph::ScatterAddOp op) {
      if (pays(op, largeBytes))
        scatters.push_back(op);
    });
    for (graph::ScatterAddOp op : scatters) {
      OpBuilder builder(op);
      op.getResult().replaceAllUsesWith(compact(builder, op));
      op.erase();
    }
  }
};

} // namespace
