// inspect: what is in a compiled program or a checkpoint.
#include "runtime/abi/MekikAbi.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "tools/mekik/Command.h"
#include "tools/mekik/Table.h"
#include <cerrno>
#include <cmath>
#include <cstring>
#include <unistd.h>

namespace mekik::tool {
namespace {

using base::concat;
using base::jsonString;
using base::Status;

struct InspectCommand {
  std::string path;
  bool json = false;
};

struct Summary {
  double least = 0, most = 0, mean = 0, deviation = 0;
  int64_t count = 0, notFinite = 0;
};

template <typename T> Summary summarize(std::span<const uint8_t> bytes) {
  Summary summary;
  double sum = 0, squares = 0;
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value;
    memcpy(&value, bytes.data() + i, sizeof(T));
    double number = static_cast<double>(value);
    if (!std::isfinite(number)) {
      ++summary.notFinite;
      continue;
    }
    summary.least = summary.count == 0 ? number : std::min(summary.least, number);
    summary.most = summary.count == 0 ? number : std::max(summary.most, number);
    sum += number;
    squares += number * number;
    ++summary.count;
  }
  if (summary.count > 0) {
    summary.mean = sum / static_cast<double>(summary.count);
    summary.deviation = std::sqrt(std::max(0.0, squares / static_cast<double>(summary.count) - summary.mean * summary.mean));
  }
  return summary;
}

std::optional<Summary> summarize(const checkpoint::TensorEntry &tensor) {
  switch (tensor.type) {
  case checkpoint::DataType::F32:
    return summarize<float>(tensor.data);
  case checkpoint::DataType::F64:
    return summarize<double>(tensor.data);
  case checkpoint::DataType::I32:
    return summarize<int32_t>(tensor.data);
  case checkpoint::DataType::I64:
    return summarize<int64_t>(tensor.data);
  default:
    return std::nullopt;
  }
}

std::string forPrograms(const checkpoint::Safetensors &file, const checkpoint::CheckpointInfo *info) {
  std::string text = concat("{\"file\":", jsonString(file.origin()));
  if (info) {
    base::append(text, ",\"kind\":\"checkpoint\",\"model\":", jsonString(info->modelName), ",\"source_hash\":",
                 jsonString(info->modelHash), ",\"compiler_version\":", jsonString(info->compilerVersion), ",\"step\":",
                 info->step, ",\"seed\":", std::to_string(info->seed), ",\"configuration\":", info->configuration,
                 ",\"tokenizer\":", info->tokenizer.empty() ? "null" : info->tokenizer, ",\"best_loss\":",
                 info->bestLoss ? base::formatNumber(*info->bestLoss) : "null", ",\"best_step\":",
                 info->bestStep ? std::to_string(*info->bestStep) : "null");
  } else {
    text += ",\"kind\":\"tensors\",\"metadata\":{";
    const char *separator = "";
    for (const auto &[key, value] : file.metadata()) {
      base::append(text, separator, jsonString(key), ":", jsonString(value));
      separator = ",";
    }
    text += "}";
  }
  text += ",\"tensors\":[";
  const char *separator = "";
  for (const checkpoint::TensorEntry &tensor : file.tensors()) {
    base::append(text, separator, "{\"name\":", jsonString(tensor.name), ",\"type\":\"",
                 checkpoint::dataTypeName(tensor.type), "\",\"shape\":[");
    for (size_t i = 0; i < tensor.shape.size(); ++i)
      base::append(text, i > 0 ? "," : "", tensor.shape[i]);
    text += "]";
    if (std::optional<Summary> summary = summarize(tensor); summary && summary->count > 0)
      base::append(text, ",\"min\":", base::formatNumber(summary->least), ",\"max\":", base::formatNumber(summary->most),
                   ",\"mean\":", base::formatNumber(summary->mean), ",\"deviation\":",
                   base::formatNumber(summary->deviation), ",\"not_finite\":", summary->notFinite);
    text += "}";
    separator = ",";
  }
  return text + "]}\n";
}

std::string forPeople(const checkpoint::Safetensors &file, const checkpoint::CheckpointInfo *info) {
  std::string text;
  if (info) {
    Table facts({}, {Table::Align::Left, Table::Align::Left});
    facts.add({"checkpoint", file.origin()});
    facts.add({"model", info->modelName});
    facts.add({"step", std::to_string(info->step)});
    facts.add({"seed", std::to_string(info->seed)});
    if (info->bestLoss && info->bestStep)
      facts.add({"best loss", concat(base::formatFixed(*info->bestLoss, 4), " at step ", *info->bestStep)});
    facts.add({"configuration", info->configuration});
    if (!info->tokenizer.empty())
      if (auto tokenizer = tokenizer::tokenizerFromJson(info->tokenizer, file.origin()); tokenizer.ok())
        facts.add({"tokenizer", (*tokenizer)->describe()});
    facts.add({"source", info->modelHash});
    facts.add({"compiled by", "Mekik " + info->compilerVersion});
    text += facts.print() + "\n";
  }
  using enum Table::Align;
  Table tensors({"tensor", "type and shape", "min", "max", "mean", "deviation"}, {Left, Left, Right, Right, Right, Right});
  for (const checkpoint::TensorEntry &tensor : file.tensors()) {
    std::vector<std::string> row = {tensor.name, checkpoint::describeShape(tensor.type, tensor.shape)};
    if (std::optional<Summary> summary = summarize(tensor); summary && summary->count > 0)
      for (double value : {summary->least, summary->most, summary->mean, summary->deviation})
        row.push_back(base::formatFixed(value, 4));
    tensors.add(std::move(row));
  }
  return text + tensors.print();
}

base::StatusOr<std::string> firstBytes(const std::string &path) {
  MEKIK_ASSIGN_OR_RETURN(base::File file, base::File::open(path));
  std::string bytes(4, '\0');
  MEKIK_ASSIGN_OR_RETURN(uint64_t count, file.readSomeAt(0, bytes.data(), bytes.size()));
  bytes.resize(count);
  return bytes;
}

/// True if the file holds the mark of a program made of a model.
base::StatusOr<bool> isProgram(const std::string &path) {
  // Put together here, so that this tool does not hold the mark itself.
  const std::string mark = concat(MEKIK_PROGRAM_MARK_NAME, ":abi-", MEKIK_ABI_VERSION);
  MEKIK_ASSIGN_OR_RETURN(std::string bytes, base::readFile(path));
  return bytes.find(mark) != std::string::npos;
}

Status inspect(const InspectCommand &command) {
  MEKIK_ASSIGN_OR_RETURN(std::string head, firstBytes(command.path));
  if (head == "\x7f" "ELF") {
    MEKIK_ASSIGN_OR_RETURN(bool known, isProgram(command.path));
    if (!known)
      return base::failedPreconditionError(concat(command.path, ": is an executable, but not one made by mekik compile"));
    // The program knows itself best. A path without a slash would be looked up elsewhere.
    std::string program = command.path.find('/') == std::string::npos ? "./" + command.path : command.path;
    char info[] = "info", json[] = "--json";
    char *arguments[] = {program.data(), info, command.json ? json : nullptr, nullptr};
    execv(program.c_str(), arguments);
    return base::failedPreconditionError(concat(command.path, ": cannot be run: ", strerror(errno)));
  }
  if (command.path.ends_with(".mekik") || command.path.ends_with(".mlir"))
    return wrongUsage(concat(command.path, " is a model; mekik plan ", command.path, " shows what it will need"));
  MEKIK_ASSIGN_OR_RETURN(checkpoint::Safetensors file, checkpoint::Safetensors::load(command.path));
  auto checkpoint = checkpoint::loadCheckpoint(command.path);
  if (!checkpoint.ok() && checkpoint.status().code() != base::StatusCode::FailedPrecondition)
    return checkpoint.status();
  const checkpoint::CheckpointInfo *info = checkpoint.ok() ? &checkpoint->info : nullptr;
  return printOut(command.json ? forPrograms(file, info) : forPeople(file, info));
}

} // namespace

Action addInspect(CLI::App &app) {
  auto command = std::make_shared<InspectCommand>();
  CLI::App *sub = app.add_subcommand("inspect", "Show what is in a compiled program or a checkpoint.");
  sub->add_option("FILE", command->path, "A program made by mekik compile, or a .safetensors file.")->required();
  sub->add_flag("--json", command->json, "A JSON object on standard output.");
  addExamples(*sub, "mekik inspect run/best.safetensors\nmekik inspect gpt --json");
  return [command] { return inspect(*command); };
}

} // namespace mekik::tool
