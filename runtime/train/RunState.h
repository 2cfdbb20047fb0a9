// What a training run is made of besides tensors, and its way into and out of a checkpoint. Everything that decides how
// the run goes on is here, and nothing that differs between two equal runs (times, paths, threads), so that checkpoints
// of equal runs are equal files.
#ifndef MEKIK_RUNTIME_TRAIN_RUNSTATE_H
#define MEKIK_RUNTIME_TRAIN_RUNSTATE_H

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/model/Model.h"
#include "runtime/tokenizer/Tokenizer.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mekik::train {

/// One evaluation. Without validation data `validationLoss` is empty and the training loss decides what is best.
struct Evaluation {
  int64_t step = 0; // training steps done
  double trainLoss = 0;
  std::optional<double> validationLoss;
  double deciding() const { return validationLoss ? *validationLoss : trainLoss; }
};

/// Settings that must stay the same for a resumed run to be the run that was interrupted.
struct Settings {
  int64_t evaluateEvery = 250;
  int64_t evaluationLimit = 512; // symbols or examples; 0: all
  int64_t patience = 0;          // evaluations without a better one before the run stops; 0: never
  int64_t validation = 100000;   // share of the data in millionths
  std::string dataHash;
  bool operator==(const Settings &) const = default;
};

struct RunState {
  int64_t step = 0;
  uint64_t seed = 1;
  Settings settings;
  std::optional<Evaluation> best;
  int64_t evaluationsSinceBest = 0;
  std::vector<Evaluation> history; // evaluations of the regular rhythm, in order

  /// True for the steps that are evaluated in every run: the first and each multiple of evaluateEvery.
  bool isRegular(int64_t atStep) const { return atStep == 1 || atStep % settings.evaluateEvery == 0; }
};

/// A checkpoint in memory. Small ones are copies, independent of the model they were taken from; large ones are views
/// of the model's own arenas, so that nothing is held twice, and must be written before the model goes on.
struct Snapshot {
  static constexpr uint64_t largeBytes = 64 << 20;

  checkpoint::CheckpointInfo info;
  std::vector<checkpoint::TensorView> tensors;
  std::vector<uint8_t> bytes; // of a copy
  bool isCopy() const { return !bytes.empty(); }
};

/// Parameters and, with `withOptimizer`, optimizer state (named "optimizer.<name>"). `tokenizer` may be null.
/// OutOfRange naming a parameter that is not finite.
base::StatusOr<Snapshot> takeSnapshot(const model::Model &model, const tokenizer::Tokenizer *tokenizer,
                                      const RunState &state, bool withOptimizer);
/// Replaces `path` as a whole. Errors: those of saveCheckpoint.
base::Status writeSnapshot(const std::string &path, const Snapshot &snapshot);

/// OK if the checkpoint was made by this very model (name, configuration, source) and tokenizer. FailedPrecondition
/// with both values otherwise.
base::Status checkOrigin(const checkpoint::Checkpoint &checkpoint, const model::Model &model,
                         const tokenizer::Tokenizer *tokenizer);

/// Copies the parameters into the model. Errors name the file and the tensor.
base::Status restoreParameters(const checkpoint::Checkpoint &checkpoint, model::Model &model);
/// The same for optimizer state. FailedPrecondition for a checkpoint saved without it.
base::Status restoreOptimizer(const checkpoint::Checkpoint &checkpoint, model::Model &model);
/// The run as it was saved. InvalidArgument naming a field that is missing or malformed.
base::StatusOr<RunState> restoreState(const checkpoint::Checkpoint &checkpoint);

} // namespace mekik::train

#endif
