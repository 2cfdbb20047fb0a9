// plan: what a model needs, before anything is trained.
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "tools/mekik/Command.h"
#include "tools/mekik/ModelInput.h"
#include "tools/mekik/Plan.h"
#include "tools/mekik/StepTime.h"
#include "tools/mekik/Table.h"
#include "tools/mekik/TrainingPlan.h"

namespace mekik::tool {
namespace {

using base::concat;
using base::formatCount;
using base::jsonString;
using base::Status;

struct PlanCommand {
  ModelInput input;
  std::string flops; // empty: measured
  bool json = false;
};

std::string shapeText(const std::vector<int64_t> &shape, const char *separator) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    base::append(text, i > 0 ? separator : "", shape[i]);
  return text + "]";
}

std::string forPrograms(const Plan &plan, const std::optional<TrainingPlan> &training,
                        const std::optional<StepTime> &time) {
  std::string text = concat("{\"model\":", jsonString(plan.model),
                            ",\"configuration\":", plan.configuration.empty() ? "{}" : plan.configuration,
                            ",\"parameters\":", plan.parameterCount(), ",\"groups\":[");
  for (size_t i = 0; i < plan.groups.size(); ++i)
    base::append(text, i > 0 ? "," : "", "{\"name\":", jsonString(plan.groups[i].name),
                 ",\"parameters\":", plan.groups[i].parameters, ",\"tensors\":", plan.groups[i].tensors, "}");
  text += "],\"functions\":[";
  for (size_t i = 0; i < plan.functions.size(); ++i) {
    const FunctionPlan &function = plan.functions[i];
    base::append(text, i > 0 ? "," : "", "{\"name\":", jsonString(function.name),
                 ",\"dispatches\":", function.dispatches, ",\"kernels\":", function.kernels,
                 ",\"operations\":", base::formatNumber(function.operations),
                 ",\"bytes\":", base::formatNumber(function.bytes), ",\"work_bytes\":", function.workBytes, "}");
  }
  base::append(text, "],\"arenas\":{\"parameters\":", plan.parameterBytes, ",\"state\":", plan.stateBytes,
               ",\"work\":", plan.workBytes, ",\"scratch_per_thread\":", plan.scratchBytes, "},\"tensors\":[");
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    const ParameterPlan &parameter = plan.parameters[i];
    base::append(text, i > 0 ? "," : "", "{\"name\":", jsonString(parameter.name),
                 ",\"group\":", jsonString(parameter.group), ",\"type\":", jsonString(parameter.type),
                 ",\"shape\":", shapeText(parameter.shape, ","), "}");
  }
  return concat(text, "],\"training\":", training ? trainingForPrograms(*training) : "null",
                ",\"step\":", time ? stepTimeForPrograms(*time) : "null", "}\n");
}

std::string count(int64_t value) { return formatCount(static_cast<uint64_t>(value)); }

std::string forPeople(const Plan &plan, const std::optional<TrainingPlan> &training,
                      const std::optional<StepTime> &time) {
  using enum Table::Align;
  Table groups({"parameters of " + plan.model, "tensors", "parameters"}, {Left, Right, Right});
  int64_t tensors = 0;
  for (const GroupPlan &group : plan.groups) {
    groups.add({group.name, count(group.tensors), count(group.parameters)});
    tensors += group.tensors;
  }
  groups.rule();
  groups.add({"together", count(tensors), count(plan.parameterCount())});

  Table functions({"function", "dispatches", "kernels", "operations", "bytes moved", "work memory"},
                  {Left, Right, Right, Right, Right, Right});
  for (const FunctionPlan &function : plan.functions)
    functions.add({function.name, count(function.dispatches), count(function.kernels),
                   describeCount(function.operations), describeBytes(function.bytes),
                   describeBytes(static_cast<double>(function.workBytes))});

  Table memory({"memory", "bytes"}, {Left, Right});
  memory.add({"parameters", count(plan.parameterBytes)});
  memory.add({"optimizer state", count(plan.stateBytes)});
  memory.add({"activations", count(plan.workBytes)});
  memory.add({"scratch of a thread", count(plan.scratchBytes)});
  memory.rule();
  memory.add({"on one thread", count(plan.parameterBytes + plan.stateBytes + plan.workBytes + plan.scratchBytes)});
  return concat(groups.print(), "\n", functions.print(), "\n", memory.print(),
                training ? "\n" + trainingForPeople(*training) : "",
                time ? "\n" + stepTimeForPeople(*time, training->speed, training->steps) : "");
}

Status setSpeed(const PlanCommand &command, TrainingPlan &training) {
  if (!command.flops.empty()) {
    auto given = base::parseNumber("--flops", command.flops, 1, 1e30);
    if (!given.ok())
      return wrongUsage(std::string(given.status().message()));
    training.speed.operations = *given;
    training.speedIsGiven = true;
    return {};
  }
  MEKIK_ASSIGN_OR_RETURN(training.speed, estimate::machineSpeed());
  return {};
}

Status plan(const PlanCommand &command) {
  MEKIK_ASSIGN_OR_RETURN(LoadedModel model, load(command.input, Need::Model));
  std::string messages;
  base::StatusOr<Plan> plan = makePlan(*model.compiler, messages);
  printError(messages);
  MEKIK_RETURN_IF_ERROR(plan.status());
  std::optional<TrainingPlan> training = makeTrainingPlan(*plan);
  if (training)
    MEKIK_RETURN_IF_ERROR(setSpeed(command, *training));
  std::optional<StepTime> time;
  if (training && !training->speedIsGiven)
    time = estimateStep(*plan, training->speed);
  return printOut(command.json ? forPrograms(*plan, training, time) : forPeople(*plan, training, time));
}

} // namespace

Action addPlan(CLI::App &app) {
  auto command = std::make_shared<PlanCommand>();
  CLI::App *sub =
      app.add_subcommand("plan", "Show parameters by block, work of each function, memory, and what training takes.");
  addModelOptions(*sub, command->input);
  addCpuOption(*sub, command->input);
  addTextOptions(*sub, command->input);
  sub->add_option("--flops", command->flops,
                  "Operations a second to estimate the time with, as in 200e9. Without it this machine is\n"
                  "measured, once, for a second, and the time of each kernel is estimated too.")
      ->type_name("NUMBER");
  sub->add_flag("--json", command->json, "A JSON object on standard output.");
  addExamples(*sub, "mekik plan models/gpt/gpt.mekik -D vocab=30\n"
                    "mekik plan models/gpt2/gpt2.mekik -D size=xl --flops 200e9\n"
                    "mekik plan models/gpt/gpt.mekik -D vocab=50257 -D width=768 --json");
  return [command] { return plan(*command); };
}

} // namespace mekik::tool
