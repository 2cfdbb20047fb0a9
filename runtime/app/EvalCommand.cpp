// eval: the loss of a checkpoint on data.
#include "runtime/app/Command.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "runtime/train/Trainer.h"

namespace mekik::app {
namespace {

using base::concat;
using base::Status;
using base::StatusOr;

constexpr OptionSpec options[] = {
    {"--data", "FILE", "text or tensors, as for train"},
    {"--checkpoint", "FILE", "a checkpoint, or the folder of a run (default: run)"},
    {"--eval-symbols", "N", "symbols (examples) of each part to read; 0 is all (default: as in training)"},
    {"--validation", "SHARE", "share of the data that is the validation part (default: as in training)"},
    {"--json", "", "a JSON object on standard output"},
    threadsOption,
    helpOption,
};

std::string lossOrNull(const std::optional<double> &loss) { return loss ? base::jsonNumber(*loss) : "null"; }

std::string lossForPeople(const std::optional<double> &loss) {
  if (!loss)
    return "no data";
  return *loss > -1e9 && *loss < 1e9 ? base::formatFixed(*loss, 4) : base::formatNumber(*loss);
}

Status run(const Program &program, const Options &options) {
  auto path = options.text("--data");
  if (!path)
    return noData(concat(program.name, " eval"), program.tokenizer != nullptr);
  train::Settings asked = defaultSettings(program);
  MEKIK_RETURN_IF_ERROR(readSettings(options, asked));
  MEKIK_ASSIGN_OR_RETURN(model::Model model, makeModel(program, options));
  MEKIK_ASSIGN_OR_RETURN(checkpoint::Checkpoint checkpoint,
                         loadParameters(program, options.textOr("--checkpoint", "run"), model));
  train::Settings settings = defaultSettings(program);
  if (auto saved = train::restoreState(checkpoint); saved.ok())
    settings = saved->settings;
  MEKIK_RETURN_IF_ERROR(readSettings(options, settings));
  MEKIK_ASSIGN_OR_RETURN(std::unique_ptr<train::Examples> examples, loadExamples(program, *path, settings));
  MEKIK_ASSIGN_OR_RETURN(const MekikFunction *loss, model.function("loss"));
  MEKIK_RETURN_IF_ERROR(examples->check(model, *loss));
  MEKIK_ASSIGN_OR_RETURN(std::optional<double> trainLoss, train::evaluate(model, *examples, train::Split::Train));
  MEKIK_ASSIGN_OR_RETURN(std::optional<double> validationLoss,
                         train::evaluate(model, *examples, train::Split::Validation));
  if (options.has("--json"))
    return printOut(concat("{\"model\":", base::jsonString(program.model.name),
                           ",\"checkpoint\":", base::jsonString(checkpoint.file.origin()),
                           ",\"step\":", checkpoint.info.step, ",\"evaluation_limit\":", settings.evaluationLimit,
                           ",\"train_loss\":", lossOrNull(trainLoss),
                           ",\"validation_loss\":", lossOrNull(validationLoss), "}\n"));
  return printOut(concat("checkpoint       ", checkpoint.file.origin(), " (step ", checkpoint.info.step,
                         ")\ntraining loss    ", lossForPeople(trainLoss), "\nvalidation loss  ",
                         lossForPeople(validationLoss), "\n"));
}

} // namespace

const Command evalCommand = {"eval", "measure the loss of a checkpoint",
                             "eval --data proverbs.txt\n"
                             "eval --data proverbs.txt --eval-symbols 0 --json",
                             options, run};

} // namespace mekik::app
