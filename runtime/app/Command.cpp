#include "runtime/app/Command.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "runtime/base/Sha256.h"
#include "runtime/train/Trainer.h"
#include <cstdlib>
#include <unistd.h>

namespace mekik::app {
namespace {

using base::concat;
using base::Status;
using base::StatusOr;

/// Lines or a stream as the tokenizer was made for; lines are examples of their own if the model's `config layout` is
/// "examples".
data::Layout layoutOf(const Program &program) {
  if (!program.tokenizer->endId())
    return data::Layout::Stream;
  auto configuration = base::Json::parse(program.model.configuration, "configuration");
  const base::Json *layout = configuration.ok() ? configuration->find("layout") : nullptr;
  return layout && layout->isString() && layout->text() == "examples" ? data::Layout::Examples : data::Layout::Lines;
}

std::string hashOf(const checkpoint::Safetensors &file) {
  base::Sha256 hash;
  for (const checkpoint::TensorEntry &tensor : file.tensors()) {
    hash.update(concat(tensor.name, "\n", checkpoint::describeShape(tensor.type, tensor.shape), "\n"));
    hash.update({reinterpret_cast<const char *>(tensor.data.data()), tensor.data.size()});
  }
  return hash.finishHex();
}

} // namespace

StatusOr<model::Model> makeModel(const Program &program, const Options &options) {
  model::ModelOptions modelOptions;
  MEKIK_ASSIGN_OPTION(int64_t threads, options.integerOr("--threads", 0, options.has("--threads") ? 1 : 0,
                                                         model::ThreadPool::maximumThreads));
  modelOptions.threads = static_cast<int>(threads);
  const char *fill = getenv("MEKIK_FILL_WORK");
  modelOptions.fillWorkWithGarbage = fill && std::string_view(fill) == "1";
  modelOptions.profile = options.has(profileOption.name);
  return model::Model::create(program.model, modelOptions);
}

train::Settings defaultSettings(const Program &program) {
  train::Settings settings;
  bool lines = program.tokenizer && program.tokenizer->endId();
  settings.evaluationLimit = lines ? 512 : program.tokenizer ? 8192 : 1024;
  return settings;
}

Status readSettings(const Options &options, train::Settings &settings) {
  MEKIK_ASSIGN_OPTION(settings.evaluateEvery, options.integerOr("--eval-every", settings.evaluateEvery, 1));
  MEKIK_ASSIGN_OPTION(settings.evaluationLimit, options.integerOr("--eval-symbols", settings.evaluationLimit, 0));
  MEKIK_ASSIGN_OPTION(settings.patience, options.integerOr("--patience", settings.patience, 0));
  if (auto share = options.text("--validation")) {
    MEKIK_ASSIGN_OPTION(settings.validation, data::parseValidationShare("--validation", *share));
  }
  return {};
}

Status noData(std::string_view command, bool isAboutText) {
  return {base::StatusCode::WrongUsage, concat("--data FILE is missing; for example: ", command, " --data ",
                                               isAboutText ? "proverbs.txt" : "examples.safetensors")};
}

Status checkDataOpens(const std::string &path) {
  Status opened = base::File::open(path).status();
  return opened.code() != base::StatusCode::NotFound
             ? opened
             : Status(opened.code(), concat(opened.message(), "; --data takes a text, or a .safetensors file "
                                                              "for models that are not about text"));
}

StatusOr<std::unique_ptr<train::Examples>> loadExamples(const Program &program, const std::string &path,
                                                        const train::Settings &settings) {
  MEKIK_RETURN_IF_ERROR(checkDataOpens(path));
  if (!program.tokenizer) {
    MEKIK_ASSIGN_OR_RETURN(data::TensorData tensors, data::TensorData::load(path, settings.validation));
    std::string hash = hashOf(tensors.file());
    return train::makeTensorExamples(std::move(tensors), std::move(hash), settings.evaluationLimit);
  }
  MEKIK_ASSIGN_OR_RETURN(data::Text text, data::Text::load(path));
  MEKIK_ASSIGN_OR_RETURN(data::TextData windows,
                         data::TextData::create(text, *program.tokenizer,
                                                {.layout = layoutOf(program), .validation = settings.validation}));
  return train::makeTextExamples(std::move(windows), text.hash(), *program.tokenizer, settings.evaluationLimit);
}

StatusOr<checkpoint::Checkpoint> loadParameters(const Program &program, const std::string &path, model::Model &model) {
  std::string file = base::pathKind(path) == base::PathKind::Directory ? train::bestPath(path) : path;
  MEKIK_ASSIGN_OR_RETURN(checkpoint::Checkpoint checkpoint, checkpoint::loadCheckpoint(file));
  MEKIK_RETURN_IF_ERROR(train::checkOrigin(checkpoint, model, program.tokenizer.get()));
  MEKIK_RETURN_IF_ERROR(train::restoreParameters(checkpoint, model));
  return checkpoint;
}

Status printOut(std::string_view text) { return base::writeAll(STDOUT_FILENO, text, "standard output"); }

void printError(std::string_view text) {
  // With standard error gone there is nobody left to tell.
  (void)base::writeAll(STDERR_FILENO, text, "standard error").ok();
}

std::optional<int64_t> configuredInteger(const MekikModel &model, std::string_view key) {
  auto configuration = base::Json::parse(model.configuration, "configuration");
  const base::Json *value = configuration.ok() ? configuration->find(key) : nullptr;
  return value ? value->integer() : std::nullopt;
}

} // namespace mekik::app
