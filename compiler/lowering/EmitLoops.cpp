// Pass `emit-loops`: every kernel becomes a function over memrefs that runs a range of tiles. The loops come from three
// emitters (rows, columns, contractions) or from the op itself if it stands alone.
#include "compiler/driver/Passes.h"
#include "compiler/graph/Access.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/lowering/EachKernel.h"
#include "compiler/lowering/EmitColumns.h"
#include "compiler/lowering/EmitContraction.h"
#include "compiler/lowering/EmitRows.h"
#include "compiler/lowering/InstructionCount.h"
#include "compiler/lowering/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "runtime/abi/MekikAbi.h"

namespace mekik {
#define GEN_PASS_DEF_EMITLOOPS
#include "compiler/driver/Passes.h.inc"
} // namespace mekik

using namespace mlir;
using namespace mekik;
using namespace mekik::lowering;

namespace {

/// The op that decides how the kernel's loops look; null for kernels of kind rows.
Operation *leadingOp(func::FuncOp kernel) {
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (isa<graph::ContractionOpInterface, graph::StandaloneOpInterface>(op) || graph::reducesLeadingAxes(&op))
      return &op;
  return nullptr;
}

class LoopEmitter {
public:
  LoopEmitter(func::FuncOp kernel, const Target &target)
      : kernel(kernel), target(target), leader(leadingOp(kernel)), builder(kernel.getContext()) {}

  void run() {
    int64_t scratchBytes = 0;
    if (auto contraction = dyn_cast_or_null<graph::ContractionOpInterface>(leader))
      scratchBytes = contractionScratchBytes(contraction, target);

    SmallVector<Type> types;
    for (Type type : kernel.getArgumentTypes())
      types.push_back(memoryType(type));
    for (Type type : kernel.getResultTypes())
      types.push_back(memoryType(type));
    if (scratchBytes > 0)
      types.push_back(MemRefType::get({scratchBytes}, builder.getI8Type()));
    types.append(2, builder.getIndexType());

    builder.setInsertionPoint(kernel);
    Location loc = kernel.getLoc();
    auto loops = func::FuncOp::create(builder, loc, kernel.getSymName(), builder.getFunctionType(types, {}));
    loops.setPrivate();
    for (StringRef name : {graph::kKernel, graph::kInPlace, graph::kOperations})
      if (Attribute attribute = kernel->getAttr(name))
        loops->setAttr(name, attribute);
    loops->setAttr(graph::kScratch, builder.getI64IntegerAttr(scratchBytes));
    declareMemory(loops);

    builder.setInsertionPointToStart(loops.addEntryBlock());
    ValueRange arguments = loops.getArguments();
    size_t inputs = kernel.getNumArguments(), outputs = kernel.getNumResults();
    ValueRange operands = arguments.take_front(inputs), results = arguments.slice(inputs, outputs);
    Value scratch = scratchBytes > 0 ? arguments[inputs + outputs] : Value();
    Value first = arguments[arguments.size() - 2], last = arguments.back();
    auto [tiles, parts] = emit(operands, results, scratch, first, last);
    estimate(loops, tiles);
    SmallVector<int64_t> bytes;
    for (Value buffer : arguments.take_front(inputs + outputs))
      bytes.push_back(bytesOf(cast<MemRefType>(buffer.getType())));
    loops->setAttr(graph::kTiles, builder.getI64IntegerAttr(tiles));
    loops->setAttr(graph::kBytes, builder.getDenseI64ArrayAttr(bytes));
    loops->setAttr(graph::kParts, builder.getDenseI64ArrayAttr(parts));
    loops->setAttr(graph::kResults, builder.getI64IntegerAttr(static_cast<int64_t>(outputs)));
    builder.setInsertionPointToEnd(&loops.getBody().back());
    func::ReturnOp::create(builder, loc);
    kernel.erase();
  }

private:
  void estimate(func::FuncOp loops, int64_t tiles) {
    double cycles = 0, traffic = 0;
    if (auto contraction = dyn_cast_or_null<graph::ContractionOpInterface>(leader)) {
      ContractionPlan plan = planContraction(contraction, target);
      cycles = plan.cycles();
      traffic = plan.traffic(target);
      loops->setAttr(graph::kContraction, builder.getUnitAttr());
    } else {
      cycles = countCycles(loops, tiles, target);
      Type half = halved();
      for (Type type : loops.getArgumentTypes())
        if (auto memory = dyn_cast<MemRefType>(type))
          traffic += static_cast<double>(bytesOf(memory)) / (type == half ? 2 : 1);
    }
    loops->setAttr(graph::kCycles, builder.getF64FloatAttr(cycles));
    loops->setAttr(graph::kTraffic, builder.getF64FloatAttr(traffic));
  }

  /// The number of tiles; for each operand and result the parts of its buffer (MekikBuffer::parts).
  struct Cut {
    int64_t tiles;
    SmallVector<int64_t> parts;
  };

  Cut emit(ValueRange operands, ValueRange results, Value scratch, Value first, Value last) {
    auto operandsWhole = [&](int64_t resultParts) {
      SmallVector<int64_t> parts(operands.size(), 1);
      parts.push_back(resultParts);
      return parts;
    };
    auto argument = [&](Value value) { return operands[cast<BlockArgument>(value).getArgNumber()]; };
    if (auto contraction = dyn_cast_or_null<graph::ContractionOpInterface>(leader)) {
      emitContraction(builder, leader->getLoc(), contraction, argument(leader->getOperand(0)),
                      argument(leader->getOperand(1)), results[0], scratch, first, last, target);
      ContractionParts cut = contractionParts(contraction, target);
      SmallVector<int64_t> parts = operandsWhole(cut.result);
      Value left = leader->getOperand(0), right = leader->getOperand(1);
      if (left != right) {
        parts[cast<BlockArgument>(left).getArgNumber()] = cut.left;
        parts[cast<BlockArgument>(right).getArgNumber()] = cut.right;
      }
      return {contractionTiles(contraction, target), parts};
    }
    if (auto standalone = dyn_cast_or_null<graph::StandaloneOpInterface>(leader)) {
      SmallVector<Value> buffers;
      for (Value operand : leader->getOperands())
        buffers.push_back(argument(operand));
      int64_t tiles = standalone.kernelTiles();
      standalone.emitKernel(builder, buffers, results[0], first, last);
      return {tiles, operandsWhole(standalone.tilesAreEqualParts() ? tiles : 1)};
    }
    if (leader) {
      emitColumns(builder, kernel, operands, results, first, last);
      return {columnsTiles(kernel), operandsWhole(columnsResultParts(kernel))};
    }
    emitRows(builder, kernel, operands, results, first, last, target);
    return {rowsTiles(kernel, target), rowsParts(kernel, target)};
  }

  /// The type of tensors of which what is behind a diagonal is neither read nor written; null if there are none.
  Type halved() {
    if (auto axes = kernel->getAttrOfType<DenseI64ArrayAttr>(graph::kReadUpToDiagonal))
      for (auto [axis, type] : llvm::zip(axes.asArrayRef(), kernel.getResultTypes()))
        if (axis >= 0)
          return memoryType(type);
    return {};
  }

  static int64_t bytesOf(MemRefType type) {
    return type.getNumElements() * std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
  }

  /// What is true of the buffers of every dispatch: aligned, valid for their whole size, and apart from each other
  /// unless a result may be given the buffer of an operand.
  void declareMemory(func::FuncOp loops) {
    llvm::SmallDenseSet<int64_t> shared;
    if (auto overwritable = kernel->getAttrOfType<DenseI64ArrayAttr>(graph::kInPlace))
      for (int64_t operand : overwritable.asArrayRef()) {
        shared.insert(operand);
        for (auto [number, type] : llvm::enumerate(kernel.getResultTypes()))
          if (type == kernel.getArgumentTypes()[operand])
            shared.insert(kernel.getNumArguments() + number);
      }
    for (auto [number, type] : llvm::enumerate(loops.getArgumentTypes())) {
      if (!isa<MemRefType>(type))
        continue;
      loops.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(MEKIK_ALIGNMENT));
      if (!shared.contains(number))
        loops.setArgAttr(number, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    }
  }

  func::FuncOp kernel;
  const Target &target;
  Operation *leader;
  OpBuilder builder;
};

struct EmitLoops : mekik::impl::EmitLoopsBase<EmitLoops> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registry.insert<LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    absl::StatusOr<Target> target = Target::parse(cpu);
    if (!target.ok()) {
      getOperation().emitError(std::string(target.status().message()));
      return signalPassFailure();
    }
    target->tileElements = std::max<int64_t>(1, tileElements);
    (void)forEachKernel(getOperation(), [&](func::FuncOp kernel) { // cannot fail
      LoopEmitter(kernel, *target).run();
      return success();
    });
  }
};

} // namespace
