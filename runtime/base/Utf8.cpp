// Decoding by the table of well-formed byte sequences of the Unicode Standard (table 3-7).
#include "runtime/base/Utf8.h"

#include <cstdio>
#include <cstring>

namespace mekik::base {

Utf8Step decodeUtf8(std::string_view text, size_t offset) {
  auto byteAt = [&](size_t i) { return static_cast<uint8_t>(text[offset + i]); };
  uint8_t lead = byteAt(0);
  if (lead < 0x80)
    return {lead, 1, true, false};
  uint32_t length;
  uint8_t least = 0x80, most = 0xBF; // the allowed range of the second byte
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0)
      least = 0xA0; // overlong below
    if (lead == 0xED)
      most = 0x9F; // surrogates above
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0)
      least = 0x90; // overlong below
    if (lead == 0xF4)
      most = 0x8F; // above U+10FFFF
  } else {
    return {replacementCharacter, 1, false, false};
  }
  char32_t codePoint = lead & (0x7F >> length);
  for (uint32_t i = 1; i < length; ++i) {
    if (offset + i >= text.size())
      return {replacementCharacter, i, false, true};
    uint8_t byte = byteAt(i);
    if (byte < least || byte > most)
      return {replacementCharacter, i, false, false};
    codePoint = codePoint << 6 | (byte & 0x3F);
    least = 0x80;
    most = 0xBF;
  }
  return {codePoint, length, true, false};
}

void appendUtf8(std::string &out, char32_t codePoint) {
  if (codePoint > 0x10FFFF || (codePoint >= 0xD800 && codePoint <= 0xDFFF))
    codePoint = replacementCharacter;
  auto tail = [&](int shift) { out += static_cast<char>(0x80 | (codePoint >> shift & 0x3F)); };
  if (codePoint < 0x80) {
    out += static_cast<char>(codePoint);
  } else if (codePoint < 0x800) {
    out += static_cast<char>(0xC0 | codePoint >> 6);
    tail(0);
  } else if (codePoint < 0x10000) {
    out += static_cast<char>(0xE0 | codePoint >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | codePoint >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string encodeUtf8(char32_t codePoint) {
  std::string out;
  appendUtf8(out, codePoint);
  return out;
}

/// Eight bytes of plain ASCII, none of them a control character below U+000E, where line ends are.
static bool isPlain(const char *bytes) {
  constexpr uint64_t each = 0x0101010101010101, high = 0x80 * each;
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return (word & high) == 0 && ((word - 0x0E * each) & high) == 0;
}

void Utf8Validator::advance(char32_t codePoint, uint32_t length) {
  place.offset += length;
  if (codePoint == '\n' && afterCarriageReturn) {
    afterCarriageReturn = false; // the line was counted with the CR
    return;
  }
  afterCarriageReturn = codePoint == '\r';
  if (codePoint == '\n' || codePoint == '\r') {
    ++place.line;
    place.column = 1;
  } else {
    ++place.column;
  }
}

const std::optional<Utf8Error> &Utf8Validator::feed(std::string_view piece) {
  if (error)
    return error;
  // An unfinished character of at most three bytes is completed from the piece first.
  while (!carry.empty() && !piece.empty()) {
    carry += piece.front();
    piece.remove_prefix(1);
    Utf8Step step = decodeUtf8(carry, 0);
    if (step.incomplete)
      continue;
    if (!step.valid)
      return error = place;
    advance(step.codePoint, step.length);
    carry.clear();
  }
  for (size_t at = 0; at < piece.size();) {
    for (; piece.size() - at >= 8 && isPlain(piece.data() + at); at += 8) {
      place.offset += 8;
      place.column += 8;
      afterCarriageReturn = false;
    }
    if (at == piece.size())
      break;
    Utf8Step step = decodeUtf8(piece, at);
    if (step.incomplete) {
      carry = std::string(piece.substr(at));
      break;
    }
    if (!step.valid)
      return error = place;
    advance(step.codePoint, step.length);
    at += step.length;
  }
  return error;
}

const std::optional<Utf8Error> &Utf8Validator::finish() {
  if (!error && !carry.empty())
    error = place;
  return error;
}

std::optional<Utf8Error> findInvalidUtf8(std::string_view text) {
  Utf8Validator validator;
  validator.feed(text);
  return validator.finish();
}

std::string replaceInvalidUtf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    Utf8Step step = decodeUtf8(bytes, at);
    if (step.valid)
      out.append(bytes.substr(at, step.length));
    else
      appendUtf8(out, replacementCharacter);
    at += step.length;
  }
  return out;
}

std::string describeCodePoint(char32_t codePoint) {
  char number[16];
  std::snprintf(number, sizeof number, "U+%04X", static_cast<unsigned>(codePoint));
  std::string_view known;
  switch (codePoint) {
  case '\t':
    known = "tab";
    break;
  case '\n':
    known = "newline";
    break;
  case '\r':
    known = "carriage return";
    break;
  case ' ':
    known = "space";
    break;
  case 0xA0:
    known = "no-break space";
    break;
  case 0xFEFF:
    known = "byte-order mark";
    break;
  }
  if (!known.empty())
    return std::string(known).append(" (").append(number).append(")");
  auto in = [&](char32_t first, char32_t last) { return codePoint >= first && codePoint <= last; };
  bool unseen = codePoint < 0x20 || in(0x7F, 0xA0) || codePoint == 0xAD || in(0x300, 0x36F) || in(0x2000, 0x200F) ||
                in(0x2028, 0x202F) || in(0x205F, 0x206F) || in(0xD800, 0xF8FF) || in(0xFE00, 0xFE0F) ||
                in(0xFFF0, 0xFFFF) || codePoint >= 0xE0000;
  if (unseen)
    return number;
  return std::string("\"").append(encodeUtf8(codePoint)).append("\" (").append(number).append(")");
}

} // namespace mekik::base
