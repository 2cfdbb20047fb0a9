// A walk over the calls in order, then three decisions: what is stored where it is computed, what is copied there at the
// end, and which results take over the buffer of an operand.
#include "compiler/memory/Buffers.h"
#include "compiler/graph/Graph.h"
#include "compiler/graph/ModelConventions.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::memory;

int64_t memory::bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * std::max(1u, tensor.getElementTypeBitWidth() / 8);
}

bool memory::isStored(StringAttr role) { return role && (role == "parameter" || role == "state"); }

Buffers::Buffers(func::FuncOp function, const SymbolTable &symbols) : function(function), symbols(symbols) {
  collect();
  bindArguments();
  bindResults();
  reuseOperands();
}

void Buffers::collect() {
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
      buffers.back().home = Buffer::Home::Immediate;
      buffers.back().immediate = cast<IntegerAttr>(constant.getValue());
      continue;
    }
    auto call = cast<func::CallOp>(op);
    int64_t now = dispatches.size();
    dispatches.push_back(call);
    for (Value operand : call.getOperands())
      buffer(operand).last = std::max(buffer(operand).last, now);
    for (Value result : call.getResults())
      addBuffer(result, now);
  }
}

void Buffers::addBuffer(Value value, int64_t now) {
  bufferOf[value] = buffers.size();
  buffers.emplace_back();
  mergedInto.push_back(-1);
  buffers.back().bytes = bytesOf(value.getType());
  buffers.back().first = buffers.back().last = now;
}

void Buffers::bindArguments() {
  for (BlockArgument argument : function.getArguments()) {
    auto role = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), graph::kRole);
    if (!isStored(role))
      continue;
    Buffer &stored = buffer(argument);
    stored.home = Buffer::Home::Storage;
    stored.name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), graph::kName);
    stored.role = role;
    storedIn[{stored.name, role}].push_back(argument);
  }
}

void Buffers::bindResults() {
  int64_t end = dispatches.size();
  for (OpOperand &operand : function.getBody().front().getTerminator()->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    Value value = operand.get();
    auto role = function.getResultAttrOfType<StringAttr>(number, graph::kRole);
    auto name = function.getResultAttrOfType<StringAttr>(number, graph::kName);
    Buffer &result = buffer(value);
    if (!isStored(role)) {
      result.last = end;
      continue;
    }
    if (isa<BlockArgument>(value))
      continue;
    if (overwritesSafely(value, name, role)) {
      result.home = Buffer::Home::Storage;
      result.name = name;
      result.role = role;
    } else {
      result.last = end;
      copied.push_back(number);
    }
  }
}

bool Buffers::overwritesSafely(Value value, StringAttr name, StringAttr role) {
  int64_t now = buffer(value).first;
  for (Value argument : storedIn.lookup({name, role})) {
    const Buffer &old = buffer(argument);
    if (old.last > now)
      return false;
    if (old.last == now && !mayOverwrite(dispatches[now], bufferOf.lookup(argument), value))
      return false;
  }
  return true;
}

bool Buffers::mayOverwrite(func::CallOp call, size_t operandBuffer, Value result) {
  auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
  auto allowed = kernel->getAttrOfType<DenseI64ArrayAttr>(graph::kInPlace);
  for (auto [number, operand] : llvm::enumerate(call.getOperands()))
    if (indexOf(operand) == root(operandBuffer) &&
        (!allowed || !llvm::is_contained(allowed.asArrayRef(), static_cast<int64_t>(number)) ||
         operand.getType() != result.getType()))
      return false;
  return true;
}

void Buffers::reuseOperands() {
  for (auto [now, call] : llvm::enumerate(dispatches)) {
    llvm::SmallDenseSet<size_t> taken;
    for (Value result : call.getResults()) {
      if (buffer(result).home != Buffer::Home::Work)
        continue;
      for (Value operand : call.getOperands()) {
        size_t from = indexOf(operand), to = indexOf(result);
        Buffer &old = buffers[from];
        if (old.home != Buffer::Home::Work || old.last != static_cast<int64_t>(now) || isa<BlockArgument>(operand) ||
            old.bytes != buffers[to].bytes || taken.contains(from) || !mayOverwrite(call, from, result))
          continue;
        mergedInto[to] = from;
        old.last = buffers[to].last;
        taken.insert(from);
        break;
      }
    }
  }
}

std::vector<std::pair<size_t, Lifetime>> Buffers::work() const {
  std::vector<std::pair<size_t, Lifetime>> alive;
  for (auto [index, each] : llvm::enumerate(buffers))
    if (each.home == Buffer::Home::Work && mergedInto[index] < 0)
      alive.push_back({index, {each.bytes, each.first, each.last}});
  return alive;
}
