// Kinds by name, tokenizers in files of their own and in checkpoints.
#include "tools/mekik/TokenizerChoice.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Parse.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/train/Trainer.h"

namespace mekik::tool {

using base::concat;
using base::Status;
using base::StatusOr;

void addTokenizerOptions(CLI::App &command, ModelInput &input) {
  input.textOptions = {
      command
          .add_option("--tokenizer", input.tokenizer,
                      "characters, bytes, bpe:SIZE (byte pairs, SIZE symbols in all; +N for N merges),\n"
                      "characters+bpe:SIZE, a file of mekik tokenize, or a checkpoint")
          ->type_name("KIND")
          ->capture_default_str(),
      command
          .add_option("--layout", input.layout,
                      "lines: every line is an example; stream: the text is one; examples: as lines, and no window\n"
                      "holds more than one. Without it, what the model says in `config layout`, else lines.")
          ->check(CLI::IsMember({"lines", "stream", "examples"}))
          ->type_name("KIND"),
      command.add_option("--end", input.end, "The character that ends examples, for lines of characters.")
          ->type_name("CHARACTER")
          ->capture_default_str(),
  };
}

data::Layout layoutOf(const tokenizer::Tokenizer &tokenizer) {
  return tokenizer.endId() ? data::Layout::Lines : data::Layout::Stream;
}

bool needsText(const ModelInput &input) {
  auto kind = data::parseTokenizerKind("--tokenizer", input.tokenizer);
  return kind.ok() && *kind && input.tokenizer != "bytes";
}

Status checkTokenizerChoice(const ModelInput &input) {
  auto kind = data::parseTokenizerKind("--tokenizer", input.tokenizer);
  if (!kind.ok())
    return wrongUsage(kind.status().message());
  if (!*kind && base::pathKind(input.tokenizer) == base::PathKind::Missing)
    return wrongUsage(concat("--tokenizer: expected characters, bytes, bpe:SIZE, characters+bpe:SIZE or a file, got ",
                             base::quoted(input.tokenizer)));
  return {};
}

static StatusOr<std::unique_ptr<tokenizer::Tokenizer>> readTokenizer(const std::string &given) {
  bool isFolder = base::pathKind(given) == base::PathKind::Directory;
  std::string path = isFolder ? train::bestPath(given) : given;
  if (path.ends_with(".safetensors")) {
    MEKIK_ASSIGN_OR_RETURN(checkpoint::Checkpoint checkpoint, checkpoint::loadCheckpoint(path));
    if (checkpoint.info.tokenizer.empty())
      return base::failedPreconditionError(
          concat("--tokenizer ", given, ": this checkpoint is of a model that is not about text"));
    return tokenizer::tokenizerFromJson(checkpoint.info.tokenizer, path);
  }
  MEKIK_ASSIGN_OR_RETURN(std::string json, base::readFile(path));
  return tokenizer::tokenizerFromJson(json, path);
}

StatusOr<data::LearnedTokenizer> chooseTokenizer(const ModelInput &input, const std::string &textPath) {
  MEKIK_RETURN_IF_ERROR(checkTokenizerChoice(input));
  auto kind = data::parseTokenizerKind("--tokenizer", input.tokenizer);
  data::Layout layout = input.layout == "stream" ? data::Layout::Stream : data::Layout::Lines;
  data::LearnedTokenizer made;
  if (!*kind) {
    MEKIK_ASSIGN_OR_RETURN(made.tokenizer, readTokenizer(input.tokenizer));
    if (layout == data::Layout::Stream && layoutOf(*made.tokenizer) == data::Layout::Lines)
      return wrongUsage(concat("--layout stream: the tokenizer in ", input.tokenizer, " was made for lines"));
    return made;
  }
  if (input.tokenizer == "bytes") {
    made.tokenizer = tokenizer::makeByteTokenizer(layout != data::Layout::Stream);
    return made;
  }
  MEKIK_ASSIGN_OR_RETURN(data::Text text, data::Text::load(textPath));
  MEKIK_ASSIGN_OR_RETURN(made, data::learnTokenizer(**kind, text, layout, input.end));
  if (auto found = static_cast<int64_t>(made.merges.size()); found < made.mergesAskedFor)
    printError(concat("--tokenizer ", input.tokenizer, ": ", textPath, " has no pair that occurs twice after ", found,
                      " merges; the vocabulary has ", made.tokenizer->size(), " symbols\n"));
  return made;
}

} // namespace mekik::tool
