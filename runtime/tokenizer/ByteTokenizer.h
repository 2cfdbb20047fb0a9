// One id per byte value: nothing is ever outside the vocabulary. Made by makeByteTokenizer and tokenizerFromJson.
#ifndef MEKIK_RUNTIME_TOKENIZER_BYTETOKENIZER_H
#define MEKIK_RUNTIME_TOKENIZER_BYTETOKENIZER_H

#include "runtime/tokenizer/Tokenizer.h"

namespace mekik::tokenizer {

class ByteTokenizer final : public Tokenizer {
public:
  /// With `lines` the newline ends examples: no line can hold it.
  explicit ByteTokenizer(bool lines) : lines(lines) {}

  std::string_view kind() const override { return "bytes"; }
  int64_t size() const override { return 256; }
  std::optional<int32_t> endId() const override { return lines ? std::optional<int32_t>('\n') : std::nullopt; }
  std::string_view bytesOf(int32_t id) const override;
  base::StatusOr<std::vector<int32_t>> encode(std::string_view text, std::string_view origin,
                                              uint64_t firstLine) const override;
  std::string describe() const override { return "256 byte values"; }
  std::string toJson() const override;

private:
  bool lines;
};

} // namespace mekik::tokenizer

#endif
