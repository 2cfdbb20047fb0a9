// Pass `form-kernels`: outlines the groups of Grouping.h into kernel functions and leaves each function of the model a
// straight list of calls and views.
#include "compiler/driver/Passes.h"
#include "compiler/fusion/Grouping.h"
#include "compiler/fusion/PrepareFunction.h"
#include "compiler/graph/Access.h"
#include "compiler/graph/Build.h"
#include "compiler/graph/ModelConventions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace mekik {
#define GEN_PASS_DEF_FORMKERNELS
#include "compiler/driver/Passes.h.inc"
} // namespace mekik

using namespace mlir;
using namespace mekik;
using namespace mekik::fusion;
using namespace mekik::graph;
using graph::shapeOf;

namespace {

/// The share of a contraction's products that its triangle leaves.
double shareInTriangle(graph::ContractionOpInterface contraction) {
  if (contraction.triangle().empty())
    return 1;
  auto sizeOf = [&](char label) {
    size_t axis = contraction.leftLabels().find(label);
    return axis != StringRef::npos ? contraction.leftLayout().shape[axis]
                                   : shapeOf(contraction->getOperand(1))[contraction.rightLabels().find(label)];
  };
  double later = sizeOf(contraction.triangle()[0]), earlier = sizeOf(contraction.triangle()[1]), inside = 0;
  for (double row = 1; row <= later; ++row)
    inside += std::min(row, earlier);
  return inside / (later * earlier);
}

double operationsOf(Operation *op) {
  double elements = 1;
  if (auto contraction = dyn_cast<graph::ContractionOpInterface>(op)) {
    for (int64_t size : shapeOf(op->getResult(0)))
      elements *= size;
    for (auto [label, size] : llvm::zip(contraction.leftLabels(), contraction.leftLayout().shape))
      if (!contraction.resultLabels().contains(label))
        elements *= size;
    return 2 * elements * shareInTriangle(contraction);
  }
  for (int64_t size : shapeOf(isa<graph::ReductionOpInterface>(op) ? op->getOperand(0) : op->getResult(0)))
    elements *= size;
  if (isa<graph::ReductionOpInterface>(op))
    return elements;
  auto element = dyn_cast<graph::ElementOpInterface>(op);
  return element ? elements * element.operationsPerElement() : 0;
}

/// Operands that any result of the same type may overwrite: read only where the result is written, or by folds of a
/// row, which are done before anything of it is written.
SmallVector<int64_t> overwritable(const KernelGroup &group, ArrayRef<Value> inputs) {
  if (group.kind != KernelKind::Rows)
    return {};
  llvm::SmallDenseSet<Value> elsewhere;
  for (Operation *op : group.ops) {
    if (isa<graph::ReductionOpInterface>(op)) {
      if (shapeOf(op->getOperand(0)) != ArrayRef<int64_t>(group.domain))
        elsewhere.insert(op->getOperand(0));
      continue;
    }
    Accesses accesses = accessesOf(cast<graph::ElementOpInterface>(op));
    for (auto [operand, access] : llvm::zip(op->getOperands(), accesses.operands))
      if (access != Access::Same || shapeOf(op->getResult(0)) != ArrayRef<int64_t>(group.domain))
        elsewhere.insert(operand);
  }
  SmallVector<int64_t> result;
  for (auto [number, input] : llvm::enumerate(inputs))
    if (!elsewhere.contains(input))
      result.push_back(number);
  return result;
}

class Outliner {
public:
  Outliner(ModuleOp module, int64_t largeBytes) : module(module), largeBytes(largeBytes) {}

  void run(func::FuncOp function) {
    prepareFunction(function, largeBytes);
    Block &block = function.getBody().front();
    KernelPlan plan = planKernels(block);
    Operation *terminator = block.getTerminator();
    SmallVector<Operation *> old;
    for (const KernelStep &step : plan.steps) {
      if (step.view)
        step.view->moveBefore(terminator);
      else
        outline(*step.group, terminator, old);
    }
    for (Operation *op : llvm::reverse(old))
      op->erase();
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      if (isFree(&op) && op.use_empty())
        op.erase();
  }

private:
  void outline(const KernelGroup &group, Operation *before, SmallVector<Operation *> &old) {
    llvm::SmallSetVector<Value, 8> inputs;
    SmallVector<Value> outputs;
    llvm::SmallPtrSet<Operation *, 16> inside(group.ops.begin(), group.ops.end());
    double operations = 0;
    for (Operation *op : group.ops) {
      operations += operationsOf(op);
      for (OpOperand &operand : op->getOpOperands())
        if (Operation *producer = operand.get().getDefiningOp();
            !producer || (!inside.contains(producer) && (!isFree(producer) || isImmediate(operand))))
          inputs.insert(operand.get());
      if (llvm::any_of(op->getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        outputs.push_back(op->getResult(0));
    }
    if (outputs.empty()) {
      old.append(group.ops.begin(), group.ops.end());
      return;
    }

    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    Location loc = group.ops.back()->getLoc();
    auto type = builder.getFunctionType(TypeRange(ValueRange(inputs.getArrayRef())), TypeRange(ValueRange(outputs)));
    std::string name = (nameOf(group.kind) + "_" + llvm::Twine(nextNumber++)).str();
    auto kernel = func::FuncOp::create(builder, loc, name, type);
    kernel.setPrivate();
    kernel->setAttr(graph::kKernel, builder.getUnitAttr());
    kernel->setAttr(graph::kOperations, builder.getF64FloatAttr(operations));
    if (auto operands = overwritable(group, inputs.getArrayRef()); !operands.empty())
      kernel->setAttr(graph::kInPlace, builder.getDenseI64ArrayAttr(operands));

    Block *body = kernel.addEntryBlock();
    builder.setInsertionPointToEnd(body);
    IRMapping mapping;
    mapping.map(inputs.getArrayRef(), body->getArguments());
    for (Operation *op : group.ops) {
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp(); producer && isFree(producer) && !mapping.contains(operand))
          builder.clone(*producer, mapping);
      builder.clone(*op, mapping);
    }
    SmallVector<Value> results;
    for (Value output : outputs)
      results.push_back(mapping.lookup(output));
    func::ReturnOp::create(builder, loc, results);

    builder.setInsertionPoint(before);
    auto call = func::CallOp::create(builder, loc, kernel, inputs.getArrayRef());
    for (auto [output, result] : llvm::zip(outputs, call.getResults()))
      output.replaceUsesWithIf(result, [&](OpOperand &use) { return !inside.contains(use.getOwner()); });
    old.append(group.ops.begin(), group.ops.end());
  }

  ModuleOp module;
  int64_t largeBytes;
  int64_t nextNumber = 0;
};

struct FormKernels : mekik::impl::FormKernelsBase<FormKernels> {
  using Base::Base;

  void runOnOperation() override {
    Outliner outliner(getOperation(), largeBytes);
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!function->hasAttr(graph::kKernel))
        outliner.run(function);
  }
};

} // namespace
