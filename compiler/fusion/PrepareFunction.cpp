// The rewrites before kernels are formed, each a function of its own, in the order in which they run.
#include "compiler/fusion/PrepareFunction.h"
#include "compiler/graph/Access.h"
#include "compiler/graph/Build.h"
#include "compiler/graph/ModelConventions.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::fusion;
using namespace mekik::graph;
using graph::shapeOf;

namespace {

int64_t bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * std::max(1u, type.getElementTypeBitWidth() / 8);
}

/// `value` with the shape `flat`. The buffer of a large value that is computed for this alone is spared: its op works
/// on flat operands instead.
Value flattened(graph::Build &build, Value value, ArrayRef<int64_t> flat, int64_t largeBytes) {
  Operation *op = value.getDefiningOp();
  auto element = dyn_cast_or_null<graph::ElementOpInterface>(op);
  bool spare = element && element.readsInPlace() && op->hasOneUse() && bytesOf(value) >= largeBytes &&
               llvm::none_of(op->getOperands(), [](Value operand) {
                 Operation *producer = operand.getDefiningOp();
                 return producer && (isFree(producer) || spreads(producer));
               });
  if (!spare)
    return build.reshape(value, flat);
  llvm::SmallDenseMap<Value, Value> known;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value &view = known[operand];
    operands.push_back(view = view ? view : build.reshape(operand, flat));
  }
  OperationState state(op->getLoc(), op->getName(), operands, graph::withShape(value, flat), op->getAttrs());
  return build.builder.create(state)->getResult(0);
}

/// A fold over several trailing axes becomes a fold over one, of the same elements in the same order.
void flattenTrailingFolds(func::FuncOp function, int64_t largeBytes) {
  SmallVector<graph::ReductionOpInterface> folds;
  function.walk([&](graph::ReductionOpInterface fold) { folds.push_back(fold); });
  for (graph::ReductionOpInterface fold : folds) {
    Value operand = fold->getOperand(0);
    ArrayRef<int64_t> shape = shapeOf(operand), axes = fold.getAxes();
    if (axes.size() < 2 || axes.back() != static_cast<int64_t>(shape.size()) - 1)
      continue;
    SmallVector<int64_t> flat(shape.drop_back(axes.size()));
    int64_t row = 1;
    for (int64_t size : shape.take_back(axes.size()))
      row *= size;
    flat.push_back(row);
    OpBuilder builder(fold);
    graph::Build build(builder, fold.getLoc());
    fold->setOperand(0, flattened(build, operand, flat, largeBytes));
    fold->setAttr("axes", builder.getDenseI64ArrayAttr(flat.size() - 1));
    if (operand.use_empty())
      operand.getDefiningOp()->erase();
  }
}

/// Gives each element op and fold that reads a value which is only spread out (a bias over rows, a causal mask) a copy
/// of the op that spreads it, so that no buffer holds it between kernels.
void spreadWhereRead(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front().without_terminator())) {
    if (op.hasOneUse() || op.use_empty() || op.getNumResults() != 1 || !spreads(&op))
      continue;
    for (OpOperand &use : llvm::make_early_inc_range(op.getUses())) {
      Operation *user = use.getOwner();
      if (!isa<graph::ElementOpInterface, graph::ReductionOpInterface>(user))
        continue;
      OpBuilder builder(user);
      use.set(builder.clone(op)->getResult(0));
    }
    if (op.use_empty())
      op.erase();
  }
}

/// The op that picks rows of a table, if that is small beside what it makes of them.
graph::EmbeddingOp pickedRows(Value value) {
  auto rows = value.getDefiningOp<graph::EmbeddingOp>();
  return rows && 2 * bytesOf(rows.getTable()) <= bytesOf(value) ? rows : graph::EmbeddingOp();
}

/// True if `op` picks rows of a small table, or adds such rows to what has a buffer: the gradient of a table that is
/// looked up, and maybe multiplied too.
bool addsPickedRows(Operation *op) {
  if (op->getNumResults() == 1 && pickedRows(op->getResult(0)))
    return true;
  if (!isa<graph::AddOp>(op))
    return false;
  auto stored = [](Value value) {
    Operation *producer = value.getDefiningOp();
    return value.hasOneUse() && isa_and_nonnull<graph::ContractionOpInterface, graph::StandaloneOpInterface>(producer);
  };
  Value first = op->getOperand(0), second = op->getOperand(1);
  return (pickedRows(first) && stored(second)) || (stored(first) && pickedRows(second));
}

/// Folds of such a tensor (a gradient's norm) compute it for themselves: where it is large, no buffer holds it for what
/// else reads it, and nothing is written for the few rows that differ.
void addPickedRowsWhereFolded(func::FuncOp function, int64_t largeBytes) {
  auto isFold = [](Operation *op) { return isa<graph::ReductionOpInterface>(op); };
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front().without_terminator())) {
    if (!addsPickedRows(&op) || bytesOf(op.getResult(0)) < largeBytes)
      continue;
    llvm::SmallPtrSet<Operation *, 4> folded, others;
    for (Operation *user : op.getUsers())
      (isa<graph::ElementOpInterface>(user) && llvm::all_of(user->getUsers(), isFold) ? folded : others).insert(user);
    if (folded.empty() || others.empty())
      continue;
    OpBuilder builder(&op);
    IRMapping mapping;
    for (Value operand : op.getOperands())
      if (graph::EmbeddingOp rows = pickedRows(operand))
        builder.clone(*rows, mapping);
    Value again = builder.clone(op, mapping)->getResult(0);
    op.getResult(0).replaceUsesWithIf(again, [&](OpOperand &use) { return folded.contains(use.getOwner()); });
  }
}

/// The same tensor, computed into a buffer of its own.
Value copyOf(OpBuilder &builder, Value value) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(value).size()));
  return graph::BroadcastOp::create(builder, value.getLoc(), value.getType(), value, dims);
}

/// Contractions, ops with kernels of their own and views read buffers: what is free has none unless it is copied.
void giveBuffersToOperands(func::FuncOp function) {
  function.walk([](Operation *op) {
    if (!isa<graph::ContractionOpInterface, graph::StandaloneOpInterface, graph::ViewOpInterface>(op))
      return;
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands())
      if (Operation *producer = operand.get().getDefiningOp(); producer && isFree(producer) && !isImmediate(operand))
        operand.set(copyOf(builder, operand.get()));
  });
}

/// Every result gets a buffer of its own: an argument, a constant or a value returned twice is copied.
void separateResults(func::FuncOp function) {
  auto terminator = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  OpBuilder builder(terminator);
  llvm::SmallDenseSet<Value> buffers;
  for (auto [number, operand] : llvm::enumerate(terminator->getOpOperands())) {
    Value source = operand.get();
    while (auto view = source.getDefiningOp<graph::ViewOpInterface>())
      source = view->getOperand(0);
    auto argument = dyn_cast<BlockArgument>(source);
    bool kept =
        argument && operand.get() == source &&
        function.getArgAttr(argument.getArgNumber(), graph::kName) == function.getResultAttr(number, graph::kName) &&
        function.getArgAttr(argument.getArgNumber(), graph::kRole) == function.getResultAttr(number, graph::kRole);
    if (kept)
      continue;
    bool computed = source.getDefiningOp() && !isFree(source.getDefiningOp());
    if (computed && buffers.insert(source).second)
      continue;
    operand.set(copyOf(builder, operand.get()));
  }
}

} // namespace

bool fusion::isImmediate(OpOperand &operand) {
  Operation *producer = operand.get().getDefiningOp();
  auto type = cast<RankedTensorType>(operand.get().getType());
  return producer && matchPattern(producer, m_Constant()) && type.getRank() == 0 &&
         type.getElementType().isInteger(64) && isa<graph::StandaloneOpInterface>(operand.getOwner());
}

void fusion::prepareFunction(func::FuncOp function, int64_t largeBytes) {
  flattenTrailingFolds(function, largeBytes);
  spreadWhereRead(function);
  addPickedRowsWhereFolded(function, largeBytes);
  giveBuffersToOperands(function);
  separateResults(function);
}
