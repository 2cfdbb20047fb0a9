// One id per code point; the table is all there is. Made by makeCharacterTokenizer and tokenizerFromJson.
#ifndef MEKIK_RUNTIME_TOKENIZER_CHARACTERTOKENIZER_H
#define MEKIK_RUNTIME_TOKENIZER_CHARACTERTOKENIZER_H

#include "runtime/tokenizer/Tokenizer.h"

namespace mekik::tokenizer {

class CharacterTokenizer final : public Tokenizer {
public:
  /// `characters` strictly ascending and without `end`, which becomes id 0.
  CharacterTokenizer(std::vector<char32_t> characters, std::optional<char32_t> end);

  std::string_view kind() const override { return "characters"; }
  int64_t size() const override { return static_cast<int64_t>(symbols.size()); }
  std::optional<int32_t> endId() const override { return end ? std::optional<int32_t>(0) : std::nullopt; }
  std::string_view bytesOf(int32_t id) const override { return symbols[static_cast<size_t>(id)]; }
  base::StatusOr<std::vector<int32_t>> encode(std::string_view text, std::string_view origin,
                                              uint64_t firstLine) const override;
  std::string describe() const override;
  std::string toJson() const override;

private:
  int32_t idOf(char32_t codePoint) const; // -1 if there is none
  std::vector<char32_t> characters;
  std::optional<char32_t> end;
  std::vector<std::string> symbols; // by id
};

} // namespace mekik::tokenizer

#endif
