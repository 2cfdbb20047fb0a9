// Byte-pair encoding: the ids of another tokenizer, of which pairs are merged into new ids in the order in which the
// merges were learned. Made by makeBpeTokenizer and tokenizerFromJson.
#ifndef MEKIK_RUNTIME_TOKENIZER_BPETOKENIZER_H
#define MEKIK_RUNTIME_TOKENIZER_BPETOKENIZER_H

#include "runtime/tokenizer/Tokenizer.h"

namespace mekik::tokenizer {

class BpeTokenizer final : public Tokenizer {
public:
  /// `merges` as makeBpeTokenizer checks them.
  BpeTokenizer(std::unique_ptr<Tokenizer> base, std::vector<Merge> merges);

  std::string_view kind() const override { return "bpe"; }
  int64_t size() const override { return base->size() + static_cast<int64_t>(mergeList.size()); }
  std::optional<int32_t> endId() const override { return base->endId(); }
  std::string_view bytesOf(int32_t id) const override;
  base::StatusOr<std::vector<int32_t>> encode(std::string_view text, std::string_view origin,
                                              uint64_t firstLine) const override;
  std::string describe() const override;
  std::span<const Merge> merges() const override { return mergeList; }
  std::string toJson() const override;

private:
  struct Rule {
    uint64_t pair; // left id in the upper half, right id in the lower
    int32_t id;    // what it becomes
  };
  int32_t mergedId(int32_t left, int32_t right) const; // -1 if the two do not merge
  std::unique_ptr<Tokenizer> base;
  std::vector<Merge> mergeList;
  std::vector<std::string> symbols; // of merges
  std::vector<Rule> rules;          // ascending by pair
};

} // namespace mekik::tokenizer

#endif
