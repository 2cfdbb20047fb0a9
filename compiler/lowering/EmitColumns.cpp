// Columns side by side in lanes, the folded axes as loops around the accumulators.
#include "compiler/lowering/EmitColumns.h"
#include "compiler/graph/Access.h"
#include "compiler/graph/Build.h"
#include "compiler/lowering/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::lowering;
using graph::Index;
using graph::shapeOf;

namespace {

/// Four vectors of accumulators hide the latency of one addition.
constexpr int64_t kBlock = 4 * kLanes;

struct ColumnsKernel {
  explicit ColumnsKernel(func::FuncOp kernel) {
    for (Operation &op : kernel.getBody().front().without_terminator())
      if (graph::reducesLeadingAxes(&op))
        fold = cast<graph::ReductionOpInterface>(op);
    ArrayRef<int64_t> shape = shapeOf(fold->getOperand(0));
    for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
      if (llvm::is_contained(fold.getAxes(), axis))
        foldedAxes.push_back(axis);
      else
        keptAxes.push_back(axis);
    columns = shape.back();
    blocks = (columns + kBlock - 1) / kBlock;
    rows = 1;
    for (int64_t axis : ArrayRef<int64_t>(keptAxes).drop_back()) {
      keptShape.push_back(shape[axis]);
      rows *= shape[axis];
    }
  }

  graph::ReductionOpInterface fold;
  SmallVector<int64_t> foldedAxes, keptAxes, keptShape;
  int64_t rows, columns, blocks;
};

class ColumnsEmitter {
public:
  ColumnsEmitter(OpBuilder &builder, func::FuncOp kernel, ValueRange operands, Value result)
      : builder(builder), loc(kernel.getLoc()), shape(kernel), emitter(builder, kernel, operands), result(result) {}

  void run(Value first, Value last) {
    auto tiles = scf::ForOp::create(builder, loc, first, last, emitter.constant(1));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(tiles.getBody());
    KernelEmitter::Scope scope(emitter);
    Value tile = tiles.getInductionVar(), blocks = emitter.constant(shape.blocks);
    Value row = arith::DivUIOp::create(builder, loc, tile, blocks), block = arith::RemUIOp::create(builder, loc, tile, blocks);
    kept = emitter.delinearize(row, shape.keptShape);
    Value begin = arith::MulIOp::create(builder, loc, block, emitter.constant(kBlock));
    int64_t whole = shape.columns / kBlock, rest = shape.columns % kBlock;
    if (rest == 0)
      return emitBlock(begin, kBlock);
    if (whole == 0)
      return emitBlock(emitter.constant(0), rest);
    Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, block, emitter.constant(whole));
    auto branch = scf::IfOp::create(builder, loc, isWhole, /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    emitBlock(begin, kBlock);
    builder.setInsertionPointToStart(branch.elseBlock());
    emitBlock(emitter.constant(whole * kBlock), rest);
  }

private:
  void emitBlock(Value begin, int64_t size) {
    KernelEmitter::Scope scope(emitter);
    SmallVector<Value> accumulators(( size + kLanes - 1) / kLanes, identityLanes(builder, loc, shape.fold));
    folded.clear();
    accumulators = emitFolds(0, accumulators, begin, size);
    forVectors(begin, size, [&](int64_t number, Index lanes) {
      SmallVector<Index> index(kept);
      index.push_back(lanes);
      emitter.store(numerics::toNumber(accumulators[number]), result, index);
    });
  }

  /// Loops over folded axes `depth` and deeper.
  SmallVector<Value> emitFolds(size_t depth, ArrayRef<Value> accumulators, Value begin, int64_t size) {
    if (depth == shape.foldedAxes.size()) {
      SmallVector<Value> next(accumulators);
      forVectors(begin, size, [&](int64_t number, Index lanes) {
        numerics::Number element = emitter.valueAt(shape.fold->getOperand(0), operandIndex(lanes));
        next[number] = foldInto(builder, loc, shape.fold, next[number], element, {});
      });
      return next;
    }
    int64_t extent = shapeOf(shape.fold->getOperand(0))[shape.foldedAxes[depth]];
    auto loop = scf::ForOp::create(builder, loc, emitter.constant(0), emitter.constant(extent), emitter.constant(1),
                                   llvm::to_vector(accumulators));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    KernelEmitter::Scope scope(emitter);
    folded.push_back(emitter.at(loop.getInductionVar()));
    SmallVector<Value> next = emitFolds(depth + 1, llvm::to_vector(ValueRange(loop.getRegionIterArgs())), begin, size);
    folded.pop_back();
    scf::YieldOp::create(builder, loc, next);
    return llvm::to_vector(ValueRange(loop.getResults()));
  }

  /// Masked lanes fold whatever was loaded there; they are not stored.
  void forVectors(Value begin, int64_t size, llvm::function_ref<void(int64_t, Index)> body) {
    for (int64_t position = 0; position < size; position += kLanes) {
      emitter.laneMask = position + kLanes <= size ? Value() : maskOf(builder, loc, size - position);
      body(position / kLanes, emitter.lanesFrom(emitter.add(begin, position)));
    }
    emitter.laneMask = {};
  }

  SmallVector<Index> operandIndex(Index lanes) {
    SmallVector<Index> index(shape.foldedAxes.size() + shape.keptAxes.size());
    for (auto [axis, position] : llvm::zip(shape.foldedAxes, folded))
      index[axis] = position;
    for (auto [axis, position] : llvm::zip(ArrayRef<int64_t>(shape.keptAxes).drop_back(), kept))
      index[axis] = position;
    index.back() = lanes;
    return index;
  }

  OpBuilder &builder;
  Location loc;
  ColumnsKernel shape;
  KernelEmitter emitter;
  Value result;
  SmallVector<Index> kept, folded;
};

} // namespace

int64_t lowering::columnsTiles(func::FuncOp kernel) {
  ColumnsKernel shape(kernel);
  return shape.rows * shape.blocks;
}

int64_t lowering::columnsResultParts(func::FuncOp kernel) {
  ColumnsKernel shape(kernel);
  return shape.columns % kBlock == 0 ? shape.rows * shape.blocks : 1;
}

void lowering::emitColumns(OpBuilder &builder, func::FuncOp kernel, ValueRange operands, ValueRange results, Value first,
                           Value last) {
  ColumnsEmitter(builder, kernel, operands, results[0]).run(first, last);
}
