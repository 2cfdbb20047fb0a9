// Ids are byte values.
#include "runtime/tokenizer/ByteTokenizer.h"

#include <array>

namespace mekik::tokenizer {

static constexpr std::array<char, 256> allBytes = [] {
  std::array<char, 256> bytes{};
  for (int i = 0; i < 256; ++i)
    bytes[static_cast<size_t>(i)] = static_cast<char>(i);
  return bytes;
}();

std::string_view ByteTokenizer::bytesOf(int32_t id) const { return {&allBytes[static_cast<size_t>(id)], 1}; }

base::StatusOr<std::vector<int32_t>> ByteTokenizer::encode(std::string_view text, std::string_view origin,
                                                           uint64_t firstLine) const {
  std::vector<int32_t> ids(text.size());
  for (size_t i = 0; i < text.size(); ++i)
    ids[i] = static_cast<uint8_t>(text[i]);
  return ids;
}

std::string ByteTokenizer::toJson() const {
  return lines ? "{\"kind\":\"bytes\",\"end\":\"\\n\"}" : "{\"kind\":\"bytes\",\"end\":null}";
}

std::unique_ptr<Tokenizer> makeByteTokenizer(bool lines) { return std::make_unique<ByteTokenizer>(lines); }

} // namespace mekik::tokenizer
