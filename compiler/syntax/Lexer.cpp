// The scanner. It never consults the locale: letters are ranges of code points.
#include "compiler/syntax/Lexer.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace mekik::syntax {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isAsciiLetter(uint32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Latin, Greek and Cyrillic letters as single code points. Combining marks are not letters: two spellings of one name
/// that look equal would be two names.
bool isLetter(uint32_t c) {
  return isAsciiLetter(c) || (c >= 0xC0 && c <= 0x24F && c != 0xD7 && c != 0xF7) ||
         (c >= 0x386 && c <= 0x3FF && c != 0x387) || (c >= 0x400 && c <= 0x481) || (c >= 0x48A && c <= 0x52F) ||
         (c >= 0x1E00 && c <= 0x1EFF);
}

/// What to write in place of a character that looks like a sign of the language, or "".
const char *lookalike(uint32_t c) {
  switch (c) {
  case 0x201C:
  case 0x201D:
  case 0x201E:
  case 0x2033:
  case 0xAB:
  case 0xBB:
  case '\'':
  case 0x2018:
  case 0x2019:
    return "\"";
  case 0x2212:
  case 0x2013:
  case 0x2014:
    return "-";
  case 0xD7:
  case 0xB7:
  case 0x22C5:
    return "*";
  case 0xF7:
    return "/";
  case 0x2264:
    return "<=";
  case 0x2265:
    return ">=";
  case 0x2260:
  case '!':
    return c == '!' ? "not" : "!=";
  case 0x2026:
    return "..";
  case '&':
    return "and";
  case '|':
    return "or";
  case '^':
    return "**";
  case ';':
    return "a new line";
  default:
    return "";
  }
}

class Lexer {
public:
  Lexer(const Source &source, Diagnostics &diagnostics)
      : source(source), diagnostics(diagnostics), text(source.text()), at(source.start()) {}

  std::vector<Token> run() {
    while (at < text.size() && !diagnostics.full())
      next();
    // The end is where the last line with anything on it ends, with or without a final line end.
    size_t last = tokens.empty() ? source.start() : tokens.back().range.end;
    add(TokenKind::Newline, last, last);
    add(TokenKind::End, last, last);
    return std::move(tokens);
  }

private:
  void add(TokenKind kind, size_t begin, size_t end) {
    if (kind == TokenKind::Newline && (tokens.empty() || tokens.back().kind == TokenKind::Newline))
      return;
    tokens.push_back({kind, range(begin, end)});
  }

  static SourceRange range(size_t begin, size_t end) {
    return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }
  char peek(size_t ahead) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }

  void next() {
    char c = text[at];
    if (c == '\n' || c == '\r') {
      add(TokenKind::Newline, at, at);
      ++at;
    } else if (c == ' ' || c == '\t') {
      ++at;
    } else if (c == '#') {
      skipComment();
    } else if (isDigit(c)) {
      number();
    } else if (c == '"') {
      string();
    } else if (!sign()) {
      nameOrStranger();
    }
  }

  /// The code point at `at`; reports and skips what is not UTF-8 or may not stand anywhere in a file.
  bool codePointAt(uint32_t &codePoint, int &length) {
    length = decodeUtf8(text.substr(at), codePoint);
    if (length == 0) {
      size_t begin = at;
      while (at < text.size() && decodeUtf8(text.substr(at), codePoint) == 0)
        ++at;
      Position place = source.position(begin);
      diagnostics.error(
          range(begin, at),
          absl::StrFormat("byte 0x%02X (line %d, column %d, byte offset %d) is not UTF-8; save the file with the "
                          "encoding UTF-8",
                          static_cast<uint8_t>(text[begin]), place.line, place.column, begin));
      return false;
    }
    if (codePoint == 0xFEFF || codePoint == 0) {
      diagnostics.error(range(at, at + length),
                        codePoint ? "a byte-order mark (U+FEFF) may stand only at the start of a file; delete this "
                                    "invisible character (two files joined together often leave one)"
                                  : "a zero byte in the text; is this file really a model?");
      while (codePoint == 0 && at < text.size() && text[at] == '\0')
        ++at;
      at += codePoint ? length : 0;
      return false;
    }
    return true;
  }

  void skipComment() {
    while (at < text.size() && text[at] != '\n' && text[at] != '\r') {
      uint32_t codePoint;
      int length;
      if (codePointAt(codePoint, length))
        at += length;
    }
  }

  void number() {
    size_t begin = at;
    bool isFloat = false;
    digits();
    if (peek(0) == '.' && peek(1) != '.' && !isAsciiLetter(static_cast<uint8_t>(peek(1)))) {
      isFloat = true;
      ++at;
      if (!isDigit(peek(0)))
        diagnostics.error(range(begin, at), absl::StrCat("a digit must follow the decimal point; write ",
                                                         text.substr(begin, at - begin), "0"));
      digits();
    }
    if ((peek(0) == 'e' || peek(0) == 'E') &&
        (isDigit(peek(1)) || ((peek(1) == '-' || peek(1) == '+') && isDigit(peek(2))))) {
      isFloat = true;
      at += 2;
      digits();
    }
    size_t end = at;
    while (at < text.size() && (isAsciiLetter(static_cast<uint8_t>(text[at])) || isDigit(text[at])))
      ++at;
    if (at > end)
      diagnostics.error(range(begin, at),
                        absl::StrCat("'", text.substr(begin, std::min<size_t>(at - begin, 40)),
                                     "' is neither a number nor a name; names start with a letter, and "
                                     "2x is written 2 * x"));
    else if (text[end - 1] == '_')
      diagnostics.error(range(begin, end), "a number may not end with '_'");
    add(isFloat ? TokenKind::Float : TokenKind::Integer, begin, at);
  }

  void digits() {
    while (isDigit(peek(0)) || peek(0) == '_')
      ++at;
  }

  void string() {
    size_t begin = at++;
    while (at < text.size() && text[at] != '\n' && text[at] != '\r') {
      if (text[at] == '"') {
        ++at;
        add(TokenKind::String, begin, at);
        return;
      }
      if (text[at] == '\\') {
        char escaped = peek(1);
        if (escaped != '"' && escaped != '\\' && escaped != 'n' && escaped != 't')
          diagnostics.error(range(at, at + 1), "unknown escape in a string; \\\", \\\\, \\n and \\t exist");
        ++at;
        if (at < text.size() && (escaped == '"' || escaped == '\\'))
          ++at;
        continue;
      }
      uint32_t codePoint;
      int length;
      if (codePointAt(codePoint, length))
        at += length;
    }
    diagnostics.error(range(begin, begin + 1), "this string has no closing quote on its line; add a '\"'");
    add(TokenKind::String, begin, at);
  }

  bool sign() {
    for (auto kind = static_cast<uint8_t>(TokenKind::GreaterEqual); kind >= static_cast<uint8_t>(TokenKind::LeftParen);
         --kind) {
      absl::string_view spelt = spelling(static_cast<TokenKind>(kind));
      // Two-character signs stand behind or are tried before their one-character beginnings.
      if (spelt.size() != 2 || text.substr(at, 2) != spelt)
        continue;
      add(static_cast<TokenKind>(kind), at, at + 2);
      at += 2;
      return true;
    }
    for (auto kind = static_cast<uint8_t>(TokenKind::LeftParen); kind <= static_cast<uint8_t>(TokenKind::GreaterEqual);
         ++kind) {
      absl::string_view spelt = spelling(static_cast<TokenKind>(kind));
      if (spelt.size() != 1 || text[at] != spelt[0])
        continue;
      add(static_cast<TokenKind>(kind), at, at + 1);
      ++at;
      return true;
    }
    return false;
  }

  void nameOrStranger() {
    uint32_t codePoint;
    int length;
    if (!codePointAt(codePoint, length))
      return;
    size_t begin = at;
    if (!isLetter(codePoint)) {
      at += length;
      stranger(codePoint, begin);
      return;
    }
    while (at < text.size()) {
      length = decodeUtf8(text.substr(at), codePoint);
      if (length == 0 || !(isLetter(codePoint) || isDigit(text[at])))
        break;
      at += length;
    }
    add(keywordOrName(text.substr(begin, at - begin)), begin, at);
  }

  void stranger(uint32_t codePoint, size_t begin) {
    std::string shown =
        codePoint < 0x20 || (codePoint >= 0x7F && codePoint <= 0xA0) || (codePoint >= 0x2000 && codePoint <= 0x200F)
            ? absl::StrFormat("the invisible character U+%04X", codePoint)
            : absl::StrFormat("'%s' (U+%04X)", text.substr(begin, at - begin), codePoint);
    std::string message = absl::StrCat(shown, " has no meaning here");
    const char *instead = lookalike(codePoint);
    if (codePoint >= 0x300 && codePoint <= 0x36F)
      absl::StrAppend(&message, "; it is a combining mark: write the letter and its mark as one character");
    else if (codePoint == ';')
      message = "';' has no meaning here; every statement ends with its line";
    else if (*instead)
      absl::StrAppend(&message, "; write '", instead, "'");
    else if (codePoint == 0xA0 || codePoint < 0x20 || codePoint == 0x7F || (codePoint >= 0x2000 && codePoint <= 0x200F))
      absl::StrAppend(&message, "; replace it with a plain space or delete it");
    diagnostics.error(range(begin, at), message);
    // One complaint for a run of the same character.
    absl::string_view same = text.substr(begin, at - begin);
    while (text.substr(at, same.size()) == same)
      at += same.size();
  }

  const Source &source;
  Diagnostics &diagnostics;
  absl::string_view text;
  size_t at;
  std::vector<Token> tokens;
};

} // namespace

std::vector<Token> lex(const Source &source, Diagnostics &diagnostics) { return Lexer(source, diagnostics).run(); }

} // namespace mekik::syntax
