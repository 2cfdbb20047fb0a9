// ngram: a language model by counting, its loss, what it expects next and what it writes. The number that a trained
// model has to beat, and what it costs to get it: one pass over the text.
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "runtime/base/Random.h"
#include "runtime/ngram/Ngram.h"
#include "runtime/sample/Exp.h"
#include "runtime/sample/Log.h"
#include "runtime/sample/NextSymbols.h"
#include "runtime/sample/Sampler.h"
#include "runtime/tokenizer/SymbolText.h"
#include "tools/mekik/Command.h"
#include "tools/mekik/Table.h"
#include "tools/mekik/TokenizerChoice.h"

namespace mekik::tool {
namespace {

using base::concat;
using base::formatCount;
using base::formatFixed;
using base::jsonString;
using base::Status;
using base::StatusOr;
using ngram::Loss;
using ngram::Ngram;
using tokenizer::Tokenizer;

struct NgramCommand {
  ModelInput input;
  std::string order = "2", smoothing = "1", validation = "0", top = "5";
  std::vector<std::string> after;
  std::string count = "0", prompt, length, seed = "1", temperature = "1", topK = "0", topP = "1";
  bool json = false;
};

struct Settings {
  int64_t order = 2, validation = 0, top = 5, count = 0, length = 0;
  double smoothing = 1;
  uint64_t seed = 1;
  sample::SamplerOptions sampler;
};

Status readSettings(const NgramCommand &command, Settings &settings) {
  constexpr double huge = std::numeric_limits<double>::max();
  MEKIK_ASSIGN_OR_RETURN(settings.order, base::parseInteger("--order", command.order, 1, ngram::largestOrder));
  MEKIK_ASSIGN_OR_RETURN(settings.smoothing, base::parseNumber("--smoothing", command.smoothing, 0, 1e9));
  MEKIK_ASSIGN_OR_RETURN(settings.validation, data::parseValidationShare("--validation", command.validation));
  MEKIK_ASSIGN_OR_RETURN(settings.top, base::parseInteger("--top", command.top, 0));
  MEKIK_ASSIGN_OR_RETURN(settings.count, base::parseInteger("--count", command.count, 0, int64_t{1} << 32));
  MEKIK_ASSIGN_OR_RETURN(settings.seed, base::parseSeed("--seed", command.seed));
  MEKIK_ASSIGN_OR_RETURN(settings.sampler.temperature,
                         base::parseNumber("--temperature", command.temperature, 0, huge));
  MEKIK_ASSIGN_OR_RETURN(settings.sampler.topK, base::parseInteger("--top-k", command.topK, 0));
  MEKIK_ASSIGN_OR_RETURN(settings.sampler.topP, base::parseNumber("--top-p", command.topP, 0, 1));
  if (!command.length.empty()) {
    MEKIK_ASSIGN_OR_RETURN(settings.length, base::parseInteger("--length", command.length, 0));
  }
  return {};
}

/// The counted model with everything that is asked of it.
struct Counted {
  std::unique_ptr<Tokenizer> tokenizer;
  data::TextData data;
  Ngram model;
  Settings settings;
};

/// END and the text, as the model reads a prompt.
StatusOr<std::vector<int32_t>> idsAfter(const Counted &counted, std::string_view text, std::string_view option) {
  MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> encoded, counted.tokenizer->encode(text, option, 1));
  std::vector<int32_t> ids;
  if (counted.tokenizer->endId() || encoded.empty())
    ids.push_back(counted.tokenizer->defaultStart());
  ids.insert(ids.end(), encoded.begin(), encoded.end());
  return ids;
}

/// The chances of the next symbol after temperature, top-k and top-p.
StatusOr<std::vector<double>> chancesAfter(const Counted &counted, std::span<const int32_t> ids) {
  std::vector<double> chances = counted.model.probabilities(ids, counted.settings.smoothing);
  if (std::all_of(chances.begin(), chances.end(), [](double chance) { return chance == 0; }))
    return base::failedPreconditionError(concat(
        "--smoothing 0: the text never goes on after ",
        base::quoted(
            counted.tokenizer->decode(ids.last(std::min(ids.size(), size_t(counted.settings.order - 1)))).value()),
        "; give a larger --smoothing or a smaller --order"));
  const sample::SamplerOptions &sampler = counted.settings.sampler;
  if (sampler.temperature == 1 && sampler.topK == 0 && sampler.topP == 1)
    return chances; // as counted
  for (double &chance : chances)
    chance = sample::portableLog(chance);
  return sample::probabilities(chances, sampler);
}

StatusOr<std::string> writeSample(const Counted &counted, std::string_view prompt, uint32_t number) {
  MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> ids, idsAfter(counted, prompt, "--prompt"));
  std::string text(prompt);
  tokenizer::StreamDecoder decoder(*counted.tokenizer);
  for (int64_t position = 0; position < counted.settings.length; ++position) {
    MEKIK_ASSIGN_OR_RETURN(std::vector<double> chances, chancesAfter(counted, ids));
    int32_t id = sample::draw(chances, base::uniformDouble(counted.settings.seed, MEKIK_STREAM_SAMPLE, number,
                                                           static_cast<uint64_t>(position)));
    if (id == counted.tokenizer->endId())
      break;
    ids.push_back(id);
    text += decoder.append(id);
  }
  return text + decoder.finish();
}

std::string lossText(bool isInfinite, double loss) { return isInfinite ? "infinite" : formatFixed(loss, 4); }

std::string perplexityText(const Loss &loss) {
  double value = sample::portableExp(loss.mean);
  return value < 1e9 ? formatFixed(value, 2) : loss.impossible > 0 ? "infinite" : base::formatNumber(value);
}

/// Characters that all but the first of `ids` stand for; an end is one.
uint64_t charactersOf(const Tokenizer &tokenizer, std::span<const int32_t> ids) {
  uint64_t count = 0;
  for (size_t i = 1; i < ids.size(); ++i)
    for (char byte : tokenizer.bytesOf(ids[i]))
      count += (byte & 0xC0) != 0x80;
  return count;
}

/// The loss spread over characters, which makes the losses of different tokenizers comparable.
double perCharacter(const Counted &counted, const Loss &loss, std::span<const int32_t> ids) {
  return loss.mean * static_cast<double>(loss.symbols) / static_cast<double>(charactersOf(*counted.tokenizer, ids));
}

std::string lossTable(const Counted &counted) {
  using enum Table::Align;
  bool both = counted.settings.validation > 0;
  bool spread = counted.tokenizer->kind() != "characters";
  std::vector<std::string> head = {""};
  std::vector<Table::Align> align = {Left};
  for (std::string_view name : {both ? "training loss" : "loss", "validation loss"}) {
    if (name == "validation loss" && !both)
      continue;
    head.insert(head.end(), {std::string(name), "perplexity"});
    align.insert(align.end(), {Right, Right});
    if (spread) {
      head.push_back("a character");
      align.push_back(Right);
    }
  }
  Table table(head, align);
  uint64_t impossible = 0;
  auto add = [&](std::string name, auto lossOf) {
    std::vector<std::string> row = {std::move(name)};
    for (const std::vector<int32_t> *part : {&counted.data.train(), &counted.data.validation()}) {
      if (part == &counted.data.validation() && !both)
        continue;
      Loss loss = lossOf(*part);
      impossible = std::max(impossible, loss.impossible);
      row.insert(row.end(), {lossText(loss.impossible > 0, loss.mean), perplexityText(loss)});
      if (spread)
        row.push_back(lossText(loss.impossible > 0, perCharacter(counted, loss, *part)));
    }
    table.add(std::move(row));
  };
  add("as counted", [&](const std::vector<int32_t> &ids) { return counted.model.loss(ids, 0); });
  if (double smoothing = counted.settings.smoothing; smoothing > 0)
    add(concat(base::formatNumber(smoothing), " added"),
        [&](const std::vector<int32_t> &ids) { return counted.model.loss(ids, smoothing); });
  add("all alike", [&](const std::vector<int32_t> &ids) {
    return Loss{sample::portableLog(static_cast<double>(counted.tokenizer->size())), ids.size() - 1, 0};
  });
  std::string text = table.print();
  if (impossible > 0)
    base::append(text, formatCount(impossible), impossible == 1 ? " symbol follows its context" : " symbols follow their contexts",
                 " for the first time there: counts alone call that impossible\n");
  return text;
}

StatusOr<std::string> nextTable(const Counted &counted, const std::string &after) {
  using enum Table::Align;
  MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> ids, idsAfter(counted, after, "--after"));
  MEKIK_ASSIGN_OR_RETURN(std::vector<double> chances, chancesAfter(counted, ids));
  Table table({"symbol", "probability", "count", ""}, {Left, Right, Right, Left});
  std::vector<uint64_t> counts(chances.size());
  for (const Ngram::Entry &entry : counted.model.following(ids))
    counts[static_cast<size_t>(entry.id)] = entry.count;
  for (const sample::NextSymbol &next : sample::mostProbable(chances, counted.settings.top))
    table.add({base::quoted(counted.tokenizer->bytesOf(next.id)), formatFixed(next.probability, 4),
               formatCount(counts[static_cast<size_t>(next.id)]),
               next.id == counted.tokenizer->endId() ? "the end" : ""});
  return concat("after ", after.empty() ? "nothing" : base::quoted(after), "\n", table.print());
}

StatusOr<std::string> nextJson(const Counted &counted, const std::string &after) {
  MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> ids, idsAfter(counted, after, "--after"));
  MEKIK_ASSIGN_OR_RETURN(std::vector<double> chances, chancesAfter(counted, ids));
  std::vector<uint64_t> counts(chances.size());
  for (const Ngram::Entry &entry : counted.model.following(ids))
    counts[static_cast<size_t>(entry.id)] = entry.count;
  std::string text = concat("{\"text\":", jsonString(after), ",\"next\":[");
  bool isFirst = true;
  for (const sample::NextSymbol &next : sample::mostProbable(chances, counted.settings.top)) {
    base::append(text, isFirst ? "" : ",", "{\"id\":", next.id, ",",
                 tokenizer::symbolJson(counted.tokenizer->bytesOf(next.id)),
                 ",\"count\":", counts[static_cast<size_t>(next.id)],
                 ",\"probability\":", base::formatNumber(next.probability), "}");
    isFirst = false;
  }
  return text + "]}";
}

std::string lossJson(const Counted &counted, const std::vector<int32_t> &ids) {
  Loss plain = counted.model.loss(ids, 0), smooth = counted.model.loss(ids, counted.settings.smoothing);
  auto number = [](const Loss &loss, double value) { return loss.impossible > 0 ? "null" : base::formatNumber(value); };
  return concat("{\"symbols\":", smooth.symbols, ",\"loss\":", number(smooth, smooth.mean),
                ",\"perplexity\":", number(smooth, sample::portableExp(smooth.mean)),
                ",\"loss_as_counted\":", number(plain, plain.mean),
                ",\"loss_per_character\":", number(smooth, perCharacter(counted, smooth, ids)),
                ",\"impossible_as_counted\":", plain.impossible, "}");
}

StatusOr<std::string> forPrograms(const Counted &counted, const NgramCommand &command) {
  std::string text = concat(
      "{\"order\":", counted.settings.order, ",\"smoothing\":", base::formatNumber(counted.settings.smoothing),
      ",\"vocabulary\":", counted.tokenizer->size(), ",\"contexts\":", counted.model.contextCount(),
      ",\"sequences\":", counted.model.entryCount(), ",\"training\":", lossJson(counted, counted.data.train()),
      ",\"validation\":",
      counted.settings.validation > 0 ? lossJson(counted, counted.data.validation()) : std::string("null"),
      ",\"loss_all_alike\":", base::formatNumber(sample::portableLog(static_cast<double>(counted.tokenizer->size()))),
      ",\"after\":[");
  for (size_t i = 0; i < command.after.size(); ++i) {
    MEKIK_ASSIGN_OR_RETURN(std::string next, nextJson(counted, command.after[i]));
    base::append(text, i > 0 ? "," : "", next);
  }
  text += "],\"samples\":[";
  for (int64_t i = 0; i < counted.settings.count; ++i) {
    MEKIK_ASSIGN_OR_RETURN(std::string written, writeSample(counted, command.prompt, static_cast<uint32_t>(i)));
    base::append(text, i > 0 ? "," : "", jsonString(written));
  }
  return text + "]}\n";
}

StatusOr<std::string> forPeople(const Counted &counted, const NgramCommand &command) {
  auto count = [](uint64_t number, std::string_view one, std::string_view many) {
    return concat(formatCount(number), " ", number == 1 ? one : many);
  };
  std::string text =
      concat("order ", counted.settings.order, ": ", count(counted.model.symbolCount(), "symbol", "symbols"), " after ",
             count(counted.model.contextCount(), "context", "contexts"), ", ",
             count(counted.model.entryCount(), "different sequence", "different sequences"), "; vocabulary of ",
             counted.tokenizer->size(), "\n\n", lossTable(counted));
  for (const std::string &after : command.after) {
    MEKIK_ASSIGN_OR_RETURN(std::string table, nextTable(counted, after));
    base::append(text, "\n", table);
  }
  if (counted.settings.count > 0)
    text += "\n";
  for (int64_t i = 0; i < counted.settings.count; ++i) {
    MEKIK_ASSIGN_OR_RETURN(std::string written, writeSample(counted, command.prompt, static_cast<uint32_t>(i)));
    base::append(text, written, "\n");
  }
  return text;
}

Status countText(const NgramCommand &command) {
  Settings settings;
  if (Status status = readSettings(command, settings); !status.ok())
    return wrongUsage(status.message());
  MEKIK_ASSIGN_OR_RETURN(data::LearnedTokenizer made, chooseTokenizer(command.input, command.input.data));
  MEKIK_ASSIGN_OR_RETURN(data::Text text, data::Text::load(command.input.data));
  data::Layout layout = layoutOf(*made.tokenizer);
  MEKIK_ASSIGN_OR_RETURN(data::TextData all,
                         data::TextData::create(text, *made.tokenizer, {layout, settings.validation}));
  MEKIK_RETURN_IF_ERROR(all.checkContext(1));
  if (command.length.empty())
    settings.length = layout == data::Layout::Lines ? 80 : 500;
  Ngram model(all.train(), made.tokenizer->endId(), made.tokenizer->size(), settings.order);
  Counted counted{std::move(made.tokenizer), std::move(all), std::move(model), settings};
  MEKIK_ASSIGN_OR_RETURN(std::string result,
                         command.json ? forPrograms(counted, command) : forPeople(counted, command));
  return printOut(result);
}

} // namespace

Action addNgram(CLI::App &app) {
  auto command = std::make_shared<NgramCommand>();
  CLI::App *sub =
      app.add_subcommand("ngram", "Count a text: the loss of a model by counting, what comes next, samples.");
  auto add = [&](const char *name, std::string &value, const char *type, const char *help) {
    sub->add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  sub->add_option("TEXT,--data", command->input.data, "The text.")->required()->type_name("FILE");
  addTokenizerOptions(*sub, command->input);
  add("--order", command->order, "N", "Symbols that are counted together: a symbol and the N - 1 before it.");
  add("--smoothing", command->smoothing, "S", "Added to every count, so that nothing is impossible.");
  add("--validation", command->validation, "SHARE",
      "Count all but this share, which is taken from the end of the text, and show the\nloss on it too; 0 counts "
      "everything.");
  sub->add_option("--after", command->after,
                  "Show the most probable symbols after this text, \"\" for a beginning. May be repeated.")
      ->type_name("TEXT")
      ->allow_extra_args(false)
      ->take_all();
  add("--top", command->top, "N", "How many of them; 0 is all.");
  add("--count", command->count, "N", "Samples to write.");
  add("--prompt", command->prompt, "TEXT", "How every sample begins.");
  add("--length", command->length, "N", "Symbols added to the prompt at most (default: 80 for lines, otherwise 500).");
  add("--temperature", command->temperature, "T",
      "For samples and --after: below 1 more cautious, above 1 more daring; 0\n"
      "takes the most probable symbol.");
  add("--top-k", command->topK, "K", "Choose among the K most probable symbols only; 0 is off.");
  add("--top-p", command->topP, "P", "Choose among the most probable symbols that reach P together.");
  add("--seed", command->seed, "N", "0 to 18446744073709551615");
  sub->add_flag("--json", command->json, "A JSON object on standard output.");
  addExamples(*sub, "mekik ngram proverbs.txt\n"
                    "mekik ngram proverbs.txt --after \"\" --after ş --count 8 --seed 42\n"
                    "mekik ngram proverbs.txt --order 4 --smoothing 0.1 --validation 0.1 --json");
  return [command] { return countText(*command); };
}

} // namespace mekik::tool
