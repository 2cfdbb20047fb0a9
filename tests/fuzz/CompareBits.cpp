// Two machines run the same program: one interprets the functions as autodiff left them, the other runs compiled kernels.
// Every function is compared right after it ran, so that the first difference is the one reported.
#include "tests/fuzz/CompareBits.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/driver/Passes.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/emit/LoadedModel.h"
#include "compiler/emit/Object.h"
#include "compiler/graph/Graph.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/lowering/Target.h"
#include "compiler/reference/Evaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/model/Model.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace mekik;
using namespace mekik::fuzz;
using reference::Tensor;

namespace {

using Name = std::pair<std::string, std::string>; // role, name

std::string attributeOf(DictionaryAttr attributes, StringRef key) {
  auto value = attributes ? attributes.getAs<StringAttr>(key) : StringAttr();
  return value ? value.str() : std::string();
}

/// What a module may leave without a name (loss, step, ...) is named after its role in the descriptor.
Name keyOf(DictionaryAttr attributes) {
  std::string role = attributeOf(attributes, graph::kRole), name = attributeOf(attributes, graph::kName);
  return {role, name.empty() ? role : name};
}

/// Inputs from a seed: numbers in (-2, 2), ids below their number of classes.
void fillInput(Tensor &tensor, int64_t classes, uint64_t seed) {
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits = (seed + i + 1) * 0x9E3779B97F4A7C15u;
    bits ^= bits >> 29;
    bits *= 0xBF58476D1CE4E5B9u;
    bits ^= bits >> 32;
    if (tensor.type() == numerics::ElementType::I32)
      tensor.as<int32_t>()[i] = bits % std::max<int64_t>(classes, 1);
    else
      tensor.setDouble(i, (static_cast<double>(bits % 4096) - 2048) / 1024);
  }
}

/// The interpreted side: all tensors by role and name, persistent ones carried from call to call.
class Interpreted {
public:
  explicit Interpreted(ModuleOp module) : module(module) {}

  absl::Status call(StringRef name, int64_t step, uint64_t seed) {
    auto function = module.lookupSymbol<func::FuncOp>(name);
    std::vector<Tensor> arguments;
    inputs.clear();
    for (BlockArgument argument : function.getArguments()) {
      DictionaryAttr attributes = function.getArgAttrDict(argument.getArgNumber());
      Name key = keyOf(attributes);
      auto [entry, isNew] = tensors.try_emplace(key, reference::zeros(cast<RankedTensorType>(argument.getType())));
      Tensor &tensor = entry->second;
      if (key.first == "step")
        *tensor.as<int64_t>() = step;
      else if (key.first == "seed")
        *tensor.as<int64_t>() = static_cast<int64_t>(seed);
      else if (key.first == "input" || key.first == "target") {
        tensor = reference::zeros(cast<RankedTensorType>(argument.getType())); // evaluation has its own batch
        fillInput(tensor, classesOf(attributes), seed);
      }
      arguments.push_back(tensor);
      inputs[key] = tensor;
    }
    absl::StatusOr<std::vector<Tensor>> results = reference::evaluate(function, arguments);
    if (!results.ok())
      return results.status();
    for (auto [number, result] : llvm::enumerate(*results)) {
      tensors[keyOf(function.getResultAttrDict(number))] = result;
    }
    return absl::OkStatus();
  }

  static int64_t classesOf(DictionaryAttr attributes) {
    auto classes = attributes.getAs<IntegerAttr>(graph::kClasses);
    return classes ? classes.getInt() : 0;
  }

  const std::map<Name, Tensor> &all() const { return tensors; }
  const std::map<Name, Tensor> &argumentsOfLastCall() const { return inputs; }

private:
  ModuleOp module;
  std::map<Name, Tensor> tensors, inputs;
};

const char *roleName(int32_t role) {
  switch (role) {
  case MEKIK_PARAMETER: return "parameter";
  case MEKIK_OPTIMIZER_STATE: return "state";
  case MEKIK_INPUT: return "input";
  case MEKIK_TARGET: return "target";
  case MEKIK_STEP: return "step";
  case MEKIK_SEED: return "seed";
  case MEKIK_OUTPUT: return "output";
  case MEKIK_PROBE: return "probe";
  case MEKIK_LOSS: return "loss";
  case MEKIK_GRADIENT: return "gradient";
  default: return "rate";
  }
}

bool isArgument(int32_t role) { return role >= MEKIK_INPUT && role <= MEKIK_SEED; }

/// Position of the first element that differs; NaN equals NaN whatever its payload.
std::optional<int64_t> firstDifference(const Tensor &expected, const void *found) {
  int64_t width = Tensor::elementBytes(expected.type());
  for (int64_t i = 0; i < expected.size(); ++i) {
    const uint8_t *a = expected.data() + i * width, *b = static_cast<const uint8_t *>(found) + i * width;
    if (std::memcmp(a, b, width) == 0)
      continue;
    double other = 0;
    if (expected.type() == numerics::ElementType::F32) {
      float value;
      std::memcpy(&value, b, 4);
      other = value;
    } else if (expected.type() == numerics::ElementType::F64) {
      std::memcpy(&other, b, 8);
    }
    if (!std::isnan(expected.getDouble(i)) || !std::isnan(other))
      return i;
  }
  return std::nullopt;
}

/// One call and everything the interpreted side knows after it.
struct Step {
  std::string function;
  std::map<Name, Tensor> before, after;
};

/// The program both sides run.
absl::StatusOr<std::vector<Step>> interpret(ModuleOp derived, const CompareOptions &options) {
  std::vector<std::pair<std::string, int64_t>> calls = {{"init", 0}, {"forward", 0}, {"loss", 0}};
  for (int step = 0; step < options.steps; ++step)
    calls.push_back({"train_step", step});
  calls.push_back({"forward", 0});
  Interpreted interpreted(derived);
  std::vector<Step> steps;
  for (const auto &[function, step] : calls) {
    if (!derived.lookupSymbol<func::FuncOp>(function))
      continue;
    if (absl::Status status = interpreted.call(function, step, options.seed); !status.ok())
      return status;
    steps.push_back({function, interpreted.argumentsOfLastCall(), interpreted.all()});
  }
  return steps;
}

class Comparison {
public:
  Comparison(model::Model &compiled, std::string where) : compiled(compiled), where(std::move(where)) {}

  absl::Status run(const Step &step) {
    auto function = compiled.function(step.function);
    if (!function.ok())
      return absl::InternalError(std::string(function.status().message()));
    for (uint64_t i = 0; i < (*function)->tensorCount; ++i) {
      const MekikTensor &tensor = (*function)->tensors[i];
      if (isArgument(tensor.role))
        std::memcpy(compiled.data(tensor), step.before.at(nameOf(tensor)).data(), tensor.bytes);
    }
    compiled.call(**function);
    for (uint64_t i = 0; i < (*function)->tensorCount; ++i)
      if (!isArgument((*function)->tensors[i].role))
        if (absl::Status status = compare(step, (*function)->tensors[i]); !status.ok())
          return status;
    for (uint64_t i = 0; i < compiled.descriptor().tensorCount; ++i)
      if (absl::Status status = compare(step, compiled.descriptor().tensors[i]); !status.ok())
        return status;
    return absl::OkStatus();
  }

private:
  static Name nameOf(const MekikTensor &tensor) { return {roleName(tensor.role), tensor.name}; }

  absl::Status compare(const Step &step, const MekikTensor &tensor) {
    Name name = nameOf(tensor);
    auto expected = step.after.find(name);
    if (expected == step.after.end()) // state before the first training step
      return absl::OkStatus();
    std::optional<int64_t> position = firstDifference(expected->second, compiled.data(tensor));
    if (!position)
      return absl::OkStatus();
    double found = tensor.type == MEKIK_F32 ? static_cast<const float *>(compiled.data(tensor))[*position]
                                            : static_cast<const double *>(compiled.data(tensor))[*position];
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, "evaluator %.17g, compiled %.17g", expected->second.getDouble(*position), found);
    return absl::InternalError(absl::StrCat(where, ", after ", step.function, ": ", name.first, " '", name.second,
                                            "' differs at element ", *position, ": ", numbers));
  }

  model::Model &compiled;
  std::string where;
};

absl::StatusOr<std::string> compile(ModuleOp derived, const std::string &cpu, const CompareOptions &compare) {
  OwningOpRef<ModuleOp> module = derived.clone();
  PassManager passes(module->getContext(), ModuleOp::getOperationName());
  driver::PipelineOptions options;
  options.cpu = cpu;
  options.largeBytes = compare.largeBytes.value_or(options.largeBytes);
  options.tileElements = compare.tileElements.value_or(options.tileElements);
  for (driver::Stage stage : {driver::Stage::Kernels, driver::Stage::Vector, driver::Stage::Llvm})
    driver::addPassesTo(stage, passes, options);
  if (failed(passes.run(*module)))
    return absl::InternalError("a pass failed");
  absl::StatusOr<lowering::Target> target = lowering::Target::parse(cpu);
  if (!target.ok())
    return target.status();
  return emit::emitObject(*module, *target);
}

bool runsHere(const std::string &cpu) {
  return cpu == "x86-64-v4" ? __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")
                            : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

} // namespace

absl::Status fuzz::compareBits(ModuleOp model, const CompareOptions &options) {
  OwningOpRef<ModuleOp> derived = model.clone();
  PassManager passes(derived->getContext(), ModuleOp::getOperationName());
  passes.addPass(createDeriveFunctions());
  if (failed(passes.run(*derived)))
    return absl::InternalError("derive-functions failed");

  absl::StatusOr<std::vector<Step>> steps = interpret(*derived, options);
  if (!steps.ok())
    return steps.status();

  for (const std::string &cpu : options.targets) {
    if (!runsHere(cpu))
      continue;
    absl::StatusOr<std::string> object = compile(*derived, cpu, options);
    if (!object.ok())
      return absl::InternalError(absl::StrCat(cpu, ": ", object.status().message()));
    auto loaded = emit::LoadedModel::load(*object);
    if (!loaded.ok())
      return loaded.status();
    for (int threads : options.threads)
      for (bool lastShareFirst : {false, true}) {
        if (lastShareFirst && threads == 1)
          continue;
        model::ModelOptions settings;
        settings.threads = threads;
        settings.fillWorkWithGarbage = true;
        settings.lastShareFirst = lastShareFirst;
        settings.phaseOperations = 0;
        auto compiled = model::Model::create(*(*loaded)->model(), settings);
        if (!compiled.ok())
          return absl::InternalError(std::string(compiled.status().message()));
        Comparison comparison(
            *compiled, absl::StrCat(cpu, ", ", threads, lastShareFirst ? " shares, the last one first" : " threads"));
        for (const Step &step : *steps)
          if (absl::Status status = comparison.run(step); !status.ok())
            return status;
      }
  }
  return absl::OkStatus();
}
