// A recursive descent over the text, its depth bounded.
#include "runtime/base/Json.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include "runtime/base/Utf8.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace mekik::base {

/// Reads values from `text` and remembers the first failure.
class JsonReader {
public:
  JsonReader(std::string_view text, std::string_view origin, uint64_t base) : text(text), origin(origin), base(base) {}

  bool readDocument(Json &value) {
    skipBlanks();
    if (!readValue(value, 0))
      return false;
    skipBlanks();
    return at == text.size() || fail("the end of the text");
  }
  Status failure;

private:
  static constexpr int deepest = 64;

  bool failAt(uint64_t place, std::string message) {
    if (failure.ok())
      failure = invalidArgumentError(concat(origin, ": byte ", base + place, ": ", message));
    return false;
  }
  bool fail(std::string_view expected) {
    return failAt(at, concat("expected ", expected, ", found ",
                             at < text.size() ? quoted(text.substr(at, 20)) : std::string("the end of the text")));
  }

  void skipBlanks() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r'))
      ++at;
  }
  bool take(char c) {
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool takeWord(std::string_view word) {
    if (text.substr(at, word.size()) != word)
      return false;
    at += word.size();
    return true;
  }

  bool readValue(Json &value, int depth) {
    value.start = base + at;
    if (depth > deepest)
      return failAt(at, "the JSON is nested too deep: more than 64 levels");
    if (at >= text.size())
      return fail("a JSON value");
    switch (text[at]) {
    case '{':
      return readObject(value, depth);
    case '[':
      return readArray(value, depth);
    case '"':
      value.type = Json::Kind::String;
      return readString(value.characters);
    case 't':
    case 'f':
      value.type = Json::Kind::Boolean;
      value.truth = text[at] == 't';
      return takeWord(value.truth ? "true" : "false") || fail("a JSON value");
    case 'n':
      return takeWord("null") || fail("a JSON value");
    default:
      value.type = Json::Kind::Number;
      return readNumber(value.characters);
    }
  }

  bool readArray(Json &value, int depth) {
    value.type = Json::Kind::Array;
    ++at;
    skipBlanks();
    if (take(']'))
      return true;
    while (true) {
      if (!readValue(value.items.emplace_back(), depth + 1))
        return false;
      skipBlanks();
      if (take(']'))
        return true;
      if (!take(','))
        return fail("\",\" or \"]\"");
      skipBlanks();
    }
  }

  bool readObject(Json &value, int depth) {
    value.type = Json::Kind::Object;
    ++at;
    skipBlanks();
    if (take('}'))
      return true;
    while (true) {
      if (at >= text.size() || text[at] != '"')
        return fail("a key in double quotes");
      if (!readString(value.names.emplace_back()))
        return false;
      skipBlanks();
      if (!take(':'))
        return fail("\":\"");
      skipBlanks();
      if (!readValue(value.items.emplace_back(), depth + 1))
        return false;
      skipBlanks();
      if (take('}'))
        return checkDuplicates(value);
      if (!take(','))
        return fail("\",\" or \"}\"");
      skipBlanks();
    }
  }

  bool checkDuplicates(const Json &value) {
    std::vector<size_t> order(value.names.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      int compared = value.names[a].compare(value.names[b]);
      return compared != 0 ? compared < 0 : a < b;
    });
    for (size_t i = 1; i < order.size(); ++i)
      if (value.names[order[i]] == value.names[order[i - 1]])
        return failAt(value.items[order[i]].start - base,
                      concat("the key ", quoted(value.names[order[i]]), " occurs twice in one object"));
    return true;
  }

  bool readString(std::string &out) {
    size_t opening = at++;
    while (at < text.size()) {
      char c = text[at];
      if (c == '"') {
        ++at;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20)
        return fail("an escape such as \\n for a control character in a string");
      if (c == '\\') {
        if (!readEscape(out))
          return false;
        continue;
      }
      Utf8Step step = decodeUtf8(text, at);
      if (!step.valid)
        return failAt(at, "the text is not valid UTF-8");
      out.append(text.substr(at, step.length));
      at += step.length;
    }
    return failAt(opening, "a string that starts here does not end");
  }

  std::optional<uint32_t> readHex4() {
    uint32_t unit = 0;
    if (text.size() - at < 4)
      return std::nullopt;
    std::from_chars_result result = std::from_chars(text.data() + at, text.data() + at + 4, unit, 16);
    if (result.ec != std::errc() || result.ptr != text.data() + at + 4)
      return std::nullopt;
    at += 4;
    return unit;
  }

  bool readEscape(std::string &out) {
    size_t backslash = at++;
    char c = at < text.size() ? text[at++] : '\0';
    constexpr std::string_view plain = "\"\\/bfnrt", meaning = "\"\\/\b\f\n\r\t";
    if (size_t index = plain.find(c); index != std::string_view::npos) {
      out += meaning[index];
      return true;
    }
    std::optional<uint32_t> unit = c == 'u' ? readHex4() : std::nullopt;
    if (!unit)
      return failAt(backslash, "not an escape of JSON");
    char32_t codePoint = *unit;
    if (codePoint >= 0xD800 && codePoint <= 0xDBFF && takeWord("\\u")) {
      std::optional<uint32_t> low = readHex4();
      if (low && *low >= 0xDC00 && *low <= 0xDFFF)
        codePoint = 0x10000 + ((codePoint - 0xD800) << 10) + (*low - 0xDC00);
    }
    if (codePoint >= 0xD800 && codePoint <= 0xDFFF)
      return failAt(backslash, "half of a surrogate pair, which is no character");
    appendUtf8(out, codePoint);
    return true;
  }

  size_t takeDigits() {
    size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9')
      ++at;
    return at - begin;
  }

  bool readNumber(std::string &out) {
    size_t begin = at;
    take('-');
    bool zero = at < text.size() && text[at] == '0';
    size_t whole = takeDigits();
    bool good = whole == 1 || (whole > 1 && !zero);
    if (good && take('.'))
      good = takeDigits() > 0;
    if (good && (take('e') || take('E'))) {
      (void)(take('+') || take('-'));
      good = takeDigits() > 0;
    }
    if (!good) {
      at = begin;
      return fail("a JSON value");
    }
    out = std::string(text.substr(begin, at - begin));
    return true;
  }

  std::string_view text;
  std::string_view origin;
  uint64_t base;
  size_t at = 0;
};

StatusOr<Json> Json::parse(std::string_view text, std::string_view origin, uint64_t baseOffset) {
  JsonReader reader(text, origin, baseOffset);
  Json value;
  if (!reader.readDocument(value))
    return reader.failure;
  return value;
}

std::string_view Json::kindName() const {
  switch (type) {
  case Kind::Null:
    return "null";
  case Kind::Boolean:
    return "true or false";
  case Kind::Number:
    return "a number";
  case Kind::String:
    return "a string";
  case Kind::Array:
    return "an array";
  case Kind::Object:
    return "an object";
  }
  return "";
}

std::optional<bool> Json::boolean() const { return type == Kind::Boolean ? std::optional(truth) : std::nullopt; }

template <typename T> static std::optional<T> wholeNumber(const std::string &text) {
  T value;
  std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<int64_t> Json::integer() const {
  return type == Kind::Number ? wholeNumber<int64_t>(characters) : std::nullopt;
}

std::optional<uint64_t> Json::unsignedInteger() const {
  return type == Kind::Number ? wholeNumber<uint64_t>(characters) : std::nullopt;
}

std::optional<double> Json::number() const {
  if (type != Kind::Number)
    return std::nullopt;
  StatusOr<double> value = parseNumber("", characters);
  return value.ok() ? std::optional(*value) : std::nullopt;
}

const Json *Json::find(std::string_view key) const {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == key)
      return &items[i];
  return nullptr;
}

void appendJsonString(std::string &out, std::string_view text) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    Utf8Step step = decodeUtf8(text, at);
    char32_t c = step.codePoint;
    constexpr std::string_view named = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
    if (size_t index = c < 0x80 ? named.find(static_cast<char>(c)) : std::string_view::npos;
        index != std::string_view::npos) {
      out += '\\';
      out += letters[index];
    } else if (c < 0x20 || c == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      appendUtf8(out, c);
    }
    at += step.length;
  }
  out += '"';
}

std::string jsonString(std::string_view text) {
  std::string out;
  appendJsonString(out, text);
  return out;
}

std::string jsonNumber(double value) { return value - value == 0 ? formatNumber(value) : "null"; }

} // namespace mekik::base
