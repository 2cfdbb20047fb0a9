#include "tools/mekik/Feed.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/reference/Evaluator.h"
#include "runtime/base/Concat.h"
#include "tools/mekik/Command.h"
#include "llvm/Support/raw_ostream.h"

namespace mekik::tool {

using base::concat;
using base::Status;
using base::StatusOr;

static std::string keyName(const std::string &role, const std::string &name) {
  return role == "seed" || role == "step" ? "" : name;
}

void Feed::set(const std::string &role, const std::string &name, reference::Tensor tensor) {
  tensors[{role, keyName(role, name)}] = std::move(tensor);
}

void Feed::setScalar(const std::string &role, int64_t value) {
  reference::Tensor tensor(reference::Tensor::ElementType::I64, {});
  *tensor.as<int64_t>() = value;
  set(role, "", std::move(tensor));
}

const reference::Tensor *Feed::find(const std::string &role, const std::string &name) const {
  auto found = tensors.find({role, keyName(role, name)});
  return found == tensors.end() ? nullptr : &found->second;
}

reference::Tensor *Feed::find(const std::string &role, const std::string &name) {
  return const_cast<reference::Tensor *>(std::as_const(*this).find(role, name));
}

static std::string text(mlir::func::FuncOp function, unsigned index, llvm::StringRef attribute, bool isResult) {
  auto value = isResult ? function.getResultAttrOfType<mlir::StringAttr>(index, attribute)
                        : function.getArgAttrOfType<mlir::StringAttr>(index, attribute);
  return value ? value.getValue().str() : "";
}

std::vector<Argument> argumentsOf(mlir::func::FuncOp function) {
  std::vector<Argument> arguments;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    Argument &argument = arguments.emplace_back();
    argument.role = text(function, i, graph::kRole, false);
    argument.name = text(function, i, graph::kName, false);
    argument.type = llvm::cast<mlir::RankedTensorType>(function.getArgument(i).getType());
    if (auto classes = function.getArgAttrOfType<mlir::IntegerAttr>(i, graph::kClasses))
      argument.classes = classes.getInt();
  }
  return arguments;
}

StatusOr<std::vector<Named>> Feed::call(mlir::func::FuncOp function) const {
  std::vector<reference::Tensor> arguments;
  for (const Argument &argument : argumentsOf(function)) {
    const reference::Tensor *tensor = find(argument.role, argument.name);
    if (!tensor)
      return base::notFoundError(concat(argument.role, " ", argument.name, " of type ", describe(argument.type),
                                        " has no value"));
    arguments.push_back(*tensor);
  }
  auto results = reference::evaluate(function, arguments);
  if (!results.ok())
    return fromAbsl(results.status());
  std::vector<Named> named;
  for (unsigned i = 0; i < results->size(); ++i)
    named.push_back({text(function, i, graph::kRole, true), text(function, i, graph::kName, true),
                     std::move((*results)[i]),
                     describe(llvm::cast<mlir::RankedTensorType>(function.getResultTypes()[i]))});
  return named;
}

StatusOr<mlir::func::FuncOp> functionOf(mlir::ModuleOp module, llvm::StringRef name) {
  if (auto function = module.lookupSymbol<mlir::func::FuncOp>(name))
    return function;
  return base::notFoundError(concat("the model has no function ", name.str()));
}

Status initialize(Feed &feed, mlir::ModuleOp module, uint64_t seed) {
  MEKIK_ASSIGN_OR_RETURN(mlir::func::FuncOp init, functionOf(module, graph::kInitFunction));
  feed.setScalar("seed", static_cast<int64_t>(seed));
  feed.setScalar("step", 0);
  MEKIK_ASSIGN_OR_RETURN(std::vector<Named> parameters, feed.call(init));
  for (Named &parameter : parameters)
    feed.set(parameter.role, parameter.name, std::move(parameter.tensor));
  return {};
}

std::string describe(mlir::RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  type.getElementType().print(out);
  out << "[";
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    out << (axis > 0 ? ", " : "") << type.getDimSize(axis);
  out << "]";
  return text;
}

} // namespace mekik::tool
