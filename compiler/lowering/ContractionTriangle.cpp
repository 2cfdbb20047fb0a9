// What of a contraction lies in its triangle: blocks without products are not computed, steps of k are cut to those
// that matter, and where the edge crosses a block its elements are told apart.
#include "compiler/lowering/ContractionEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mekik::lowering {

using mlir::Value;

void ContractionEmitter::findTriangle() {
  auto note = [&](const ContractionAxis &axis, auto place) {
    if (axis.side != TriangleSide::None)
      side(axis.side).place = place;
  };
  for (const ContractionAxis &axis : plan.outer)
    note(axis, Side::Fixed);
  for (const ContractionAxis &axis : plan.outerRows)
    note(axis, Side::Fixed);
  note(plan.row, Side::Row);
  note(lanes.axis, Side::Lanes);
  for (const ContractionAxis &axis : plan.contraction.contracted)
    note(axis, Side::Depth);
}

Value ContractionEmitter::highest(const Side &side, const Block &block) {
  int64_t count = side.place == Side::Row ? block.rows : side.place == Side::Lanes ? block.lanes() : 1;
  return at.add(side.start, count - 1);
}

bool ContractionEmitter::bothSidesKept() {
  return plan.contraction.hasTriangle && sides[0].place != Side::Depth && sides[1].place != Side::Depth;
}

Value ContractionEmitter::touchesTriangle(const Block &block) {
  return mlir::arith::CmpIOp::create(at.builder, at.loc, mlir::arith::CmpIPredicate::sle,
                                     lowest(side(TriangleSide::Earlier)), highest(side(TriangleSide::Later), block));
}

llvm::SmallVector<ContractionEmitter::Steps> ContractionEmitter::stepsInTriangle(const Block &block, size_t number,
                                                                                 Value length) {
  llvm::ArrayRef<ContractionAxis> axes = plan.contraction.contracted;
  Side &later = side(TriangleSide::Later), &earlier = side(TriangleSide::Earlier);
  bool inDepth = later.place == Side::Depth || earlier.place == Side::Depth;
  // Of several axes of k every step is looked at: attention has one.
  if (!inDepth || axes.size() > 1)
    return {{at.index(0), length, inDepth}};
  const Side &kept = axes[number].side == TriangleSide::Later ? earlier : later;
  const Side &summed = axes[number].side == TriangleSide::Later ? later : earlier;
  auto step = [&](Value position) { return at.clamp(at.sub(position, summed.start), length); };
  if (axes[number].side == TriangleSide::Earlier)
    return {{at.index(0), step(at.add(lowest(kept), 1)), false},
            {step(at.add(lowest(kept), 1)), step(at.add(highest(kept, block), 1)), true}};
  return {{step(lowest(kept)), step(highest(kept, block)), true}, {step(highest(kept, block)), length, false}};
}

ContractionEmitter::Range ContractionEmitter::depthBlocksOf(Range rows) {
  Range all{at.index(0), at.index(plan.depthBlocks)};
  llvm::ArrayRef<ContractionAxis> axes = plan.contraction.contracted;
  if (axes.size() != 1 || axes[0].side == TriangleSide::None || plan.row.side == TriangleSide::None)
    return all;
  if (axes[0].side == TriangleSide::Later)
    return {at.min(at.div(rows.from, plan.depth), plan.depthBlocks - 1), all.to};
  return {all.from, at.min(at.add(at.div(at.sub(rows.to, at.index(1)), plan.depth), 1), plan.depthBlocks)};
}

Value ContractionEmitter::takesPart(int64_t row, int64_t vector) {
  mlir::Type i32 = at.builder.getI32Type();
  auto position = [&](const Side &side) -> Value {
    Value start = side.place == Side::Depth   ? stepInSide
                  : side.place == Side::Row   ? at.add(side.start, row)
                  : side.place == Side::Lanes ? at.add(side.start, vector * plan.width)
                                              : side.start;
    start = mlir::arith::IndexCastOp::create(at.builder, at.loc, i32, start);
    auto type = mlir::VectorType::get({plan.width}, i32);
    Value all = mlir::vector::BroadcastOp::create(at.builder, at.loc, type, start);
    if (side.place != Side::Lanes)
      return all;
    llvm::SmallVector<int32_t> numbers;
    for (int32_t lane = 0; lane < plan.width; ++lane)
      numbers.push_back(lane);
    Value ahead = mlir::arith::ConstantOp::create(at.builder, at.loc,
                                                  mlir::DenseElementsAttr::get(type, llvm::ArrayRef<int32_t>(numbers)));
    return mlir::arith::AddIOp::create(at.builder, at.loc, all, ahead);
  };
  return mlir::arith::CmpIOp::create(at.builder, at.loc, mlir::arith::CmpIPredicate::sle,
                                     position(side(TriangleSide::Earlier)), position(side(TriangleSide::Later)));
}

Value ContractionEmitter::whereItTakesPart(int64_t row, int64_t vector, Value value, Value otherwise) {
  return mlir::arith::SelectOp::create(at.builder, at.loc, takesPart(row, vector), value, otherwise);
}

} // namespace mekik::lowering
