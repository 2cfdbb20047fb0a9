// sample: text from a trained model, on standard output.
#include "runtime/app/Command.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "runtime/data/Text.h"
#include "runtime/sample/Generator.h"
#include "runtime/sample/NextSymbols.h"
#include "runtime/tokenizer/SymbolText.h"
#include <algorithm>
#include <set>
#include <unistd.h>

namespace mekik::app {
namespace {

using base::concat;
using base::Status;
using base::StatusOr;

constexpr OptionSpec options[] = {
    {"--checkpoint", "FILE", "a checkpoint, or the folder of a run (default: run)"},
    {"--prompt", "TEXT", "how every sample begins"},
    {"--count", "N", "number of samples (default: 10 for models of lines, otherwise 1)"},
    {"--length", "N", "symbols added to the prompt at most (default: 80 for models of lines,\notherwise 500)"},
    {"--temperature", "T", "below 1 more cautious, above 1 more daring; 0 is --greedy (default: 1)"},
    {"--top-k", "K", "choose among the K most probable symbols only; 0 is off (default: 0)"},
    {"--top-p", "P", "choose among the most probable symbols that reach P together (default: 1)"},
    {"--greedy", "", "always the most probable symbol"},
    {"--seed", "N", "0 to 18446744073709551615 (default: 1)"},
    {"--next", "N", "instead of text, the N most probable symbols after the prompt; 0 is all"},
    {"--json", "", "with --next: a JSON object"},
    {"--mark-new", "FILE", "put * before samples that are no line of this text"},
    threadsOption,
    helpOption,
};

StatusOr<sample::GeneratorOptions> readOptions(const Options &options, bool lines) {
  sample::GeneratorOptions result;
  constexpr double huge = std::numeric_limits<double>::max();
  MEKIK_ASSIGN_OPTION(result.sampler.temperature, options.numberOr("--temperature", 1, 0, huge));
  MEKIK_ASSIGN_OPTION(result.sampler.topK, options.integerOr("--top-k", 0, 0));
  MEKIK_ASSIGN_OPTION(result.sampler.topP, options.numberOr("--top-p", 1, 0, 1));
  MEKIK_ASSIGN_OPTION(result.seed, options.seedOr("--seed", 1));
  MEKIK_ASSIGN_OPTION(result.length, options.integerOr("--length", lines ? 80 : 500, 0));
  if (options.has("--greedy")) {
    if (options.has("--temperature") && result.sampler.temperature != 0)
      return Status(base::StatusCode::WrongUsage, "--greedy and --temperature contradict each other; give one of them");
    result.sampler.temperature = 0;
  }
  return result;
}

std::string nextForPeople(const tokenizer::Tokenizer &tokenizer, std::string_view prompt,
                          std::span<const sample::NextSymbol> table) {
  std::string text = concat("after ", prompt.empty() ? "nothing" : base::quoted(prompt), "\n");
  for (const sample::NextSymbol &next : table) {
    std::string symbol = base::quoted(tokenizer.bytesOf(next.id));
    auto columns = std::count_if(symbol.begin(), symbol.end(), [](char c) { return (c & 0xC0) != 0x80; });
    base::append(text, "  ", symbol, std::string(columns < 8 ? static_cast<size_t>(10 - columns) : 2, ' '),
                 base::formatFixed(next.probability, 4), next.id == tokenizer.endId() ? "  the end" : "", "\n");
  }
  return text;
}

std::string nextForPrograms(const tokenizer::Tokenizer &tokenizer, const sample::GeneratorOptions &options,
                            std::span<const sample::NextSymbol> table) {
  std::string text =
      concat("{\"prompt\":", base::jsonString(options.prompt),
             ",\"temperature\":", base::formatNumber(options.sampler.temperature), ",\"top_k\":", options.sampler.topK,
             ",\"top_p\":", base::formatNumber(options.sampler.topP), ",\"next\":[");
  for (size_t i = 0; i < table.size(); ++i)
    base::append(text, i > 0 ? "," : "", "{\"id\":", table[i].id, ",",
                 tokenizer::symbolJson(tokenizer.bytesOf(table[i].id)),
                 ",\"probability\":", base::formatNumber(table[i].probability), "}");
  return text + "]}\n";
}

/// Options that mean nothing together, told before anything is loaded.
Status checkTogether(const Options &options) {
  if (!options.has("--next"))
    return options.has("--json") ? Status(base::StatusCode::WrongUsage, "--json is about --next; give both") : Status();
  for (std::string_view other : {"--count", "--length", "--seed", "--mark-new"})
    if (options.has(other))
      return {base::StatusCode::WrongUsage,
              concat("--next shows probabilities and writes no text; ", other, " has no meaning with it")};
  return {};
}

Status run(const Program &program, const Options &options) {
  if (!program.tokenizer)
    return base::failedPreconditionError(
        concat("model ", program.model.name, " is not about text and cannot be sampled"));
  MEKIK_RETURN_IF_ERROR(checkTogether(options));
  bool lines = program.tokenizer->endId().has_value();
  MEKIK_ASSIGN_OR_RETURN(sample::GeneratorOptions generatorOptions, readOptions(options, lines));
  std::string prompt = options.textOr("--prompt", "");
  generatorOptions.prompt = prompt;
  // The number of a sample is 32 bits of the random counter.
  MEKIK_ASSIGN_OPTION(int64_t count, options.integerOr("--count", lines ? 10 : 1, 0, int64_t{1} << 32));
  MEKIK_ASSIGN_OPTION(int64_t most, options.integerOr("--next", 0, 0));
  std::optional<data::Text> known;
  std::set<std::string_view> knownLines;
  if (auto path = options.text("--mark-new")) {
    MEKIK_ASSIGN_OR_RETURN(known, data::Text::load(*path));
    for (const data::TextLine &line : known->lines())
      knownLines.insert(line.text);
  }
  MEKIK_ASSIGN_OR_RETURN(model::Model model, makeModel(program, options));
  MEKIK_RETURN_IF_ERROR(loadParameters(program, options.textOr("--checkpoint", "run"), model).status());
  MEKIK_ASSIGN_OR_RETURN(sample::Generator generator, sample::Generator::create(model, *program.tokenizer));

  if (options.has("--next")) {
    MEKIK_ASSIGN_OR_RETURN(std::vector<double> probabilities, generator.next(generatorOptions));
    std::vector<sample::NextSymbol> table = sample::mostProbable(probabilities, most);
    return printOut(options.has("--json") ? nextForPrograms(*program.tokenizer, generatorOptions, table)
                                          : nextForPeople(*program.tokenizer, prompt, table));
  }

  bool streaming = !known && isatty(STDOUT_FILENO);
  std::string text;
  auto output = [&](std::string_view piece) {
    if (streaming)
      return printOut(piece);
    text += piece;
    return Status();
  };
  for (int64_t i = 0; i < count; ++i) {
    text.clear();
    MEKIK_RETURN_IF_ERROR(generator.generate(static_cast<uint32_t>(i), generatorOptions, output));
    std::string_view mark = !known ? "" : knownLines.count(text) ? "  " : "* ";
    MEKIK_RETURN_IF_ERROR(printOut(concat(mark, text, "\n")));
  }
  return {};
}

} // namespace

const Command sampleCommand = {"sample", "write text with the trained model",
                               "sample --count 12 --mark-new proverbs.txt\n"
                               "sample --prompt \"damlaya \" --temperature 0.7 --top-k 5\n"
                               "sample --prompt \"damlaya damlaya g\" --next 5\n"
                               "sample --greedy --checkpoint run/last.safetensors",
                               options, run};

} // namespace mekik::app
