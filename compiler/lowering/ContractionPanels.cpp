// Panels: a column block of the right operand, copied so that each step of k reads consecutive vectors. Where the lanes
// are apart but k is contiguous, squares are transposed in registers. And row blocks of a left operand whose rows lie
// side by side: each step of k reads consecutive elements.
#include "compiler/lowering/ContractionEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"

namespace mekik::lowering {

using mlir::Value;
using Values = LoopBuilder::Values;

void ContractionEmitter::emitPacking(Offsets base, Value column, int64_t vectors, int64_t lastLanes) {
  for (int64_t vector = 0; vector < vectors; ++vector) {
    Value source = at.add(atColumn(base, column).right, inRight.of(vector * plan.width));
    packAxis(plan.split, source, at.index(vector * plan.width), vectors * plan.width,
             vector + 1 == vectors ? lastLanes : plan.width);
  }
}

/// Packs `count` lanes along axis `number` of k and the axes inside it. One step of the innermost axis is `step`
/// elements of the panel.
void ContractionEmitter::packAxis(size_t number, Value source, Value target, int64_t step, int64_t count) {
  llvm::ArrayRef<ContractionAxis> axes = plan.contraction.contracted;
  const ContractionAxis &axis = axes[number];
  bool split = int64_t(number) == plan.split;
  Value length = split ? depth.length : at.index(axis.size);
  if (number + 1 < axes.size()) {
    int64_t inner = step;
    for (const ContractionAxis &each : axes.drop_front(number + 1))
      inner *= each.size;
    at.loop(at.index(0), length, 1, [&](Value k) {
      packAxis(number + 1, at.add(source, at.mul(k, axis.right)), at.add(target, at.mul(k, inner)), step, count);
    });
    return;
  }
  auto squares = [&](Value from, Value to, int64_t size) {
    at.loop(from, to, size, [&](Value k) {
      packSquare(at.add(source, at.mul(k, axis.right)), at.add(target, at.mul(k, step)), step, count, size);
    });
  };
  if (inRight.step == 1 || axis.right != 1) {
    squares(at.index(0), length, 1);
    return;
  }
  int64_t size = std::min<int64_t>(plan.width, llvm::bit_floor(uint64_t(split ? plan.depth : axis.size)));
  Value whole = at.mul(at.div(length, size), size);
  squares(at.index(0), whole, size);
  // Only the last block along the axis may leave a rest, and its size is known.
  int64_t rest = (split ? (axis.size - 1) % plan.depth + 1 : axis.size) % size;
  if (rest)
    at.when(split ? depth.lastOfAxis : at.equal(at.index(0), 0), [&] {
      for (Value k = whole; rest; rest -= int64_t(llvm::bit_floor(uint64_t(rest)))) {
        int64_t part = int64_t(llvm::bit_floor(uint64_t(rest)));
        squares(k, at.add(k, part), part);
        k = at.add(k, part);
      }
    });
}

/// `size` steps of k for `count` lanes: reads runs along k, writes vectors across the lanes. size divides the width.
void ContractionEmitter::packSquare(Value source, Value target, int64_t step, int64_t count, int64_t size) {
  auto put = [&](Value vector, int64_t k) {
    mlir::vector::StoreOp::create(at.builder, at.loc, vector, panels, at.add(target, k * step));
  };
  if (size == 1) {
    put(gather(right, source, inRight, count), 0);
    return;
  }
  auto shuffle = [&](Value a, Value b, llvm::ArrayRef<int64_t> lanes) -> Value {
    return mlir::vector::ShuffleOp::create(at.builder, at.loc, a, b, lanes);
  };
  // Vector i: the runs of lanes i, i + size, i + 2 size, ... side by side.
  Values vectors;
  for (int64_t i = 0; i < size; ++i) {
    Values runs;
    for (int64_t lane = i; lane < plan.width; lane += size)
      runs.push_back(lane < count ? mlir::vector::LoadOp::create(at.builder, at.loc, vectorType(size), right,
                                                                 at.add(source, inRight.of(lane)))
                                        .getResult()
                                  : zeros(size));
    vectors.push_back(concatenate(runs));
  }
  // Transposes every size x size square by exchanging halves, quarters, ... of pairs of vectors.
  for (int64_t half = size / 2; half >= 1; half /= 2) {
    llvm::SmallVector<int64_t> low(plan.width), high(plan.width);
    for (int64_t lane = 0; lane < plan.width; ++lane) {
      low[lane] = lane & half ? plan.width + lane - half : lane;
      high[lane] = lane & half ? plan.width + lane : lane + half;
    }
    for (int64_t i = 0; i < size; ++i)
      if (!(i & half)) {
        Value a = vectors[i], b = vectors[i | half];
        vectors[i] = shuffle(a, b, low);
        vectors[i | half] = shuffle(a, b, high);
      }
  }
  for (int64_t k = 0; k < size; ++k)
    put(vectors[k], k);
}

Value ContractionEmitter::leftPanelStart(Value row) {
  // Row blocks start at whole multiples of blockRows from the first.
  Value block = at.div(at.sub(row, packed.from), plan.blockRows);
  return at.add(at.mul(block, plan.leftPanelElements()), plan.rightPanelElements());
}

void ContractionEmitter::emitRowPacking(Offsets base, Range part) {
  packed = part;
  packRows(plan.split, base.left, at.index(0), part);
}

/// Packs rows [part) along axis `number` of k and the axes inside it; `target` is the same in every row block's panel.
/// Rows run innermost, as they lie in memory.
void ContractionEmitter::packRows(size_t number, Value source, Value target, Range part) {
  llvm::ArrayRef<ContractionAxis> axes = plan.contraction.contracted;
  const ContractionAxis &axis = axes[number];
  Value length = int64_t(number) == plan.split ? depth.length : at.index(axis.size);
  int64_t step = plan.blockRows;
  for (const ContractionAxis &inner : axes.drop_front(number + 1))
    step *= inner.size;
  at.loop(at.index(0), length, 1, [&](Value k) {
    Value from = at.add(source, at.mul(k, axis.left)), to = at.add(target, at.mul(k, step));
    if (number + 1 < axes.size())
      return packRows(number + 1, from, to, part);
    forRowBlocks(part, [&](Value row, int64_t count) {
      for (int64_t ahead = 0; ahead < count; ahead += plan.width) {
        int64_t lanes = std::min(plan.width, count - ahead);
        Value run = load(left, at.add(at.add(from, row), ahead), lanes);
        store(run, panels, at.add(at.add(to, leftPanelStart(row)), ahead), {lanes, 1, 0}, lanes);
      }
    });
  });
}

} // namespace mekik::lowering
