// A row that fits in registers is computed at once, straight-line, and short ones a few side by side. A longer one is
// passed over once per level of folds (a fold that needs the result of another is one level up) and once more for what
// is stored; values are computed again in each pass, which cannot change them, unless the place of an output can hold
// them until then. Kernels that treat all elements alike forget the shape and run flat.
#include "compiler/lowering/EmitRows.h"
#include "compiler/graph/Access.h"
#include "compiler/graph/Build.h"
#include "compiler/lowering/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::lowering;
using graph::Index;
using graph::shapeOf;
using numerics::Number;

namespace {

/// Rows of at most this many elements are held in registers whole.
constexpr int64_t kStraightLineRow = 128;
/// Rows of one vector are computed two side by side, and rows of two vectors that wait for so many folds, four. More
/// than that only makes code that takes longer to compile.
constexpr size_t kManyFolds = 3;

/// What the body of a kernel of kind rows looks like.
struct RowsKernel {
  RowsKernel(func::FuncOp kernel, const Target &target) {
    Block &body = kernel.getBody().front();
    bool uniform = true;
    for (Operation &op : body.without_terminator()) {
      if (auto fold = dyn_cast<graph::ReductionOpInterface>(op)) {
        folds.push_back(fold);
        widen(shapeOf(op.getOperand(0)));
        continue;
      }
      auto element = cast<graph::ElementOpInterface>(op);
      uniform &= !graph::accessesOf(element).usesPosition;
      if (graph::isFree(&op))
        continue;
      widen(shapeOf(op.getResult(0)));
      uniform &= element.readsInPlace() ||
                 llvm::all_of(op.getOperands(), [](Value operand) { return shapeOf(operand).empty(); });
    }
    outputs = llvm::to_vector(body.getTerminator()->getOperands());
    for (Value output : outputs)
      uniform &= shapeOf(output) == ArrayRef<int64_t>(domain);
    flat = uniform && folds.empty() && !domain.empty();
    columns = domain.empty() ? 1 : domain.back();
    rows = 1;
    for (int64_t size : ArrayRef<int64_t>(domain).drop_back(domain.empty() ? 0 : 1))
      rows *= size;
    cutTiles(target.tileElements);
  }

  void widen(ArrayRef<int64_t> shape) {
    if (shape.size() >= domain.size())
      domain.assign(shape.begin(), shape.end());
  }

  /// Tiles of about `elements`, all alike if their number can be found: what lies in memory as the domain does is
  /// then in equal parts, which threads need not wait for each other to touch. Among such numbers one that common
  /// numbers of threads divide.
  void cutTiles(int64_t elements) {
    int64_t units = flat ? rows * columns : rows;
    unitsPerTile = flat ? llvm::alignTo(elements, kLanes) : std::max<int64_t>(1, elements / columns);
    tiles = (units + unitsPerTile - 1) / unitsPerTile;
    int64_t most = rows * columns < elements / 2 ? tiles : 2 * tiles;
    for (int64_t step : {8, 4, 2, 1})
      for (int64_t count = (tiles + step - 1) / step * step; count <= most; count += step)
        if (units % (count * (flat ? kLanes : 1)) == 0) {
          tiles = count;
          unitsPerTile = units / count;
          return;
        }
  }

  /// Of a value that lies in memory as the domain, or as the domain without its last axis.
  int64_t partsOf(Value value) const {
    ArrayRef<int64_t> shape = shapeOf(value), all(domain);
    bool follows = !all.empty() && (shape == all || (!flat && shape == all.drop_back()));
    return follows && unitsPerTile * tiles == (flat ? rows * columns : rows) ? tiles : 1;
  }

  /// How many rows are computed side by side: what comes before and behind a fold is mostly waiting, more than a
  /// processor can fill with rows to come, and a fold of two rows takes one step more than that of one. One value of
  /// all of them takes at most a quarter of the registers.
  int64_t rowsTogether(const Target &target) const {
    int64_t perRow = (columns + kLanes - 1) / kLanes * (kLanes * 4 / target.vectorBytes);
    bool waitsMuch = folds.size() >= kManyFolds;
    int64_t together = waitsMuch ? 4 : 2;
    auto fits = [&] {
      return together * perRow <= target.registers / 4 && unitsPerTile % together == 0 && rows % together == 0;
    };
    while (together > 1 && !fits())
      together /= 2;
    return folds.empty() || domain.empty() || columns > (waitsMuch ? 2 : 1) * kLanes ? 1 : together;
  }

  SmallVector<int64_t> domain;
  SmallVector<graph::ReductionOpInterface> folds;
  SmallVector<Value> outputs;
  int64_t rows, columns;
  int64_t tiles, unitsPerTile; // rows; elements if flat
  bool flat;
};

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
    if (shape.columns <= kStraightLineRow)
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
  void storeOutputs(ArrayRef<Index> index) {
    SmallVector<std::pair<Value, Number>> numbers;
    for (auto [output, buffer] : llvm::zip(shape.outputs, results))
      if (!perRow(output))
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
      Value resting = now == levels ? restingPlace(folds) : Value();
      auto source = [&](Index lanes) {
        SmallVector<Number> elements;
        for (graph::ReductionOpInterface fold : folds)
          elements.push_back(emitter.valueAt(fold->getOperand(0), atColumn(lanes)));
        if (resting)
          emitter.store(elements[0], resting, atColumn(lanes));
        return elements;
      };
      SmallVector<Number> folded = foldSpan(folds, shape.columns, source);
      for (auto [fold, number] : llvm::zip(folds, folded))
        emitter.setFold(fold->getResult(0), number);
      if (resting)
        emitter.setStored(folds[0]->getOperand(0), resting);
      // Known from here on for the whole row, not only inside one loop.
      for (Value value : rowValues)
        if (level.lookup(value) == now)
          emitter.valueAt(value, rowIndex);
    }
    if (llvm::any_of(shape.outputs, [&](Value output) { return !perRow(output); }))
      forLanes(emitter.constant(0), shape.columns, [&](Index lanes) { storeOutputs(atColumn(lanes)); });
    storeRowOutputs();
  }

  /// Where the values that the last and only fold reads can rest until they are needed once more: the buffer of an
  /// output made of them. Null if there is none, if they are as cheap as a load, or if the row is too long for a near
  /// cache. Outputs of kernels with folds never have the buffer of an operand.
  Value restingPlace(ArrayRef<graph::ReductionOpInterface> folds) {
    Value value = folds[0]->getOperand(0);
    if (folds.size() != 1 || perRow(value) || shape.columns > kFoldChunk || expression(value).size() < 3)
      return {};
    for (auto [output, buffer] : llvm::zip(shape.outputs, results))
      if (output.getType() == value.getType() && expression(output).contains(value))
        return buffer;
    return {};
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
    if (whole > 0) {
      auto loop = scf::ForOp::create(builder, loc, begin, emitter.add(begin, whole), emitter.constant(kLanes));
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      KernelEmitter::Scope scope(emitter);
      body(emitter.lanesFrom(loop.getInductionVar()));
    }
    if (whole == size)
      return;
    KernelEmitter::Scope scope(emitter);
    emitter.laneMask = maskOf(builder, loc, size - whole);
    body(emitter.lanesFrom(emitter.add(begin, whole)));
    emitter.laneMask = {};
  }

  using Source = llvm::function_ref<SmallVector<Number>(Index)>;

  /// Folds elements 0 .. size - 1 of a row; in chunks if there are many, whose results form a row again.
  SmallVector<Number> foldSpan(ArrayRef<graph::ReductionOpInterface> folds, int64_t size, Source source) {
    if (size <= kFoldChunk)
      return foldChunk(folds, emitter.constant(0), size, source);
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
      keep(foldChunk(folds, begin, kFoldChunk, source), loop.getInductionVar());
    }
    if (whole < chunks)
      keep(foldChunk(folds, emitter.constant(whole * kFoldChunk), size - whole * kFoldChunk, source),
           emitter.constant(whole));
    return foldSpan(folds, chunks, [&](Index lanes) {
      SmallVector<Number> elements;
      for (Value buffer : partial)
        elements.push_back(emitter.loadLanes(buffer, lanes));
      return elements;
    });
  }

  SmallVector<Number> foldChunk(ArrayRef<graph::ReductionOpInterface> folds, Value begin, int64_t size, Source source) {
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
    if (whole > 0) {
      auto loop =
          scf::ForOp::create(builder, loc, begin, emitter.add(begin, whole), emitter.constant(kLanes), accumulators);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      KernelEmitter::Scope scope(emitter);
      scf::YieldOp::create(builder, loc, step(loop.getRegionIterArgs(), emitter.lanesFrom(loop.getInductionVar())));
      accumulators = llvm::to_vector(ValueRange(loop.getResults()));
    }
    if (whole < size) {
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
