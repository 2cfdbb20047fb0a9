// The training loop: init, train_step after train_step, evaluations in a fixed rhythm, the best and the last state kept
// in a folder, and a way back into it after an interruption that leaves no trace in any bit.
//
// The folder holds
//   best.safetensors  parameters of the best evaluation
//   last.safetensors  all that is needed to go on
//   curve.svg         the losses so far
// A run whose last step is not in the rhythm is evaluated once more at its end. If that is the best yet, it becomes
// best.safetensors and the best of the rhythm is kept as best.scheduled.safetensors; resuming puts it back, because a
// run that had not stopped there would not have evaluated there.
// Beginning a new run moves the checkpoints of an earlier one to best.previous.safetensors and
// last.previous.safetensors.
#ifndef MEKIK_RUNTIME_TRAIN_TRAINER_H
#define MEKIK_RUNTIME_TRAIN_TRAINER_H

#include "runtime/model/Model.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/train/Examples.h"
#include "runtime/train/Progress.h"
#include "runtime/train/RunState.h"
#include <csignal>
#include <optional>
#include <string>

namespace mekik::train {

struct TrainOptions {
  std::string folder = "run";
  int64_t steps = 1000; // in all, those before a resume included
  uint64_t seed = 1;
  Settings settings;
  bool resume = false;
  std::string from; // a new run starts with the parameters of this file, or of best.safetensors in this folder
  int64_t saveEvery = 0; // save last.safetensors also every so many steps; 0: only with evaluations
  std::string log;       // file for JSON lines; empty: none
  std::string curve;     // file for a second copy of the curve; empty: none
  int64_t baseline = 0;  // order of the n-gram whose loss is shown beside; 0: none
  Progress::Style progress = Progress::Style::None;
  /// Set by a signal handler: the run is saved after the current step and train returns.
  const volatile std::sig_atomic_t *interrupted = nullptr;
};

enum class TrainEnd { Finished, StoppedEarly, Interrupted, NothingToDo };

struct TrainResult {
  TrainEnd end = TrainEnd::Finished;
  int64_t step = 0;
  std::optional<Evaluation> best;
  double seconds = 0; // training and evaluations of this process
};

/// Names of the files in the folder.
std::string bestPath(const std::string &folder);
std::string lastPath(const std::string &folder);

/// Average loss over the evaluation examples of a split, each batch of the `loss` function weighted by its targets, in
/// f64; empty if the split has none. A remainder smaller than the batch of `loss` is left out. FailedPrecondition if there
/// are fewer examples than that batch.
base::StatusOr<std::optional<double>> evaluate(model::Model &model, const Examples &examples, Split split);

/// Trains `model` from its own `init`, or on from last.safetensors of the folder. `tokenizer` may be null for models
/// that are not about text. For a resume, `options.seed` and `options.settings` must be those of the checkpoint (see
/// loadForResume). Everything that can be refused is refused before the first step. Errors: an unusable folder, log or
/// model; OutOfRange naming the step at which a loss or parameter stopped being finite, with the last good state kept.
base::StatusOr<TrainResult> train(model::Model &model, const Examples &examples, const tokenizer::Tokenizer *tokenizer,
                                  const TrainOptions &options);

/// The checkpoint that a resume starts from, checked to belong to this model and tokenizer.
base::StatusOr<checkpoint::Checkpoint> loadForResume(const std::string &folder, const model::Model &model,
                                                     const tokenizer::Tokenizer *tokenizer);

} // namespace mekik::train

#endif
