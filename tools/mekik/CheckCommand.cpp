// check: the gradients of a model against central differences of its loss, both in f64 by the reference evaluator.
//
// For each parameter a random direction of +1 and -1 is tried, which every element of the gradient takes part in, and a
// few single elements. Where a kink (relu, max) lies between the two points, a smaller distance gets past it: three are
// tried before a difference counts.
#include "compiler/graph/ModelConventions.h"
#include "compiler/reference/Evaluator.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "tools/mekik/Command.h"
#include "tools/mekik/Feed.h"
#include "tools/mekik/ModelInput.h"
#include "tools/mekik/Table.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace mekik::tool {
namespace {

using base::concat;
using base::Status;
using base::StatusOr;
using reference::Tensor;

struct CheckCommand {
  ModelInput input;
  uint64_t seed = 1;
  int64_t elements = 8;
  double tolerance = 1e-6;
  bool json = false;
};

struct Row {
  std::string name, shape;
  int64_t checks = 0;
  double norm = 0;       // of the gradient
  double difference = 0; // the largest, relative
  bool good = true;
  bool finite = true; // the gradient and every loss around it
};

/// Random values for inputs and targets: ids below their number of classes, floats in [-1, 1).
void fill(Tensor &tensor, int64_t classes, std::mt19937_64 &random) {
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
    switch (tensor.type()) {
    case Tensor::ElementType::I32:
    case Tensor::ElementType::I64:
      tensor.setDouble(i, std::floor(uniform * static_cast<double>(std::max<int64_t>(classes, 2))));
      break;
    case Tensor::ElementType::Bool:
      tensor.setDouble(i, uniform < 0.5 ? 0 : 1);
      break;
    default:
      tensor.setDouble(i, 2 * uniform - 1);
    }
  }
}

class Checker {
public:
  Checker(const CheckCommand &command, mlir::func::FuncOp loss) : command(command), loss(loss), random(command.seed) {}

  Feed feed;

  StatusOr<Row> check(const std::string &name, const Tensor &gradient) {
    Row row;
    row.name = name;
    for (int64_t i = 0; i < gradient.size(); ++i)
      row.norm += gradient.getDouble(i) * gradient.getDouble(i);
    row.norm = std::sqrt(row.norm);
    row.finite = std::isfinite(row.norm);
    std::vector<double> direction(static_cast<size_t>(gradient.size()));
    for (double &sign : direction)
      sign = random() & 1 ? 1 : -1;
    MEKIK_RETURN_IF_ERROR(along(row, name, gradient, direction));
    std::vector<int64_t> order(direction.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    order.resize(std::min<size_t>(order.size(), static_cast<size_t>(command.elements)));
    for (int64_t element : order) {
      std::fill(direction.begin(), direction.end(), 0);
      direction[static_cast<size_t>(element)] = 1;
      MEKIK_RETURN_IF_ERROR(along(row, name, gradient, direction));
    }
    return row;
  }

private:
  StatusOr<double> lossAt(const std::string &name, const Tensor &start, const std::vector<double> &direction, double distance) {
    Tensor moved = start;
    for (int64_t i = 0; i < moved.size(); ++i)
      moved.setDouble(i, start.getDouble(i) + distance * direction[static_cast<size_t>(i)]);
    feed.set("parameter", name, std::move(moved));
    MEKIK_ASSIGN_OR_RETURN(std::vector<Named> results, feed.call(loss));
    for (const Named &result : results)
      if (result.role == "loss")
        return result.tensor.getDouble(0);
    return base::internalError("the function of the loss gives no loss");
  }

  Status along(Row &row, const std::string &name, const Tensor &gradient, const std::vector<double> &direction) {
    double compiled = 0;
    for (int64_t i = 0; i < gradient.size(); ++i)
      compiled += gradient.getDouble(i) * direction[static_cast<size_t>(i)];
    const Tensor start = *feed.find("parameter", name);
    double best = INFINITY;
    for (double distance : {1e-5, 1e-6, 1e-4}) {
      MEKIK_ASSIGN_OR_RETURN(double above, lossAt(name, start, direction, distance));
      MEKIK_ASSIGN_OR_RETURN(double below, lossAt(name, start, direction, -distance));
      double numeric = (above - below) / (2 * distance);
      row.finite = row.finite && std::isfinite(numeric);
      // Rounding of the loss alone moves the quotient by about 1e-15 / distance.
      double scale = std::max({std::abs(compiled), std::abs(numeric), 1e-3});
      double difference = std::abs(compiled - numeric) / scale;
      if (!(difference >= best))
        best = difference;
      if (best <= command.tolerance)
        break;
    }
    feed.set("parameter", name, start);
    ++row.checks;
    row.difference = std::max(row.difference, best);
    row.good = row.good && row.finite && best <= command.tolerance;
    return {};
  }

  const CheckCommand &command;
  mlir::func::FuncOp loss;
  std::mt19937_64 random;
};

std::string scientific(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.1e", value);
  return text;
}

Status show(const CheckCommand &command, const std::vector<Row> &rows, double loss) {
  if (command.json) {
    std::string text = concat("{\"loss\":", base::jsonNumber(loss), ",\"tolerance\":",
                              base::formatNumber(command.tolerance), ",\"parameters\":[");
    for (size_t i = 0; i < rows.size(); ++i)
      base::append(text, i > 0 ? "," : "", "{\"name\":", base::jsonString(rows[i].name), ",\"checks\":", rows[i].checks,
                   ",\"gradient_norm\":", base::jsonNumber(rows[i].norm), ",\"difference\":",
                   base::jsonNumber(rows[i].difference), ",\"good\":", rows[i].good ? "true" : "false", "}");
    return printOut(text + "]}\n");
  }
  using enum Table::Align;
  Table table({"parameter", "shape", "checks", "gradient norm", "difference", ""}, {Left, Left, Right, Right, Right, Left});
  for (const Row &row : rows)
    table.add({row.name, row.shape, std::to_string(row.checks), scientific(row.norm), scientific(row.difference),
               row.good ? "ok" : row.finite ? "WRONG" : "not finite"});
  return printOut(table.print());
}

Status check(CheckCommand &command) {
  command.input.gradientFunction = true;
  command.input.precision = frontend::Precision::F64;
  command.input.smallBatch = true;
  MEKIK_ASSIGN_OR_RETURN(LoadedModel model, load(command.input, Need::Model));
  if (model.compiler->stage() != driver::Stage::Graph)
    return wrongUsage(concat(command.input.path, ": check needs the model itself: source text, or MLIR of stage graph"));
  reference::promoteToF64(model.compiler->module()); // source text is read in f64, MLIR is as it is
  std::unique_ptr<driver::Compiler> derived = model.compiler->clone();
  std::string messages;
  absl::Status advanced = derived->advanceTo(driver::Stage::Gradient, messages);
  printError(messages);
  MEKIK_RETURN_IF_ERROR(fromAbsl(advanced));
  if (!model.compiler->module().lookupSymbol(graph::kTrainFunction))
    return base::failedPreconditionError(concat(command.input.path, ": the model has no loss, so nothing to differentiate"));
  MEKIK_ASSIGN_OR_RETURN(mlir::func::FuncOp loss, functionOf(model.compiler->module(), graph::kTrainFunction));
  MEKIK_ASSIGN_OR_RETURN(mlir::func::FuncOp gradient, functionOf(derived->module(), graph::kGradientFunction));

  Checker checker(command, loss);
  MEKIK_RETURN_IF_ERROR(initialize(checker.feed, derived->module(), command.seed));
  std::mt19937_64 random(command.seed);
  std::map<std::string, std::string> shapes;
  for (const Argument &argument : argumentsOf(loss)) {
    shapes[argument.name] = describe(argument.type);
    if (argument.role != "input" && argument.role != "target")
      continue;
    Tensor tensor = reference::zeros(argument.type);
    fill(tensor, argument.classes, random);
    checker.feed.set(argument.role, argument.name, std::move(tensor));
  }
  MEKIK_ASSIGN_OR_RETURN(std::vector<Named> results, checker.feed.call(gradient));
  double lossValue = 0;
  std::vector<Row> rows;
  for (const Named &result : results) {
    if (result.role == "loss")
      lossValue = result.tensor.getDouble(0);
    if (result.role != "gradient")
      continue;
    MEKIK_ASSIGN_OR_RETURN(Row row, checker.check(result.name, result.tensor));
    row.shape = shapes[result.name];
    rows.push_back(std::move(row));
  }
  MEKIK_RETURN_IF_ERROR(show(command, rows, lossValue));
  auto wrong = std::count_if(rows.begin(), rows.end(), [](const Row &row) { return !row.good; });
  if (!std::all_of(rows.begin(), rows.end(), [](const Row &row) { return row.finite; }))
    return base::failedPreconditionError(concat(command.input.path, ": a loss or a gradient is not finite at these values, so "
                                                "there is nothing to compare; --seed takes others"));
  if (wrong > 0)
    return base::internalError(concat(static_cast<int64_t>(wrong), " of ", rows.size(),
                                      " gradients differ from central differences by more than ",
                                      base::formatNumber(command.tolerance)));
  return {};
}

} // namespace

Action addCheck(CLI::App &app) {
  auto command = std::make_shared<CheckCommand>();
  CLI::App *sub = app.add_subcommand("check", "Compare every gradient with central differences, in f64.");
  addModelOptions(*sub, command->input);
  addTextOptions(*sub, command->input);
  addSeedOption(*sub, command->seed, "Seed of parameters, inputs and directions.");
  sub->add_option("--elements", command->elements, "Single elements of each parameter to try, besides a direction.")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_option("--tolerance", command->tolerance, "Relative difference that is still right.")
      ->type_name("X")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_flag("--json", command->json, "A JSON object on standard output.");
  addExamples(*sub, "mekik check models/gpt/gpt.mekik -D vocab=30\n"
                    "mekik check my.mekik --elements 20 --seed 7");
  return [command] { return check(*command); };
}

} // namespace mekik::tool
