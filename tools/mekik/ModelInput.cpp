// Options, tokenizer and configuration of a model, brought together.
#include "tools/mekik/ModelInput.h"
#include "compiler/lowering/Target.h"
#include "compiler/syntax/Parser.h"
#include "runtime/app/Command.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "tools/mekik/StartingPoint.h"
#include "tools/mekik/TokenizerChoice.h"
#include <filesystem>
#include <set>

namespace mekik::tool {

using base::concat;
using base::Status;
using base::StatusOr;

std::string stem(const std::string &path) { return std::filesystem::path(path).stem().string(); }

void addModelOptions(CLI::App &command, ModelInput &input) {
  command.add_option("MODEL", input.path, "A model (.mekik), or MLIR of any stage (.mlir).")->required();
  command.add_option("-D,--define", input.definitions, "Sets a `config` of the model: -D width=64. May be repeated.")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->take_all();
}

void addCpuOption(CLI::App &command, ModelInput &input) {
  command.add_option("--cpu", input.cpu, "The CPU to compile for: x86-64-v3 (AVX2), x86-64-v4 (AVX-512) or native.")
      ->type_name("CPU")
      ->capture_default_str();
}

void addTextOptions(CLI::App &command, ModelInput &input) {
  command
      .add_option("--data", input.data,
                  "Text to learn from; its tokenizer sets `config vocab`. Without it, the only .txt file beside the\n"
                  "model. Models that are not about text take a .safetensors file.")
      ->type_name("FILE");
  addTokenizerOptions(command, input);
}

static StatusOr<std::map<std::string, std::string>> readDefinitions(const std::vector<std::string> &definitions) {
  std::map<std::string, std::string> overrides;
  for (const std::string &definition : definitions) {
    size_t equals = definition.find('=');
    if (equals == std::string::npos || equals == 0)
      return wrongUsage(concat("-D ", definition, ": expected NAME=VALUE, as in -D width=64"));
    std::string name = definition.substr(0, equals);
    if (!overrides.emplace(name, definition.substr(equals + 1)).second)
      return wrongUsage(concat("-D ", name, ": given twice"));
  }
  return overrides;
}

static StatusOr<std::unique_ptr<driver::Compiler>> compile(const ModelInput &input, driver::CompilerOptions options) {
  if (auto target = lowering::Target::parse(input.cpu); !target.ok())
    return wrongUsage(std::string(target.status().message()));
  std::string messages;
  auto compiler = driver::Compiler::fromFile(input.path, std::move(options), messages);
  printError(messages);
  if (compiler.status().code() == absl::StatusCode::kOutOfRange) // -D alone is at fault
    return wrongUsage(std::string(compiler.status().message()));
  if (!compiler.ok())
    return fromAbsl(compiler.status());
  return std::move(*compiler);
}

static driver::CompilerOptions compilerOptions(const ModelInput &input, std::map<std::string, std::string> overrides) {
  driver::CompilerOptions options;
  options.frontend.overrides = std::move(overrides);
  options.frontend.precision = input.precision;
  options.cpu = input.cpu;
  options.gradientFunction = input.gradientFunction;
  options.verifyEach = input.verifyEach;
  return options;
}

/// Names of the source's `config` lines; nothing for MLIR, and for a source with errors, which the compilation tells.
static std::optional<std::set<std::string>> configNames(const std::string &path) {
  auto source = syntax::Source::fromFile(path);
  if (!source.ok() || path.ends_with(".mlir"))
    return std::nullopt;
  syntax::Diagnostics diagnostics(*source);
  syntax::Model model = syntax::parse(*source, diagnostics);
  if (diagnostics.hasErrors())
    return std::nullopt;
  std::set<std::string> names;
  for (const frontend::ConfigDeclaration &config : frontend::configDeclarations(model))
    names.insert(config.name);
  return names;
}

/// The default of the source's string `config layout`: nothing if there is none, "" if it is not written out.
static std::optional<std::string> declaredLayout(const std::string &path) {
  auto source = syntax::Source::fromFile(path);
  if (!source.ok() || path.ends_with(".mlir"))
    return std::nullopt;
  syntax::Diagnostics diagnostics(*source);
  syntax::Model model = syntax::parse(*source, diagnostics);
  for (const syntax::StmtPtr &statement : model.body) {
    if (statement->kind != syntax::StmtKind::Config)
      continue;
    const auto &config = static_cast<const syntax::ConfigStmt &>(*statement);
    bool isText = config.value && config.value->kind == syntax::ExprKind::String;
    if (config.name.text == "layout")
      return isText ? static_cast<const syntax::StringExpr &>(*config.value).value : "";
  }
  return std::nullopt;
}

/// The only text in the folder of the model; empty if there is none or more than one.
static std::string textBeside(const std::string &path) {
  std::string found;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(base::folderOf(path), ignored)) {
    if (entry.path().extension() != ".txt")
      continue;
    if (!found.empty())
      return "";
    found = entry.path().string();
  }
  return found;
}

/// Options about a text, where there is none to read, would be ignored: `reason` says why there is none.
static Status checkNoTextOptions(const ModelInput &input, const std::string &reason) {
  for (const CLI::Option *option : input.textOptions)
    if (option->count() > 0)
      return wrongUsage(concat(option->get_name(), ": ", reason, "; leave the option out"));
  return {};
}

/// What is said about data must be about the data there is. `isMlir`: its configuration, and so its vocabulary, is
/// fixed.
static Status checkData(const ModelInput &input, bool isMlir, bool isAboutText, bool readsText) {
  bool isTensors = input.data.ends_with(".safetensors");
  if (!input.data.empty())
    MEKIK_RETURN_IF_ERROR(app::checkDataOpens(input.data));
  if (isTensors)
    return checkNoTextOptions(input, concat("is about texts, and ", input.data, " holds tensors"));
  std::string reason = isMlir ? concat(input.path, " is MLIR, which takes no tokenizer any more")
                              : concat(input.path, " has no `config vocab`, so it is not about text");
  if (!isAboutText && !input.data.empty())
    return wrongUsage(concat("--data ", input.data, ": ", reason,
                             isMlir ? "; compile the source text instead" : "; give tensors, as a .safetensors file"));
  if (!isAboutText)
    return checkNoTextOptions(input, reason);
  return readsText ? Status() : checkNoTextOptions(input, "no text is read, since -D vocab is given without --data");
}

/// --layout, else `config layout` as the model or -D has it, else that of the checkpoint's tokenizer, else lines. A
/// model that declares it is told.
static StatusOr<std::string> chooseLayout(const ModelInput &input, const std::optional<std::string> &declared,
                                          std::map<std::string, std::string> &overrides,
                                          const tokenizer::Tokenizer *known) {
  std::string name = known && !known->endId() ? "stream" : "lines";
  if (declared) {
    auto given = overrides.find("layout");
    if (given != overrides.end() && !input.layout.empty() && input.layout != given->second)
      return wrongUsage(concat("--layout ", input.layout, " and -D layout=", given->second,
                               " contradict each other; give one of them"));
    name = given != overrides.end() ? given->second : *declared;
  }
  if (!input.layout.empty())
    name = input.layout;
  std::optional<data::Layout> layout = data::layoutFromName(name);
  if (!layout)
    return wrongUsage(concat("`config layout`: expected lines, stream or examples, found ", base::quoted(name)));
  if (declared)
    overrides["layout"] = name;
  else if (*layout == data::Layout::Examples)
    return wrongUsage(concat("--layout examples: ", input.path,
                             " has no `config layout`; examples leave part of a window "
                             "empty, and a model that takes them says so and leaves out targets of -1"));
  return name;
}

/// As --tokenizer says. Without it, a vocabulary of characters that a run starts from is extended by the text's.
static StatusOr<std::unique_ptr<tokenizer::Tokenizer>>
tokenizerFor(const ModelInput &input, const std::string &textPath, const tokenizer::Tokenizer *known) {
  if (known && input.tokenizer == "characters")
    return extendTokenizer(*known, input.from, textPath, *data::layoutFromName(input.layout));
  MEKIK_ASSIGN_OR_RETURN(data::LearnedTokenizer made, chooseTokenizer(input, textPath));
  return std::move(made.tokenizer);
}

StatusOr<LoadedModel> load(const ModelInput &input, Need need) {
  MEKIK_ASSIGN_OR_RETURN(auto overrides, readDefinitions(input.definitions));
  MEKIK_RETURN_IF_ERROR(checkTokenizerChoice(input));
  LoadedModel loaded;
  loaded.dataPath = input.data;
  auto configs = configNames(input.path);
  auto declares = [&](const char *name) { return configs && configs->count(name) > 0; };
  StartingPoint start;
  if (!input.from.empty()) {
    MEKIK_ASSIGN_OR_RETURN(start, readStartingPoint(input.from));
    for (auto &[name, value] : start.configuration)
      if (input.sameAsFrom && name != "vocab" && declares(name.c_str()))
        overrides.try_emplace(name, value);
  }
  // A model about text declares `config vocab`.
  bool isAboutText = declares("vocab"), isMlir = input.path.ends_with(".mlir");
  auto vocab = overrides.find("vocab");
  bool readsText = isAboutText && !input.data.ends_with(".safetensors") &&
                   (vocab == overrides.end() || need == Need::Program || !input.data.empty());
  if (configs || isMlir)
    MEKIK_RETURN_IF_ERROR(checkData(input, isMlir, isAboutText, readsText));
  if (readsText) {
    MEKIK_ASSIGN_OR_RETURN(std::string layout,
                           chooseLayout(input, declaredLayout(input.path), overrides, start.tokenizer.get()));
    if (loaded.dataPath.empty())
      loaded.dataPath = textBeside(input.path);
    if (!loaded.dataPath.empty() || !needsText(input)) {
      ModelInput chosen = input;
      chosen.layout = layout;
      MEKIK_ASSIGN_OR_RETURN(loaded.tokenizer, tokenizerFor(chosen, loaded.dataPath, start.tokenizer.get()));
      std::string size = std::to_string(loaded.tokenizer->size());
      const std::string &origin = needsText(input) ? loaded.dataPath : input.tokenizer;
      if (vocab != overrides.end() && vocab->second != size)
        return wrongUsage(concat("-D vocab=", vocab->second, ": the tokenizer of ", origin, " has ", size,
                                 " symbols; leave -D vocab out to take it from there"));
      overrides["vocab"] = size;
      if (input.data.empty() && needsText(input))
        printError(concat("vocabulary of ", loaded.dataPath, ": ", loaded.tokenizer->describe(), "\n"));
    } else if (need == Need::Program) {
      return wrongUsage(concat(input.path,
                               " is a model about text, and its program carries the tokenizer of a text; give one "
                               "with --data FILE, or --tokenizer bytes"));
    }
  }
  if (!input.contextOf.empty() && loaded.tokenizer && declares("context")) {
    MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> ids, loaded.tokenizer->encode(input.contextOf, "--text"));
    overrides.emplace("context", std::to_string(ids.size()));
  }
  if (input.smallBatch && declares("batch"))
    overrides.emplace("batch", "1");
  MEKIK_ASSIGN_OR_RETURN(loaded.compiler, compile(input, compilerOptions(input, std::move(overrides))));
  return loaded;
}

StatusOr<LoadedModel> loadAs(const ModelInput &input, const std::string &configuration,
                             std::unique_ptr<tokenizer::Tokenizer> tokenizer) {
  if (!input.definitions.empty())
    return wrongUsage(
        concat("-D ", input.definitions.front(), ": the checkpoint says how its model is configured; leave -D out"));
  MEKIK_RETURN_IF_ERROR(checkNoTextOptions(input, "the checkpoint brings its own tokenizer"));
  LoadedModel loaded;
  loaded.tokenizer = std::move(tokenizer);
  MEKIK_ASSIGN_OR_RETURN(auto overrides, readConfiguration(configuration));
  MEKIK_ASSIGN_OR_RETURN(loaded.compiler, compile(input, compilerOptions(input, std::move(overrides))));
  return loaded;
}

} // namespace mekik::tool
