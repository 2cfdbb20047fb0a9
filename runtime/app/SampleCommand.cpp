// sample: text from a trained model, on standard output.
#include "runtime/app/Command.h"
#include "runtime/base/Concat.h"
#include "runtime/data/Text.h"
#include "runtime/sample/Generator.h"
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

Status run(const Program &program, const Options &options) {
  if (!program.tokenizer)
    return base::failedPreconditionError(
        concat("model ", program.model.name, " is not about text and cannot be sampled"));
  bool lines = program.tokenizer->endId().has_value();
  MEKIK_ASSIGN_OR_RETURN(sample::GeneratorOptions generatorOptions, readOptions(options, lines));
  std::string prompt = options.textOr("--prompt", "");
  generatorOptions.prompt = prompt;
  // The number of a sample is 32 bits of the random counter.
  MEKIK_ASSIGN_OPTION(int64_t count, options.integerOr("--count", lines ? 10 : 1, 0, int64_t{1} << 32));
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
                               "sample --greedy --checkpoint run/last.safetensors",
                               options, run};

} // namespace mekik::app
