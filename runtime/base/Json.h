// Strict JSON (RFC 8259) as the runtime needs it: checkpoint headers, tokenizers, configurations. Unlike common readers
// it refuses duplicate keys, invalid UTF-8, lone surrogates and deep nesting, keeps integers exact, and knows the byte
// offset of every value for messages.
#ifndef MEKIK_RUNTIME_BASE_JSON_H
#define MEKIK_RUNTIME_BASE_JSON_H

#include "runtime/base/Status.h"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mekik::base {

class Json {
public:
  enum class Kind { Null, Boolean, Number, String, Array, Object };

  /// All of `text` must be one value, with blanks around it allowed. At most 64 levels deep. Errors: InvalidArgument
  /// "<origin>: byte <offset + baseOffset>: expected ..., found ...".
  static StatusOr<Json> parse(std::string_view text, std::string_view origin, uint64_t baseOffset = 0);

  Kind kind() const { return type; }
  /// "an object", "a number", ...
  std::string_view kindName() const;
  /// Where the value starts in the parsed text.
  uint64_t offset() const { return start; }

  bool isObject() const { return type == Kind::Object; }
  bool isArray() const { return type == Kind::Array; }
  bool isString() const { return type == Kind::String; }

  /// Text of a string (unescaped UTF-8); spelling of a number.
  const std::string &text() const { return characters; }
  /// The value if it is a boolean; an integer within range, written without point or exponent; a finite number.
  std::optional<bool> boolean() const;
  std::optional<int64_t> integer() const;
  std::optional<uint64_t> unsignedInteger() const;
  std::optional<double> number() const;

  /// Elements of an array; empty for other kinds.
  const std::vector<Json> &elements() const { return items; }
  /// Keys of an object, in the order written; keys()[i] belongs to elements()[i].
  const std::vector<std::string> &keys() const { return names; }
  /// Member of an object; nullptr if there is none.
  const Json *find(std::string_view key) const;

private:
  friend class JsonReader;
  Kind type = Kind::Null;
  bool truth = false;
  uint64_t start = 0;
  std::string characters;
  std::vector<std::string> names;
  std::vector<Json> items;
};

/// Appends `text` (valid UTF-8; anything else as U+FFFD) in quotes, with the escapes JSON demands and no others.
void appendJsonString(std::string &out, std::string_view text);
std::string jsonString(std::string_view text);
/// The shortest decimal that reads back as this value. JSON has neither NaN nor infinity: they become null.
std::string jsonNumber(double value);

} // namespace mekik::base

#endif
