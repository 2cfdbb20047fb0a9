// UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF. Invalid bytes are found with
// their offset, or replaced by U+FFFD, one for each maximal subpart of an ill-formed sequence (the rule of the Unicode
// Standard chapter 3.9, of WHATWG decoders and of Python), so a cut character becomes exactly one U+FFFD.
#ifndef MEKIK_RUNTIME_BASE_UTF8_H
#define MEKIK_RUNTIME_BASE_UTF8_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mekik::base {

constexpr char32_t replacementCharacter = 0xFFFD;
constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";

struct Utf8Step {
  char32_t codePoint; // replacementCharacter when invalid
  uint32_t length;    // bytes consumed, at least 1: the character, or the maximal subpart of an ill-formed sequence
  bool valid;
  bool incomplete; // invalid only because the text ends: more bytes could complete the character
};

/// Decodes the character that starts at `offset` < text.size().
Utf8Step decodeUtf8(std::string_view text, size_t offset);

/// Appends the encoding of a Unicode scalar value; of replacementCharacter for any other value.
void appendUtf8(std::string &out, char32_t codePoint);
std::string encodeUtf8(char32_t codePoint);

/// Iterates code points: for (char32_t c : CodePoints(text)). Invalid sequences come as replacementCharacter.
class CodePoints {
public:
  class Iterator {
  public:
    Iterator(std::string_view text, size_t offset) : text(text), at(offset) { load(); }
    char32_t operator*() const { return step.codePoint; }
    Iterator &operator++() {
      at += step.length;
      load();
      return *this;
    }
    bool operator!=(const Iterator &other) const { return at != other.at; }
    size_t offset() const { return at; }
    uint32_t length() const { return step.length; }

  private:
    void load() {
      if (at < text.size())
        step = decodeUtf8(text, at);
    }
    std::string_view text;
    size_t at;
    Utf8Step step{};
  };
  explicit CodePoints(std::string_view text) : text(text) {}
  Iterator begin() const { return {text, 0}; }
  Iterator end() const { return {text, text.size()}; }

private:
  std::string_view text;
};

struct Utf8Error {
  uint64_t offset; // byte at which the first ill-formed sequence starts, from 0
  uint64_t line;   // its line, from 1; lines end with LF, CR LF or CR
  uint64_t column; // in code points, from 1
};

/// The first ill-formed sequence of a whole text, if any.
std::optional<Utf8Error> findInvalidUtf8(std::string_view text);
inline bool isValidUtf8(std::string_view text) { return !findInvalidUtf8(text); }

/// The same for a text that arrives in pieces cut anywhere.
class Utf8Validator {
public:
  /// The error, once there is one; later pieces are ignored then.
  const std::optional<Utf8Error> &feed(std::string_view piece);
  /// The text ended: an unfinished character is an error too.
  const std::optional<Utf8Error> &finish();

private:
  void advance(char32_t codePoint, uint32_t length);
  std::string carry; // bytes of an unfinished character
  Utf8Error place{0, 1, 1};
  bool afterCarriageReturn = false;
  std::optional<Utf8Error> error;
};

/// Valid text: itself, with U+FFFD for each maximal subpart of an ill-formed sequence.
std::string replaceInvalidUtf8(std::string_view bytes);

/// How a character is shown in a message: "ş" (U+015F); control and invisible characters as the number alone (U+000A).
std::string describeCodePoint(char32_t codePoint);

} // namespace mekik::base

#endif
