// One register block: rows x vectors of accumulators that live in registers while k runs.
#include "compiler/lowering/ContractionEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mekik::lowering {

using mlir::Value;
using Values = LoopBuilder::Values;

namespace {

/// Steps of k written out in one turn of the loop, and the length up to which all of them are.
constexpr int64_t kUnroll = 4;
constexpr int64_t kUnrollWhole = 8;

} // namespace

struct ContractionEmitter::Block {
  int64_t rows, vectors, lastLanes, width;

  int64_t lanesOf(int64_t vector) const { return vector + 1 == vectors ? lastLanes : width; }
};

void ContractionEmitter::emitBlock(Offsets base, Value row, Value column, int64_t rows, int64_t vectors,
                                   int64_t lastLanes) {
  Block block{rows, vectors, lastLanes, plan.width};
  auto place = [&](int64_t row, int64_t vector) {
    return at.add(base.result, row * plan.row.result + vector * plan.width);
  };
  Values sums(rows * vectors, zeros(plan.width));
  if (plan.depthBlocks > 1)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t vector = 0; vector < vectors; ++vector) {
        Value &sum = sums[row * vectors + vector];
        Value rested = load(result, place(row, vector), block.lanesOf(vector));
        sum = mlir::arith::SelectOp::create(at.builder, at.loc, depth.first, sum, rested);
      }
  Panels start{plan.packsLeft ? leftPanelStart(row) : Value(),
               plan.access != RightAccess::Direct ? panelStart(column) : Value()};
  sums = emitDepth(block, plan.split, base, start, sums);

  auto storeAll = [&](bool finished) {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t vector = 0; vector < vectors; ++vector) {
        ContractionPosition position{place(row, vector), block.lanesOf(vector)};
        Value sum = sums[row * vectors + vector];
        if (finished && epilogue)
          sum = epilogue(at.builder, at.loc, sum, position);
        store(sum, result, position.offset, position.lanes);
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
  bool innermost = number + 1 == axes.size();
  auto turn = [&](Value k, int64_t ahead, Values sums) {
    auto move = [&](Value from, int64_t stride) {
      return from ? at.add(at.add(from, at.mul(k, stride)), ahead * stride) : from;
    };
    Offsets offsets{move(base.left, axis.left), move(base.right, axis.right), base.result};
    Panels panels{move(here.left, inner * plan.blockRows), move(here.right, inner * plan.width * block.vectors)};
    return innermost ? emitStep(block, offsets, panels, sums) : emitDepth(block, number + 1, offsets, panels, sums);
  };

  std::optional<int64_t> known = LoopBuilder::constant(length);
  int64_t unroll = !innermost ? 1 : known && *known <= kUnrollWhole ? *known : kUnroll;
  auto turns = [&](Value from, Value to, int64_t count) {
    sums = at.loop(from, to, count, sums, [&](Value k, Values carried) {
      for (int64_t ahead = 0; ahead < count; ++ahead)
        carried = turn(k, ahead, carried);
      return carried;
    });
  };
  Value whole = at.mul(at.div(length, unroll), unroll);
  turns(at.index(0), whole, unroll);
  if (known && *known % unroll)
    turns(whole, length, *known % unroll);
  else if (!known && unroll > 1)
    turns(whole, length, 1);
  return sums;
}

Values ContractionEmitter::emitStep(const Block &block, Offsets base, Panels here, Values sums) {
  Values rights;
  for (int64_t vector = 0; vector < block.vectors; ++vector) {
    int64_t ahead = vector * plan.width;
    rights.push_back(here.right
                         ? load(panels, at.add(here.right, ahead), plan.width)
                         : gather(right, at.add(base.right, ahead * lanes.right), lanes.right, block.lanesOf(vector)));
  }
  for (int64_t row = 0; row < block.rows; ++row) {
    Value place = at.add(base.left, row * plan.row.left);
    Value shared = plan.contraction.lanesInBatch ? Value()
                   : here.left                   ? broadcast(panels, at.add(here.left, row))
                                                 : broadcast(left, place);
    for (int64_t vector = 0; vector < block.vectors; ++vector) {
      Value factor =
          shared ? shared
                 : gather(left, at.add(place, vector * plan.width * lanes.left), lanes.left, block.lanesOf(vector));
      Value &sum = sums[row * block.vectors + vector];
      // Not vector.fma: that becomes llvm.fmuladd, which a strict compiler rounds twice.
      sum = mlir::math::FmaOp::create(at.builder, at.loc, factor, rights[vector], sum);
    }
  }
  return sums;
}

} // namespace mekik::lowering
