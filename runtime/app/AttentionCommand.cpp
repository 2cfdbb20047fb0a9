// attention: where each head of a trained model looks, as tables and as a picture.
#include "runtime/app/Command.h"
#include "runtime/app/HeatMap.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include <algorithm>

namespace mekik::app {
namespace {

using base::append;
using base::concat;
using base::Status;

constexpr size_t mostSymbols = 64; // more would be no picture anybody can read

constexpr OptionSpec options[] = {
    {"--prompt", "TEXT", "the text to look at, as a sample would begin with it"},
    {"--checkpoint", "FILE", "a checkpoint, or the folder of a run (default: run)"},
    {"--probe", "NAME", "the weights of this probe only (default: all that are [..., context, context])"},
    {"--svg", "FILE", "where the heat map goes (default: attention.svg)"},
    {"--digits", "N", "digits behind the point, 0 to 9 (default: 2)"},
    {"--json", "", "a JSON object on standard output instead of tables"},
    threadsOption,
    helpOption,
};

/// `text` at the right end of `width` characters.
std::string aligned(std::string_view text, size_t width) {
  auto cells = static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  return concat(std::string(width > cells ? width - cells : 0, ' '), text);
}

std::string tables(const sample::Attention &attention, int digits) {
  size_t count = attention.symbols.size(), longest = 0;
  for (const std::string &symbol : attention.symbols)
    longest = std::max(longest, symbol.size());
  size_t width = std::max(longest, base::formatFixed(1, digits).size()) + 2;
  std::string text;
  for (const sample::AttentionHead &head : attention.heads) {
    append(text, text.empty() ? "" : "\n", headTitle(head), "\n", std::string(longest + 1, ' '));
    for (const std::string &symbol : attention.symbols)
      text += aligned(symbol, width);
    text += "\n";
    for (size_t row = 0; row < count; ++row) {
      text += aligned(attention.symbols[row], longest + 1);
      for (size_t column = 0; column < count; ++column)
        text += aligned(base::formatFixed(head.weights[row * count + column], digits), width);
      text += "\n";
    }
  }
  return text;
}

std::string json(const sample::Attention &attention) {
  size_t count = attention.symbols.size();
  std::string text = "{\"symbols\":[";
  for (size_t i = 0; i < count; ++i)
    append(text, i > 0 ? "," : "", base::jsonString(attention.symbols[i]));
  text += "],\"heads\":[";
  for (size_t i = 0; i < attention.heads.size(); ++i) {
    const sample::AttentionHead &head = attention.heads[i];
    append(text, i > 0 ? "," : "", "{\"probe\":", base::jsonString(head.probe), ",\"head\":", head.head,
           ",\"weights\":[");
    for (size_t at = 0; at < count * count; ++at)
      append(text, at == 0 ? "[" : at % count == 0 ? "],[" : ",", base::formatNumber(head.weights[at]));
    text += "]]}";
  }
  return text + "]}\n";
}

Status run(const Program &program, const Options &options) {
  if (!program.tokenizer)
    return base::failedPreconditionError(
        concat("model ", program.model.name, " is not about text; mekik run shows the probes of such a model"));
  auto prompt = options.text("--prompt");
  if (!prompt)
    return {base::StatusCode::WrongUsage,
            concat("--prompt TEXT is missing; for example: ", program.name, " attention --prompt gönül")};
  MEKIK_ASSIGN_OPTION(int64_t digits, options.integerOr("--digits", 2, 0, 9));
  MEKIK_ASSIGN_OR_RETURN(model::Model model, makeModel(program, options));
  MEKIK_ASSIGN_OR_RETURN(checkpoint::Checkpoint checkpoint,
                         loadParameters(program, options.textOr("--checkpoint", "run"), model));
  MEKIK_ASSIGN_OR_RETURN(sample::Attention attention,
                         sample::attentionOf(model, *program.tokenizer, *prompt, options.textOr("--probe", "")));
  if (attention.symbols.size() > mostSymbols)
    return base::invalidArgumentError(concat("--prompt: expected at most ", mostSymbols, " symbols, found ",
                                             attention.symbols.size(), "; tables and pictures of more cannot be read"));
  if (attention.dropped > 0)
    printError(concat("The model sees ", attention.symbols.size(), " symbols; ", attention.dropped,
                      " at the start of the text are left out\n"));
  std::string path = options.textOr("--svg", "attention.svg");
  MEKIK_RETURN_IF_ERROR(base::writeFileAtomically(
      path, heatMapSvg(attention, concat(program.model.name, ", step ", checkpoint.info.step, ": ", *prompt))));
  MEKIK_RETURN_IF_ERROR(
      printOut(options.has("--json") ? json(attention) : tables(attention, static_cast<int>(digits))));
  printError(
      concat("Heat map of ", attention.heads.size(), attention.heads.size() == 1 ? " head: " : " heads: ", path, "\n"));
  return {};
}

} // namespace

const Command attentionCommand = {
    "attention", "show where each head of the trained model looks",
    "attention --prompt gönül\n"
    "attention --prompt \"damlaya \" --svg damlaya.svg --checkpoint run/last.safetensors\n"
    "attention --prompt gönül --probe layer.1.attention.weights --json",
    options, run};

} // namespace mekik::app
