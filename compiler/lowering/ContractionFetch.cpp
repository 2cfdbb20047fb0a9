// What comes from beyond the second-level cache is asked for while other sums are computed, a line or two in each turn
// of the loop over k: asked for at once, it would have to be waited for.
#include "compiler/lowering/ContractionEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace mekik::lowering {

using mlir::Value;

namespace {

/// memref.prefetch counts from 0, not to be kept, to 3, the nearest cache.
enum Cache : uint32_t { SecondLevel = 2, FirstLevel = 3 };

/// Steps of k ahead, where each is a line of its own: as long as a line takes to come from afar, and as many as do not
/// throw each other out of the nearest cache if they share a set of it.
constexpr int64_t kFarSteps = 32, kNearSteps = 8;

void fetch(LoopBuilder &at, Value buffer, Value offset, Cache cache) {
  mlir::memref::PrefetchOp::create(at.builder, at.loc, buffer, offset, /*isWrite=*/false, cache, /*isDataCache=*/true);
}

} // namespace

Value ContractionEmitter::leftAhead(Offsets base, Value column, int64_t rows) {
  Value row = at.rem(at.div(column, plan.blockColumns()), rows);
  Value k = at.select(depth.last, at.index(0), at.index(plan.depth));
  return at.add(at.add(base.left, at.mul(row, plan.row.left)), k);
}

Value ContractionEmitter::rightAhead(Offsets base, Value column, Value block) {
  int64_t lastColumn = (lanes.size() / plan.blockColumns() - 1) * plan.blockColumns();
  // Not atColumn(): that notes where the block at hand lies in a triangle.
  Value next = at.min(at.add(column, plan.blockColumns()), lastColumn);
  Value start = lanes.around.size == 1 ? at.mul(next, lanes.axis.right)
                                       : at.mul(at.div(next, lanes.axis.size), lanes.around.right);
  start = at.add(base.right, start);
  if (plan.access == RightAccess::Transposed) {
    int64_t together = lanesOfTurns(), groups = llvm::divideCeil(plan.blockColumns(), together);
    return at.add(start, at.mul(at.rem(block, groups), together * inRight.step));
  }
  // One vector of a part of the steps of k.
  int64_t turns = plan.depth / kUnroll, parts = llvm::divideCeil(plan.depth, turns);
  Value vector = at.rem(block, plan.blockVectors), part = at.rem(at.div(block, plan.blockVectors), parts);
  Value k = at.min(at.mul(part, turns), at.clamp(at.sub(depth.length, at.index(turns)), depth.length));
  return at.add(at.add(start, at.mul(vector, plan.width)), at.mul(k, plan.contraction.contracted.back().right));
}

Value ContractionEmitter::resultAhead(Offsets base, Value row) {
  Value rows = at.clamp(at.sub(at.index(plan.row.size - plan.blockRows), row), at.index(plan.blockRows));
  return at.add(base.result, at.mul(rows, plan.row.result));
}

Value ContractionEmitter::rowsAhead(Offsets base, Value row) {
  Value rows = at.clamp(at.sub(at.index(plan.row.size - plan.blockRows), row), at.index(plan.blockRows));
  return at.add(base.left, at.mul(rows, plan.row.left));
}

void ContractionEmitter::fetchAhead(const Block &block, Value k) {
  // A vector may lie across two lines. The first came with the vector before, so the last element is asked for.
  // Whatever is asked for lies in its operand: addresses outside of it must not be formed.
  bool even = LoopBuilder::constant(depth.length).has_value();
  Value turn = at.div(k, kUnroll);
  if (nextLeft)
    fetch(at, left, at.add(nextLeft, even ? k : at.min(k, depth.lastOfNext)), SecondLevel);
  if (nextRight && plan.access == RightAccess::Transposed) {
    int64_t part = plan.depth / lanesOfTurns();
    Value lane = at.div(k, part), step = at.mul(at.rem(k, part), lanesOfTurns());
    if (!even)
      step = at.min(step, at.sub(depth.length, at.index(1)));
    if (plan.depth % lanesOfTurns())
      lane = at.min(lane, lanesOfTurns() - 1);
    fetch(at, right, at.add(at.add(nextRight, at.mul(lane, inRight.step)), step), SecondLevel);
  } else if (nextRight) {
    Value place = at.mul(turn, plan.contraction.contracted.back().right);
    fetch(at, right, at.add(at.add(nextRight, place), plan.width - 1), SecondLevel);
  }
  int64_t lineElements = kLineBytes / plan.contraction.elementBytes;
  if (nextRows) {
    int64_t turnsOfLine = lineElements / kUnroll, together = llvm::divideCeil(plan.blockRows, turnsOfLine);
    Value row = at.mul(at.rem(turn, turnsOfLine), together);
    for (int64_t each = 0; each < together; ++each) {
      Value there = at.mul(at.min(at.add(row, each), block.rows - 1), plan.row.left);
      fetch(at, left, at.add(at.add(nextRows, there), k), SecondLevel);
    }
  }
  if (nextSteps)
    for (int64_t each = 0; each < kUnroll; ++each)
      for (auto [ahead, cache] : {std::pair(kFarSteps, SecondLevel), {kNearSteps, FirstLevel}}) {
        Value step = at.min(at.add(k, ahead + each), depth.lastStep);
        fetch(at, left, at.add(nextSteps, at.mul(step, plan.contraction.contracted.back().left)), cache);
      }
  if (nextResult) {
    Value row = at.add(nextResult, at.mul(at.min(turn, block.rows - 1), plan.row.result));
    for (int64_t vector = 0; vector < block.vectors; ++vector)
      fetch(at, result, at.add(row, inResult.of(vector * plan.width + block.lanesOf(vector) - 1)), FirstLevel);
  }
}

} // namespace mekik::lowering
