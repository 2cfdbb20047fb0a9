// One file with all that is needed to go on training or to sample: parameters, optimizer state, and as metadata the
// step, the seed, the tokenizer, the configuration, hashes and the best result so far (docs/checkpoint.md).
#ifndef MEKIK_RUNTIME_CHECKPOINT_CHECKPOINT_H
#define MEKIK_RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "runtime/checkpoint/Safetensors.h"
#include "runtime/tokenizer/Tokenizer.h"
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace mekik::checkpoint {

/// Everything in a checkpoint but its tensors. Numbers are stored exactly.
struct CheckpointInfo {
  int64_t step = 0; // training steps done
  uint64_t seed = 0;
  std::string modelName;
  std::string modelHash;          // MekikModel.sourceHash
  std::string compilerVersion;    // MekikModel.compilerVersion
  std::string configuration;      // JSON object, as MekikModel.configuration
  std::string tokenizer;          // Tokenizer::toJson(), or empty for models that are not about text
  std::optional<double> bestLoss; // best validation loss so far and its step, if any
  std::optional<int64_t> bestStep;
  /// Anything else by name ("train.rate" -> "0.003"); stored under "mekik.extra.<name>".
  std::map<std::string, std::string, std::less<>> extra;
};

struct Checkpoint {
  CheckpointInfo info;
  Safetensors file; // the tensors, by name
};

/// Replaces `path` atomically. Tensors are written in the given order.
base::Status saveCheckpoint(const std::string &path, const CheckpointInfo &info, std::span<const TensorView> tensors);

/// Errors: those of Safetensors::load; FailedPrecondition "<path>: not a Mekik checkpoint ..." for other safetensors
/// files; InvalidArgument for a field that is missing or malformed, a tokenizer whose hash does not match.
base::StatusOr<Checkpoint> loadCheckpoint(const std::string &path);
base::StatusOr<Checkpoint> parseCheckpoint(std::string bytes, std::string origin);

/// Copies tensor `name` to `destination`. Errors name the file and the tensor: missing, other type or shape than wanted
/// (both are shown).
base::Status copyTensor(const Safetensors &file, std::string_view name, DataType type, std::span<const int64_t> shape,
                        void *destination);

} // namespace mekik::checkpoint

#endif
