// A row that fits in registers is computed at once, straight-line, and short ones a few side by side. A longer one is
// passed over once per level of folds (a fold that needs the result of another is one level up) and once more for what
// is stored; values are computed again in each pass, which cannot change them, unless the place of an output can hold
// them until then. Where rows end at a diagonal so do the passes, and behind it is stored what stands there by
// definition, if anybody reads it. Kernels that treat all elements alike forget the shape and run flat.
#include "compiler/lowering/EmitRows.h"
#include "compiler/graph/Access.h"
#include "compiler/graph/Build.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/lowering/InstructionCount.h"
#include "compiler/lowering/Lanes.h"
#include "compiler/lowering/RowsKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::lowering;
using graph::Index;
using graph::shapeOf;
using numerics::Number;

namespace {

/// Finds values of a kernel of which the element, or row, at hand is made of nothing but theirs at the same place.
class InPlaceReads {
public:
  /// True if whatever reads `value`, directly or through other ops, does so at the place that is computed.
  bool only(Value value) {
    auto [known, isNew] = memory.try_emplace(value, true);
    if (!isNew)
      return known->second;
    bool result = llvm::all_of(value.getUses(), [&](OpOperand &use) { return inPlace(use); });
    return memory[value] = result;
  }

private:
  bool inPlace(OpOperand &use) {
    Operation *reader = use.getOwner();
    if (reader->hasTrait<OpTrait::IsTerminator>())
      return true;
    if (auto element = dyn_cast<graph::ElementOpInterface>(reader)) {
      graph::Access access = graph::accessesOf(element).operands[use.getOperandNumber()];
      if (access != graph::Access::Same && access != graph::Access::Row)
        return false;
    }
    return only(reader->getResult(0));
  }

  llvm::DenseMap<Value, bool> memory;
};

class RowsEmitter {
public:
  RowsEmitter(OpBuilder &builder, func::FuncOp kernel, const RowsKernel &shape, ValueRange operands, ValueRange results,
              const Target &target)
      : builder(builder), loc(kernel.getLoc()), kernel(kernel), shape(shape), target(target),
        emitter(builder, kernel, operands), results(results) {}

  /// Runs rows of tiles [first, last).
  void run(Value first, Value last) {
    Value perTile = emitter.constant(shape.unitsPerTile);
    Value begin = arith::MulIOp::create(builder, loc, first, perTile);
    Value end = arith::MulIOp::create(builder, loc, last, perTile);
    end = arith::MinUIOp::create(builder, loc, end, emitter.constant(shape.rows));
    int64_t together = shape.rowsTogether(target);
    auto loop = scf::ForOp::create(builder, loc, begin, end, emitter.constant(together));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    KernelEmitter::Scope scope(emitter);
    ArrayRef<int64_t> domain = shape.domain;
    if (domain.empty())
      rows.emplace_back();
    for (int64_t row = 0; row < together && !domain.empty(); ++row)
      rows.push_back(emitter.delinearize(emitter.add(loop.getInductionVar(), row), domain.drop_back()));
    atRow(0);
    if (shape.columns <= graph::kWholeRow)
      emitStraightLine();
    else
      emitPasses();
  }

  /// Runs elements of tiles [first, last) of a flat kernel; all buffers have one axis.
  void runFlat(Value first, Value last) {
    int64_t total = shape.rows * shape.columns, whole = total / kLanes * kLanes;
    Value perTile = emitter.constant(shape.unitsPerTile);
    Value begin = arith::MulIOp::create(builder, loc, first, perTile);
    Value end = arith::MulIOp::create(builder, loc, last, perTile);
    Value wholeEnd = arith::MinUIOp::create(builder, loc, end, emitter.constant(whole));
    auto loop = scf::ForOp::create(builder, loc, begin, wholeEnd, emitter.constant(kLanes));
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      KernelEmitter::Scope scope(emitter);
      storeOutputs({emitter.lanesFrom(loop.getInductionVar())});
    }
    if (whole == total)
      return;
    Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, end, emitter.constant(total));
    auto tail = scf::IfOp::create(builder, loc, isLast, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(tail.thenBlock());
    KernelEmitter::Scope scope(emitter);
    emitter.laneMask = maskOf(builder, loc, total - whole);
    storeOutputs({emitter.lanesFrom(emitter.constant(whole))});
    emitter.laneMask = {};
  }

private:
  bool perRow(Value value) const { return shapeOf(value).size() != shape.domain.size(); }

  SmallVector<Index> atColumn(Index column) const {
    SmallVector<Index> index(rowIndex);
    if (!shape.domain.empty())
      index.push_back(column);
    return index;
  }

  /// Everything is computed before anything is stored: an output may have the buffer of an operand.
  void storeOutputs(ArrayRef<Index> index, bool behindDiagonal = false) {
    SmallVector<std::pair<Value, Number>> numbers;
    for (auto [output, buffer, unread] : llvm::zip(shape.outputs, results, shape.readUpToDiagonal))
      if (!perRow(output) && !(behindDiagonal && unread))
        numbers.push_back({buffer, emitter.valueAt(output, index)});
    for (auto [buffer, number] : numbers)
      emitter.store(number, buffer, index);
  }

  void storeRowOutputs() {
    for (auto [output, buffer] : llvm::zip(shape.outputs, results))
      if (perRow(output))
        emitter.store(emitter.valueAt(output, rowIndex), buffer, rowIndex);
  }

  Index column(int64_t position) {
    Value value = emitter.constant(position);
    return shape.columns == 1 ? emitter.at(value) : emitter.lanesFrom(value);
  }
  Value tailMask(int64_t position, int64_t size) {
    return position + kLanes <= size || size == 1 ? Value() : maskOf(builder, loc, size - position);
  }

  void atRow(unsigned number) {
    rowIndex = rows[number];
    emitter.atRow(number);
  }

  void emitStraightLine() {
    for (graph::ReductionOpInterface fold : shape.folds) {
      SmallVector<Value> accumulators(rows.size(), identityLanes(builder, loc, fold));
      for (size_t row = 0; row < rows.size(); ++row) {
        atRow(row);
        for (int64_t position = 0; position < shape.columns; position += kLanes) {
          emitter.laneMask = tailMask(position, shape.columns);
          Number element = emitter.valueAt(fold->getOperand(0), atColumn(column(position)));
          Value mask = shape.columns == 1 ? maskOf(builder, loc, 1) : emitter.laneMask;
          accumulators[row] = foldInto(builder, loc, fold, accumulators[row], element, mask);
        }
        emitter.laneMask = {};
      }
      SmallVector<Number> folded = foldLanesOfRows(builder, loc, fold, accumulators);
      for (size_t row = 0; row < rows.size(); ++row) {
        atRow(row);
        emitter.setFold(fold->getResult(0), folded[row]);
      }
    }
    for (size_t row = 0; row < rows.size(); ++row) {
      atRow(row);
      for (int64_t position = 0; position < shape.columns; position += kLanes) {
        emitter.laneMask = tailMask(position, shape.columns);
        storeOutputs(atColumn(column(position)));
      }
      emitter.laneMask = {};
      storeRowOutputs();
    }
  }

  void emitPasses() {
    llvm::DenseMap<Value, int64_t> level;
    int64_t levels = 0;
    SmallVector<Value> rowValues;
    for (Operation &op : kernel.getBody().front().without_terminator()) {
      int64_t needed = 0;
      for (Value operand : op.getOperands())
        needed = std::max(needed, level.lookup(operand));
      bool fold = isa<graph::ReductionOpInterface>(op);
      level[op.getResult(0)] = needed + fold;
      levels = std::max(levels, needed + fold);
      if (!fold && !graph::isFree(&op) && perRow(op.getResult(0)))
        rowValues.push_back(op.getResult(0));
    }
    for (int64_t now = 1; now <= levels; ++now) {
      SmallVector<graph::ReductionOpInterface> folds;
      for (graph::ReductionOpInterface fold : shape.folds)
        if (level.lookup(fold->getResult(0)) == now)
          folds.push_back(fold);
      Value end = llvm::all_of(folds, [&](auto fold) { return endsAtDiagonal(fold); }) ? rowEnd() : Value();
      Value rests = folds[0]->getOperand(0);
      if (end)
        rests = graph::upToDiagonal(rests)->before;
      Value resting = now == levels && folds.size() == 1 && restsApart(rests, end) ? restingPlace(rests) : Value();
      auto source = [&](Index lanes) {
        SmallVector<Number> elements;
        for (graph::ReductionOpInterface fold : folds)
          elements.push_back(emitter.valueAt(fold->getOperand(0), atColumn(lanes)));
        if (resting)
          emitter.store(elements[0], resting, atColumn(lanes));
        return elements;
      };
      if (end)
        takeKept(&graph::UpToDiagonal::before);
      SmallVector<Number> folded = foldSpan(folds, shape.columns, end, source);
      if (end)
        takeKept(nullptr);
      for (auto [fold, number] : llvm::zip(folds, folded))
        emitter.setFold(fold->getResult(0), number);
      if (resting)
        emitter.setStored(rests, resting);
      rested = resting ? rests : Value();
      // Known from here on for the whole row, not only inside one loop.
      for (Value value : rowValues)
        if (level.lookup(value) == now)
          emitter.valueAt(value, rowIndex);
    }
    if (llvm::any_of(shape.outputs, [&](Value output) { return !perRow(output); })) {
      if (shape.diagonal < 0)
        forLanes(emitter.constant(0), shape.columns, [&](Index lanes) { storeOutputs(atColumn(lanes)); });
      else
        storeAroundDiagonal();
    }
    storeRowOutputs();
  }

  bool endsAtDiagonal(graph::ReductionOpInterface fold) const {
    std::optional<graph::UpToDiagonal> end = graph::endOfFold(fold);
    return end && end->later == shape.diagonal;
  }

  /// The number of elements of the row at hand up to the diagonal.
  Value rowEnd() {
    Value end = emitter.add(KernelEmitter::positionOf(rowIndex[shape.diagonal]), 1);
    return shape.domain[shape.diagonal] <= shape.columns ? end : minimum(end, emitter.constant(shape.columns));
  }

  /// Elements that a diagonal tells apart are from now on what stands before or behind it; null: found out for each.
  void takeKept(Value graph::UpToDiagonal::*side) {
    for (const RowsKernel::Kept &kept : shape.kept)
      emitter.setEqual(kept.select, side ? kept.parts.*side : Value());
  }

  void storeAroundDiagonal() {
    Value end = rowEnd();
    takeKept(&graph::UpToDiagonal::before);
    forLanesUpTo(emitter.constant(0), end, [&](Index lanes) { storeOutputs(atColumn(lanes)); });
    if (!llvm::all_of(shape.readUpToDiagonal, [](bool unread) { return unread; })) {
      takeKept(&graph::UpToDiagonal::behind);
      if (rested)
        emitter.setStored(rested, Value());
      forLanesBehind(end, [&](Index lanes) { storeOutputs(atColumn(lanes), /*behindDiagonal=*/true); });
    }
    takeKept(nullptr);
  }

  /// Whether `value` can be told from what is stored on each side of a diagonal: it rests before the diagonal alone, so
  /// that behind it operands are still whole, and is not itself what the diagonal tells apart.
  bool restsApart(Value value, Value end) const {
    return shape.diagonal < 0 ||
           (end && llvm::none_of(shape.kept, [&](const RowsKernel::Kept &kept) { return kept.select == value; }));
  }

  /// Where `value`, which the last and only fold reads, can rest until it is needed once more: the buffer of an output
  /// made of it. Null if there is none, if it is as cheap as a load, or if the row is too long for a near cache. The
  /// buffer may be that of an operand, which must not be needed any more then.
  Value restingPlace(Value value) {
    if (perRow(value) || shape.columns > kFoldChunk || expression(value).size() < 3)
      return {};
    for (auto [output, buffer] : llvm::zip(shape.outputs, results))
      if (output.getType() == value.getType() && expression(output).contains(value) &&
          !llvm::any_of(shape.outputs, [&](Value each) { return readsOverwritable(each, value); }))
        return buffer;
    return {};
  }

  /// Whether an element of `output`, made of `rested` and other things, needs an operand that may have been
  /// overwritten.
  bool readsOverwritable(Value output, Value rested) const {
    auto overwritable = kernel->getAttrOfType<DenseI64ArrayAttr>(graph::kInPlace);
    SmallVector<Value> open{output};
    while (!open.empty()) {
      Value value = open.pop_back_val();
      auto argument = dyn_cast<BlockArgument>(value);
      if (argument && overwritable && llvm::is_contained(overwritable.asArrayRef(), argument.getArgNumber()))
        return true;
      if (auto op = value.getDefiningOp<graph::ElementOpInterface>(); op && value != rested && !perRow(value))
        open.append(op->operand_begin(), op->operand_end());
    }
    return false;
  }

  /// What is computed, element for element, for an element of `value`.
  llvm::SmallSetVector<Value, 16> expression(Value value) {
    llvm::SmallSetVector<Value, 16> values;
    values.insert(value);
    for (size_t next = 0; next < values.size(); ++next)
      if (auto op = values[next].getDefiningOp<graph::ElementOpInterface>())
        for (Value operand : op->getOperands())
          if (operand.getDefiningOp<graph::ElementOpInterface>() && !graph::isFree(operand.getDefiningOp()) &&
              !perRow(operand))
            values.insert(operand);
    return values;
  }

  /// Calls `body` for `size` columns from `begin`, sixteen at a time, the last ones masked.
  void forLanes(Value begin, int64_t size, llvm::function_ref<void(Index)> body) {
    int64_t whole = size / kLanes * kLanes;
    if (whole > 0)
      lanesLoop(begin, emitter.add(begin, whole), {}, double(whole) / kLanes, [&](ValueRange, Index lanes) {
        body(lanes);
        return SmallVector<Value>();
      });
    if (whole == size)
      return;
    KernelEmitter::Scope scope(emitter);
    emitter.laneMask = maskOf(builder, loc, size - whole);
    body(emitter.lanesFrom(emitter.add(begin, whole)));
    emitter.laneMask = {};
  }

  /// Calls `body` for columns [begin, end), sixteen at a time, the last ones masked.
  void forLanesUpTo(Value begin, Value end, llvm::function_ref<void(Index)> body) {
    foldUpTo(begin, end, shape.columns, {}, [&](ValueRange, Index lanes) {
      body(lanes);
      return SmallVector<Value>();
    });
  }

  /// The same for the columns from `end` on.
  void forLanesBehind(Value end, llvm::function_ref<void(Index)> body) {
    int64_t whole = shape.columns / kLanes * kLanes;
    Value columns = emitter.constant(shape.columns), begin = downToLanes(end);
    Value next = downToLanes(emitter.add(end, kLanes - 1));
    lanesLoop(begin, end, {}, 1, [&](ValueRange, Index lanes) {
      Value position = KernelEmitter::positionOf(lanes);
      emitter.laneMask =
          arith::XOrIOp::create(builder, loc, maskUpTo(sub(columns, position)), maskUpTo(sub(end, position)));
      body(lanes);
      return SmallVector<Value>();
    });
    lanesLoop(next, emitter.constant(whole), {}, double(whole) / kLanes / 2, [&](ValueRange, Index lanes) {
      body(lanes);
      return SmallVector<Value>();
    });
    if (whole < shape.columns)
      lanesLoop(arith::MaxUIOp::create(builder, loc, next, emitter.constant(whole)), columns, {}, 1,
                [&](ValueRange, Index lanes) {
                  emitter.laneMask = maskOf(builder, loc, shape.columns - whole);
                  body(lanes);
                  return SmallVector<Value>();
                });
  }

  using Step = llvm::function_ref<SmallVector<Value>(ValueRange, Index)>;

  /// A loop over columns [from, to), sixteen at a time, that carries `state`; `turns` of it are expected. A lane mask
  /// that `step` sets ends with it.
  SmallVector<Value> lanesLoop(Value from, Value to, ArrayRef<Value> state, double turns, Step step) {
    auto loop = scf::ForOp::create(builder, loc, from, to, emitter.constant(kLanes), state);
    loop->setAttr(kTurns, builder.getF64FloatAttr(turns));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    KernelEmitter::Scope scope(emitter);
    SmallVector<Value> next = step(loop.getRegionIterArgs(), emitter.lanesFrom(loop.getInductionVar()));
    emitter.laneMask = {};
    if (!state.empty())
      scf::YieldOp::create(builder, loc, next);
    return llvm::to_vector(ValueRange(loop.getResults()));
  }

  /// Columns [begin, end) of a part of a row of `size`: whole vectors, then the rest of them behind a mask.
  SmallVector<Value> foldUpTo(Value begin, Value end, int64_t size, SmallVector<Value> state, Step step) {
    Value whole = emitter.add(begin, downToLanes(sub(end, begin)));
    state = lanesLoop(begin, whole, state, double(size) / kLanes / 2, step);
    return lanesLoop(whole, end, state, 1, [&](ValueRange carried, Index lanes) {
      emitter.laneMask = maskUpTo(sub(end, KernelEmitter::positionOf(lanes)));
      return step(carried, lanes);
    });
  }

  Value sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
  Value minimum(Value a, Value b) { return arith::MinUIOp::create(builder, loc, a, b); }
  Value downToLanes(Value position) { return arith::AndIOp::create(builder, loc, position, emitter.constant(-kLanes)); }
  /// Lanes 0 .. count - 1, all if there are fewer.
  Value maskUpTo(Value count) {
    return vector::CreateMaskOp::create(builder, loc, VectorType::get(kLanes, builder.getI1Type()), count);
  }

  using Source = llvm::function_ref<SmallVector<Number>(Index)>;

  /// Folds elements 0 .. size - 1 of a row; in chunks if there are many, whose results form a row again. Elements from
  /// `end` on, if there is one, would change nothing.
  SmallVector<Number> foldSpan(ArrayRef<graph::ReductionOpInterface> folds, int64_t size, Value end, Source source) {
    if (size <= kFoldChunk)
      return foldChunk(folds, emitter.constant(0), size, end, source);
    int64_t whole = size / kFoldChunk, chunks = (size + kFoldChunk - 1) / kFoldChunk;
    SmallVector<Value> partial;
    for (graph::ReductionOpInterface fold : folds) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointAfter(emitter.constant(0).getDefiningOp());
      Type element = cast<RankedTensorType>(fold->getResult(0).getType()).getElementType();
      partial.push_back(memref::AllocaOp::create(builder, loc, MemRefType::get({chunks}, element)));
    }
    auto keep = [&](ArrayRef<Number> numbers, Value chunk) {
      for (auto [number, buffer] : llvm::zip(numbers, partial))
        memref::StoreOp::create(builder, loc, numerics::toValue(number), buffer, chunk);
    };
    {
      auto loop = scf::ForOp::create(builder, loc, emitter.constant(0), emitter.constant(whole), emitter.constant(1));
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      KernelEmitter::Scope scope(emitter);
      Value begin = arith::MulIOp::create(builder, loc, loop.getInductionVar(), emitter.constant(kFoldChunk));
      keep(foldChunk(folds, begin, kFoldChunk, end, source), loop.getInductionVar());
    }
    if (whole < chunks)
      keep(foldChunk(folds, emitter.constant(whole * kFoldChunk), size - whole * kFoldChunk, end, source),
           emitter.constant(whole));
    return foldSpan(folds, chunks, /*end=*/{}, [&](Index lanes) {
      SmallVector<Number> elements;
      for (Value buffer : partial)
        elements.push_back(emitter.loadLanes(buffer, lanes));
      return elements;
    });
  }

  SmallVector<Number> foldChunk(ArrayRef<graph::ReductionOpInterface> folds, Value begin, int64_t size, Value end,
                                Source source) {
    SmallVector<Value> accumulators;
    for (graph::ReductionOpInterface fold : folds)
      accumulators.push_back(identityLanes(builder, loc, fold));
    auto step = [&](ValueRange state, Index lanes) {
      SmallVector<Value> next;
      for (auto [fold, before, element] : llvm::zip(folds, state, source(lanes)))
        next.push_back(foldInto(builder, loc, fold, before, element, emitter.laneMask));
      return next;
    };
    int64_t whole = size / kLanes * kLanes;
    if (end) {
      Value stop = arith::MaxUIOp::create(builder, loc, begin, minimum(end, emitter.add(begin, size)));
      accumulators = foldUpTo(begin, stop, size, accumulators, step);
    } else if (whole > 0) {
      accumulators = lanesLoop(begin, emitter.add(begin, whole), accumulators, double(whole) / kLanes, step);
    }
    if (!end && whole < size) {
      KernelEmitter::Scope scope(emitter);
      emitter.laneMask = maskOf(builder, loc, size - whole);
      accumulators = step(accumulators, emitter.lanesFrom(emitter.add(begin, whole)));
      emitter.laneMask = {};
    }
    SmallVector<Number> numbers;
    for (auto [fold, lanes] : llvm::zip(folds, accumulators))
      numbers.push_back(foldLanes(builder, loc, fold, lanes));
    return numbers;
  }

  OpBuilder &builder;
  Location loc;
  func::FuncOp kernel;
  const RowsKernel &shape;
  const Target &target;
  KernelEmitter emitter;
  ValueRange results;
  SmallVector<SmallVector<Index>> rows; ///< side by side
  SmallVector<Index> rowIndex;          ///< of the row at hand
  Value rested;                         ///< what lies in a resting place, up to where its fold ended
};

SmallVector<Value> flattened(OpBuilder &builder, Location loc, ValueRange buffers) {
  SmallVector<Value> flat;
  for (Value buffer : buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    if (type.getRank() < 2) {
      flat.push_back(buffer);
      continue;
    }
    ReassociationIndices all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    flat.push_back(memref::CollapseShapeOp::create(builder, loc, buffer, ArrayRef<ReassociationIndices>{all}));
  }
  return flat;
}

} // namespace

int64_t lowering::rowsTiles(func::FuncOp kernel, const Target &target) { return RowsKernel(kernel, target).tiles; }

SmallVector<int64_t> lowering::rowsParts(func::FuncOp kernel, const Target &target) {
  RowsKernel shape(kernel, target);
  InPlaceReads inPlace;
  SmallVector<int64_t> parts;
  for (Value operand : kernel.getArguments())
    parts.push_back(inPlace.only(operand) ? shape.partsOf(operand) : 1);
  for (Value output : shape.outputs)
    parts.push_back(shape.partsOf(output));
  return parts;
}

void lowering::emitRows(OpBuilder &builder, func::FuncOp kernel, ValueRange operands, ValueRange results, Value first,
                        Value last, const Target &target) {
  RowsKernel shape(kernel, target);
  if (shape.flat) {
    SmallVector<Value> flatOperands = flattened(builder, kernel.getLoc(), operands);
    SmallVector<Value> flatResults = flattened(builder, kernel.getLoc(), results);
    RowsEmitter(builder, kernel, shape, flatOperands, flatResults, target).runFlat(first, last);
  } else {
    RowsEmitter(builder, kernel, shape, operands, results, target).run(first, last);
  }
}
