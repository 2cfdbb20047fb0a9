// info: what is compiled into this program.
#include "runtime/app/Command.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"

namespace mekik::app {
namespace {

using base::concat;
using base::jsonString;
using base::Status;

constexpr OptionSpec options[] = {
    {"--json", "", "a JSON object on standard output"},
    helpOption,
};

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size() + 2, width), ' ');
  return text;
}

double operations(const MekikFunction &function) {
  double sum = 0;
  for (uint64_t i = 0; i < function.dispatchCount; ++i)
    sum += function.dispatches[i].operations;
  return sum;
}

std::string shapeJson(const MekikTensor &tensor) {
  std::string text = "[";
  for (int32_t axis = 0; axis < tensor.rank; ++axis)
    base::append(text, axis > 0 ? "," : "", tensor.shape[axis]);
  return text + "]";
}

std::string forPrograms(const Program &program) {
  const MekikModel &model = program.model;
  std::string text =
      concat("{\"model\":", jsonString(model.name), ",\"source_hash\":", jsonString(model.sourceHash),
             ",\"compiler_version\":", jsonString(model.compilerVersion), ",\"target\":", jsonString(model.target),
             ",\"configuration\":", model.configuration, ",\"parameters\":", model::parameterCount(model),
             ",\"arenas\":{\"parameters\":", model.parameterBytes, ",\"state\":", model.stateBytes,
             ",\"work\":", model.workBytes, ",\"scratch_per_thread\":", model.scratchBytes, "},\"tokenizer\":");
  if (program.tokenizer)
    base::append(text, "{\"kind\":", jsonString(program.tokenizer->kind()), ",\"size\":", program.tokenizer->size(),
                 ",\"hash\":", jsonString(program.tokenizer->hash()), "}");
  else
    text += "null";
  text += ",\"tensors\":[";
  for (uint64_t i = 0; i < model.tensorCount; ++i) {
    const MekikTensor &tensor = model.tensors[i];
    base::append(text, i > 0 ? "," : "", "{\"name\":", jsonString(tensor.name), ",\"role\":\"",
                 tensor.role == MEKIK_PARAMETER ? "parameter" : "optimizer_state", "\",\"type\":\"",
                 model::elementTypeName(tensor.type), "\",\"shape\":", shapeJson(tensor), "}");
  }
  text += "],\"functions\":[";
  for (uint64_t i = 0; i < model.functionCount; ++i) {
    const MekikFunction &function = model.functions[i];
    base::append(text, i > 0 ? "," : "", "{\"name\":", jsonString(function.name),
                 ",\"dispatches\":", function.dispatchCount, ",\"work_bytes\":", function.workBytes,
                 ",\"scratch_bytes\":", function.scratchBytes,
                 ",\"operations\":", base::formatNumber(operations(function)), "}");
  }
  return text + "]}\n";
}

std::string forPeople(const Program &program) {
  const MekikModel &model = program.model;
  auto bytes = [](uint64_t count) { return concat(base::formatCount(count), " bytes"); };
  constexpr size_t column = 16;
  std::string text =
      concat(padded("model", column), model.name, "\n", padded("configuration", column), model.configuration, "\n",
             padded("source", column), model.sourceHash, "\n", padded("compiled", column), "by Mekik ",
             model.compilerVersion, " for ", model.target, "\n", padded("tokenizer", column),
             program.tokenizer ? program.tokenizer->describe() : "none", "\n", padded("parameters", column),
             base::formatCount(model::parameterCount(model)), " in ", bytes(model.parameterBytes), "\n",
             padded("optimizer", column), bytes(model.stateBytes), "\n", padded("activations", column),
             bytes(model.workBytes), "\n", padded("scratch", column), bytes(model.scratchBytes), " for each thread\n");
  text += "\nfunctions\n";
  for (uint64_t i = 0; i < model.functionCount; ++i) {
    const MekikFunction &function = model.functions[i];
    base::append(text, "  ", padded(function.name, column), function.dispatchCount, " dispatches, ",
                 bytes(function.workBytes), "\n");
  }
  text += "\nparameters\n";
  for (uint64_t i = 0; i < model.tensorCount; ++i)
    if (const MekikTensor &tensor = model.tensors[i]; tensor.role == MEKIK_PARAMETER)
      base::append(text, "  ", padded(tensor.name, 36), model::describeTensor(tensor), "\n");
  return text;
}

Status run(const Program &program, const Options &options) {
  MEKIK_RETURN_IF_ERROR(model::checkDescriptor(program.model));
  return printOut(options.has("--json") ? forPrograms(program) : forPeople(program));
}

} // namespace

const Command infoCommand = {"info", "show what is compiled into this program", "info\ninfo --json", options, run};

} // namespace mekik::app
