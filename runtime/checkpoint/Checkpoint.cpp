// The metadata of a checkpoint: every field under "mekik.", numbers exactly.
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "runtime/base/Sha256.h"

#include <algorithm>
#include <cstring>

namespace mekik::checkpoint {

using base::concat;

namespace {

constexpr std::string_view formatVersion = "1";
constexpr std::string_view extraPrefix = "mekik.extra.";

/// Takes fields out of the metadata; the first failure is kept and names the file and the field.
class Fields {
public:
  explicit Fields(const Safetensors &file) : file(file) {}

  const std::string *optional(std::string_view key) const {
    auto found = file.metadata().find(key);
    return found == file.metadata().end() ? nullptr : &found->second;
  }
  std::string text(std::string_view key) {
    const std::string *value = optional(key);
    if (!value)
      fail(base::invalidArgumentError(concat(what(key), ": expected this field in the metadata, found nothing")));
    return value ? *value : std::string();
  }
  int64_t count(std::string_view key) { return take(base::parseInteger(what(key), text(key), 0)); }
  uint64_t seed(std::string_view key) { return take(base::parseSeed(what(key), text(key))); }
  double number(std::string_view key) { return take(base::parseFormattedNumber(what(key), text(key))); }
  std::string what(std::string_view key) const { return concat(file.origin(), ": \"", key, "\""); }
  void fail(base::Status status) {
    if (failure.ok())
      failure = std::move(status);
  }
  base::Status failure;

private:
  template <typename T> T take(const base::StatusOr<T> &value) {
    if (value.ok())
      return *value;
    fail(value.status());
    return T();
  }
  const Safetensors &file;
};

} // namespace

base::Status saveCheckpoint(const std::string &path, const CheckpointInfo &info, std::span<const TensorView> tensors) {
  std::map<std::string, std::string, std::less<>> metadata;
  metadata["mekik.checkpoint"] = formatVersion;
  metadata["mekik.step"] = concat(info.step);
  metadata["mekik.seed"] = concat(info.seed);
  metadata["mekik.model.name"] = info.modelName;
  metadata["mekik.model.hash"] = info.modelHash;
  metadata["mekik.compiler"] = info.compilerVersion;
  metadata["mekik.configuration"] = info.configuration;
  if (!info.tokenizer.empty()) {
    metadata["mekik.tokenizer"] = info.tokenizer;
    metadata["mekik.tokenizer.hash"] = base::sha256Hex(info.tokenizer);
  }
  if (info.bestLoss)
    metadata["mekik.best.loss"] = base::formatNumber(*info.bestLoss);
  if (info.bestStep)
    metadata["mekik.best.step"] = concat(*info.bestStep);
  for (const auto &[key, value] : info.extra)
    metadata[concat(extraPrefix, key)] = value;
  return writeSafetensors(path, tensors, metadata);
}

base::StatusOr<Checkpoint> parseCheckpoint(std::string bytes, std::string origin) {
  MEKIK_ASSIGN_OR_RETURN(Safetensors file, Safetensors::parse(std::move(bytes), std::move(origin)));
  Fields fields(file);
  const std::string *version = fields.optional("mekik.checkpoint");
  if (!version)
    return base::failedPreconditionError(
        concat(file.origin(), ": a safetensors file, but not a Mekik checkpoint: it has no \"mekik.checkpoint\" in its "
                              "metadata"));
  if (*version != formatVersion)
    return base::failedPreconditionError(concat(file.origin(), ": expected a checkpoint of version ", formatVersion,
                                                ", found version ", base::quoted(*version),
                                                "; another version of Mekik wrote it"));
  CheckpointInfo info;
  info.step = fields.count("mekik.step");
  info.seed = fields.seed("mekik.seed");
  info.modelName = fields.text("mekik.model.name");
  info.modelHash = fields.text("mekik.model.hash");
  info.compilerVersion = fields.text("mekik.compiler");
  info.configuration = fields.text("mekik.configuration");
  if (fields.optional("mekik.best.loss"))
    info.bestLoss = fields.number("mekik.best.loss");
  if (fields.optional("mekik.best.step"))
    info.bestStep = fields.count("mekik.best.step");
  if (const std::string *json = fields.optional("mekik.tokenizer")) {
    info.tokenizer = *json;
    std::string stored = fields.text("mekik.tokenizer.hash");
    if (std::string computed = base::sha256Hex(*json); fields.failure.ok() && stored != computed)
      fields.fail(base::invalidArgumentError(concat(fields.what("mekik.tokenizer.hash"), ": expected ", computed,
                                                    ", the hash of the tokenizer in the file, found ",
                                                    base::quoted(stored), "; the file was changed")));
    if (base::StatusOr<std::unique_ptr<tokenizer::Tokenizer>> read = tokenizer::tokenizerFromJson(*json, file.origin());
        !read.ok())
      fields.fail(read.status());
  }
  if (base::StatusOr<base::Json> json = base::Json::parse(info.configuration, fields.what("mekik.configuration"));
      fields.failure.ok() && !json.ok())
    fields.fail(json.status());
  else if (fields.failure.ok() && !json->isObject())
    fields.fail(base::invalidArgumentError(
        concat(fields.what("mekik.configuration"), ": expected a JSON object, found ", json->kindName())));
  for (const auto &[key, value] : file.metadata())
    if (key.starts_with(extraPrefix))
      info.extra.emplace(key.substr(extraPrefix.size()), value);
  if (!fields.failure.ok())
    return fields.failure;
  return Checkpoint{std::move(info), std::move(file)};
}

base::StatusOr<Checkpoint> loadCheckpoint(const std::string &path) {
  auto bytes = base::readFile(path);
  if (bytes.status().code() == base::StatusCode::NotFound)
    return base::notFoundError(concat("no checkpoint at ", path, ": no such file; train first (train --data FILE), or "
                                      "name another checkpoint, or the folder of a run"));
  MEKIK_RETURN_IF_ERROR(bytes.status());
  return parseCheckpoint(*std::move(bytes), path);
}

base::Status copyTensor(const Safetensors &file, std::string_view name, DataType type, std::span<const int64_t> shape,
                        void *destination) {
  const TensorEntry *entry = file.find(name);
  std::string wanted = describeShape(type, shape);
  if (!entry)
    return base::notFoundError(
        concat(file.origin(), ": expected a tensor ", base::quoted(name), " ", wanted, ", found none of this name"));
  if (entry->type != type || !std::equal(entry->shape.begin(), entry->shape.end(), shape.begin(), shape.end()))
    return base::failedPreconditionError(concat(file.origin(), ": tensor ", base::quoted(name), ": expected ", wanted,
                                                ", found ", describeShape(entry->type, entry->shape)));
  if (!entry->data.empty())
    std::memcpy(destination, entry->data.data(), entry->data.size());
  return base::okStatus();
}

} // namespace mekik::checkpoint
