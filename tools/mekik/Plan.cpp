// Counting, over the graph and over the planned schedules.
#include "tools/mekik/Plan.h"
#include "compiler/graph/Graph.h"
#include "compiler/graph/ModelConventions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/base/Concat.h"
#include "tools/mekik/Command.h"
#include <map>
#include <set>

namespace mekik::tool {
namespace {

using base::concat;

/// The line of the source an op comes from; 0 if unknown.
unsigned lineOf(mlir::Location location) {
  unsigned line = 0;
  location->walk([&](mlir::Location part) {
    if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(part)) {
      line = file.getLine();
      return mlir::WalkResult::interrupt();
    }
    return mlir::WalkResult::advance();
  });
  return line;
}

/// Parameters declared in a block belong to the group of its name. Those declared outside of blocks have no role in
/// their names; they are grouped by the source line that uses them first, and the group is called by all of them.
void group(Plan &plan, mlir::func::FuncOp function) {
  std::map<std::string, std::string> keys; // parameter -> key of its group
  std::map<std::string, std::vector<std::string>> loose;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto role = function.getArgAttrOfType<mlir::StringAttr>(i, graph::kRole);
    if (!role || role.getValue() != "parameter")
      continue;
    std::string name = function.getArgAttrOfType<mlir::StringAttr>(i, graph::kName).getValue().str();
    auto block = function.getArgAttrOfType<mlir::StringAttr>(i, graph::kBlock);
    if (block && !block.getValue().empty()) {
      keys[name] = block.getValue().str();
      continue;
    }
    unsigned line = 0;
    for (mlir::Operation *user : function.getArgument(i).getUsers())
      line = line == 0 ? lineOf(user->getLoc()) : std::min(line, lineOf(user->getLoc()));
    std::string key = line == 0 ? concat("\n", name) : concat("\n", static_cast<uint64_t>(line));
    keys[name] = key;
    loose[key].push_back(name);
  }
  std::map<std::string, size_t> positions;
  for (ParameterPlan &parameter : plan.parameters) {
    const std::string &key = keys[parameter.name];
    auto [entry, isNew] = positions.try_emplace(key, plan.groups.size());
    if (isNew) {
      std::string label = key;
      if (auto names = loose.find(key); names != loose.end()) {
        label.clear();
        for (const std::string &name : names->second)
          base::append(label, label.empty() ? "" : ", ", name);
      }
      plan.groups.push_back({label, 0, 0});
    }
    GroupPlan &group = plan.groups[entry->second];
    parameter.group = group.name;
    group.parameters += parameter.count;
    ++group.tensors;
  }
}

std::string typeName(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  type.print(out);
  return text;
}

void readParameters(Plan &plan, mlir::func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto role = function.getArgAttrOfType<mlir::StringAttr>(i, graph::kRole);
    if (!role || role.getValue() != "parameter")
      continue;
    auto type = llvm::cast<mlir::RankedTensorType>(function.getArgument(i).getType());
    ParameterPlan &parameter = plan.parameters.emplace_back();
    parameter.name = function.getArgAttrOfType<mlir::StringAttr>(i, graph::kName).getValue().str();
    parameter.type = typeName(type.getElementType());
    parameter.shape = type.getShape();
    parameter.count = type.getNumElements();
  }
}

/// What a step works on: every id of ids by [batch, context], else the examples along the first axis.
void readUnits(Plan &plan, mlir::func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto role = function.getArgAttrOfType<mlir::StringAttr>(i, graph::kRole);
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(function.getArgument(i).getType());
    if (!role || role.getValue() != "input" || !type || type.getRank() == 0)
      continue;
    plan.isAboutText = type.getRank() == 2 && type.getElementType().isInteger(32);
    plan.unitsPerStep = plan.isAboutText ? type.getNumElements() : type.getDimSize(0);
    return;
  }
}

int64_t integer(mlir::Operation *op, llvm::StringRef name) {
  auto attribute = op->getAttrOfType<mlir::IntegerAttr>(name);
  return attribute ? attribute.getInt() : 0;
}

double number(mlir::Operation *op, llvm::StringRef name) {
  auto attribute = op->getAttrOfType<mlir::FloatAttr>(name);
  return attribute ? attribute.getValueAsDouble() : 0;
}

/// Bytes of the buffers a kernel is handed, scratch memory apart.
double bufferBytes(mlir::func::FuncOp kernel, size_t buffers) {
  double bytes = 0;
  for (mlir::Type type : kernel.getArgumentTypes().take_front(buffers))
    if (auto memory = llvm::dyn_cast<mlir::ShapedType>(type))
      bytes += static_cast<double>(memory.getNumElements()) * std::max(1u, memory.getElementTypeBitWidth() / 8);
  return bytes;
}

} // namespace

int64_t Plan::parameterCount() const {
  int64_t count = 0;
  for (const ParameterPlan &parameter : parameters)
    count += parameter.count;
  return count;
}

base::StatusOr<Plan> makePlan(driver::Compiler &compiler, std::string &messages) {
  Plan plan;
  if (compiler.stage() != driver::Stage::Graph)
    return base::invalidArgumentError("a plan needs the model itself: source text, or MLIR of stage graph");
  mlir::ModuleOp module = compiler.module();
  plan.model = module.getName() ? module.getName()->str() : "";
  if (auto configuration = module->getAttrOfType<mlir::StringAttr>(graph::kConfiguration))
    plan.configuration = configuration.getValue().str();
  auto function = module.lookupSymbol<mlir::func::FuncOp>(graph::kTrainFunction);
  if (!function)
    function = module.lookupSymbol<mlir::func::FuncOp>(graph::kEvalFunction);
  if (!function)
    return base::invalidArgumentError("the module holds neither @train nor @eval");
  readParameters(plan, function);
  group(plan, function);
  readUnits(plan, function);

  MEKIK_RETURN_IF_ERROR(fromAbsl(compiler.advanceTo(driver::Stage::Vector, messages)));
  module = compiler.module();
  plan.parameterBytes = integer(module, graph::kParameterBytes);
  plan.stateBytes = integer(module, graph::kStateBytes);
  for (graph::ScheduleOp schedule : module.getOps<graph::ScheduleOp>()) {
    FunctionPlan &entry = plan.functions.emplace_back();
    entry.name = schedule.getSymName().str();
    entry.workBytes = static_cast<int64_t>(schedule.getWorkBytes());
    plan.workBytes = std::max(plan.workBytes, entry.workBytes);
    std::set<std::string> kernels;
    for (graph::DispatchOp dispatch : schedule.getBody().front().getOps<graph::DispatchOp>()) {
      auto kernel = module.lookupSymbol<mlir::func::FuncOp>(dispatch.getKernel());
      ++entry.dispatches;
      kernels.insert(dispatch.getKernel().str());
      entry.operations += number(kernel, graph::kOperations);
      MekikCost cost = {number(kernel, graph::kCycles), number(kernel, graph::kTraffic),
                        kernel->hasAttr(graph::kContraction)};
      entry.schedule.push_back(
          {dispatch.getKernel().str(), lineOf(dispatch.getLoc()), {cost, integer(kernel, graph::kTiles)}});
      entry.bytes += bufferBytes(kernel, dispatch.getArenas().size());
      plan.scratchBytes = std::max(plan.scratchBytes, integer(kernel, graph::kScratch));
    }
    entry.kernels = static_cast<int64_t>(kernels.size());
  }
  return plan;
}

} // namespace mekik::tool
