// Making any kind of tokenizer for a text, the kinds included that learn merges from it. The command line uses this;
// compiled programs bring their tokenizer along and link none of it.
#ifndef MEKIK_RUNTIME_DATA_LEARNEDTOKENIZER_H
#define MEKIK_RUNTIME_DATA_LEARNEDTOKENIZER_H

#include "runtime/data/TextData.h"
#include "runtime/tokenizer/MergeLearner.h"

namespace mekik::data {

/// "characters", "bytes", "bpe:SIZE" (merges of bytes, as GPT-2 has them) or "characters+bpe:SIZE". SIZE is the number
/// of symbols in all, "+N" the number of merges.
struct TokenizerKind {
  std::string base = "characters"; // or "bytes"
  bool merges = false;
  bool sizeCountsMerges = false;
  int64_t size = 0;
};

/// Empty if `text` is not of that form at all (a file's name, perhaps). Errors: a size that is missing or out of range.
base::StatusOr<std::optional<TokenizerKind>> parseTokenizerKind(std::string_view what, std::string_view text);

struct LearnedTokenizer {
  std::unique_ptr<tokenizer::Tokenizer> tokenizer;
  std::vector<tokenizer::LearnedMerge> merges; // symbolsLeft counts the ends of lines too
  int64_t mergesAskedFor = 0;                  // more than there are if the text had no more pairs
};

/// Learns from the whole text, what validates included, as the table of characters does. Errors as of makeTokenizer; a
/// size below that of the base.
base::StatusOr<LearnedTokenizer> learnTokenizer(const TokenizerKind &kind, const Text &text, Layout layout,
                                                std::string_view end = ".");

} // namespace mekik::data

#endif
