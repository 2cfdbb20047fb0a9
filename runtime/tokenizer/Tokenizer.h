// From text to ids and back, exactly: no normalization, no case folding, no locale. A tokenizer is a small immutable
// table that travels as JSON inside checkpoints and executables and is recognised by its hash.
#ifndef MEKIK_RUNTIME_TOKENIZER_TOKENIZER_H
#define MEKIK_RUNTIME_TOKENIZER_TOKENIZER_H

#include "runtime/base/Status.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mekik::tokenizer {

/// Two ids, both made before the id that they become.
struct Merge {
  int32_t left, right;
};

class Tokenizer {
public:
  virtual ~Tokenizer() = default;

  /// "characters", "bytes" or "bpe".
  virtual std::string_view kind() const = 0;
  /// Number of ids; ids are 0 .. size()-1.
  virtual int64_t size() const = 0;
  /// The id that stands between examples, if this tokenizer has one.
  virtual std::optional<int32_t> endId() const = 0;
  /// The bytes an id stands for; 0 <= id < size(). Those of endId() are its symbol.
  virtual std::string_view bytesOf(int32_t id) const = 0;

  /// The ids of `text`. Errors: InvalidArgument "<origin>:<line>:<column>: ..." with the character and its U+ number
  /// for what is not in the vocabulary, or for invalid UTF-8. `origin` is a path or an option name; `firstLine` is the
  /// line number of the text's first line in it.
  virtual base::StatusOr<std::vector<int32_t>> encode(std::string_view text, std::string_view origin = "text",
                                                      uint64_t firstLine = 1) const = 0;
  /// The vocabulary in a few words for messages: "30 characters: . abc...".
  virtual std::string describe() const = 0;
  /// The merges of byte pairs: the last ids, one each, in the order in which they were learned.
  virtual std::span<const Merge> merges() const { return {}; }
  /// One line of JSON; the same table gives the same bytes.
  virtual std::string toJson() const = 0;

  /// The bytes of the ids, joined. Errors: OutOfRange with the position of an id outside 0 .. size()-1.
  base::StatusOr<std::string> decode(std::span<const int32_t> ids) const;
  /// SHA-256 of toJson(), hexadecimal.
  std::string hash() const;
  /// Where sampling starts when no prompt is given: the end id, else newline, else space, else id 0.
  int32_t defaultStart() const;
};

/// Every code point of `text` (valid UTF-8), ascending. With `end` (one code point) that symbol becomes id 0 and ends
/// examples. Errors: InvalidArgument naming `origin` with line and column if the text itself holds `end`, if `end` is
/// not one character, if the text is empty or not UTF-8.
base::StatusOr<std::unique_ptr<Tokenizer>>
makeCharacterTokenizer(std::string_view text, std::optional<std::string_view> end, std::string_view origin = "text");

/// The 256 byte values. With `lines` the newline (id 10) ends examples.
std::unique_ptr<Tokenizer> makeByteTokenizer(bool lines);

constexpr int64_t largestVocabulary = 1 << 20;
/// What the symbols of all merges may take together: each can be twice as long as the one before.
constexpr uint64_t mostBytesOfMerges = uint64_t{1} << 26;

/// Ids of `base`, and merge i as id base.size() + i. Errors: InvalidArgument naming `origin` and the merge for an id
/// that is not there yet, for the end id of `base`, for a pair that occurs twice, for what exceeds the limits above.
base::StatusOr<std::unique_ptr<Tokenizer>> makeBpeTokenizer(std::unique_ptr<Tokenizer> base, std::vector<Merge> merges,
                                                            std::string_view origin);

/// Reads toJson(). Errors: InvalidArgument with the field, what was expected, what was found.
base::StatusOr<std::unique_ptr<Tokenizer>> tokenizerFromJson(std::string_view json, std::string_view origin);

/// OK if `model` and `other` are the same table, else FailedPrecondition with both sizes or, for equal sizes, the first
/// differing entry. The names say where each comes from.
base::Status checkSameTokenizer(const Tokenizer &model, std::string_view modelName, const Tokenizer &other,
                                std::string_view otherName);

/// Joins the bytes of ids as they arrive and gives out whole characters only. Ill-formed bytes come out as U+FFFD, one
/// for each maximal subpart, so that all output joined equals base::replaceInvalidUtf8 of the decoded ids.
class StreamDecoder {
public:
  explicit StreamDecoder(const Tokenizer &tokenizer) : tokenizer(tokenizer) {}
  /// The characters that this id completes, perhaps none. 0 <= id < size().
  std::string append(int32_t id);
  /// At the end: U+FFFD once if a character is unfinished, else nothing.
  std::string finish();

private:
  const Tokenizer &tokenizer;
  std::string carry;
};

} // namespace mekik::tokenizer

#endif
