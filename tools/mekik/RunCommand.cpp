// run: feeds a model inputs and shows its outputs and probes, computed by the reference evaluator.
#include "compiler/graph/ModelConventions.h"
#include "compiler/reference/Evaluator.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/train/DataTypes.h"
#include "runtime/train/Trainer.h"
#include "tools/mekik/Command.h"
#include "tools/mekik/Feed.h"
#include "tools/mekik/ModelInput.h"
#include "tools/mekik/RunInputs.h"
#include <cmath>
#include <set>

namespace mekik::tool {
namespace {

using base::concat;
using base::Status;
using base::StatusOr;
using reference::Tensor;

struct RunCommand {
  ModelInput input;
  RunInputs inputs;
  std::string checkpoint;
  std::vector<std::string> shown; // outputs and probes; empty: all
  uint64_t seed = 1;
  int digits = 4;
  bool json = false;
};

std::string numberText(const Tensor &tensor, int64_t index, int digits) {
  double value = tensor.getDouble(index);
  bool isFloat = tensor.type() == Tensor::ElementType::F32 || tensor.type() == Tensor::ElementType::F64;
  if (!isFloat || !std::isfinite(value))
    return base::formatNumber(value);
  return std::abs(value) < 1e9 ? base::formatFixed(value, digits) : base::formatNumber(value);
}

/// Rows along the last axis; the axes before the last two are named above each matrix.
std::string tableOf(const Named &named, int digits) {
  const std::vector<int64_t> &shape = named.tensor.shape();
  int64_t columns = shape.empty() ? 1 : shape.back(), rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  std::vector<std::string> cells(static_cast<size_t>(named.tensor.size()));
  size_t width = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i] = numberText(named.tensor, static_cast<int64_t>(i), digits);
    width = std::max(width, cells[i].size());
  }
  std::string text;
  for (size_t begin = 0, matrix = 0; begin < cells.size(); begin += static_cast<size_t>(rows * columns), ++matrix) {
    std::string index;
    int64_t rest = static_cast<int64_t>(matrix);
    for (size_t axis = shape.size() < 2 ? 0 : shape.size() - 2; axis-- > 0;) {
      index = concat(rest % shape[axis], index.empty() ? "" : ", ", index);
      rest /= shape[axis];
    }
    base::append(text, named.role, named.name.empty() ? "" : " ", named.name, index.empty() ? "" : concat("[", index, "]"));
    base::append(text, matrix > 0 ? "" : concat(": ", named.type), "\n");
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        const std::string &cell = cells[begin + static_cast<size_t>(row * columns + column)];
        base::append(text, column == 0 ? "" : " ", std::string(width - cell.size(), ' '), cell);
      }
      text += "\n";
    }
  }
  return text;
}

std::string jsonOf(const std::vector<Named> &results) {
  std::string text = "{";
  const char *separator = "";
  for (const Named &result : results) {
    base::append(text, separator, base::jsonString(result.name.empty() ? result.role : result.name), ":{\"role\":\"",
                 result.role, "\",\"shape\":[");
    for (size_t i = 0; i < result.tensor.shape().size(); ++i)
      base::append(text, i > 0 ? "," : "", result.tensor.shape()[i]);
    text += "],\"data\":[";
    for (int64_t i = 0; i < result.tensor.size(); ++i)
      base::append(text, i > 0 ? "," : "", base::jsonNumber(result.tensor.getDouble(i)));
    text += "]}";
    separator = ",";
  }
  return text + "}\n";
}

StatusOr<LoadedModel> loadFor(const RunCommand &command, std::optional<checkpoint::Checkpoint> &checkpoint) {
  if (command.checkpoint.empty())
    return load(command.input, Need::Model);
  std::string path = command.checkpoint;
  if (base::pathKind(path) == base::PathKind::Directory)
    path = train::bestPath(path);
  MEKIK_ASSIGN_OR_RETURN(checkpoint, checkpoint::loadCheckpoint(path));
  std::unique_ptr<tokenizer::Tokenizer> tokenizer;
  if (!checkpoint->info.tokenizer.empty()) {
    MEKIK_ASSIGN_OR_RETURN(tokenizer, tokenizer::tokenizerFromJson(checkpoint->info.tokenizer, path));
  }
  return loadAs(command.input, checkpoint->info.configuration, std::move(tokenizer));
}

Status run(RunCommand &command) {
  if (command.checkpoint.empty())
    command.input.contextOf = command.inputs.text;
  std::optional<checkpoint::Checkpoint> checkpoint;
  MEKIK_ASSIGN_OR_RETURN(LoadedModel model, loadFor(command, checkpoint));
  std::string messages;
  absl::Status advanced = model.compiler->advanceTo(driver::Stage::Gradient, messages);
  printError(messages);
  MEKIK_RETURN_IF_ERROR(fromAbsl(advanced));
  mlir::ModuleOp module = model.compiler->module();
  MEKIK_ASSIGN_OR_RETURN(mlir::func::FuncOp forward, functionOf(module, graph::kForwardFunction));
  auto loss = module.lookupSymbol<mlir::func::FuncOp>(graph::kLossFunction);

  std::vector<Argument> arguments, given = argumentsOf(forward);
  std::set<std::string> seen;
  if (loss)
    for (Argument &argument : argumentsOf(loss))
      given.push_back(std::move(argument));
  for (Argument &argument : given)
    if ((argument.role == "input" || argument.role == "target") && seen.insert(argument.name).second)
      arguments.push_back(argument);
  Feed feed;
  MEKIK_RETURN_IF_ERROR(command.inputs.read(feed, arguments, model.tokenizer.get()));
  if (checkpoint) {
    for (const Argument &argument : argumentsOf(forward)) {
      if (argument.role != "parameter")
        continue;
      Tensor tensor = reference::zeros(argument.type);
      MEKIK_RETURN_IF_ERROR(checkpoint::copyTensor(checkpoint->file, argument.name, dataTypeOf(tensor.type()), tensor.shape(), tensor.data()));
      feed.set("parameter", argument.name, std::move(tensor));
    }
  } else {
    MEKIK_RETURN_IF_ERROR(initialize(feed, module, command.seed));
  }

  MEKIK_ASSIGN_OR_RETURN(std::vector<Named> results, feed.call(forward));
  bool hasTargets = loss != nullptr;
  for (const Argument &argument : arguments)
    hasTargets = hasTargets && (argument.role != "target" || feed.find("target", argument.name));
  if (hasTargets) {
    MEKIK_ASSIGN_OR_RETURN(std::vector<Named> losses, feed.call(loss));
    for (Named &result : losses)
      results.push_back(std::move(result));
  }
  std::string known;
  std::vector<Named> shown;
  for (const std::string &name : command.shown) {
    auto found = std::find_if(results.begin(), results.end(), [&](const Named &result) { return result.name == name; });
    if (found != results.end()) {
      shown.push_back(*found);
      continue;
    }
    for (const Named &result : results)
      base::append(known, known.empty() ? "" : ", ", result.name);
    return wrongUsage(concat("--show ", name, ": the model has no output or probe of that name; it has ", known));
  }
  if (command.shown.empty())
    shown = std::move(results);
  if (command.json)
    return printOut(jsonOf(shown));
  std::string text;
  for (const Named &result : shown)
    base::append(text, text.empty() ? "" : "\n", tableOf(result, command.digits));
  return printOut(text);
}

} // namespace

Action addRun(CLI::App &app) {
  auto command = std::make_shared<RunCommand>();
  CLI::App *sub = app.add_subcommand("run", "Feed a model inputs, show its outputs and probes.");
  addModelOptions(*sub, command->input);
  addTextOptions(*sub, command->input);
  sub->add_option("--set", command->inputs.values, "Elements of an input or target, in order: --set x=1,2.5,-3, or as nested lists,\n"
                                           "--set \"x=[[1, 0], [3, 2]]\", or from a file of these: --set x=@FILE. May be repeated.")
      ->type_name("NAME=NUMBERS")
      ->allow_extra_args(false)
      ->take_all();
  sub->add_option("--tensors", command->inputs.tensors, "Inputs and targets by name.")->type_name("FILE.safetensors");
  sub->add_option("--text", command->inputs.text, "The first input of ids, as text. A `config context` that -D does not set becomes\n"
                                                    "the length of the text.")->type_name("TEXT");
  sub->add_option("--checkpoint", command->checkpoint, "A checkpoint, or the folder of a run. Without it, parameters are as\n"
                                                       "training would begin with.")
      ->type_name("FILE");
  sub->add_option("--show", command->shown, "An output or probe to show. May be repeated; without it, all.")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->take_all();
  addSeedOption(*sub, command->seed, "Seed of the parameters, without a checkpoint.");
  sub->add_option("--digits", command->digits, "Digits behind the point.")->type_name("N")->check(CLI::Range(0, 17))->capture_default_str();
  sub->add_flag("--json", command->json, "A JSON object on standard output.");
  addExamples(*sub, "mekik run models/gpt/gpt.mekik --checkpoint run --text \"damlaya\" --show logits\n"
                    "mekik run models/attention/attention.mekik --text gönül --show weights --digits 2\n"
                    "mekik run models/attention/averages.mekik --set \"x=[[1, 0], [3, 2], [5, 4], [7, 2]]\"\n"
                    "mekik run my.mekik --set x=0.5,-1 --digits 6");
  return [command] { return run(*command); };
}

} // namespace mekik::tool
