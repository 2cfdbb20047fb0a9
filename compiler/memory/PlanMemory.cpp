// Pass `plan-memory`: every buffer gets its place in an arena, and each function of the model becomes a schedule of
// dispatches over those places.
//
// Parameters and state are stored in order of first appearance, each in its own arena. A result with the role parameter
// or state is computed straight into its storage when every reader of the old value has run by then; otherwise it is
// computed elsewhere and copied at the end. Constants that kernels take as operands are immediates of their dispatches.
#include "compiler/driver/Passes.h"
#include "compiler/graph/Build.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/memory/ArenaPlanner.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/abi/MekikAbi.h"

namespace mekik {
#define GEN_PASS_DEF_PLANMEMORY
#include "compiler/driver/Passes.h.inc"
} // namespace mekik

using namespace mlir;
using namespace mekik;

namespace {

int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * std::max(1u, tensor.getElementTypeBitWidth() / 8);
}

int64_t aligned(int64_t bytes) { return (bytes + MEKIK_ALIGNMENT - 1) / MEKIK_ALIGNMENT * MEKIK_ALIGNMENT; }

/// The persistent tensors of the model and their places.
class Storage {
public:
  explicit Storage(OpBuilder &builder) : builder(builder) {}

  struct Place {
    int64_t arena, offset;
  };

  static std::optional<MekikArena> arenaOf(StringRef role) {
    if (role == "parameter")
      return MEKIK_PARAMETERS;
    if (role == "state")
      return MEKIK_STATE;
    return std::nullopt;
  }

  Place place(StringAttr name, StringAttr role, Type type) {
    int64_t arena = *arenaOf(role);
    auto [entry, isNew] = places.try_emplace({name, role}, Place{arena, sizes[arena]});
    if (isNew) {
      sizes[arena] += aligned(bytesOf(type));
      tensors[arena].push_back(builder.getDictionaryAttr({builder.getNamedAttr("name", name),
                                                          builder.getNamedAttr("role", role),
                                                          builder.getNamedAttr("type", TypeAttr::get(type)),
                                                          builder.getNamedAttr("offset", builder.getI64IntegerAttr(entry->second.offset))}));
    }
    return entry->second;
  }

  void record(ModuleOp module) {
    SmallVector<Attribute> all(tensors[MEKIK_PARAMETERS]);
    all.append(tensors[MEKIK_STATE]);
    module->setAttr(graph::kStorage, builder.getArrayAttr(all));
    module->setAttr(graph::kParameterBytes, builder.getI64IntegerAttr(sizes[MEKIK_PARAMETERS]));
    module->setAttr(graph::kStateBytes, builder.getI64IntegerAttr(sizes[MEKIK_STATE]));
  }

private:
  OpBuilder &builder;
  llvm::DenseMap<std::pair<Attribute, Attribute>, Place> places;
  SmallVector<Attribute> tensors[2];
  int64_t sizes[2] = {0, 0};
};

/// A kernel that copies one tensor, made on first need for each type.
class CopyKernels {
public:
  explicit CopyKernels(ModuleOp module) : module(module) {}

  func::FuncOp get(Type type) {
    func::FuncOp &kernel = kernels[type];
    if (kernel)
      return kernel;
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    Location loc = builder.getUnknownLoc();
    kernel = func::FuncOp::create(builder, loc, "copy_" + std::to_string(kernels.size()), builder.getFunctionType(type, type));
    kernel.setPrivate();
    kernel->setAttr(graph::kKernel, builder.getUnitAttr());
    kernel->setAttr(graph::kOperations, builder.getF64FloatAttr(0));
    builder.setInsertionPointToEnd(kernel.addEntryBlock());
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(type).getRank()));
    Value copy = graph::BroadcastOp::create(builder, loc, type, kernel.getArgument(0), dims);
    func::ReturnOp::create(builder, loc, copy);
    return kernel;
  }

private:
  ModuleOp module;
  llvm::DenseMap<Type, func::FuncOp> kernels;
};

class FunctionPlanner {
public:
  FunctionPlanner(func::FuncOp function, Storage &storage, CopyKernels &copies)
      : function(function), storage(storage), copies(copies), builder(function.getContext()) {}

  void run() {
    collect();
    bindArguments();
    bindResults();
    reuseOperands();
    int64_t workBytes = placeWork();
    emit(workBytes);
    function.erase();
  }

private:
  /// Bytes that one or more values share: a value and its views, or an operand and the result that overwrites it.
  struct Buffer {
    int64_t bytes = 0;
    int64_t first = 0, last = 0; ///< dispatches between which the contents matter
    std::optional<Storage::Place> fixed;
    int64_t mergedInto = -1;
    size_t work = 0; ///< index among the lifetimes of the work arena
  };
  struct Copy {
    Type type;
    size_t from;
    Storage::Place to;
  };

  void collect() {
    Block &block = function.getBody().front();
    for (Value argument : block.getArguments())
      addBuffer(argument, -1);
    for (Operation &op : block.without_terminator()) {
      if (isa<graph::ViewOpInterface>(op)) {
        bufferOf[op.getResult(0)] = bufferOf.lookup(op.getOperand(0));
        continue;
      }
      if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
        addBuffer(constant, -1);
        buffers.back().fixed = Storage::Place{MEKIK_IMMEDIATE, cast<IntegerAttr>(constant.getValue()).getInt()};
        continue;
      }
      auto call = cast<func::CallOp>(op);
      int64_t now = calls.size();
      calls.push_back(call);
      for (Value operand : call.getOperands())
        buffer(operand).last = std::max(buffer(operand).last, now);
      for (Value result : call.getResults())
        addBuffer(result, now);
    }
  }

  void addBuffer(Value value, int64_t now) {
    bufferOf[value] = buffers.size();
    buffers.emplace_back();
    buffers.back().bytes = bytesOf(value.getType());
    buffers.back().first = buffers.back().last = now;
  }

  size_t root(size_t index) const {
    while (buffers[index].mergedInto >= 0)
      index = buffers[index].mergedInto;
    return index;
  }
  Buffer &buffer(Value value) { return buffers[root(bufferOf.lookup(value))]; }

  void bindArguments() {
    for (BlockArgument argument : function.getArguments()) {
      auto role = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), graph::kRole);
      auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), graph::kName);
      if (Storage::arenaOf(role))
        buffer(argument).fixed = storage.place(name, role, argument.getType());
    }
  }

  /// Results live until the function ends; results that are stored go straight to their place where that is safe.
  void bindResults() {
    Operation *terminator = function.getBody().front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      Value value = operand.get();
      auto role = function.getResultAttrOfType<StringAttr>(number, graph::kRole);
      auto name = function.getResultAttrOfType<StringAttr>(number, graph::kName);
      Buffer &result = buffer(value);
      if (!Storage::arenaOf(role)) {
        result.last = calls.size();
        continue;
      }
      Storage::Place place = storage.place(name, role, value.getType());
      if (isa<BlockArgument>(value))
        continue;
      if (overwritesSafely(value, place)) {
        result.fixed = place;
      } else {
        result.last = calls.size();
        pendingCopies.push_back({value.getType(), bufferOf.lookup(value), place});
      }
    }
  }

  /// True if nothing reads the old contents of `place` after the dispatch that computes `value`, and that dispatch
  /// itself may read them.
  bool overwritesSafely(Value value, Storage::Place place) {
    int64_t now = buffer(value).first;
    for (BlockArgument argument : function.getArguments()) {
      Buffer &old = buffer(argument);
      if (!old.fixed || old.fixed->arena != place.arena || old.fixed->offset != place.offset)
        continue;
      if (old.last > now)
        return false;
      if (old.last == now && !mayOverwrite(calls[now], bufferOf.lookup(argument), value))
        return false;
    }
    return true;
  }

  /// True if `result` of the call may have the buffer of an operand: the kernel allows it for every operand that has it.
  bool mayOverwrite(func::CallOp call, size_t operandBuffer, Value result) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    auto allowed = kernel->getAttrOfType<DenseI64ArrayAttr>(graph::kInPlace);
    for (auto [number, operand] : llvm::enumerate(call.getOperands()))
      if (root(bufferOf.lookup(operand)) == root(operandBuffer) &&
          (!allowed || !llvm::is_contained(allowed.asArrayRef(), static_cast<int64_t>(number)) ||
           operand.getType() != result.getType()))
        return false;
    return true;
  }

  /// Lets results take over the buffers of operands that nobody needs any more.
  void reuseOperands() {
    for (auto [now, call] : llvm::enumerate(calls)) {
      llvm::SmallDenseSet<size_t> taken;
      for (Value result : call.getResults()) {
        if (buffer(result).fixed)
          continue;
        for (Value operand : call.getOperands()) {
          size_t from = root(bufferOf.lookup(operand)), to = root(bufferOf.lookup(result));
          Buffer &old = buffers[from];
          if (old.fixed || old.last != static_cast<int64_t>(now) || isa<BlockArgument>(operand) ||
              old.bytes != buffers[to].bytes || taken.contains(from) || !mayOverwrite(call, from, result))
            continue;
          buffers[to].mergedInto = from;
          old.last = buffers[to].last;
          taken.insert(from);
          break;
        }
      }
    }
  }

  int64_t placeWork() {
    std::vector<memory::Lifetime> lifetimes;
    for (Buffer &each : buffers)
      if (!each.fixed && each.mergedInto < 0) {
        each.work = lifetimes.size();
        lifetimes.push_back({each.bytes, each.first, each.last});
      }
    int64_t bytes = memory::placeInArena(lifetimes, MEKIK_ALIGNMENT).bytes;
    for (Buffer &each : buffers)
      if (!each.fixed && each.mergedInto < 0)
        each.fixed = Storage::Place{MEKIK_WORK, lifetimes[each.work].offset};
    return bytes;
  }

  void emit(int64_t workBytes) {
    SmallVector<Attribute> tensors;
    for (BlockArgument argument : function.getArguments())
      describe(tensors, function.getArgAttrDict(argument.getArgNumber()), argument);
    Operation *terminator = function.getBody().front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands())
      describe(tensors, function.getResultAttrDict(operand.getOperandNumber()), operand.get());

    builder.setInsertionPoint(function);
    auto schedule = graph::ScheduleOp::create(builder, function.getLoc(), function.getSymNameAttr(),
                                              builder.getI64IntegerAttr(workBytes), builder.getArrayAttr(tensors));
    builder.setInsertionPointToStart(&schedule.getBody().emplaceBlock());
    for (func::CallOp call : calls) {
      SmallVector<Storage::Place> places;
      for (Value value : llvm::concat<Value>(llvm::to_vector(call.getOperands()), llvm::to_vector(call.getResults())))
        places.push_back(*buffer(value).fixed);
      dispatch(call.getLoc(), call.getCallee(), places);
    }
    for (const Copy &copy : pendingCopies)
      dispatch(function.getLoc(), copies.get(copy.type).getSymName(), {*buffers[root(copy.from)].fixed, copy.to});
  }

  void dispatch(Location loc, StringRef kernel, ArrayRef<Storage::Place> places) {
    SmallVector<int64_t> arenas, offsets;
    for (Storage::Place place : places) {
      arenas.push_back(place.arena);
      offsets.push_back(place.offset);
    }
    graph::DispatchOp::create(builder, loc, kernel, arenas, offsets);
  }

  void describe(SmallVector<Attribute> &tensors, DictionaryAttr attributes, Value value) {
    auto role = attributes.getAs<StringAttr>(graph::kRole);
    if (Storage::arenaOf(role))
      return;
    Storage::Place place = *buffer(value).fixed;
    auto classes = attributes.getAs<IntegerAttr>(graph::kClasses);
    auto name = attributes.getAs<StringAttr>(graph::kName);
    tensors.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("name", name ? name : role), builder.getNamedAttr("role", role),
         builder.getNamedAttr("type", TypeAttr::get(value.getType())),
         builder.getNamedAttr("arena", builder.getI64IntegerAttr(place.arena)),
         builder.getNamedAttr("offset", builder.getI64IntegerAttr(place.offset)),
         builder.getNamedAttr("classes", builder.getI64IntegerAttr(classes ? classes.getInt() : 0))}));
  }

  func::FuncOp function;
  Storage &storage;
  CopyKernels &copies;
  OpBuilder builder;
  std::vector<Buffer> buffers;
  llvm::DenseMap<Value, size_t> bufferOf;
  SmallVector<func::CallOp> calls;
  SmallVector<Copy> pendingCopies;
};

/// Every argument and result needs a role, and what is stored a name.
LogicalResult checkRoles(func::FuncOp function) {
  auto check = [&](DictionaryAttr attributes, StringRef what, int64_t number) -> LogicalResult {
    auto role = attributes ? attributes.getAs<StringAttr>(graph::kRole) : StringAttr();
    if (!role || (Storage::arenaOf(role) && !attributes.getAs<StringAttr>(graph::kName)))
      return function.emitError() << what << " " << number << " expects " << graph::kRole << ", and with role parameter or state "
                                  << graph::kName << "; found " << attributes;
    return success();
  };
  for (unsigned number = 0; number < function.getNumArguments(); ++number)
    if (failed(check(function.getArgAttrDict(number), "argument", number)))
      return failure();
  for (unsigned number = 0; number < function.getNumResults(); ++number)
    if (failed(check(function.getResultAttrDict(number), "result", number)))
      return failure();
  return success();
}

struct PlanMemory : mekik::impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    Storage storage(builder);
    CopyKernels copies(getOperation());
    // Storage order is the order of declaration: take it from the function that has all parameters as arguments.
    auto functions = llvm::to_vector(llvm::make_filter_range(getOperation().getOps<func::FuncOp>(), [](func::FuncOp function) {
      return !function->hasAttr(graph::kKernel);
    }));
    for (func::FuncOp function : functions)
      if (failed(checkRoles(function)))
        return signalPassFailure();
    for (func::FuncOp function : functions)
      for (BlockArgument argument : function.getArguments()) {
        auto role = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), graph::kRole);
        if (role && Storage::arenaOf(role))
          storage.place(function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), graph::kName), role, argument.getType());
      }
    for (func::FuncOp function : functions)
      FunctionPlanner(function, storage, copies).run();
    storage.record(getOperation());
  }
};

} // namespace
