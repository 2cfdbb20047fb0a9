// train: from a text (or tensors) to best.safetensors.
#include "runtime/app/Command.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include "runtime/estimate/DispatchTime.h"
#include "runtime/ngram/Ngram.h"
#include "runtime/train/Trainer.h"
#include <csignal>

namespace mekik::app {
namespace {

using base::concat;
using base::Status;
using base::StatusOr;

constexpr OptionSpec options[] = {
    {"--data", "FILE", "what to learn from: a text, or a .safetensors file for models that are not\nabout text"},
    {"--out", "FOLDER", "where best.safetensors, last.safetensors and curve.svg go (default: run)"},
    {"--steps", "N",
     "training steps in all (default: \"steps\" of the model's configuration,\notherwise 1000); where the rate's "
     "schedule ends is compiled in and stays"},
    {"--seed", "N", "0 to 18446744073709551615; the same seed gives the same bytes (default: 1)"},
    threadsOption,
    {"--cpu", "CPU", "the target of this program (see info), or native; another is refused, since it is\ncompiled in"},
    {"--from", "FILE",
     "start with the parameters of this checkpoint, or of the folder of a run, instead of\nrandom ones; the rest "
     "of the run is new. With --resume it changes nothing"},
    {"--resume", "", "go on with the run in --out as if it had not stopped"},
    {"--eval-every", "N", "steps between evaluations; the first step is always evaluated (default: 250)"},
    {"--eval-symbols", "N",
     "symbols of each part that an evaluation reads, in windows that do not overlap;\n0 is all "
     "(default: 512 for lines, 8192 for a stream; 1024 examples of tensors)"},
    {"--validation", "SHARE", "share of the data kept for validation, from its end (default: 0.1)"},
    {"--patience", "N", "stop after N evaluations without a better one; 0 is never (default: 0)"},
    {"--save-every", "N", "save last.safetensors also every N steps (default: with each evaluation)"},
    {"--log", "FILE", "write one JSON object an evaluation: step, train_loss, validation_loss, best,\nseconds"},
    {"--baseline", "ORDER",
     "also show the loss of counting: how often a symbol follows the ORDER - 1 before it\n(default: 0, not shown)"},
    {"--curve", "FILE", "a second copy of the loss curve (SVG)"},
    profileOption,
    helpOption,
};

volatile std::sig_atomic_t interrupted = 0;

void catchInterrupts() {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND); // a second signal ends the process at once
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGXFSZ, SIG_IGN); // a file size limit becomes an error of write
}

/// For a resume: what is not asked for is as it was, what is asked for must be.
Status followSavedRun(const Program &program, const Options &options, const model::Model &model,
                      train::TrainOptions &train) {
  MEKIK_ASSIGN_OR_RETURN(checkpoint::Checkpoint checkpoint,
                         train::loadForResume(train.folder, model, program.tokenizer.get()));
  MEKIK_ASSIGN_OR_RETURN(train::RunState saved, train::restoreState(checkpoint));
  train::Settings asked = saved.settings;
  MEKIK_RETURN_IF_ERROR(readSettings(options, asked));
  MEKIK_ASSIGN_OPTION(train.seed, options.seedOr("--seed", saved.seed));
  std::string difference;
  auto compare = [&](std::string_view name, auto was, auto is) {
    if (was != is)
      base::append(difference, difference.empty() ? "" : ", ", name, " was ", was, " and is ", is);
  };
  compare("--seed", saved.seed, train.seed);
  compare("--eval-every", saved.settings.evaluateEvery, asked.evaluateEvery);
  compare("--eval-symbols", saved.settings.evaluationLimit, asked.evaluationLimit);
  compare("--patience", saved.settings.patience, asked.patience);
  if (saved.settings.validation != asked.validation)
    compare("--validation", base::formatNumber(static_cast<double>(saved.settings.validation) / 1e6),
            base::formatNumber(static_cast<double>(asked.validation) / 1e6));
  if (!difference.empty())
    return base::failedPreconditionError(
        concat("--resume: ", train::lastPath(train.folder), " belongs to a run with other settings: ", difference,
               "; leave these options out to go on, or begin a new run in another --out folder"));
  train.settings = saved.settings;
  return {};
}

std::string summary(const train::TrainResult &result, const train::TrainOptions &options) {
  const std::string &folder = options.folder;
  std::string text;
  switch (result.end) {
  case train::TrainEnd::Finished:
    text = concat("Done: ", base::formatCount(static_cast<uint64_t>(result.step)), " steps in ",
                  train::describeDuration(result.seconds), ".");
    break;
  case train::TrainEnd::StoppedEarly:
    text = concat("Stopped early at step ", result.step, ": no better one in ",
                  base::formatCount(static_cast<uint64_t>(options.settings.patience)),
                  options.settings.patience == 1 ? " evaluation." : " evaluations.");
    break;
  case train::TrainEnd::Interrupted:
    return concat("interrupted after step ", result.step, "; the state is saved in ", train::lastPath(folder),
                  ", go on with --resume");
  case train::TrainEnd::NothingToDo:
    text = concat("Nothing to do: the run in ", folder, " is complete at step ", result.step,
                  "; a larger --steps goes on.");
    break;
  }
  if (result.best)
    base::append(text, " Best ", result.best->validationLoss ? "validation" : "training", " loss ",
                 base::formatFixed(result.best->deciding(), 3), " at step ", result.best->step, ": ",
                 train::bestPath(folder));
  return text;
}

/// Seconds of each dispatch of a training step as expected of this machine; none if it cannot be measured, which is
/// said.
std::vector<double> expectedOfStep(const MekikModel &descriptor, const model::Model &model) {
  auto step = model.function("train_step");
  auto speed = estimate::machineSpeed();
  if (step.ok() && speed.ok())
    return estimate::dispatchSeconds(descriptor, **step, model.threads(), *speed);
  if (step.ok())
    printError(concat("--profile shows no expected times: ", speed.status().message(), "\n"));
  return {};
}

Status run(const Program &program, const Options &options) {
  auto path = options.text("--data");
  if (!path)
    return noData(concat(program.name, " train"), program.tokenizer != nullptr);
  if (auto cpu = options.text("--cpu"); cpu && *cpu != "native" && *cpu != program.model.target)
    return base::failedPreconditionError(concat("--cpu: this program is compiled for ", program.model.target,
                                                ", not for ", *cpu, "; compile the model again with --cpu ", *cpu));
  train::TrainOptions train;
  train.folder = options.textOr("--out", "run");
  if (train.folder.empty())
    return {base::StatusCode::WrongUsage, "--out: expected a folder, got an empty name"};
  train.resume = options.has("--resume");
  train.from = options.textOr("--from", "");
  train.log = options.textOr("--log", "");
  train.curve = options.textOr("--curve", "");
  train.settings = defaultSettings(program);
  MEKIK_ASSIGN_OPTION(train.steps,
                      options.integerOr("--steps", configuredInteger(program.model, "steps").value_or(1000), 1));
  MEKIK_ASSIGN_OPTION(train.baseline, options.integerOr("--baseline", 0, 0, ngram::largestOrder));
  MEKIK_ASSIGN_OPTION(train.saveEvery, options.integerOr("--save-every", 0, 1));
  MEKIK_ASSIGN_OPTION(train.seed, options.seedOr("--seed", 1));
  MEKIK_RETURN_IF_ERROR(readSettings(options, train.settings));
  MEKIK_ASSIGN_OR_RETURN(model::Model model, makeModel(program, options));
  if (train.resume)
    MEKIK_RETURN_IF_ERROR(followSavedRun(program, options, model, train));
  MEKIK_ASSIGN_OR_RETURN(std::unique_ptr<train::Examples> examples, loadExamples(program, *path, train.settings));
  train.settings.dataHash = examples->dataHash();
  std::string everyStep;
  if (auto step = model.function("train_step");
      step.ok() && examples->check(model, **step).ok() && examples->takesAll(model, **step))
    everyStep = ", all in every step";
  train.progress = train::Progress::detect();
  train.interrupted = &interrupted;
  catchInterrupts();
  // The schedule of the rate was compiled in; a run of another length meets it cut off or run out.
  if (auto compiled = configuredInteger(program.model, "steps"); compiled && *compiled != train.steps && !train.resume)
    printError(concat("--steps ", train.steps, " ends the run there; the model is compiled for ", *compiled,
                      " steps, and its rate follows that (-D steps=", train.steps, " when compiling sets both)\n"));
  printError(concat("Model ", program.model.name, ", ", base::formatCount(model::parameterCount(program.model)),
                    " parameters; ", examples->describe(), everyStep, "; ", model.threads(),
                    model.threads() == 1 ? " thread\n" : " threads\n"));
  std::vector<double> expected;
  if (model.profile())
    expected = expectedOfStep(program.model, model);
  MEKIK_ASSIGN_OR_RETURN(train::TrainResult result, train::train(model, *examples, program.tokenizer.get(), train));
  if (result.end == train::TrainEnd::Interrupted)
    return base::abortedError(summary(result, train));
  printError(concat(summary(result, train), "\n"));
  if (const model::Profile *profile = model.profile())
    printError(concat("\n", profile->table(**model.function("train_step"), expected)));
  return {};
}

} // namespace

const Command trainCommand = {"train", "train the model",
                              "train --data proverbs.txt                       train into the folder run/\n"
                              "train --data proverbs.txt --steps 5000 --resume  go on to 5000 steps\n"
                              "train --data questions.txt --from run --out chat    go on with other data\n"
                              "train --data proverbs.txt --out a --seed 2 --log a/log.jsonl",
                              options, run};

} // namespace mekik::app
