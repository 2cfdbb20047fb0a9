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
