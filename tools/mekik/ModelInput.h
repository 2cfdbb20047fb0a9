// What every command that starts from a model asks for: the model, its configuration, its text; and the compilation
// that follows from them.
#ifndef MEKIK_TOOLS_MEKIK_MODEL_INPUT_H
#define MEKIK_TOOLS_MEKIK_MODEL_INPUT_H

#include "compiler/driver/Compiler.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "tools/mekik/Command.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mekik::tool {

struct ModelInput {
  std::string path;
  std::vector<std::string> definitions; // "name=value"
  std::string cpu = "native";
  std::string data;                     // a text, or tensors; empty: the only text beside the model, if there is one
  std::string tokenizer = "characters"; // a kind of data::parseTokenizerKind, or a file
  std::string layout;                   // "lines", "stream", "examples"; empty: `config layout` of the model, else lines
  std::string end = ".";
  std::vector<const CLI::Option *> textOptions; // the three above, to know whether they were given
  std::string from;                     // a file with parameters: the symbols its tokenizer knows are known here too
  bool sameAsFrom = false;              // and the configuration is its own, as far as -D does not say otherwise
  bool gradientFunction = false;
  bool verifyEach = false;
  std::optional<frontend::Precision> precision; // wins over the source
  std::string contextOf;   // a text; a `config context` that -D does not set becomes its number of symbols. Empty: none
  bool smallBatch = false; // a `config batch` that -D does not set becomes 1
};

struct LoadedModel {
  std::unique_ptr<driver::Compiler> compiler;
  /// Null for a model without `config vocab`, and when no text is known.
  std::unique_ptr<tokenizer::Tokenizer> tokenizer;
  std::string dataPath; // the text the tokenizer was made from, or as given
};

enum class Need { Model, Program }; // Program: a model about text must come with its tokenizer

void addModelOptions(CLI::App &command, ModelInput &input);
void addCpuOption(CLI::App &command, ModelInput &input);
void addTextOptions(CLI::App &command, ModelInput &input);

/// Reads the model, makes the tokenizer and sets `vocab` from it. Diagnostics are printed.
base::StatusOr<LoadedModel> load(const ModelInput &input, Need need);
/// The same with a tokenizer and a configuration that a checkpoint brings: JSON of an object of every `config`.
base::StatusOr<LoadedModel> loadAs(const ModelInput &input, const std::string &configuration,
                                   std::unique_ptr<tokenizer::Tokenizer> tokenizer);

/// "gpt" of "models/gpt/gpt.mekik".
std::string stem(const std::string &path);

} // namespace mekik::tool

#endif
