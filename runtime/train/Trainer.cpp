#include "runtime/train/Trainer.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Parse.h"
#include "runtime/train/LossCurve.h"
#include "runtime/train/RunFolder.h"
#include "runtime/train/RunLog.h"
#include "runtime/train/Saver.h"
#include "runtime/train/Transfer.h"

namespace mekik::train {
namespace {

using base::concat;
using base::Status;
using base::StatusOr;

bool isFinite(double value) { return value - value == 0; }

void writeScalars(model::Model &model, const MekikFunction &function, int64_t step, uint64_t seed) {
  for (uint64_t i = 0; i < function.tensorCount; ++i) {
    const MekikTensor &tensor = function.tensors[i];
    if (tensor.role == MEKIK_STEP)
      model.writeScalar(tensor, step);
    else if (tensor.role == MEKIK_SEED)
      model.writeScalar(tensor, static_cast<int64_t>(seed));
  }
}

class Run {
public:
  Run(model::Model &model, const Examples &examples, const tokenizer::Tokenizer *tokenizer, const TrainOptions &options)
      : model(model), examples(examples), tokenizer(tokenizer), options(options), folder(options.folder),
        progress(options.progress) {}

  StatusOr<TrainResult> run();

private:
  Status checkFunctions();
  Status begin();
  Status resume();
  Status takeStep();
  Status evaluateRegularly();
  Status evaluateAtTheEnd();
  StatusOr<Evaluation> evaluateBoth();
  Status save(const std::string &path, const RunState &saved, bool withOptimizer);
  Status saveLast();
  Status writeCurve();
  Status diverged(std::string_view what) const;
  Status orDiverged(Status status) const {
    return status.code() == base::StatusCode::OutOfRange ? diverged(status.message()) : status;
  }
  bool stoppedEarly() const {
    return state.settings.patience > 0 && state.evaluationsSinceBest >= state.settings.patience;
  }

  model::Model &model;
  const Examples &examples;
  const tokenizer::Tokenizer *tokenizer;
  const TrainOptions &options;
  RunFolder folder;
  RunLog log;
  Saver saver;
  Progress progress;
  RunState state;
  std::optional<Evaluation> atTheEnd; // evaluation outside the rhythm
  const MekikFunction *trainStep = nullptr;
  const MekikTensor *lossTensor = nullptr;
  int64_t savedStep = -1;
  double started = 0;
};

Status Run::checkFunctions() {
  MEKIK_ASSIGN_OR_RETURN(trainStep, model.function("train_step"));
  MEKIK_ASSIGN_OR_RETURN(lossTensor, model.tensor(*trainStep, MEKIK_LOSS));
  MEKIK_ASSIGN_OR_RETURN(const MekikFunction *loss, model.function("loss"));
  MEKIK_RETURN_IF_ERROR(model.tensor(*loss, MEKIK_LOSS).status());
  MEKIK_RETURN_IF_ERROR(model.function("init").status());
  MEKIK_RETURN_IF_ERROR(examples.check(model, *trainStep));
  MEKIK_RETURN_IF_ERROR(examples.check(model, *loss));
  for (Split split : {Split::Train, Split::Validation}) {
    int64_t count = examples.evaluationCount(model, *loss, split), batch = batchSize(*loss);
    if (count < batch && (count > 0 || split == Split::Train))
      return base::failedPreconditionError(
          concat("evaluation of the ", split == Split::Train ? "training" : "validation", " data has ", count,
                 " examples, function loss of model ", model.descriptor().name, " takes ", batch,
                 " at a time; raise --eval-symbols or give more data"));
  }
  return {};
}

Status Run::begin() {
  state.seed = options.seed;
  state.settings = options.settings;
  // Before anything of an earlier run is touched: these can fail, and the file may be that run's.
  std::optional<Transfer> transfer;
  if (!options.from.empty()) {
    std::string path = base::pathKind(options.from) == base::PathKind::Directory ? bestPath(options.from) : options.from;
    MEKIK_ASSIGN_OR_RETURN(transfer, Transfer::load(path, model, tokenizer));
  }
  if (!options.log.empty()) {
    MEKIK_ASSIGN_OR_RETURN(log, RunLog::begin(options.log));
  }
  MEKIK_ASSIGN_OR_RETURN(bool movedAside, folder.setEarlierRunAside());
  if (movedAside)
    progress.note(concat("The checkpoints of an earlier run in ", folder.path(), " are now *.previous.safetensors"));
  const MekikFunction *init = *model.function("init");
  writeScalars(model, *init, 0, state.seed);
  model.call(*init);
  if (transfer) {
    transfer->apply(model);
    progress.note(concat("Starting from ", transfer->origin(),
                         transfer->newSymbols() > 0 ? concat(", with ", transfer->newSymbols(), " new symbols") : ""));
  }
  return {};
}

Status Run::resume() {
  MEKIK_ASSIGN_OR_RETURN(checkpoint::Checkpoint checkpoint, loadForResume(options.folder, model, tokenizer));
  MEKIK_ASSIGN_OR_RETURN(state, restoreState(checkpoint));
  savedStep = state.step;
  if (state.seed != options.seed)
    return base::failedPreconditionError(
        concat(folder.last(), ": the run has seed ", state.seed, ", not ", options.seed));
  if (state.settings.dataHash != options.settings.dataHash)
    return base::failedPreconditionError(
        concat(folder.last(), ": the run was trained on other data (SHA-256 ", state.settings.dataHash.substr(0, 16),
               "..., here ", options.settings.dataHash.substr(0, 16),
               "...); resume with that data or begin a new run in another --out folder"));
  if (state.settings != options.settings)
    return base::failedPreconditionError(concat(folder.last(), ": the run has other settings than asked for"));
  if (state.step >= options.steps || stoppedEarly())
    return {};
  MEKIK_RETURN_IF_ERROR(restoreParameters(checkpoint, model));
  MEKIK_RETURN_IF_ERROR(restoreOptimizer(checkpoint, model));
  MEKIK_RETURN_IF_ERROR(folder.restoreScheduledBest());
  if (!options.log.empty()) {
    // A line outside the rhythm came from the evaluation at the end of the interrupted run.
    int64_t keep = state.step == 0 || state.isRegular(state.step) ? state.step : state.step - 1;
    MEKIK_ASSIGN_OR_RETURN(log, RunLog::resume(options.log, keep));
  }
  progress.note(concat("Going on after step ", state.step, " of ", folder.last()));
  return {};
}

Status Run::diverged(std::string_view what) const {
  std::string text = concat("training diverged: ", what, ". ");
  if (state.best)
    base::append(text, "The best state so far (step ", state.best->step, ", loss ",
                 base::formatNumber(state.best->deciding()), ") is kept in ", folder.best(), ". ");
  else
    text += "There is no good state to keep. ";
  return base::outOfRangeError(text + "A smaller learning rate, warm-up or clipping usually helps");
}

Status Run::save(const std::string &path, const RunState &saved, bool withOptimizer) {
  StatusOr<Snapshot> snapshot = takeSnapshot(model, tokenizer, saved, withOptimizer);
  if (!snapshot.ok())
    return orDiverged(snapshot.status());
  return saver.save(path, std::move(*snapshot));
}

Status Run::saveLast() {
  savedStep = state.step;
  return save(folder.last(), state, true);
}

Status Run::takeStep() {
  examples.writeTraining(model, *trainStep, state.seed, state.step);
  writeScalars(model, *trainStep, state.step, state.seed);
  model.call(*trainStep);
  double loss = model.readScalar(*lossTensor);
  if (!isFinite(loss))
    return diverged(concat("the loss of step ", state.step + 1, " is ", base::formatNumber(loss)));
  ++state.step;
  progress.step(state.step, loss);
  return {};
}

StatusOr<Evaluation> Run::evaluateBoth() {
  Evaluation result{.step = state.step, .trainLoss = 0, .validationLoss = {}};
  MEKIK_ASSIGN_OR_RETURN(std::optional<double> trainLoss, evaluate(model, examples, Split::Train));
  MEKIK_ASSIGN_OR_RETURN(result.validationLoss, evaluate(model, examples, Split::Validation));
  result.trainLoss = trainLoss.value_or(0);
  std::string_view bad = !isFinite(result.trainLoss)                                  ? "training"
                         : result.validationLoss && !isFinite(*result.validationLoss) ? "validation"
                                                                                      : "";
  if (!bad.empty()) {
    progress.evaluation(result, "not finite");
    MEKIK_RETURN_IF_ERROR(log.write(result, false, secondsNow() - started));
    return diverged(concat("the ", bad, " loss after step ", state.step, " is ",
                           base::formatNumber(bad == "training" ? result.trainLoss : *result.validationLoss)));
  }
  return result;
}

Status Run::evaluateRegularly() {
  MEKIK_ASSIGN_OR_RETURN(Evaluation evaluation, evaluateBoth());
  bool better = !state.best || evaluation.deciding() < state.best->deciding();
  state.history.push_back(evaluation);
  if (better) {
    std::optional<Evaluation> before = std::exchange(state.best, evaluation);
    state.evaluationsSinceBest = 0;
    if (Status saved = save(folder.best(), state, false); !saved.ok()) {
      state.best = before;
      return saved;
    }
  } else {
    ++state.evaluationsSinceBest;
  }
  progress.evaluation(evaluation, better ? "best, saved" : "");
  MEKIK_RETURN_IF_ERROR(log.write(evaluation, better, secondsNow() - started));
  return saveLast();
}

Status Run::evaluateAtTheEnd() {
  MEKIK_ASSIGN_OR_RETURN(atTheEnd, evaluateBoth());
  bool better = !state.best || atTheEnd->deciding() < state.best->deciding();
  // Saved first: should the rest fail, a resume starts here all the same.
  MEKIK_RETURN_IF_ERROR(saveLast());
  MEKIK_RETURN_IF_ERROR(saver.finish());
  if (better) {
    MEKIK_RETURN_IF_ERROR(folder.keepScheduledBest());
    RunState ending = state;
    ending.best = atTheEnd;
    MEKIK_RETURN_IF_ERROR(save(folder.best(), ending, false));
  }
  progress.evaluation(*atTheEnd, better ? "best, saved" : "");
  return log.write(*atTheEnd, better, secondsNow() - started);
}

Status Run::writeCurve() {
  std::vector<Evaluation> points = state.history;
  std::optional<Evaluation> best = state.best;
  if (atTheEnd) {
    points.push_back(*atTheEnd);
    if (!best || atTheEnd->deciding() < best->deciding())
      best = atTheEnd;
  }
  std::string svg = lossCurveSvg(points, best, concat(model.descriptor().name, ": loss"));
  MEKIK_RETURN_IF_ERROR(base::writeFileAtomically(folder.curve(), svg));
  return options.curve.empty() ? Status() : base::writeFileAtomically(options.curve, svg);
}

StatusOr<TrainResult> Run::run() {
  MEKIK_RETURN_IF_ERROR(checkFunctions());
  if (options.baseline > 0) {
    MEKIK_ASSIGN_OR_RETURN(CountedLoss counted,
                           examples.countedLoss(model, **model.function("loss"), options.baseline));
    progress.compareWith(concat("order ", options.baseline), counted, "by counting, 1 added");
  }
  MEKIK_RETURN_IF_ERROR(folder.prepare());
  if (!options.curve.empty())
    MEKIK_RETURN_IF_ERROR(base::writeFileAtomically(options.curve, lossCurveSvg({}, {}, model.descriptor().name)));
  MEKIK_RETURN_IF_ERROR(options.resume ? resume() : begin());
  if (options.resume && (state.step >= options.steps || stoppedEarly()))
    return TrainResult{TrainEnd::NothingToDo, state.step, state.best, 0};

  started = secondsNow();
  progress.begin(state.step, options.steps);
  TrainEnd end = TrainEnd::Finished;
  Status failure;
  while (failure.ok() && state.step < options.steps) {
    if (options.interrupted && *options.interrupted) {
      end = TrainEnd::Interrupted;
      break;
    }
    failure = takeStep();
    if (failure.ok() && state.isRegular(state.step)) {
      failure = evaluateRegularly();
    } else if (failure.ok() && options.saveEvery > 0 && state.step % options.saveEvery == 0) {
      failure = saveLast();
    }
    if (failure.ok() && stoppedEarly()) {
      end = TrainEnd::StoppedEarly;
      break;
    }
  }
  if (failure.ok() && end == TrainEnd::Finished && !state.isRegular(state.step))
    failure = evaluateAtTheEnd();
  if (failure.ok() && savedStep != state.step)
    failure = saveLast();
  Status saved = saver.finish();
  if (failure.ok())
    failure = saved;
  double seconds = secondsNow() - started;
  Status curveWritten = writeCurve();
  MEKIK_RETURN_IF_ERROR(failure);
  MEKIK_RETURN_IF_ERROR(curveWritten);
  bool endIsBest = atTheEnd && (!state.best || atTheEnd->deciding() < state.best->deciding());
  return TrainResult{end, state.step, endIsBest ? atTheEnd : state.best, seconds};
}

} // namespace

std::string bestPath(const std::string &folder) { return RunFolder(folder).best(); }
std::string lastPath(const std::string &folder) { return RunFolder(folder).last(); }

StatusOr<std::optional<double>> evaluate(model::Model &model, const Examples &examples, Split split) {
  MEKIK_ASSIGN_OR_RETURN(const MekikFunction *function, model.function("loss"));
  MEKIK_ASSIGN_OR_RETURN(const MekikTensor *loss, model.tensor(*function, MEKIK_LOSS));
  int64_t batch = batchSize(*function), count = examples.evaluationCount(model, *function, split) / batch * batch;
  if (count == 0)
    return std::optional<double>();
  double sum = 0, targets = 0;
  for (int64_t first = 0; first < count; first += batch) {
    double share = examples.writeEvaluation(model, *function, split, first);
    writeScalars(model, *function, 0, 0);
    model.call(*function);
    sum += share * model.readScalar(*loss);
    targets += share;
  }
  return std::optional<double>(sum / targets);
}

StatusOr<checkpoint::Checkpoint> loadForResume(const std::string &folder, const model::Model &model,
                                               const tokenizer::Tokenizer *tokenizer) {
  std::string path = lastPath(folder);
  auto checkpoint = checkpoint::loadCheckpoint(path);
  if (checkpoint.status().code() == base::StatusCode::NotFound)
    return base::notFoundError(concat(
        "--resume: ", path, " does not exist; leave out --resume to begin a new run, or name its folder with --out"));
  MEKIK_RETURN_IF_ERROR(checkpoint.status());
  MEKIK_RETURN_IF_ERROR(checkOrigin(*checkpoint, model, tokenizer));
  return checkpoint;
}

StatusOr<TrainResult> train(model::Model &model, const Examples &examples, const tokenizer::Tokenizer *tokenizer,
                            const TrainOptions &options) {
  return Run(model, examples, tokenizer, options).run();
}

} // namespace mekik::train
