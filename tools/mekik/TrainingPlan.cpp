// From a plan to what training costs.
#include "tools/mekik/TrainingPlan.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "tools/mekik/Table.h"

namespace mekik::tool {

using base::concat;
using base::formatCount;
using base::formatFixed;
using base::formatNumber;

std::optional<TrainingPlan> makeTrainingPlan(const Plan &plan) {
  TrainingPlan training;
  const FunctionPlan *step = nullptr;
  for (const FunctionPlan &function : plan.functions)
    if (function.name == "train_step")
      step = &function;
  if (!step || plan.unitsPerStep == 0)
    return std::nullopt;
  training.unit = plan.isAboutText ? "symbol" : "example";
  training.unitsPerStep = plan.unitsPerStep;
  training.parameters = static_cast<double>(plan.parameterCount());
  training.rulePerUnit = 6 * training.parameters;
  training.countedPerUnit = step->operations / static_cast<double>(plan.unitsPerStep);
  if (plan.isAboutText)
    training.deservedUnits = 20 * training.parameters;
  if (auto json = base::Json::parse(plan.configuration, "configuration"); json.ok())
    if (const base::Json *steps = json->find("steps"); steps && steps->integer() && *steps->integer() > 0)
      training.steps = *steps->integer();
  training.configuredUnits = static_cast<double>(training.steps) * static_cast<double>(training.unitsPerStep);
  return training;
}

std::string trainingForPeople(const TrainingPlan &training) {
  using enum Table::Align;
  bool hasSpeed = training.speed.operations > 0, hasRule = training.deservedUnits > 0;
  std::vector<std::string> headline = {"training", training.unit + "s"};
  std::vector<Table::Align> align = {Left, Right};
  auto column = [&](bool wanted, std::string name) {
    if (wanted) {
      headline.push_back(std::move(name));
      align.push_back(Right);
    }
  };
  column(hasRule, "6 · parameters");
  column(true, "operations");
  column(hasSpeed, "time at least");
  Table table(headline, align);
  auto add = [&](std::string name, double units) {
    std::vector<std::string> row = {std::move(name), describeMagnitude(units)};
    if (hasRule)
      row.push_back(describeMagnitude(units * training.rulePerUnit));
    row.push_back(describeMagnitude(units * training.countedPerUnit));
    if (hasSpeed)
      row.push_back(describeSeconds(units * training.countedPerUnit / training.speed.operations));
    table.add(std::move(row));
  };
  add(concat(training.unit == "symbol" ? "a " : "an ", training.unit), 1);
  add("a step", static_cast<double>(training.unitsPerStep));
  if (training.steps > 0)
    add(concat(formatCount(static_cast<uint64_t>(training.steps)), " steps, as configured"), training.configuredUnits);
  if (hasRule)
    add("20 symbols for each parameter", training.deservedUnits);
  std::string text = concat(formatFixed(training.parameters / 1e6, training.parameters < 1e6 ? 3 : 1),
                            " million parameters\n\n", table.print());
  if (hasSpeed)
    base::append(text, "at ", describeCount(training.speed.operations), " operations a second, ",
                 training.speedIsGiven ? "as given by --flops"
                                       : concat("the limit of this machine's ", training.speed.cores,
                                                training.speed.cores == 1 ? " core" : " cores",
                                                "; --flops takes another speed"),
                 "\n");
  return text;
}

std::string trainingForPrograms(const TrainingPlan &training) {
  auto orNull = [](double value) { return value > 0 ? formatNumber(value) : std::string("null"); };
  return concat("{\"unit\":", base::jsonString(training.unit), ",\"units_per_step\":", training.unitsPerStep,
                ",\"steps\":", training.steps > 0 ? std::to_string(training.steps) : "null",
                ",\"rule_operations_per_unit\":", formatNumber(training.rulePerUnit),
                ",\"operations_per_unit\":", formatNumber(training.countedPerUnit),
                ",\"configured_units\":", orNull(training.configuredUnits),
                ",\"configured_operations\":", orNull(training.configuredOperations()),
                ",\"deserved_units\":", orNull(training.deservedUnits),
                ",\"deserved_operations\":", orNull(training.deservedOperations()),
                ",\"operations_per_second\":", orNull(training.speed.operations), "}");
}

} // namespace mekik::tool
