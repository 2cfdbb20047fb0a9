// Rows picked by id, rows added up by id, and ids spread out over classes.
#include "compiler/graph/Build.h"
#include "compiler/numerics/Contract.h"
#include "compiler/graph/Graph.h"
#include "compiler/numerics/NumberArithmetic.h"
#include "compiler/reference/Tensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::graph;
using numerics::ElementType;
using numerics::Number;

namespace {

using numerics::kLanes;
/// Columns of one tile of scatter_add: wide enough that reading the ids again for every tile costs little.
constexpr int64_t kColumnsPerTile = 64;

/// A memref of any shape, seen as rows x columns.
Value asMatrix(OpBuilder &builder, Location loc, Value memref, int64_t rows, int64_t columns) {
  auto type = MemRefType::get({rows, columns}, cast<MemRefType>(memref.getType()).getElementType());
  return memref::ReinterpretCastOp::create(builder, loc, type, memref, /*offset=*/0, {rows, columns}, {columns, 1});
}

} // namespace

// Embedding.

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                            DictionaryAttr, OpaqueProperties, RegionRange,
                                            SmallVectorImpl<Type> &types) {
  auto ids = dyn_cast<RankedTensorType>(operands[0].getType());
  auto table = dyn_cast<RankedTensorType>(operands[1].getType());
  if (!ids || !table || !ids.hasStaticShape() || !table.hasStaticShape())
    return emitOptionalError(location, "embedding takes ids and a table of static shape, got ", operands[0].getType(),
                             " and ", operands[1].getType());
  if (table.getRank() < 1)
    return emitOptionalError(location, "embedding: the table must have at least one axis, its rows, but is a scalar");
  SmallVector<int64_t> shape(ids.getShape());
  llvm::append_range(shape, table.getShape().drop_front());
  types.push_back(table.clone(shape));
  return success();
}
Number EmbeddingOp::element(ElementReader &reader, ArrayRef<Index> index) {
  size_t rank = shapeOf(getIds()).size();
  SmallVector<Index> from{reader.numberToIndex(reader.read(0, index.take_front(rank)))};
  llvm::append_range(from, index.drop_front(rank));
  return reader.read(1, from);
}
SmallVector<Value> EmbeddingOp::gradient(OpBuilder &builder, Value upstream) {
  return {Value(), ScatterAddOp::create(builder, getLoc(), getIds(), upstream, shapeOf(getTable()).front())};
}

// Scatter.

LogicalResult ScatterAddOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                             DictionaryAttr attributes, OpaqueProperties properties,
                                             RegionRange regions, SmallVectorImpl<Type> &types) {
  ScatterAddOp::Adaptor adaptor(operands, attributes, properties, regions);
  auto ids = dyn_cast<RankedTensorType>(operands[0].getType());
  auto updates = dyn_cast<RankedTensorType>(operands[1].getType());
  if (!ids || !updates || !ids.hasStaticShape() || !updates.hasStaticShape())
    return emitOptionalError(location, "scatter_add takes ids and updates of static shape, got ", operands[0].getType(),
                             " and ", operands[1].getType());
  int64_t rows = adaptor.getRows();
  if (rows < 1)
    return emitOptionalError(location, "scatter_add: the number of rows must be positive, but is ", rows);
  if (updates.getRank() < ids.getRank() || updates.getShape().take_front(ids.getRank()) != ids.getShape())
    return emitOptionalError(location, "scatter_add: updates of shape ", shapeText(updates.getShape()),
                             " must begin with the axes of the ids, ", shapeText(ids.getShape()));
  SmallVector<int64_t> shape{rows};
  llvm::append_range(shape, updates.getShape().drop_front(ids.getRank()));
  types.push_back(updates.clone(shape));
  return success();
}

void ScatterAddOp::evaluate(ArrayRef<const reference::Tensor *> operands, reference::Tensor &result) {
  numerics::NumberArithmetic arithmetic;
  int64_t positions = operands[0]->size(), columns = result.size() / getRows();
  result = reference::Tensor(result.type(), result.shape());
  for (int64_t position = 0; position < positions; ++position) {
    int64_t row = static_cast<int64_t>(operands[0]->getDouble(position));
    if (row < 0 || row >= static_cast<int64_t>(getRows()))
      continue; // refused where data enters; here only memory is protected
    for (int64_t column = 0; column < columns; ++column) {
      int64_t to = row * columns + column;
      result.set(to, arithmetic.add(result.get(to), operands[1]->get(position * columns + column)));
    }
  }
}

int64_t ScatterAddOp::kernelTiles() {
  int64_t columns = ShapedType::getNumElements(shapeOf(getResult()).drop_front());
  return (columns + kColumnsPerTile - 1) / kColumnsPerTile;
}

void ScatterAddOp::emitKernel(OpBuilder &builder, ValueRange operands, Value result, Value firstTile, Value lastTile) {
  Location loc = getLoc();
  int64_t rows = getRows(), columns = ShapedType::getNumElements(shapeOf(getResult()).drop_front());
  int64_t positions = ShapedType::getNumElements(shapeOf(getIds())), wholeColumns = columns / kLanes * kLanes;
  Value ids = asMatrix(builder, loc, operands[0], positions, 1);
  Value updates = asMatrix(builder, loc, operands[1], positions, columns);
  Value sums = asMatrix(builder, loc, result, rows, columns);
  auto vectorType = VectorType::get({kLanes}, cast<RankedTensorType>(getResult().getType()).getElementType());
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  Value zero = index(0), one = index(1), lanes = index(kLanes), whole = index(wholeColumns), all = index(columns);
  Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(vectorType));
  Value tailMask;
  if (wholeColumns < columns)
    tailMask = vector::ConstantMaskOp::create(builder, loc, VectorType::get({kLanes}, builder.getI1Type()),
                                              ArrayRef<int64_t>{columns - wholeColumns});

  // The columns of the tiles are one contiguous range [begin, end); within it vectors of 16 and the masked rest.
  Value tileColumns = index(kColumnsPerTile);
  Value begin = arith::MulIOp::create(builder, loc, firstTile, tileColumns);
  Value end = arith::MinUIOp::create(builder, loc, arith::MulIOp::create(builder, loc, lastTile, tileColumns), all);
  Value wholeEnd = arith::MinUIOp::create(builder, loc, end, whole);
  auto forEachVector = [&](function_ref<void(Value column, Value mask)> body) {
    auto loop = scf::ForOp::create(builder, loc, begin, wholeEnd, lanes);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      body(loop.getInductionVar(), Value());
    }
    if (!tailMask)
      return;
    Value hasTail = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, end, whole);
    auto tail = scf::IfOp::create(builder, loc, hasTail);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(tail.thenBlock());
    body(whole, tailMask);
  };
  auto load = [&](Value matrix, Value row, Value column, Value mask) -> Value {
    if (mask)
      return vector::MaskedLoadOp::create(builder, loc, vectorType, matrix, ValueRange{row, column}, mask, zeros);
    return vector::LoadOp::create(builder, loc, vectorType, matrix, ValueRange{row, column});
  };
  auto store = [&](Value vector, Value row, Value column, Value mask) {
    if (mask)
      vector::MaskedStoreOp::create(builder, loc, sums, ValueRange{row, column}, mask, vector);
    else
      vector::StoreOp::create(builder, loc, vector, sums, ValueRange{row, column});
  };

  auto clear = scf::ForOp::create(builder, loc, zero, index(rows), one);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(clear.getBody());
    forEachVector([&](Value column, Value mask) { store(zeros, clear.getInductionVar(), column, mask); });
  }
  auto addUp = scf::ForOp::create(builder, loc, zero, index(positions), one);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(addUp.getBody());
  Value position = addUp.getInductionVar();
  Value id = memref::LoadOp::create(builder, loc, ids, ValueRange{position, zero});
  Value row = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), id);
  forEachVector([&](Value column, Value mask) {
    Value sum =
        arith::AddFOp::create(builder, loc, load(sums, row, column, mask), load(updates, position, column, mask));
    store(sum, row, column, mask);
  });
}

SmallVector<Value> ScatterAddOp::gradient(OpBuilder &builder, Value upstream) {
  return {Value(), EmbeddingOp::create(builder, getLoc(), getIds(), upstream)};
}

// One-hot.

LogicalResult OneHotOp::verify() {
  SmallVector<int64_t> shape(shapeOf(getIds()));
  shape.push_back(static_cast<int64_t>(getClasses()));
  if (static_cast<int64_t>(getClasses()) < 1)
    return emitOpError() << "needs a positive number of classes, got " << static_cast<int64_t>(getClasses());
  if (shapeOf(getResult()) != ArrayRef<int64_t>(shape))
    return emitOpError() << "of ids of shape " << shapeText(shapeOf(getIds())) << " and " << getClasses()
                         << " classes has shape " << shapeText(shape) << ", not " << shapeText(shapeOf(getResult()));
  return success();
}
Value OneHotOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  ArrayRef<int64_t> shape = shapeOf(getResult());
  SmallVector<int64_t> idsShape(shape);
  idsShape.back() = 1;
  Value ids = build.broadcastTo(build.reshape(getIds(), idsShape), shape);
  Type idType = cast<RankedTensorType>(getIds().getType()).getElementType();
  Value classes = build.cast(build.iota(shape, shape.size() - 1), idType);
  return build.cast(build.compare("eq", ids, classes), cast<RankedTensorType>(getResult().getType()).getElementType());
}
SmallVector<Value> OneHotOp::gradient(OpBuilder &, Value) { return {Value()}; }
