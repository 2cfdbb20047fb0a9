// Learns the merges of a byte-pair encoding from a text. One rule decides everything, so the same text gives the same
// merges everywhere:
//
//   Each round counts every two symbols that stand side by side (`aaa` counts `aa` twice) and merges the pair with the
//   highest count, from left to right and without overlap. Among equal counts the pair whose left symbol is smaller in
//   byte order is taken, then the one whose right symbol is; then the smaller ids. Learning ends after the number of
//   merges asked for, or when no pair occurs twice, or at mostBytesOfMerges.
//
// Kept apart from BpeTokenizer because programs that only use an encoding need none of it.
#ifndef MEKIK_RUNTIME_TOKENIZER_MERGELEARNER_H
#define MEKIK_RUNTIME_TOKENIZER_MERGELEARNER_H

#include "runtime/tokenizer/Tokenizer.h"

namespace mekik::tokenizer {

/// Ids that stand side by side; no pair reaches from one sequence into another.
struct Sequence {
  std::vector<int32_t> ids;
  uint64_t times = 1; // how often this very sequence occurs
};

struct LearnedMerge {
  Merge merge;
  uint64_t count;       // how often the pair stood in the text
  uint64_t symbolsLeft; // of all sequences, after this merge
};

/// `sequences` hold ids of `base` and never its end id. Fewer merges than asked for if the text has no more.
std::vector<LearnedMerge> learnMerges(const Tokenizer &base, std::vector<Sequence> sequences, int64_t mergeCount);

} // namespace mekik::tokenizer

#endif
