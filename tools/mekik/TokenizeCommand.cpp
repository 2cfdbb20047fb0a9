// tokenize: which symbols a text is made of, how text becomes ids and back, which merges were learned; and a file of it
// all for --tokenizer.
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "runtime/tokenizer/SymbolText.h"
#include "tools/mekik/Command.h"
#include "tools/mekik/Table.h"
#include "tools/mekik/TokenizerChoice.h"
#include <filesystem>

namespace mekik::tool {
namespace {

using base::concat;
using base::formatCount;
using base::jsonString;
using base::Status;
using base::StatusOr;
using tokenizer::Tokenizer;

struct TokenizeCommand {
  ModelInput input;
  std::optional<std::string> encode, decode;
  std::string output;
  bool merges = false, json = false;
};

/// What the text of the command line holds.
struct Counts {
  std::vector<uint64_t> byId;
  uint64_t lines = 0, symbols = 0; // the ends of lines are symbols
};

StatusOr<Counts> countSymbols(const Tokenizer &tokenizer, const std::string &path) {
  Counts counts;
  counts.byId.resize(static_cast<size_t>(tokenizer.size()));
  MEKIK_ASSIGN_OR_RETURN(data::Text text, data::Text::load(path));
  MEKIK_ASSIGN_OR_RETURN(data::TextData all, data::TextData::create(text, tokenizer, {layoutOf(tokenizer), 0}));
  std::span<const int32_t> ids = all.train();
  counts.lines = all.trainLines();
  if (counts.lines > 0)
    ids = ids.subspan(1); // the end before the first line
  counts.symbols = ids.size();
  for (int32_t id : ids)
    ++counts.byId[static_cast<size_t>(id)];
  return counts;
}

/// "[5, 2, 13]"
std::string listOf(std::span<const int32_t> ids) {
  std::string text = "[";
  for (size_t i = 0; i < ids.size(); ++i)
    base::append(text, i > 0 ? ", " : "", ids[i]);
  return text + "]";
}

/// "5 2 13", "5,2,13" or "[5, 2, 13]".
StatusOr<std::vector<int32_t>> parseIds(std::string_view text, const Tokenizer &tokenizer) {
  std::vector<int32_t> ids;
  if (text.starts_with('[') && text.ends_with(']'))
    text = text.substr(1, text.size() - 2);
  while (true) {
    size_t begin = text.find_first_not_of(" ,\t\n");
    if (begin == std::string_view::npos)
      return ids;
    text.remove_prefix(begin);
    size_t length = std::min(text.find_first_of(" ,\t\n"), text.size());
    StatusOr<int64_t> id = base::parseInteger("--decode", text.substr(0, length), 0, tokenizer.size() - 1);
    if (!id.ok())
      return wrongUsage(id.status().message());
    ids.push_back(static_cast<int32_t>(*id));
    text.remove_prefix(length);
  }
}

/// As in a message, without the quotes.
std::string shown(std::string_view bytes) {
  std::string text = base::quoted(bytes);
  return text.substr(1, text.size() - 2);
}

std::string symbolsOf(const Tokenizer &tokenizer, std::span<const int32_t> ids) {
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i)
    base::append(text, i > 0 ? "|" : "", shown(tokenizer.bytesOf(ids[i])));
  return text;
}

std::string vocabularyTable(const Tokenizer &tokenizer, const std::optional<Counts> &counts) {
  using enum Table::Align;
  Table table({"id", "symbol", "bytes", counts ? "count" : "", ""}, {Right, Left, Left, Right, Left});
  uint64_t absent = 0;
  for (int32_t id = 0; id < tokenizer.size(); ++id) {
    uint64_t count = counts ? counts->byId[static_cast<size_t>(id)] : 0;
    // Of hundreds of byte values few occur in a text.
    if (counts && count == 0 && tokenizer.kind() != "characters") {
      ++absent;
      continue;
    }
    table.add({std::to_string(id), base::quoted(tokenizer.bytesOf(id)), tokenizer::hexOf(tokenizer.bytesOf(id)),
               counts ? formatCount(count) : "", id == tokenizer.endId() ? "ends a line" : ""});
  }
  std::string text = table.print();
  if (absent > 0)
    base::append(text, formatCount(absent), " symbols that the text does not use are left out; --json has them all\n");
  return text;
}

std::string mergeTable(const data::LearnedTokenizer &made) {
  using enum Table::Align;
  bool learned = !made.merges.empty();
  std::vector<std::string> head = {"merge", "left", "right", "symbol", "id"};
  std::vector<Table::Align> align = {Right, Left, Left, Left, Right};
  if (learned) {
    head.insert(head.end(), {"count", "symbols left"});
    align.insert(align.end(), {Right, Right});
  }
  Table table(head, align);
  const Tokenizer &tokenizer = *made.tokenizer;
  std::span<const tokenizer::Merge> merges = tokenizer.merges();
  auto id = static_cast<int32_t>(tokenizer.size() - static_cast<int64_t>(merges.size()));
  for (size_t i = 0; i < merges.size(); ++i, ++id) {
    std::vector<std::string> row = {std::to_string(i + 1), base::quoted(tokenizer.bytesOf(merges[i].left)),
                                    base::quoted(tokenizer.bytesOf(merges[i].right)),
                                    base::quoted(tokenizer.bytesOf(id)), std::to_string(id)};
    if (learned)
      row.insert(row.end(), {formatCount(made.merges[i].count), formatCount(made.merges[i].symbolsLeft)});
    table.add(std::move(row));
  }
  return table.print();
}

std::string forPrograms(const data::LearnedTokenizer &made, const std::optional<Counts> &counts,
                        const std::optional<std::vector<int32_t>> &encoded, const std::optional<std::string> &decoded) {
  const Tokenizer &tokenizer = *made.tokenizer;
  std::string text = concat("{\"kind\":", jsonString(tokenizer.kind()), ",\"size\":", tokenizer.size(),
                            ",\"end\":", tokenizer.endId() ? std::to_string(*tokenizer.endId()) : "null",
                            ",\"hash\":", jsonString(tokenizer.hash()));
  if (counts)
    base::append(text, ",\"lines\":", counts->lines, ",\"symbols\":", counts->symbols);
  text += ",\"vocabulary\":[";
  for (int32_t id = 0; id < tokenizer.size(); ++id) {
    base::append(text, id > 0 ? "," : "", "{\"id\":", id, ",", tokenizer::symbolJson(tokenizer.bytesOf(id)));
    if (counts)
      base::append(text, ",\"count\":", counts->byId[static_cast<size_t>(id)]);
    text += "}";
  }
  text += "],\"merges\":[";
  std::span<const tokenizer::Merge> merges = tokenizer.merges();
  for (size_t i = 0; i < merges.size(); ++i) {
    base::append(text, i > 0 ? "," : "", "{\"left\":", merges[i].left, ",\"right\":", merges[i].right,
                 ",\"id\":", tokenizer.size() - static_cast<int64_t>(merges.size() - i));
    if (!made.merges.empty())
      base::append(text, ",\"count\":", made.merges[i].count, ",\"symbols_left\":", made.merges[i].symbolsLeft);
    text += "}";
  }
  text += "]";
  if (encoded)
    base::append(text, ",\"encoded\":", listOf(*encoded));
  if (decoded)
    base::append(text, ",\"decoded\":", jsonString(*decoded));
  return text + "}\n";
}

Status tokenize(const TokenizeCommand &command) {
  bool fromText = needsText(command.input);
  if (fromText && command.input.data.empty())
    return wrongUsage("a text to take the symbols from is missing; for example: mekik tokenize proverbs.txt");
  MEKIK_ASSIGN_OR_RETURN(data::LearnedTokenizer made, chooseTokenizer(command.input, command.input.data));
  const Tokenizer &tokenizer = *made.tokenizer;
  std::optional<Counts> counts;
  if (!command.input.data.empty()) {
    MEKIK_ASSIGN_OR_RETURN(counts, countSymbols(tokenizer, command.input.data));
  }
  std::optional<std::vector<int32_t>> encoded;
  std::optional<std::string> decoded;
  if (command.encode) {
    MEKIK_ASSIGN_OR_RETURN(encoded, tokenizer.encode(*command.encode, "--encode", 1));
  }
  if (command.decode) {
    MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> ids, parseIds(*command.decode, tokenizer));
    MEKIK_ASSIGN_OR_RETURN(decoded, tokenizer.decode(ids));
  }
  if (!command.output.empty()) {
    if (std::error_code ignored; std::filesystem::equivalent(command.output, command.input.data, ignored))
      return wrongUsage(concat("-o ", command.output, ": this is the text itself; name another file"));
    MEKIK_RETURN_IF_ERROR(writeTo(command.output, tokenizer.toJson() + "\n"));
    if (command.output == "-")
      return {};
  }
  if (command.json)
    return printOut(forPrograms(made, counts, encoded, decoded));
  std::string text;
  if (counts && counts->lines > 0)
    text = concat(formatCount(counts->lines), counts->lines == 1 ? " line, " : " lines, ", formatCount(counts->symbols),
                  " symbols with the ends of lines\n");
  else if (counts)
    text = concat(formatCount(counts->symbols), " symbols\n");
  base::append(text, "vocabulary: ", tokenizer.describe(), "\n");
  if (command.merges)
    base::append(text, "\n", mergeTable(made));
  if (encoded)
    base::append(text, "\nids      ", listOf(*encoded), "\nsymbols  ", symbolsOf(tokenizer, *encoded), "\n");
  if (decoded)
    base::append(text, "\ntext     ", *decoded, "\n");
  if (!command.merges && !encoded && !decoded && command.output.empty())
    base::append(text, "\n", vocabularyTable(tokenizer, counts));
  return printOut(text);
}

} // namespace

Action addTokenize(CLI::App &app) {
  auto command = std::make_shared<TokenizeCommand>();
  CLI::App *sub = app.add_subcommand("tokenize", "Show the symbols of a text, encode and decode, learn byte pairs.");
  sub->add_option("TEXT,--data", command->input.data, "The text; a tokenizer read from a file needs none.")
      ->type_name("FILE");
  addTokenizerOptions(*sub, command->input);
  sub->add_option("--encode", command->encode, "Show the ids of this text.")->type_name("TEXT");
  sub->add_option("--decode", command->decode, "Show the text of these ids: \"5 2 13\" or \"[5, 2, 13]\".")
      ->type_name("IDS");
  sub->add_flag("--merges", command->merges, "Show the merges of byte pairs, step by step.");
  sub->add_option("-o,--output", command->output, "Write the tokenizer, for --tokenizer; - is standard output.")
      ->type_name("FILE");
  sub->add_flag("--json", command->json, "A JSON object on standard output.");
  addExamples(*sub, "mekik tokenize proverbs.txt --encode \"damlaya damlaya göl olur\"\n"
                    "mekik tokenize proverbs.txt --tokenizer characters+bpe:60 --merges\n"
                    "mekik tokenize proverbs.txt --tokenizer bpe:+100 -o pairs.json\n"
                    "mekik train models/gpt/gpt.mekik --data proverbs.txt --tokenizer pairs.json");
  return [command] { return tokenize(*command); };
}

} // namespace mekik::tool
