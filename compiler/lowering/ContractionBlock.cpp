// One register block: rows x vectors of accumulators that live in registers while k runs.
#include "compiler/lowering/ContractionEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mekik::lowering {

using mlir::Value;
using Values = LoopBuilder::Values;

namespace {

/// The number of steps of k up to which all of them are written out.
constexpr int64_t kUnrollWhole = 8;

} // namespace

void ContractionEmitter::emitBlock(Offsets base, Value row, Value column, int64_t rows, int64_t vectors,
                                   int64_t lastLanes) {
  Block block{rows, vectors, lastLanes, plan.width};
  if (!bothSidesKept())
    return emitSums(block, base, row, column);
  auto sums = [&] { emitSums(block, base, row, column); };
  if (plan.leavesOutside)
    return at.when(touchesTriangle(block), sums);
  at.when(touchesTriangle(block), sums, [&] { storeSums(block, base, Values(rows * vectors, zeros(plan.width))); });
}

void ContractionEmitter::emitSums(const Block &block, Offsets base, Value row, Value column) {
  Values sums(block.rows * block.vectors, zeros(plan.width));
  auto forEach = [&](llvm::function_ref<void(int64_t, int64_t, Value &)> body) {
    for (int64_t r = 0; r < block.rows; ++r)
      for (int64_t v = 0; v < block.vectors; ++v)
        body(r, v, sums[r * block.vectors + v]);
  };
  if (plan.depthBlocks > 1)
    forEach([&](int64_t r, int64_t v, Value &sum) {
      Value rested = gather(result, placeOf(base, r, v), inResult, block.lanesOf(v));
      sum = mlir::arith::SelectOp::create(at.builder, at.loc, depth.first, sum, rested);
    });
  for (const Side &each : sides)
    if (each.place == Side::Depth)
      stepInSide = each.start; // of an axis that is cut before the block; others are set on the way
  Panels start{plan.packsLeft ? leftPanelStart(row) : Value(),
               plan.access != RightAccess::Direct ? at.index(0) : Value()};
  sums = emitDepth(block, plan.split, base, start, sums);
  if (bothSidesKept() && !plan.leavesOutside)
    forEach([&](int64_t r, int64_t v, Value &sum) { sum = whereItTakesPart(r, v, sum, zeros(plan.width)); });
  storeSums(block, base, sums);
}

void ContractionEmitter::storeSums(const Block &block, Offsets base, llvm::ArrayRef<Value> sums) {
  auto storeAll = [&](bool finished) {
    for (int64_t row = 0; row < block.rows; ++row)
      for (int64_t vector = 0; vector < block.vectors; ++vector) {
        ContractionPosition position{placeOf(base, row, vector), block.lanesOf(vector), inResult};
        Value sum = sums[row * block.vectors + vector];
        if (finished && epilogue)
          sum = epilogue(at.builder, at.loc, sum, position);
        store(sum, result, position.offset, inResult, position.lanes, plan.streamsResult);
      }
  };
  if (epilogue)
    at.when(depth.last, [&] { storeAll(true); }, [&] { storeAll(false); });
  else
    storeAll(false);
}

Values ContractionEmitter::emitDepth(const Block &block, size_t number, Offsets base, Panels here, Values sums) {
  llvm::ArrayRef<ContractionAxis> axes = plan.contraction.contracted;
  const ContractionAxis &axis = axes[number];
  int64_t inner = 1; // steps of k in one position of the axis
  for (const ContractionAxis &each : axes.drop_front(number + 1))
    inner *= each.size;
  Value length = int64_t(number) == plan.split ? depth.length : at.index(axis.size);
  bool innermost = number + 1 == axes.size(), masked = false;
  auto turn = [&](Value k, int64_t ahead, Values sums) {
    auto move = [&](Value from, int64_t stride) {
      return from ? at.add(at.add(from, at.mul(k, stride)), ahead * stride) : from;
    };
    Offsets offsets{move(base.left, axis.left), move(base.right, axis.right), base.result};
    if (axis.side != TriangleSide::None) {
      Value start = int64_t(number) == plan.split ? side(axis.side).start : at.index(0);
      stepInSide = at.add(at.add(start, k), ahead);
    }
    Panels panels{move(here.left, inner * plan.blockRows), move(here.right, inner * plan.width * block.vectors)};
    return innermost ? emitStep(block, offsets, panels, sums, masked)
                     : emitDepth(block, number + 1, offsets, panels, sums);
  };

  for (const Steps &steps : stepsInTriangle(block, number, length)) {
    masked = steps.masked;
    Value count = at.sub(steps.to, steps.from);
    std::optional<int64_t> known = LoopBuilder::constant(count);
    int64_t unroll = !innermost || masked ? 1 : known && *known <= kUnrollWhole ? *known : kUnroll;
    auto turns = [&](Value from, Value to, int64_t together) {
      sums = at.loop(from, to, together, sums, [&](Value k, Values carried) {
        if (innermost && together == kUnroll)
          fetchAhead(block, k);
        for (int64_t ahead = 0; ahead < together; ++ahead)
          carried = turn(k, ahead, carried);
        return carried;
      });
    };
    if (known && *known == 0)
      continue;
    Value whole = at.add(steps.from, at.mul(at.div(count, unroll), unroll));
    turns(steps.from, whole, unroll);
    if (known && *known % unroll)
      turns(whole, steps.to, *known % unroll);
    else if (!known && unroll > 1)
      turns(whole, steps.to, 1);
  }
  return sums;
}

Values ContractionEmitter::emitStep(const Block &block, Offsets base, Panels here, Values sums, bool masked) {
  Values rights;
  for (int64_t vector = 0; vector < block.vectors; ++vector) {
    int64_t ahead = vector * plan.width;
    rights.push_back(here.right ? load(panels, at.add(here.right, ahead), plan.width)
                                : gather(right, at.add(base.right, inRight.of(ahead)), inRight, block.lanesOf(vector)));
  }
  for (int64_t row = 0; row < block.rows; ++row) {
    Value place = at.add(base.left, row * plan.row.left);
    Value shared = plan.contraction.lanesInBatch ? Value()
                   : here.left                   ? broadcast(panels, at.add(here.left, row))
                                                 : broadcast(left, place);
    for (int64_t vector = 0; vector < block.vectors; ++vector) {
      Value factor =
          shared ? shared : gather(left, at.add(place, inLeft.of(vector * plan.width)), inLeft, block.lanesOf(vector));
      Value &sum = sums[row * block.vectors + vector];
      // Not vector.fma: that becomes llvm.fmuladd, which a strict compiler rounds twice.
      Value next = mlir::math::FmaOp::create(at.builder, at.loc, factor, rights[vector], sum);
      sum = masked ? whereItTakesPart(row, vector, next, sum) : next;
    }
  }
  return sums;
}

} // namespace mekik::lowering
