// Pass `plan-memory`: every buffer gets its place in an arena, and each function of the model becomes a schedule of
// dispatches over those places.
//
// Parameters and state are stored in order of first appearance, each in its own arena. A result with the role parameter
// or state is computed straight into its storage when every reader of the old value has run by then; otherwise it is
// computed elsewhere and copied at the end. Constants that kernels take as operands are immediates of their dispatches.
#include "compiler/driver/Passes.h"
#include "compiler/graph/Build.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/memory/Buffers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/abi/MekikAbi.h"

namespace mekik {
#define GEN_PASS_DEF_PLANMEMORY
#include "compiler/driver/Passes.h.inc"
} // namespace mekik

using namespace mlir;
using namespace mekik;

namespace {

int64_t aligned(int64_t bytes) { return (bytes + MEKIK_ALIGNMENT - 1) / MEKIK_ALIGNMENT * MEKIK_ALIGNMENT; }

/// What one thread has done with another may still be reading: memory this small is not given away at once, so that
/// threads need not meet for its sake.
constexpr int64_t kLingeringBytes = 64 * 1024, kLingeringDispatches = 16;

/// The persistent tensors of the model and their places.
class Storage {
public:
  explicit Storage(OpBuilder &builder) : builder(builder) {}

  struct Place {
    int64_t arena, offset;
  };

  Place place(StringAttr name, StringAttr role, Type type) {
    int64_t arena = role == "parameter" ? MEKIK_PARAMETERS : MEKIK_STATE;
    auto [entry, isNew] = places.try_emplace({name, role}, Place{arena, sizes[arena]});
    if (isNew) {
      sizes[arena] += aligned(memory::bytesOf(type));
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
  FunctionPlanner(func::FuncOp function, const SymbolTable &symbols, Storage &storage, CopyKernels &copies)
      : function(function), buffers(function, symbols), storage(storage), copies(copies),
        builder(function.getContext()) {}

  void run() {
    placeStored();
    int64_t workBytes = placeWork();
    emit(workBytes);
    function.erase();
  }

private:
  struct Copy {
    Type type;
    Value from;
    Storage::Place to;
  };

  void placeStored() {
    places.resize(buffers.size());
    for (BlockArgument argument : function.getArguments())
      if (const memory::Buffer &buffer = buffers.of(argument); buffer.home == memory::Buffer::Home::Storage)
        places[buffers.indexOf(argument)] = storage.place(buffer.name, buffer.role, argument.getType());
    Operation *terminator = function.getBody().front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      Value value = operand.get();
      auto role = function.getResultAttrOfType<StringAttr>(number, graph::kRole);
      if (!memory::isStored(role))
        continue;
      auto name = function.getResultAttrOfType<StringAttr>(number, graph::kName);
      Storage::Place place = storage.place(name, role, value.getType());
      if (buffers.needsCopy(number))
        pendingCopies.push_back({value.getType(), value, place});
      else if (!isa<BlockArgument>(value))
        places[buffers.indexOf(value)] = place;
    }
    for (auto constant : function.getBody().front().getOps<graph::ConstantOp>())
      places[buffers.indexOf(constant)] =
          Storage::Place{MEKIK_IMMEDIATE, buffers.of(constant).immediate.getInt()};
  }

  int64_t placeWork() {
    auto work = buffers.work();
    int64_t end = buffers.calls().size();
    std::vector<memory::Lifetime> lifetimes;
    for (const auto &[index, lifetime] : work) {
      lifetimes.push_back(lifetime);
      if (lifetime.bytes <= kLingeringBytes)
        lifetimes.back().last = std::max(lifetime.last, std::min(lifetime.last + kLingeringDispatches, end));
    }
    int64_t bytes = memory::placeInArena(lifetimes, MEKIK_ALIGNMENT).bytes;
    for (auto [number, each] : llvm::enumerate(work))
      places[each.first] = Storage::Place{MEKIK_WORK, lifetimes[number].offset};
    return bytes;
  }

  Storage::Place placeOf(Value value) const { return *places[buffers.indexOf(value)]; }

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
    for (func::CallOp call : buffers.calls()) {
      SmallVector<Storage::Place> operands;
      for (Value value : llvm::concat<Value>(llvm::to_vector(call.getOperands()), llvm::to_vector(call.getResults())))
        operands.push_back(placeOf(value));
      dispatch(call.getLoc(), call.getCallee(), operands);
    }
    for (const Copy &copy : pendingCopies)
      dispatch(function.getLoc(), copies.get(copy.type).getSymName(), {placeOf(copy.from), copy.to});
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
    if (memory::isStored(role))
      return;
    Storage::Place place = placeOf(value);
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
  memory::Buffers buffers;
  Storage &storage;
  CopyKernels &copies;
  OpBuilder builder;
  std::vector<std::optional<Storage::Place>> places; ///< by buffer
  SmallVector<Copy> pendingCopies;
};

/// Every argument and result needs a role, and what is stored a name.
LogicalResult checkRoles(func::FuncOp function) {
  auto check = [&](DictionaryAttr attributes, StringRef what, int64_t number) -> LogicalResult {
    auto role = attributes ? attributes.getAs<StringAttr>(graph::kRole) : StringAttr();
    if (!role || (memory::isStored(role) && !attributes.getAs<StringAttr>(graph::kName)))
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
        if (role && memory::isStored(role))
          storage.place(function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), graph::kName), role, argument.getType());
      }
    SymbolTable symbols(getOperation());
    for (func::FuncOp function : functions)
      FunctionPlanner(function, symbols, storage, copies).run();
    storage.record(getOperation());
  }
};

} // namespace
