// Building the table of code points and encoding with it.
#include "runtime/tokenizer/CharacterTokenizer.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "runtime/base/Utf8.h"

#include <algorithm>

namespace mekik::tokenizer {

using base::concat;

CharacterTokenizer::CharacterTokenizer(std::vector<char32_t> characters, std::optional<char32_t> end)
    : characters(std::move(characters)), end(end) {
  if (end)
    symbols.push_back(base::encodeUtf8(*end));
  for (char32_t character : this->characters)
    symbols.push_back(base::encodeUtf8(character));
}

int32_t CharacterTokenizer::idOf(char32_t codePoint) const {
  if (end && codePoint == *end)
    return 0;
  auto found = std::lower_bound(characters.begin(), characters.end(), codePoint);
  if (found == characters.end() || *found != codePoint)
    return -1;
  return static_cast<int32_t>(found - characters.begin()) + (end ? 1 : 0);
}

base::StatusOr<std::vector<int32_t>> CharacterTokenizer::encode(std::string_view text, std::string_view origin,
                                                                uint64_t firstLine) const {
  std::vector<int32_t> ids;
  ids.reserve(text.size());
  uint64_t line = firstLine, column = 1;
  for (size_t at = 0; at < text.size();) {
    base::Utf8Step step = base::decodeUtf8(text, at);
    if (!step.valid)
      return base::invalidArgumentError(
          concat(origin, ":", line, ":", column, ": the text is not valid UTF-8 at byte ", at));
    int32_t id = idOf(step.codePoint);
    if (id < 0)
      return base::invalidArgumentError(concat(origin, ":", line, ":", column, ": the character ",
                                               base::describeCodePoint(step.codePoint), " is not in the vocabulary of ",
                                               describe()));
    ids.push_back(id);
    at += step.length;
    ++column;
    if (step.codePoint == '\n') {
      ++line;
      column = 1;
    }
  }
  return ids;
}

std::string CharacterTokenizer::describe() const {
  constexpr size_t most = 120;
  std::string shown;
  for (const std::string &symbol : symbols) {
    if (shown.size() + symbol.size() > most)
      break;
    shown += symbol;
  }
  return concat(size(), " characters ", base::quoted(shown, most));
}

std::string CharacterTokenizer::toJson() const {
  std::string table;
  for (char32_t character : characters)
    base::appendUtf8(table, character);
  return concat("{\"kind\":\"characters\",\"end\":", end ? base::jsonString(symbols[0]) : std::string("null"),
                ",\"characters\":", base::jsonString(table), "}");
}

base::StatusOr<std::unique_ptr<Tokenizer>>
makeCharacterTokenizer(std::string_view text, std::optional<std::string_view> end, std::string_view origin) {
  std::optional<char32_t> endCharacter;
  if (end) {
    base::Utf8Step step = end->empty() ? base::Utf8Step{} : base::decodeUtf8(*end, 0);
    if (!step.valid || step.length != end->size())
      return base::invalidArgumentError(
          concat("--end: expected one character to stand between examples, got ", base::quoted(*end)));
    endCharacter = step.codePoint;
  }
  if (text.empty())
    return base::invalidArgumentError(concat(origin, ": expected a text to take the vocabulary from, found nothing"));

  std::vector<bool> present; // by code point
  uint64_t line = 1, column = 1;
  for (size_t at = 0; at < text.size();) {
    base::Utf8Step step = base::decodeUtf8(text, at);
    if (!step.valid)
      return base::invalidArgumentError(
          concat(origin, ":", line, ":", column, ": the text is not valid UTF-8 at byte ", at));
    if (endCharacter == step.codePoint)
      return base::invalidArgumentError(
          concat(origin, ":", line, ":", column, ": the text holds ", base::describeCodePoint(step.codePoint),
                 ", the symbol that is to stand between examples; remove it from the text, or choose one that does not "
                 "occur with --end SYMBOL"));
    if (step.codePoint >= present.size())
      present.resize(step.codePoint + 1);
    present[step.codePoint] = true;
    at += step.length;
    ++column;
    if (step.codePoint == '\n') {
      ++line;
      column = 1;
    }
  }
  std::vector<char32_t> characters;
  for (char32_t c = 0; c < present.size(); ++c)
    if (present[c])
      characters.push_back(c);
  return std::unique_ptr<Tokenizer>(std::make_unique<CharacterTokenizer>(std::move(characters), endCharacter));
}

} // namespace mekik::tokenizer
