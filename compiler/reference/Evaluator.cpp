// Walks a function op by op; each kind of duty (elements, fold, contraction, kernel of its own, view) has one way of
// being computed.
#include "compiler/reference/Evaluator.h"
#include "compiler/graph/Graph.h"
#include "compiler/numerics/NumberArithmetic.h"
#include "compiler/reference/Folds.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/ScopeExit.h"
#include <memory>

namespace mekik::reference {

using namespace mlir;
using graph::Index;
using numerics::Arithmetic;
using numerics::ElementType;
using numerics::Number;
using Tensors = llvm::SmallVector<const Tensor *>;

namespace {

/// Reads elements of tensors; an index is a number.
class TensorReader final : public graph::ElementReader {
public:
  TensorReader(Arithmetic &numbers, const Tensors &operands) : numbers(numbers), operands(operands) {}

  Arithmetic &arithmetic() override { return numbers; }
  Number read(unsigned operand, ArrayRef<Index> index) override {
    const Tensor &tensor = *operands[operand];
    int64_t flat = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      flat = flat * tensor.shape()[axis] + static_cast<int64_t>(index[axis].bits);
    if (flat >= 0 && flat < tensor.size())
      return tensor.get(flat);
    // Only an id that came from outside can lead here.
    outside = true;
    return Number{tensor.type(), 0};
  }
  /// Whether an element was asked for that does not exist.
  bool wentOutside() const { return outside; }

  Number readIf(Number condition, unsigned operand, ArrayRef<Index> index, Number otherwise) override {
    return numerics::toBool(condition) ? read(operand, index) : otherwise;
  }
  Index constantIndex(int64_t value) override { return {static_cast<uint64_t>(value)}; }
  Index addToIndex(Index index, int64_t amount) override { return {index.bits + static_cast<uint64_t>(amount)}; }
  Index combineIndices(Index a, int64_t factor, Index b) override {
    return {a.bits * static_cast<uint64_t>(factor) + b.bits};
  }
  Number indexToNumber(Index index) override { return numerics::fromInt32(static_cast<int32_t>(index.bits)); }
  Index numberToIndex(Number number) override {
    int64_t value = number.type == ElementType::I32 ? numerics::toInt32(number) : numerics::toInt64(number);
    return {static_cast<uint64_t>(value)};
  }

private:
  Arithmetic &numbers;
  const Tensors &operands;
  bool outside = false;
};

/// False if an element was asked for that does not exist.
bool evaluateElements(graph::ElementOpInterface op, Arithmetic &arithmetic, const Tensors &operands, Tensor &result) {
  TensorReader reader(arithmetic, operands);
  llvm::SmallVector<Index> index(result.rank());
  for (int64_t flat = 0; flat < result.size(); ++flat) {
    result.set(flat, op.element(reader, index));
    for (int64_t axis = result.rank() - 1; axis >= 0; --axis) {
      if (static_cast<int64_t>(++index[axis].bits) < result.shape()[axis])
        break;
      index[axis].bits = 0;
    }
  }
  return !reader.wentOutside();
}

template <typename Printable> std::string textOf(Printable value) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << value;
  return text;
}

bool hasType(const Tensor &tensor, RankedTensorType type) {
  return tensor.type() == graph::elementType(type) && ArrayRef<int64_t>(tensor.shape()) == type.getShape();
}

/// Replaces abbreviations by their definitions, which may contain abbreviations in turn.
void expandComposites(func::FuncOp function) {
  for (bool found = true; found;) {
    llvm::SmallVector<graph::CompositeOpInterface> composites;
    function.walk([&](graph::CompositeOpInterface op) { composites.push_back(op); });
    for (graph::CompositeOpInterface op : composites) {
      OpBuilder builder(op);
      op->getResult(0).replaceAllUsesWith(op.expand(builder));
      op->erase();
    }
    found = !composites.empty();
  }
}

class Evaluation {
public:
  explicit Evaluation(numerics::FmaClass fmaClass) : fmaClass(fmaClass), arithmetic(fmaClass) {}

  absl::StatusOr<std::vector<Tensor>> run(func::FuncOp function, ArrayRef<Tensor> arguments);

private:
  absl::Status runOp(Operation *op);
  absl::Status runCall(func::CallOp call);

  struct Frame {
    llvm::DenseMap<Value, std::shared_ptr<const Tensor>> values;
    func::FuncOp function; ///< as it stands in the module, for looking up calls
  };

  numerics::FmaClass fmaClass;
  numerics::NumberArithmetic arithmetic;
  Frame *frame = nullptr;
};

absl::StatusOr<std::vector<Tensor>> Evaluation::run(func::FuncOp function, ArrayRef<Tensor> arguments) {
  std::string name = function.getName().str();
  if (function.isExternal())
    return absl::UnimplementedError("@" + name + " has no body to evaluate");
  if (!llvm::hasSingleElement(function.getBody()))
    return absl::UnimplementedError("@" + name + " has branches; a graph function is one block");
  if (arguments.size() != function.getNumArguments())
    return absl::InvalidArgumentError("@" + name + " takes " + std::to_string(function.getNumArguments()) +
                                      " tensors, got " + std::to_string(arguments.size()));
  OwningOpRef<func::FuncOp> clone(function.clone());
  expandComposites(*clone);

  Frame own, *outer = frame;
  own.function = function;
  frame = &own;
  llvm::scope_exit restore([&] { frame = outer; });
  for (auto [number, argument, tensor] : llvm::enumerate(clone->getArguments(), arguments)) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !hasType(tensor, type))
      return absl::InvalidArgumentError("argument " + std::to_string(number) + " of @" + name + " is " +
                                        textOf(argument.getType()) + ", got a tensor of shape " +
                                        graph::shapeText(tensor.shape()) + " or another element type");
    own.values[argument] = std::make_shared<Tensor>(tensor);
  }
  llvm::DenseMap<Value, int64_t> usesLeft;
  for (Operation &op : clone->getBody().front()) {
    if (isa<func::ReturnOp>(op)) {
      std::vector<Tensor> results;
      for (Value value : op.getOperands())
        results.push_back(*own.values.at(value));
      return results;
    }
    if (absl::Status status = runOp(&op); !status.ok())
      return status;
    // Tensors nobody reads any more are let go.
    for (Value operand : op.getOperands()) {
      auto [left, isNew] = usesLeft.try_emplace(operand, 0);
      if (isNew)
        left->second = std::distance(operand.use_begin(), operand.use_end());
      if (--left->second == 0)
        own.values.erase(operand);
    }
  }
  return absl::InvalidArgumentError("@" + name + " does not return");
}

absl::Status Evaluation::runCall(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(frame->function, call.getCalleeAttr());
  if (!callee)
    return absl::InvalidArgumentError("call of unknown function @" + call.getCallee().str());
  std::vector<Tensor> arguments;
  for (Value operand : call.getOperands())
    arguments.push_back(*frame->values.at(operand));
  absl::StatusOr<std::vector<Tensor>> results = run(callee, arguments);
  if (!results.ok())
    return results.status();
  for (auto [result, tensor] : llvm::zip(call.getResults(), *results))
    frame->values[result] = std::make_shared<Tensor>(std::move(tensor));
  return absl::OkStatus();
}

absl::Status Evaluation::runOp(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return runCall(call);
  auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
  if (!type || !isa<graph::GraphDialect>(op->getDialect()))
    return absl::UnimplementedError(textOf(op->getLoc()) + ": the evaluator knows graph ops and calls, not '" +
                                    op->getName().getStringRef().str() + "'");
  Tensors operands;
  for (Value operand : op->getOperands())
    operands.push_back(frame->values.at(operand).get());
  auto result = std::make_shared<Tensor>(zeros(type));
  if (auto element = dyn_cast<graph::ElementOpInterface>(op)) {
    if (!evaluateElements(element, arithmetic, operands, *result))
      return absl::OutOfRangeError(textOf(op->getLoc()) + ": '" + op->getName().getStringRef().str() +
                                   "' was given an id that names no element of its " +
                                   textOf(op->getOperands().back().getType()));
  } else if (auto reduction = dyn_cast<graph::ReductionOpInterface>(op))
    evaluateReduction(reduction, arithmetic, *operands[0], *result);
  else if (auto contraction = dyn_cast<graph::ContractionOpInterface>(op))
    evaluateContraction(contraction, fmaClass, *operands[0], *operands[1], *result);
  else if (auto standalone = dyn_cast<graph::StandaloneOpInterface>(op))
    standalone.evaluate(operands, *result);
  else if (isa<graph::ViewOpInterface>(op))
    std::memcpy(result->data(), operands[0]->data(), result->byteSize());
  else
    return absl::UnimplementedError(textOf(op->getLoc()) + ": '" + op->getName().getStringRef().str() +
                                    "' does not say what it computes");
  frame->values[op->getResult(0)] = std::move(result);
  return absl::OkStatus();
}

} // namespace

Tensor zeros(RankedTensorType type) {
  return Tensor(graph::elementType(type), std::vector<int64_t>(type.getShape().begin(), type.getShape().end()));
}

absl::StatusOr<std::vector<Tensor>> evaluate(func::FuncOp function, ArrayRef<Tensor> arguments,
                                             numerics::FmaClass fmaClass) {
  return Evaluation(fmaClass).run(function, arguments);
}

void promoteToF64(ModuleOp module) {
  AttrTypeReplacer replacer;
  Type wide = Float64Type::get(module.getContext());
  replacer.addReplacement([=](Float32Type) -> std::optional<Type> { return wide; });
  replacer.addReplacement([=](FloatAttr value) -> std::optional<Attribute> {
    if (!value.getType().isF32())
      return std::nullopt;
    return FloatAttr::get(wide, value.getValueAsDouble());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
}

} // namespace mekik::reference
