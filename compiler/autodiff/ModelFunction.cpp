// Roles and names of a model function's arguments and results; cutting functions down to what they return.
#include "compiler/autodiff/ModelFunction.h"
#include "compiler/autodiff/Gradient.h"
#include "compiler/graph/ModelConventions.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::autodiff;

namespace {

ModuleOp moduleOf(func::FuncOp function) { return function->getParentOfType<ModuleOp>(); }

StringRef textOf(DictionaryAttr attributes, StringRef key) {
  auto text = attributes ? attributes.getAs<StringAttr>(key) : StringAttr();
  return text ? text.getValue() : StringRef();
}

} // namespace

ModelFunction ModelFunction::copy(ModelFunction source, StringRef name) {
  auto copied = cast<func::FuncOp>(source.function->clone());
  copied.setName(name);
  moduleOf(source.function).push_back(copied);
  return ModelFunction(copied);
}

ModelFunction ModelFunction::create(ModuleOp module, Location loc, StringRef name) {
  auto function = func::FuncOp::create(loc, name, FunctionType::get(module.getContext(), {}, {}));
  OpBuilder builder = OpBuilder::atBlockBegin(function.addEntryBlock());
  func::ReturnOp::create(builder, loc);
  module.push_back(function);
  return ModelFunction(function);
}

LogicalResult ModelFunction::check() {
  if (!function.getBody().hasOneBlock() || !isa<func::ReturnOp>(body().back()))
    return function.emitError() << "expects a body of one block that ends in func.return";
  for (BlockArgument argument : body().getArguments()) {
    if (role(argument).empty())
      return emitError(argument.getLoc())
             << "argument " << argument.getArgNumber() << " of @" << function.getName() << " has no " << graph::kRole;
    if (role(argument) == "parameter" && name(argument).empty())
      return emitError(argument.getLoc())
             << "parameter " << argument.getArgNumber() << " of @" << function.getName() << " has no " << graph::kName;
  }
  for (auto [index, result] : llvm::enumerate(results()))
    if (textOf(result.attributes, graph::kRole).empty())
      return emitError(result.value.getLoc())
             << "result " << index << " of @" << function.getName() << " has no " << graph::kRole;
  return success();
}

StringRef ModelFunction::role(BlockArgument argument) {
  return textOf(function.getArgAttrDict(argument.getArgNumber()), graph::kRole);
}

StringRef ModelFunction::name(BlockArgument argument) {
  return textOf(function.getArgAttrDict(argument.getArgNumber()), graph::kName);
}

SmallVector<BlockArgument> ModelFunction::arguments(StringRef wanted) {
  SmallVector<BlockArgument> found;
  for (BlockArgument argument : body().getArguments())
    if (role(argument) == wanted)
      found.push_back(argument);
  return found;
}

BlockArgument ModelFunction::scalarArgument(StringRef wanted) {
  if (SmallVector<BlockArgument> found = arguments(wanted); !found.empty())
    return found.front();
  MLIRContext *context = function.getContext();
  Type type = RankedTensorType::get({}, IntegerType::get(context, 64));
  return insertArguments(function.getNumArguments(), type, attributes(context, wanted), function.getLoc()).front();
}

ArrayRef<BlockArgument> ModelFunction::insertArguments(unsigned index, TypeRange types,
                                                       ArrayRef<DictionaryAttr> attributes, ArrayRef<Location> locs) {
  SmallVector<unsigned> places(types.size(), index);
  LogicalResult inserted = function.insertArguments(places, types, attributes, locs);
  (void)inserted; // fails only for function types it cannot rebuild, which a FunctionType is not
  return body().getArguments().slice(index, types.size());
}

SmallVector<Result> ModelFunction::results() {
  SmallVector<Result> all;
  for (auto [index, value] : llvm::enumerate(body().getTerminator()->getOperands()))
    all.push_back({value, function.getResultAttrDict(index)});
  return all;
}

SmallVector<Result> ModelFunction::results(StringRef wanted) {
  SmallVector<Result> found = results();
  llvm::erase_if(found, [&](const Result &result) { return textOf(result.attributes, graph::kRole) != wanted; });
  return found;
}

void ModelFunction::finish(ArrayRef<Result> results) {
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attributes;
  for (const Result &result : results) {
    values.push_back(result.value);
    attributes.push_back(result.attributes);
  }
  body().getTerminator()->setOperands(values);
  function.removeResAttrsAttr();
  function.setType(
      FunctionType::get(function.getContext(), function.getArgumentTypes(), TypeRange(ValueRange(values))));
  function.setAllResultAttrs(attributes);
  eraseUnused(body());

  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : body().getArguments())
    if (argument.use_empty() && role(argument) != "parameter" && role(argument) != "state")
      unused.set(argument.getArgNumber());
  LogicalResult erased = function.eraseArguments(unused);
  (void)erased; // as for insertArguments
}

DictionaryAttr ModelFunction::attributes(MLIRContext *context, StringRef role, StringRef name) {
  Builder builder(context);
  SmallVector<NamedAttribute> entries = {builder.getNamedAttr(graph::kRole, builder.getStringAttr(role))};
  if (!name.empty())
    entries.push_back(builder.getNamedAttr(graph::kName, builder.getStringAttr(name)));
  return builder.getDictionaryAttr(entries);
}
