// The reverse walk. Two sweeps: forward, which values depend on the ones asked for; backward from the loss, handing
// each op the sum of what its users contributed.
#include "compiler/autodiff/Gradient.h"
#include "compiler/graph/Build.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mekik;

namespace {

bool isReal(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

class ReverseWalk {
public:
  ReverseWalk(OpBuilder &builder, Value loss, ArrayRef<Value> wrt)
      : builder(builder), loss(loss), wrt(wrt), block(loss.getParentBlock()) {}

  LogicalResult run();
  /// By position in `wrt`; null if the value was not reached.
  Value gradientOf(size_t index) const { return gradients.lookup(wrt[index]); }

private:
  void findDependents();
  SmallVector<Operation *> opsOnPaths();
  /// True if some op was expanded, which makes everything found so far stale.
  bool expandOpaqueComposites(ArrayRef<Operation *> path);
  LogicalResult checkGradients(ArrayRef<Operation *> path);
  void contribute(Value value, Value gradient);

  OpBuilder &builder;
  // Either may be replaced by its expansion.
  Value loss;
  SmallVector<Value> wrt;
  Block *block;
  llvm::DenseSet<Value> dependents;
  llvm::DenseMap<Value, Value> gradients;
};

void ReverseWalk::findDependents() {
  dependents.clear();
  dependents.insert(wrt.begin(), wrt.end());
  for (Operation &op : *block) {
    if (!llvm::any_of(op.getOperands(), [&](Value operand) { return dependents.contains(operand); }))
      continue;
    for (Value result : op.getResults())
      if (isReal(result)) // nothing flows through integers and booleans
        dependents.insert(result);
  }
}

/// The ops from which the loss can be reached through dependent values, last first.
SmallVector<Operation *> ReverseWalk::opsOnPaths() {
  SmallVector<Operation *> path;
  llvm::DenseSet<Operation *> needed;
  auto need = [&](Value value) {
    if (Operation *op = value.getDefiningOp(); op && dependents.contains(value))
      needed.insert(op);
  };
  need(loss);
  Operation *last = loss.getDefiningOp();
  for (Operation *op = last; op; op = op->getPrevNode()) {
    if (!needed.contains(op))
      continue;
    if (!llvm::any_of(op->getOperands(), [&](Value operand) { return dependents.contains(operand); }))
      continue; // asked for itself, and depends on nothing else that is
    path.push_back(op);
    for (Value operand : op->getOperands())
      need(operand);
  }
  return path;
}

bool ReverseWalk::expandOpaqueComposites(ArrayRef<Operation *> path) {
  bool expanded = false;
  for (Operation *op : path) {
    auto composite = dyn_cast<graph::CompositeOpInterface>(op);
    if (!composite || isa<graph::GradientOpInterface>(op))
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    Value definition = composite.expand(builder);
    if (op->getResult(0) == loss)
      loss = definition;
    llvm::replace(wrt, Value(op->getResult(0)), definition);
    op->getResult(0).replaceAllUsesWith(definition);
    op->erase();
    expanded = true;
  }
  return expanded;
}

LogicalResult ReverseWalk::checkGradients(ArrayRef<Operation *> path) {
  bool good = true;
  for (Operation *op : llvm::reverse(path)) {
    if (isa<graph::GradientOpInterface>(op))
      continue;
    op->emitError() << "'" << op->getName().stripDialect()
                    << "' has no gradient, so nothing before it can be trained through it; the loss depends on a "
                       "parameter this way";
    good = false;
  }
  return success(good);
}

void ReverseWalk::contribute(Value value, Value gradient) {
  Value &sum = gradients[value];
  sum = sum ? graph::Build(builder, value.getLoc()).add(sum, gradient) : gradient;
}

LogicalResult ReverseWalk::run() {
  SmallVector<Operation *> path;
  do {
    findDependents();
    path = opsOnPaths();
  } while (expandOpaqueComposites(path));
  if (failed(checkGradients(path)))
    return failure();

  gradients[loss] = graph::Build(builder, loss.getLoc()).constant(loss.getType(), 1);
  for (Operation *op : path) {
    Value upstream = gradients.lookup(op->getResult(0));
    if (!upstream)
      continue; // every user sends back null: nothing flows
    SmallVector<Value> flows = cast<graph::GradientOpInterface>(op).gradient(builder, upstream);
    for (auto [operand, flow] : llvm::zip_equal(op->getOperands(), flows)) {
      if (!flow || !dependents.contains(operand))
        continue;
      if (flow.getType() != operand.getType())
        return op->emitOpError() << "built a gradient of type " << flow.getType() << " for an operand of type "
                                 << operand.getType();
      contribute(operand, flow);
    }
  }
  return success();
}

} // namespace

FailureOr<SmallVector<Value>> autodiff::buildGradient(OpBuilder &builder, Value loss, ArrayRef<Value> wrt,
                                                      llvm::BitVector *reached) {
  if (!isReal(loss) || cast<RankedTensorType>(loss.getType()).getRank() != 0)
    return emitError(loss.getLoc()) << "expects a loss that is one floating-point number, got " << loss.getType();
  for (Value value : wrt)
    if (!isReal(value))
      return emitError(value.getLoc()) << "expects a floating-point tensor to differentiate by, got "
                                       << value.getType();
  ReverseWalk walk(builder, loss, wrt);
  if (failed(walk.run()))
    return failure();
  SmallVector<Value> results;
  if (reached)
    reached->resize(wrt.size());
  for (auto [index, value] : llvm::enumerate(wrt)) {
    Value gradient = walk.gradientOf(index);
    if (reached)
      (*reached)[index] = static_cast<bool>(gradient);
    results.push_back(gradient ? gradient : graph::Build(builder, value.getLoc()).constantLike(value, 0));
  }
  return results;
}

void autodiff::eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}
