// Spellings, in the order of TokenKind.
#include "compiler/syntax/Token.h"

#include "absl/strings/str_cat.h"
#include <iterator>

namespace mekik::syntax {

namespace {
constexpr const char *spellings[] = {
    "",      "",    "",      "",       "",       "",     "model", "precision", "config", "input", "target",
    "param", "let", "block", "return", "repeat", "if",   "probe", "output",    "loss",   "train", "else",
    "in",    "as",  "and",   "or",     "not",    "true", "false", "(",         ")",      "[",     "]",
    "{",     "}",   ",",     ":",      ".",      "..",   "=",     "+",         "-",      "*",     "/",
    "//",    "%",   "**",    "@",      "==",     "!=",   "<",     "<=",        ">",      ">="};
static_assert(std::size(spellings) == static_cast<size_t>(TokenKind::GreaterEqual) + 1);
} // namespace

absl::string_view spelling(TokenKind kind) { return spellings[static_cast<size_t>(kind)]; }

TokenKind keywordOrName(absl::string_view word) {
  for (auto kind = static_cast<uint8_t>(TokenKind::KwModel); kind <= static_cast<uint8_t>(TokenKind::KwFalse); ++kind)
    if (word == spellings[kind])
      return static_cast<TokenKind>(kind);
  return TokenKind::Name;
}

std::string describe(const Token &token, const Source &source) {
  absl::string_view text = source.slice(token.range);
  std::string shown = text.size() > 40 ? absl::StrCat(text.substr(0, 24), "...") : std::string(text);
  switch (token.kind) {
  case TokenKind::End:
    return "the end of the file";
  case TokenKind::Newline:
    return "the end of the line";
  case TokenKind::Name:
    return absl::StrCat("the name '", text.size() > 40 ? "..." : text, "'");
  case TokenKind::Integer:
  case TokenKind::Float:
    return absl::StrCat("the number ", shown);
  case TokenKind::String:
    return "a string";
  default:
    return absl::StrCat(isKeyword(token.kind) ? "the keyword '" : "'", spelling(token.kind), "'");
  }
}

} // namespace mekik::syntax
