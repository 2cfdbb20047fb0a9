// The fold of docs/numerics.md on vector registers.
#include "compiler/lowering/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::lowering;
using numerics::Number;

Value lowering::maskOf(OpBuilder &builder, Location loc, int64_t count) {
  SmallVector<bool> lanes(kLanes, false);
  std::fill_n(lanes.begin(), count, true);
  auto type = VectorType::get(kLanes, builder.getI1Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, lanes));
}

static Value splat(OpBuilder &builder, Location loc, Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(builder, loc, VectorType::get(kLanes, value.getType()), value);
}

Value lowering::identityLanes(OpBuilder &builder, Location loc, graph::ReductionOpInterface fold) {
  numerics::IrArithmetic ir(builder, loc);
  return splat(builder, loc, numerics::toValue(fold.identity(ir)));
}

Value lowering::foldInto(OpBuilder &builder, Location loc, graph::ReductionOpInterface fold, Value accumulators,
                         Number element, Value mask) {
  numerics::IrArithmetic ir(builder, loc);
  Number splatElement = numerics::toNumber(splat(builder, loc, numerics::toValue(element)));
  Number folded = fold.combine(ir, numerics::toNumber(accumulators), splatElement);
  if (mask)
    folded = ir.select(numerics::toNumber(mask), folded, numerics::toNumber(accumulators));
  return numerics::toValue(folded);
}

Number lowering::foldLanes(OpBuilder &builder, Location loc, graph::ReductionOpInterface fold, Value accumulators) {
  numerics::IrArithmetic ir(builder, loc);
  for (int64_t half = kLanes / 2; half >= 1; half /= 2) {
    Value low = vector::ExtractStridedSliceOp::create(builder, loc, accumulators, {0}, {half}, {1});
    Value high = vector::ExtractStridedSliceOp::create(builder, loc, accumulators, {half}, {half}, {1});
    accumulators = numerics::toValue(fold.combine(ir, numerics::toNumber(low), numerics::toNumber(high)));
  }
  return numerics::toNumber(vector::ExtractOp::create(builder, loc, accumulators, ArrayRef<int64_t>{0}));
}

SmallVector<Number> lowering::foldLanesOfRows(OpBuilder &builder, Location loc, graph::ReductionOpInterface fold,
                                              ArrayRef<Value> accumulators) {
  if (accumulators.size() == 1)
    return {foldLanes(builder, loc, fold, accumulators[0])};
  auto rows = static_cast<int64_t>(accumulators.size());
  numerics::IrArithmetic ir(builder, loc);
  auto combine = [&](Value low, Value high) {
    return numerics::toValue(fold.combine(ir, numerics::toNumber(low), numerics::toNumber(high)));
  };
  // Each vector holds the accumulators of sixteen / width rows, width of them for each, in the order of the rows.
  SmallVector<Value> vectors(accumulators);
  int64_t width = kLanes;
  for (; vectors.size() > 1; width /= 2) {
    SmallVector<int64_t> low, high; // of the rows of two vectors
    for (int64_t lane = 0; lane < 2 * kLanes; ++lane)
      (lane % width < width / 2 ? low : high).push_back(lane);
    SmallVector<Value> next;
    for (size_t i = 0; i < vectors.size(); i += 2)
      next.push_back(combine(vector::ShuffleOp::create(builder, loc, vectors[i], vectors[i + 1], low),
                             vector::ShuffleOp::create(builder, loc, vectors[i], vectors[i + 1], high)));
    vectors = std::move(next);
  }
  // From here on the upper lanes of each row compute what nobody reads.
  Value together = vectors[0];
  int64_t stride = width;
  for (; width > 1; width /= 2) {
    SmallVector<int64_t> high;
    for (int64_t lane = 0; lane < kLanes; ++lane)
      high.push_back(lane % stride < width / 2 ? lane + width / 2 : lane);
    together = combine(together, vector::ShuffleOp::create(builder, loc, together, together, high));
  }
  SmallVector<Number> results;
  for (int64_t row = 0; row < rows; ++row)
    results.push_back(
        numerics::toNumber(vector::ExtractOp::create(builder, loc, together, ArrayRef<int64_t>{row * stride})));
  return results;
}
