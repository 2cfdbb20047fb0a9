// The loops of a contraction, from tiles down to one register block:
//
//   boxes of tiles -> outer products -> rows and columns for the caches -> blocks of k -> (pack the left operand) ->
//   column blocks -> (pack the right operand) -> row blocks -> k
//
// Row blocks run inside column blocks, so that a panel of the right operand stays in the nearest cache, while rows stay
// in the next. Tiles side by side are run through as one, which packs once for all of them.
#include "compiler/lowering/EmitContraction.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/lowering/ContractionEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mekik::lowering {

using mlir::Value;
using Values = LoopBuilder::Values;

namespace {

/// The same bytes as one run of elements.
Value flatten(mlir::OpBuilder &builder, mlir::Location loc, Value buffer) {
  auto type = llvm::cast<mlir::MemRefType>(buffer.getType());
  if (type.getRank() == 1)
    return buffer;
  int64_t size = type.getNumElements();
  auto flat = mlir::MemRefType::get({size}, type.getElementType());
  return mlir::memref::ReinterpretCastOp::create(builder, loc, flat, buffer, /*offset=*/int64_t(0),
                                                 llvm::ArrayRef<int64_t>{size}, llvm::ArrayRef<int64_t>{1});
}

llvm::SmallVector<int64_t> sizesOf(llvm::ArrayRef<ContractionAxis> axes) {
  llvm::SmallVector<int64_t> sizes;
  for (const ContractionAxis &axis : axes)
    sizes.push_back(axis.size);
  return sizes;
}

} // namespace

ContractionEmitter::ContractionEmitter(mlir::OpBuilder &builder, mlir::Location loc, const ContractionPlan &plan,
                                       Value left, Value right, Value result, Value scratch,
                                       ContractionEpilogue epilogue)
    : at(builder, loc), plan(plan), lanes(plan.lanes), inLeft(lanes.inLeft()), inRight(lanes.inRight()),
      inResult(lanes.inResult()), epilogue(epilogue) {
  if (plan.contraction.swapped)
    std::swap(left, right);
  this->left = flatten(builder, loc, left);
  this->right = flatten(builder, loc, right);
  this->result = flatten(builder, loc, result);
  element = llvm::cast<mlir::MemRefType>(result.getType()).getElementType();
  findTriangle();
  if (plan.scratchBytes() > 0) {
    auto type = mlir::MemRefType::get({plan.scratchBytes() / plan.contraction.elementBytes}, element);
    panels = mlir::memref::ViewOp::create(builder, loc, type, scratch, at.index(0), mlir::ValueRange());
  }
}

ContractionEmitter::Offsets ContractionEmitter::offsets(Offsets base, llvm::ArrayRef<ContractionAxis> axes,
                                                        Value linear) {
  for (auto [axis, position] : llvm::zip(axes, at.delinearize(linear, sizesOf(axes))))
    base = advance(base, axis, position);
  return base;
}

ContractionEmitter::Offsets ContractionEmitter::advance(Offsets base, const ContractionAxis &axis, Value position) {
  if (axis.side != TriangleSide::None)
    side(axis.side).start = position;
  return {at.add(base.left, at.mul(position, axis.left)), at.add(base.right, at.mul(position, axis.right)),
          at.add(base.result, at.mul(position, axis.result))};
}

ContractionEmitter::Offsets ContractionEmitter::atColumn(Offsets base, Value column) {
  // With an axis around them, lanes start a vector where one of its positions starts.
  return lanes.around.size == 1 ? advance(base, lanes.axis, column)
                                : advance(base, lanes.around, at.div(column, lanes.axis.size));
}

void ContractionEmitter::emit(Value first, Value last) {
  llvm::SmallVector<TileDimension> cut;
  for (TileDimension dimension : plan.tileOrder)
    if (plan.tilesAlong(dimension) > 1)
      cut.push_back(dimension);
  at.loopBySteps(first, last, [&](Value tile) {
    TileRanges box;
    Value next = boxFrom(tile, last, cut, box);
    emitBox(box);
    return next;
  });
  // Stores past the caches come in any order: before this thread says that it is done, they have to be there.
  if (plan.streamsResult)
    mlir::LLVM::FenceOp::create(at.builder, at.loc, mlir::LLVM::AtomicOrdering::seq_cst);
}

/// The largest box of tiles that begins with `tile` and ends before `last`: whole runs of the fastest dimension that is
/// cut, or a part of one. Returns the tile behind it.
Value ContractionEmitter::boxFrom(Value tile, Value last, llvm::ArrayRef<TileDimension> cut, TileRanges &box) {
  llvm::SmallVector<int64_t> tiles;
  for (TileDimension dimension : cut)
    tiles.push_back(plan.tilesAlong(dimension));
  Values starts = at.delinearize(tile, tiles), counts(cut.size(), at.index(1));
  Value rest = at.sub(last, tile), count = at.index(1);
  if (!cut.empty()) {
    size_t fast = cut.size() - 1;
    counts[fast] = count = at.min(at.sub(at.index(tiles[fast]), starts[fast]), rest);
    if (fast > 0) {
      size_t slow = fast - 1;
      Value runs = at.min(at.sub(at.index(tiles[slow]), starts[slow]), at.div(rest, tiles[fast]));
      Value whole = at.equal(count, tiles[fast]);
      counts[slow] = at.select(whole, runs, at.index(1));
      count = at.select(whole, at.mul(runs, tiles[fast]), count);
    }
  }
  for (TileDimension dimension : {TileOuter, TileOuterRows, TileRows, TileColumns})
    box[dimension] = {at.index(0), at.index(plan.sizeAlong(dimension))};
  for (auto [dimension, start, count] : llvm::zip(cut, starts, counts)) {
    int64_t size = plan.tileSizeAlong(dimension);
    Value from = at.mul(start, size);
    box[dimension] = {from, at.min(at.add(from, at.mul(count, size)), plan.sizeAlong(dimension))};
  }
  return at.add(tile, count);
}

void ContractionEmitter::emitBox(const TileRanges &box) {
  auto inParts = [&](Range range, int64_t size, int64_t step, llvm::function_ref<void(Range)> body) {
    if (step >= size)
      return body(range);
    at.loop(range.from, range.to, step, [&](Value from) { body({from, at.min(at.add(from, step), range.to)}); });
  };
  Value zero = at.index(0);
  at.loop(box[TileOuter].from, box[TileOuter].to, 1, [&](Value number) {
    Offsets base = offsets({zero, zero, zero}, plan.outer, number);
    inParts(box[TileOuterRows], plan.outerRowsSize, plan.cacheOuterRows, [&](Range outerRows) {
      inParts(box[TileRows], plan.row.size, plan.cacheRows, [&](Range rows) {
        inParts(box[TileColumns], lanes.size(), plan.cacheColumns, [&](Range part) {
          columns = part;
          Range blocks = depthBlocksOf(rows);
          at.loop(blocks.from, blocks.to, 1, [&](Value block) {
            depth.first = at.equal(block, blocks.from);
            depth.last = at.equal(block, at.sub(blocks.to, at.index(1)));
            emitDepthBlock(base, block, outerRows, rows);
          });
        });
      });
    });
  });
}

void ContractionEmitter::emitDepthBlock(Offsets base, Value block, Range outerRows, Range rows) {
  llvm::ArrayRef<ContractionAxis> axes = plan.contraction.contracted;
  const ContractionAxis &split = axes[plan.split];
  int64_t blocks = llvm::divideCeil(split.size, plan.depth);
  depth.lastOfAxis = at.equal(at.rem(block, blocks), blocks - 1);
  Value start = at.mul(at.rem(block, blocks), plan.depth);
  base = offsets(base, axes.take_front(plan.split), at.div(block, blocks));
  base = advance(base, split, start);
  bool even = split.size % plan.depth == 0;
  depth.lastOfNext = at.clamp(at.sub(at.index(split.size - plan.depth - 1), start), at.index(plan.depth - 1));
  depth.lastStep = at.sub(at.index(split.size - 1), start);
  depth.length = even ? at.index(plan.depth) : at.min(at.sub(at.index(split.size), start), plan.depth);

  auto forOuterRows = [&](llvm::function_ref<void(Offsets)> body) {
    at.loop(outerRows.from, outerRows.to, 1, [&](Value number) { body(offsets(base, plan.outerRows, number)); });
  };
  if (plan.packsLeft)
    forOuterRows([&](Offsets rowBase) { emitRowPacking(rowBase, rows); });
  forColumnBlocks([&](Value column, int64_t vectors, int64_t lastLanes) {
    if (plan.access != RightAccess::Direct)
      emitPacking(base, column, vectors, lastLanes);
    forOuterRows([&](Offsets rowBase) {
      forRowBlocks(rows, [&](Value row, int64_t count) {
        Offsets here = atColumn(advance(rowBase, plan.row, row), column);
        if (plan.fetchesLeft)
          nextLeft = leftAhead(here, column, count);
        if (plan.fetchesRight)
          nextRight = rightAhead(base, column, at.div(at.sub(row, rows.from), plan.blockRows));
        if (plan.fetchesResult)
          nextResult = resultAhead(here, row);
        if (plan.fetchesRows)
          nextRows = rowsAhead(here, row);
        if (plan.fetchesSteps)
          nextSteps = at.add(here.left, at.index(count - 1));
        emitBlock(here, row, column, count, vectors, lastLanes);
      });
    });
  });
}

void ContractionEmitter::forColumnBlocks(llvm::function_ref<void(Value, int64_t, int64_t)> body) {
  int64_t size = plan.blockColumns();
  int64_t fullEnd = lanes.size() / size * size, rest = lanes.size() - fullEnd;
  if (fullEnd) {
    Value to = at.min(columns.to, fullEnd);
    at.loop(columns.from, to, size, [&](Value column) { body(column, plan.blockVectors, plan.width); });
  }
  if (rest)
    at.when(at.equal(columns.to, lanes.size()),
            [&] { body(at.index(fullEnd), llvm::divideCeil(rest, plan.width), (rest - 1) % plan.width + 1); });
}

void ContractionEmitter::forRowBlocks(Range rows, llvm::function_ref<void(Value, int64_t)> body) {
  int64_t fullEnd = plan.row.size / plan.blockRows * plan.blockRows, rest = plan.row.size - fullEnd;
  if (fullEnd)
    at.loop(rows.from, rest ? at.min(rows.to, fullEnd) : rows.to, plan.blockRows,
            [&](Value row) { body(row, plan.blockRows); });
  if (rest)
    at.when(at.equal(rows.to, plan.row.size), [&] { body(at.index(fullEnd), rest); });
}

mlir::VectorType ContractionEmitter::vectorType(int64_t width) { return mlir::VectorType::get({width}, element); }

Value ContractionEmitter::zeros(int64_t width) {
  auto type = vectorType(width);
  return mlir::arith::ConstantOp::create(at.builder, at.loc, at.builder.getZeroAttr(type));
}

Value ContractionEmitter::mask(int64_t count) {
  llvm::SmallVector<bool> bits(plan.width, false);
  std::fill(bits.begin(), bits.begin() + count, true);
  auto type = mlir::VectorType::get({plan.width}, at.builder.getI1Type());
  return mlir::arith::ConstantOp::create(at.builder, at.loc, mlir::DenseElementsAttr::get(type, bits));
}

Value ContractionEmitter::load(Value buffer, Value offset, int64_t count) {
  auto type = vectorType(plan.width);
  if (count == plan.width)
    return mlir::vector::LoadOp::create(at.builder, at.loc, type, buffer, offset);
  return mlir::vector::MaskedLoadOp::create(at.builder, at.loc, type, buffer, offset, mask(count), zeros(plan.width));
}

Value ContractionEmitter::concatenate(Values parts) {
  for (int64_t length = llvm::cast<mlir::VectorType>(parts[0].getType()).getNumElements(); parts.size() > 1;
       length *= 2) {
    llvm::SmallVector<int64_t> order(2 * length);
    std::iota(order.begin(), order.end(), 0);
    for (size_t pair = 0; pair < parts.size() / 2; ++pair)
      parts[pair] = mlir::vector::ShuffleOp::create(at.builder, at.loc, parts[2 * pair], parts[2 * pair + 1], order);
    parts.resize(parts.size() / 2);
  }
  return parts[0];
}

Value ContractionEmitter::gather(Value buffer, Value offset, const LaneSpread &spread, int64_t count) {
  if (spread.step == 1 && count <= spread.run)
    return load(buffer, offset, count);
  if (spread.step == 0)
    return broadcast(buffer, offset);
  Values elements;
  if (spread.step == 1) {
    for (int64_t lane = 0; lane < plan.width; lane += spread.run)
      elements.push_back(lane < count ? mlir::vector::LoadOp::create(at.builder, at.loc, vectorType(spread.run), buffer,
                                                                     at.add(offset, spread.of(lane)))
                                            .getResult()
                                      : zeros(spread.run));
    return concatenate(elements);
  }
  for (int64_t lane = 0; lane < plan.width; ++lane)
    elements.push_back(
        lane < count
            ? mlir::memref::LoadOp::create(at.builder, at.loc, buffer, at.add(offset, spread.of(lane))).getResult()
            : mlir::arith::ConstantOp::create(at.builder, at.loc, at.builder.getZeroAttr(element)).getResult());
  return mlir::vector::FromElementsOp::create(at.builder, at.loc, vectorType(plan.width), elements);
}

Value ContractionEmitter::broadcast(Value buffer, Value offset) {
  Value scalar = mlir::memref::LoadOp::create(at.builder, at.loc, buffer, offset);
  return mlir::vector::BroadcastOp::create(at.builder, at.loc, vectorType(plan.width), scalar);
}

void ContractionEmitter::store(Value vector, Value buffer, Value offset, const LaneSpread &spread, int64_t count,
                               bool pastCaches) {
  if (count > spread.run)
    for (int64_t lane = 0; lane < count; lane += spread.run) {
      Value run = mlir::vector::ExtractStridedSliceOp::create(at.builder, at.loc, vector, {lane}, {spread.run}, {1});
      mlir::vector::StoreOp::create(at.builder, at.loc, run, buffer, at.add(offset, spread.of(lane)));
    }
  else if (count == plan.width && pastCaches)
    mlir::vector::StoreOp::create(at.builder, at.loc, vector, buffer, offset, /*nontemporal=*/true,
                                  llvm::Align(kLineBytes));
  else if (count == plan.width)
    mlir::vector::StoreOp::create(at.builder, at.loc, vector, buffer, offset);
  else
    mlir::vector::MaskedStoreOp::create(at.builder, at.loc, buffer, offset, mask(count), vector);
}

void emitContraction(mlir::OpBuilder &builder, mlir::Location loc, const ContractionPlan &plan, Value left, Value right,
                     Value result, Value scratch, Value first, Value last, ContractionEpilogue epilogue) {
  ContractionEmitter(builder, loc, plan, left, right, result, scratch, epilogue).emit(first, last);
}

ContractionPlan planContraction(graph::ContractionOpInterface op, const Target &target) {
  auto left = llvm::cast<mlir::RankedTensorType>(op->getOperand(0).getType());
  auto right = llvm::cast<mlir::RankedTensorType>(op->getOperand(1).getType());
  graph::Layout layout = op.leftLayout();
  ContractionPlan plan = ContractionPlan::make(
      Contraction::analyze(op.leftLabels(), op.rightLabels(), op.resultLabels(), layout.shape, right.getShape(),
                           left.getElementTypeBitWidth() / 8, layout.strides, op.triangle()),
      target);
  auto axes = op->getParentOp()->getAttrOfType<mlir::DenseI64ArrayAttr>(graph::kReadUpToDiagonal);
  plan.leavesOutside = axes && axes[0] >= 0;
  return plan;
}

int64_t contractionTiles(graph::ContractionOpInterface op, const Target &target) {
  return planContraction(op, target).tiles();
}

ContractionParts contractionParts(graph::ContractionOpInterface op, const Target &target) {
  ContractionPlan plan = planContraction(op, target);
  ContractionParts parts = plan.parts();
  // A left operand of which not every element is read.
  if (mlir::ShapedType::getNumElements(op.leftLayout().shape) !=
      llvm::cast<mlir::RankedTensorType>(op->getOperand(0).getType()).getNumElements())
    (plan.contraction.swapped ? parts.right : parts.left) = 1;
  if (plan.contraction.swapped)
    std::swap(parts.left, parts.right);
  return parts;
}

int64_t contractionScratchBytes(graph::ContractionOpInterface op, const Target &target) {
  return planContraction(op, target).scratchBytes();
}

void emitContraction(mlir::OpBuilder &builder, mlir::Location loc, graph::ContractionOpInterface op, Value left,
                     Value right, Value result, Value scratch, Value first, Value last, const Target &target,
                     ContractionEpilogue epilogue) {
  emitContraction(builder, loc, planContraction(op, target), left, right, result, scratch, first, last, epilogue);
}

} // namespace mekik::lowering
