#include "runtime/train/RunState.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "runtime/train/DataTypes.h"
#include <cstring>

namespace mekik::train {
namespace {

using base::concat;
using base::Status;
using base::StatusOr;

std::span<const int64_t> shapeOf(const MekikTensor &tensor) { return {tensor.shape, static_cast<size_t>(tensor.rank)}; }

std::string checkpointName(const MekikTensor &tensor) {
  return tensor.role == MEKIK_OPTIMIZER_STATE ? concat("optimizer.", tensor.name) : std::string(tensor.name);
}

/// Index of the first element that is inf or nan, by its exponent bits; -1 if there is none.
int64_t firstNotFinite(const void *data, const MekikTensor &tensor) {
  const auto *bytes = static_cast<const unsigned char *>(data);
  for (int64_t i = 0, count = model::elementCount(tensor); i < count; ++i) {
    if (tensor.type == MEKIK_F32) {
      uint32_t bits;
      memcpy(&bits, bytes + i * 4, 4);
      if ((bits & 0x7F800000u) == 0x7F800000u)
        return i;
    } else if (tensor.type == MEKIK_F64) {
      uint64_t bits;
      memcpy(&bits, bytes + i * 8, 8);
      if ((bits & 0x7FF0000000000000u) == 0x7FF0000000000000u)
        return i;
    }
  }
  return -1;
}

std::string numberOrNull(const std::optional<double> &value) { return value ? base::formatNumber(*value) : "null"; }

std::string historyJson(const std::vector<Evaluation> &history) {
  std::string text = "[";
  for (const Evaluation &entry : history)
    base::append(text, text.size() > 1 ? "," : "", "[", entry.step, ",", base::formatNumber(entry.trainLoss), ",",
                 numberOrNull(entry.validationLoss), "]");
  return text + "]";
}

Status malformed(const checkpoint::Checkpoint &checkpoint, std::string_view field, std::string_view problem) {
  return base::invalidArgumentError(
      concat(checkpoint.file.origin(), ": field ", field, ": ", problem, "; the file cannot be resumed"));
}

StatusOr<std::vector<Evaluation>> parseHistory(const checkpoint::Checkpoint &checkpoint, std::string_view field,
                                               std::string_view text) {
  MEKIK_ASSIGN_OR_RETURN(base::Json json, base::Json::parse(text, concat(checkpoint.file.origin(), ": ", field)));
  std::vector<Evaluation> history;
  for (const base::Json &entry : json.elements()) {
    const auto &parts = entry.elements();
    if (parts.size() != 3 || !parts[0].integer() || !parts[1].number())
      return malformed(checkpoint, field, "expected [step, training loss, validation loss]");
    history.push_back({*parts[0].integer(), *parts[1].number(), parts[2].number()});
  }
  if (!json.isArray())
    return malformed(checkpoint, field, "expected an array");
  return history;
}

StatusOr<std::string> extra(const checkpoint::Checkpoint &checkpoint, std::string_view field) {
  auto found = checkpoint.info.extra.find(field);
  if (found == checkpoint.info.extra.end())
    return malformed(checkpoint, field, "is missing");
  return found->second;
}

StatusOr<int64_t> extraInteger(const checkpoint::Checkpoint &checkpoint, std::string_view field, int64_t least) {
  MEKIK_ASSIGN_OR_RETURN(std::string text, extra(checkpoint, field));
  return base::parseInteger(concat(checkpoint.file.origin(), ": field ", field), text, least);
}

/// The first setting in which two configurations differ, with both values; empty if they are equal.
std::string configurationDifference(std::string_view theirs, std::string_view ours) {
  if (theirs == ours)
    return "";
  auto first = base::Json::parse(theirs, "configuration"), second = base::Json::parse(ours, "configuration");
  if (!first.ok() || !second.ok())
    return concat("configuration ", theirs, ", not ", ours);
  auto valueOf = [](const base::Json *value) {
    if (!value)
      return std::string("absent");
    if (value->boolean())
      return std::string(*value->boolean() ? "true" : "false");
    return value->isString() ? base::quoted(value->text()) : value->text();
  };
  std::string text;
  auto compare = [&](const std::string &key) {
    std::string a = valueOf(first->find(key)), b = valueOf(second->find(key));
    if (a != b)
      base::append(text, text.empty() ? "" : ", ", key, " = ", a, " there and ", b, " here");
  };
  for (const std::string &key : first->keys())
    compare(key);
  for (const std::string &key : second->keys())
    if (!first->find(key))
      compare(key);
  return text;
}

} // namespace

StatusOr<Snapshot> takeSnapshot(const model::Model &model, const tokenizer::Tokenizer *tokenizer, const RunState &state,
                                bool withOptimizer) {
  const MekikModel &descriptor = model.descriptor();
  Snapshot snapshot;
  checkpoint::CheckpointInfo &info = snapshot.info;
  info.step = state.step;
  info.seed = state.seed;
  info.modelName = descriptor.name;
  info.modelHash = descriptor.sourceHash;
  info.compilerVersion = descriptor.compilerVersion;
  info.configuration = descriptor.configuration;
  if (tokenizer)
    info.tokenizer = tokenizer->toJson();
  if (state.best) {
    info.bestLoss = state.best->deciding();
    info.bestStep = state.best->step;
    info.extra["train.best"] = historyJson({*state.best});
  }
  info.extra["train.evaluate_every"] = std::to_string(state.settings.evaluateEvery);
  info.extra["train.evaluation_limit"] = std::to_string(state.settings.evaluationLimit);
  info.extra["train.patience"] = std::to_string(state.settings.patience);
  info.extra["train.validation"] = std::to_string(state.settings.validation);
  info.extra["train.data_hash"] = state.settings.dataHash;
  info.extra["train.evaluations_since_best"] = std::to_string(state.evaluationsSinceBest);
  info.extra["train.history"] = historyJson(state.history);

  std::vector<const MekikTensor *> saved;
  uint64_t total = 0;
  for (uint64_t i = 0; i < descriptor.tensorCount; ++i) {
    const MekikTensor &tensor = descriptor.tensors[i];
    if (tensor.role == MEKIK_OPTIMIZER_STATE && !withOptimizer)
      continue;
    if (int64_t at = firstNotFinite(model.data(tensor), tensor); at >= 0)
      return base::outOfRangeError(concat(checkpointName(tensor), " holds a value that is not finite (element ", at,
                                          ") after step ", state.step));
    saved.push_back(&tensor);
    total += tensor.bytes;
  }
  bool copy = total < Snapshot::largeBytes;
  if (copy)
    snapshot.bytes.reserve(total);
  for (const MekikTensor *tensor : saved) {
    const auto *data = static_cast<const uint8_t *>(model.data(*tensor));
    if (copy) {
      snapshot.bytes.insert(snapshot.bytes.end(), data, data + tensor->bytes);
      data = snapshot.bytes.data() + snapshot.bytes.size() - tensor->bytes;
    }
    std::span<const int64_t> shape = shapeOf(*tensor);
    snapshot.tensors.push_back(
        {checkpointName(*tensor), dataTypeOf(tensor->type), {shape.begin(), shape.end()}, {data, tensor->bytes}});
  }
  return snapshot;
}

Status writeSnapshot(const std::string &path, const Snapshot &snapshot) {
  return checkpoint::saveCheckpoint(path, snapshot.info, snapshot.tensors);
}

Status checkOrigin(const checkpoint::Checkpoint &checkpoint, const model::Model &model,
                   const tokenizer::Tokenizer *tokenizer) {
  const checkpoint::CheckpointInfo &info = checkpoint.info;
  const MekikModel &ours = model.descriptor();
  const std::string &path = checkpoint.file.origin();
  if (info.modelName != ours.name)
    return base::failedPreconditionError(
        concat(path, ": made by model '", info.modelName, "', this program is model '", ours.name, "'"));
  if (tokenizer) {
    if (info.tokenizer.empty())
      return base::failedPreconditionError(
          concat(path, ": holds no tokenizer, this program has ", tokenizer->describe()));
    MEKIK_ASSIGN_OR_RETURN(std::unique_ptr<tokenizer::Tokenizer> theirs,
                           tokenizer::tokenizerFromJson(info.tokenizer, path));
    MEKIK_RETURN_IF_ERROR(tokenizer::checkSameTokenizer(*tokenizer, "this program", *theirs, path));
  } else if (!info.tokenizer.empty()) {
    return base::failedPreconditionError(concat(path, ": made with a tokenizer, this program has none"));
  }
  if (std::string difference = configurationDifference(info.configuration, ours.configuration); !difference.empty())
    return base::failedPreconditionError(
        concat(path, ": made with another configuration of model '", ours.name, "': ", difference));
  if (info.modelHash != ours.sourceHash)
    return base::failedPreconditionError(
        concat(path, ": made from another source of model '", ours.name, "': ", info.modelHash.substr(0, 16),
               " (compiler ", info.compilerVersion, ") there and ", std::string_view(ours.sourceHash).substr(0, 16),
               " (compiler ", ours.compilerVersion, ") here; use the program that made it, or train again"));
  return {};
}

namespace {

Status restoreTensors(const checkpoint::Checkpoint &checkpoint, model::Model &model, int32_t role) {
  for (uint64_t i = 0; i < model.descriptor().tensorCount; ++i)
    if (const MekikTensor &tensor = model.descriptor().tensors[i]; tensor.role == role)
      MEKIK_RETURN_IF_ERROR(checkpoint::copyTensor(checkpoint.file, checkpointName(tensor), dataTypeOf(tensor.type),
                                                   shapeOf(tensor), model.data(tensor)));
  return {};
}

} // namespace

Status restoreParameters(const checkpoint::Checkpoint &checkpoint, model::Model &model) {
  return restoreTensors(checkpoint, model, MEKIK_PARAMETER);
}

Status restoreOptimizer(const checkpoint::Checkpoint &checkpoint, model::Model &model) {
  return restoreTensors(checkpoint, model, MEKIK_OPTIMIZER_STATE);
}

StatusOr<RunState> restoreState(const checkpoint::Checkpoint &checkpoint) {
  RunState state;
  state.step = checkpoint.info.step;
  state.seed = checkpoint.info.seed;
  MEKIK_ASSIGN_OR_RETURN(state.settings.evaluateEvery, extraInteger(checkpoint, "train.evaluate_every", 1));
  MEKIK_ASSIGN_OR_RETURN(state.settings.evaluationLimit, extraInteger(checkpoint, "train.evaluation_limit", 0));
  MEKIK_ASSIGN_OR_RETURN(state.settings.patience, extraInteger(checkpoint, "train.patience", 0));
  MEKIK_ASSIGN_OR_RETURN(state.settings.validation, extraInteger(checkpoint, "train.validation", 0));
  MEKIK_ASSIGN_OR_RETURN(state.settings.dataHash, extra(checkpoint, "train.data_hash"));
  MEKIK_ASSIGN_OR_RETURN(state.evaluationsSinceBest, extraInteger(checkpoint, "train.evaluations_since_best", 0));
  MEKIK_ASSIGN_OR_RETURN(std::string history, extra(checkpoint, "train.history"));
  MEKIK_ASSIGN_OR_RETURN(state.history, parseHistory(checkpoint, "train.history", history));
  if (checkpoint.info.bestStep) {
    MEKIK_ASSIGN_OR_RETURN(std::string text, extra(checkpoint, "train.best"));
    MEKIK_ASSIGN_OR_RETURN(std::vector<Evaluation> best, parseHistory(checkpoint, "train.best", text));
    if (best.size() != 1)
      return malformed(checkpoint, "train.best", "expected one evaluation");
    state.best = best.front();
  }
  return state;
}

} // namespace mekik::train
