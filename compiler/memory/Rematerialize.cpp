// Pass `rematerialize`: large values that only wait while memory is fullest are computed again where they are needed
// next.
//
// The rule. Let `peak` be the dispatch of a function at which most bytes are alive, counted as `plan-memory` counts.
// Results of a kernel are computed again, before the first use behind the peak of any of them, if
//   - they are large and are neither computed nor read at the peak,
//   - their elements follow by element ops of their kernel from other values of it (contractions and folds are never
//     repeated), and
//   - what is most alive becomes less, with all that these values would have to live longer.
// One result whose operands live on in any case comes first; what is alive at its copy is alive at the use behind it, so
// no dispatch has more alive. Several results together may pay for an operand that lives longer instead of them. This is
// repeated until nothing is left that lowers the peak. The same ops on the same elements give the same bits.
//
// The pass runs before kernels are deduplicated: each kernel is called once.
#include "compiler/driver/Passes.h"
#include "compiler/graph/Build.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/memory/Buffers.h"
#include "mlir/IR/IRMapping.h"
#include "runtime/abi/MekikAbi.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

namespace mekik {
#define GEN_PASS_DEF_REMATERIALIZE
#include "compiler/driver/Passes.h.inc"
} // namespace mekik

using namespace mlir;
using namespace mekik;
using graph::shapeOf;

namespace {

/// The dispatches that read a value, ascending.
using Readers = SmallVector<int64_t, 4>;

class Rematerializer {
public:
  Rematerializer(func::FuncOp function, SymbolTable &symbols, int64_t largeBytes)
      : function(function), symbols(symbols), largeBytes(largeBytes) {}

  void run() {
    while (lowerPeak())
      ;
  }

private:
  /// A result that is not needed behind dispatch `from` until dispatch `to`.
  struct Idle {
    OpResult value;
    int64_t from, to;
  };
  /// What it takes to compute results of a kernel once more before dispatch `before`.
  struct Copy {
    func::CallOp call;
    int64_t before;
    SmallVector<OpResult> results;
    SmallVector<Operation *> ops; ///< of the kernel, in program order
    SmallVector<Value> inside;    ///< values of the kernel that are handed in,
    SmallVector<Value> outside;   ///< what they are where it is called,
    SmallVector<Value> longer;    ///< and the values of these that have to live longer for it
  };

  /// One sweep over the calls; true if it found something.
  bool lowerPeak() {
    memory::Buffers planned(function, symbols);
    buffers = &planned;
    countAlive();
    made.clear();
    position.clear();
    for (auto [now, call] : llvm::enumerate(planned.calls()))
      position[call] = now;
    position[function.getBody().front().getTerminator()] = planned.calls().size();
    SmallVector<func::CallOp> copied;
    for (auto [now, call] : llvm::enumerate(planned.calls())) {
      int64_t peak = std::max_element(alive.begin(), alive.end()) - alive.begin() - 1;
      if (static_cast<int64_t>(now) >= peak)
        break;
      SmallVector<Idle> idle;
      for (OpResult value : call->getResults())
        if (std::optional<Idle> waits = idleAt(peak, value))
          idle.push_back(*waits);
      if (!idle.empty() && computeAgain(idle))
        copied.push_back(call);
    }
    // Not before: `buffers` knows the function by these calls.
    for (func::CallOp call : copied)
      dropUnusedResults(call);
    return !copied.empty();
  }

  /// `idle` are results of one call.
  bool computeAgain(ArrayRef<Idle> idle) {
    SmallVector<Idle> possible;
    for (const Idle &one : idle) {
      std::optional<Copy> copy = copyOf(one);
      if (!copy)
        continue;
      if (copy->longer.empty() && makeIfLower(one, *copy))
        return true;
      possible.push_back(one);
    }
    if (possible.empty())
      return false;
    std::optional<Copy> copy = copyOf(possible);
    return copy && makeIfLower(possible, *copy);
  }

  bool makeIfLower(ArrayRef<Idle> idle, const Copy &copy) {
    std::vector<int64_t> then = aliveWith(idle, copy);
    if (*std::max_element(then.begin(), then.end()) >= *std::max_element(alive.begin(), alive.end()))
      return false;
    make(copy);
    alive = std::move(then);
    return true;
  }

  /// alive[t + 1]: bytes of the work arena that matter at dispatch t.
  void countAlive() {
    alive.assign(buffers->calls().size() + 3, 0);
    for (const auto &[index, lifetime] : buffers->work()) {
      alive[lifetime.first + 1] += aligned(lifetime.bytes);
      alive[lifetime.last + 2] -= aligned(lifetime.bytes);
    }
    for (size_t time = 1; time < alive.size(); ++time)
      alive[time] += alive[time - 1];
  }

  void collectReaders(Value value, Readers &readers) const {
    for (Operation *user : value.getUsers())
      if (isa<graph::ViewOpInterface>(user))
        collectReaders(user->getResult(0), readers);
      else
        readers.push_back(position.lookup(user));
  }
  Readers readersOf(Value value) const {
    Readers readers;
    collectReaders(value, readers);
    llvm::sort(readers);
    return readers;
  }

  std::optional<Idle> idleAt(int64_t peak, OpResult value) const {
    if (memory::bytesOf(value.getType()) < largeBytes || buffers->of(value).home != memory::Buffer::Home::Work)
      return std::nullopt;
    int64_t from = position.lookup(value.getOwner()), to = -1;
    Readers readers = readersOf(value);
    for (int64_t reader : readers) {
      if (reader < peak)
        from = reader;
      else if (to < 0)
        to = reader;
    }
    // What the function returns keeps its place.
    if (to <= peak || readers.back() == static_cast<int64_t>(buffers->calls().size()))
      return std::nullopt;
    return Idle{value, from, to};
  }

  /// What is alive once `idle` are computed by `copy`.
  std::vector<int64_t> aliveWith(ArrayRef<Idle> idle, const Copy &copy) const {
    std::vector<int64_t> then = alive;
    for (const Idle &one : idle) {
      int64_t bytes = aligned(memory::bytesOf(one.value.getType()));
      for (int64_t time = one.from + 1; time < copy.before; ++time)
        then[time + 1] -= bytes;
    }
    for (Value value : copy.longer) {
      // Its last reader counts too: a result that takes over the buffer there needs one of its own.
      int64_t bytes = aligned(memory::bytesOf(value.getType()));
      for (int64_t time = readersOf(value).back(); time <= copy.before; ++time)
        then[time + 1] += bytes;
    }
    return then;
  }

  static Value withoutViews(Value value) {
    while (auto view = value.getDefiningOp<graph::ViewOpInterface>())
      value = view->getOperand(0);
    return value;
  }

  /// Of no view. What this sweep made is unknown to `buffers`, which may hold what once lay at its address.
  memory::Buffer::Home homeOf(Value value) const {
    return made.contains(value.getDefiningOp()) ? memory::Buffer::Home::Work : buffers->of(value).home;
  }

  /// True if `value` matters until dispatch `when` whatever is done here: it is read then or later.
  bool livesUntil(int64_t when, Value value) const {
    value = withoutViews(value);
    if (isa_and_nonnull<graph::ConstantOp>(value.getDefiningOp()))
      return true;
    Readers readers = readersOf(value);
    return !readers.empty() && readers.back() >= when;
  }

  std::optional<Copy> copyOf(ArrayRef<Idle> idle) const {
    Copy copy;
    copy.call = cast<func::CallOp>(idle.front().value.getOwner());
    copy.before = idle.front().to;
    Block &body = kernelOf(copy.call).getBody().front();
    ValueRange outputs = body.getTerminator()->getOperands();
    llvm::SmallSetVector<Value, 16> values;
    for (const Idle &one : idle) {
      copy.before = std::min(copy.before, one.to);
      copy.results.push_back(one.value);
      values.insert(outputs[one.value.getResultNumber()]);
    }
    size_t wanted = values.size();
    llvm::SmallDenseSet<Operation *> ops;
    for (size_t next = 0; next < values.size(); ++next) {
      Value value = values[next], given;
      if (auto argument = dyn_cast<BlockArgument>(value))
        given = copy.call->getOperand(argument.getArgNumber());
      else if (next >= wanted)
        for (auto [output, result] : llvm::zip(outputs, copy.call->getResults()))
          if (output == value && livesUntil(copy.before, result))
            given = result;
      if (given) {
        copy.inside.push_back(value);
        copy.outside.push_back(given);
        if (livesUntil(copy.before, given))
          continue;
        Value kept = withoutViews(given);
        if (homeOf(kept) != memory::Buffer::Home::Work)
          return std::nullopt; // stored tensors are overwritten behind their last reader
        if (!llvm::is_contained(copy.longer, kept))
          copy.longer.push_back(kept);
        continue;
      }
      Operation *op = value.getDefiningOp();
      if (!isa<graph::ElementOpInterface>(op))
        return std::nullopt;
      ops.insert(op);
      values.insert(op->operand_begin(), op->operand_end());
    }
    for (Operation &op : body)
      if (ops.contains(&op))
        copy.ops.push_back(&op);
    return copy;
  }

  func::FuncOp kernelOf(func::CallOp call) const { return symbols.lookup<func::FuncOp>(call.getCallee()); }

  void make(const Copy &copy) {
    func::FuncOp kernel = makeKernel(copy);
    OpBuilder builder(buffers->calls()[copy.before]);
    auto again = func::CallOp::create(builder, copy.call->getLoc(), kernel, copy.outside);
    made.insert(again);
    position[again] = copy.before; // what it reads lives until there
    IRMapping mapping;
    for (auto [value, result] : llvm::zip(copy.results, again.getResults()))
      mapping.map(value, result);
    for (func::CallOp reader : buffers->calls().drop_front(copy.before))
      for (OpOperand &operand : reader->getOpOperands())
        if (Value late = seenThroughViews(builder, operand.get(), mapping))
          operand.set(late);
    eraseUnusedViews();
  }

  static double operationsOf(Operation *op) {
    auto element = dyn_cast<graph::ElementOpInterface>(op);
    return element ? element.operationsPerElement() * ShapedType::getNumElements(shapeOf(op->getResult(0))) : 0;
  }

  func::FuncOp makeKernel(const Copy &copy) {
    func::FuncOp source = kernelOf(copy.call);
    Block &body = source.getBody().front();
    OpBuilder builder(source.getContext());
    builder.setInsertionPointAfter(source);
    SmallVector<Type> types;
    for (OpResult result : copy.results)
      types.push_back(result.getType());
    auto type = builder.getFunctionType(TypeRange(ValueRange(copy.outside)), types);
    auto kernel = func::FuncOp::create(builder, source.getLoc(), (source.getSymName() + "_again").str(), type);
    kernel.setPrivate();
    kernel->setAttr(graph::kKernel, builder.getUnitAttr());
    symbols.insert(kernel);
    builder.setInsertionPointToEnd(kernel.addEntryBlock());
    IRMapping mapping;
    mapping.map(copy.inside, kernel.getArguments());
    double operations = 0;
    for (Operation *op : copy.ops) {
      builder.clone(*op, mapping);
      operations += operationsOf(op);
    }
    kernel->setAttr(graph::kOperations, builder.getF64FloatAttr(operations));
    SmallVector<Value> results;
    for (OpResult result : copy.results)
      results.push_back(mapping.lookup(body.getTerminator()->getOperand(result.getResultNumber())));
    func::ReturnOp::create(builder, source.getLoc(), results);
    return kernel;
  }

  /// The value of the copy that `value` is or is a view of; null if it is neither. Views are made where the copy is.
  static Value seenThroughViews(OpBuilder &builder, Value value, IRMapping &mapping) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    auto view = value.getDefiningOp<graph::ViewOpInterface>();
    if (!view || !seenThroughViews(builder, view->getOperand(0), mapping))
      return {};
    return builder.clone(*view, mapping)->getResult(0);
  }

  void eraseUnusedViews() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
      if (isa<graph::ViewOpInterface>(op) && op.use_empty())
        op.erase();
  }

  /// The kernel stops computing what nobody reads any more.
  void dropUnusedResults(func::CallOp call) {
    llvm::BitVector unused(call.getNumResults());
    for (OpResult result : call.getResults())
      if (result.use_empty())
        unused.set(result.getResultNumber());
    if (unused.none())
      return;
    func::FuncOp kernel = kernelOf(call);
    if (unused.all()) {
      call.erase();
      symbols.erase(kernel);
      return;
    }
    Operation *terminator = kernel.getBody().front().getTerminator();
    terminator->eraseOperands(unused);
    double operations = kernel->getAttrOfType<FloatAttr>(graph::kOperations).getValueAsDouble();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(kernel.getBody().front())))
      if (isOpTriviallyDead(&op)) {
        operations -= operationsOf(&op);
        op.erase();
      }
    OpBuilder builder(call);
    kernel->setAttr(graph::kOperations, builder.getF64FloatAttr(operations));
    kernel.setType(FunctionType::get(kernel.getContext(), kernel.getArgumentTypes(),
                                     SmallVector<Type>(terminator->getOperandTypes())));
    auto shorter = func::CallOp::create(builder, call.getLoc(), kernel, call.getOperands());
    unsigned next = 0;
    for (OpResult result : call.getResults())
      if (!unused.test(result.getResultNumber()))
        result.replaceAllUsesWith(shorter.getResult(next++));
    call.erase();
  }

  static int64_t aligned(int64_t bytes) { return (bytes + MEKIK_ALIGNMENT - 1) / MEKIK_ALIGNMENT * MEKIK_ALIGNMENT; }

  func::FuncOp function;
  SymbolTable &symbols;
  int64_t largeBytes;
  const memory::Buffers *buffers = nullptr; ///< as the function is at the beginning of a sweep
  // Copies made since then included.
  std::vector<int64_t> alive;
  llvm::DenseMap<Operation *, int64_t> position;
  llvm::SmallPtrSet<Operation *, 8> made; ///< calls, in this sweep
};

struct Rematerialize : mekik::impl::RematerializeBase<Rematerialize> {
  using Base::Base;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions; // found before kernels come and go
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(graph::kKernel))
        functions.push_back(function);
    for (func::FuncOp function : functions)
      Rematerializer(function, symbols, largeBytes).run();
  }
};

} // namespace
