// Reading the kind, and handing the learner what may be merged.
#include "runtime/data/LearnedTokenizer.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"

#include <map>

namespace mekik::data {

using base::concat;

base::StatusOr<std::optional<TokenizerKind>> parseTokenizerKind(std::string_view what, std::string_view text) {
  if (text == "characters" || text == "bytes")
    return TokenizerKind{.base = std::string(text)};
  TokenizerKind kind{.base = "bytes", .merges = true};
  std::string_view rest = text;
  for (std::string_view base : {"characters", "bytes"})
    if (rest.starts_with(concat(base, "+bpe"))) {
      kind.base = base;
      rest.remove_prefix(base.size() + 1);
    }
  if (!rest.starts_with("bpe") || (rest.size() > 3 && rest[3] != ':'))
    return std::optional<TokenizerKind>();
  std::string_view size = rest.size() > 3 ? rest.substr(4) : "";
  kind.sizeCountsMerges = size.starts_with('+');
  base::StatusOr<int64_t> number =
      base::parseInteger(what, size.substr(kind.sizeCountsMerges ? 1 : 0), 0, tokenizer::largestVocabulary);
  if (!number.ok())
    return base::invalidArgumentError(
        concat(what, ": expected a number of symbols up to ", tokenizer::largestVocabulary,
               ", as in bpe:512, or of merges, as in bpe:+256, got ", base::quoted(text)));
  kind.size = *number;
  return kind;
}

/// What stands side by side: the text, or each line; equal lines are counted and not kept.
static base::StatusOr<std::vector<tokenizer::Sequence>> sequencesOf(const tokenizer::Tokenizer &tokenizer,
                                                                    const Text &text, Layout layout) {
  std::vector<tokenizer::Sequence> sequences;
  if (layout == Layout::Stream) {
    MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> ids, tokenizer.encode(text.content(), text.origin()));
    sequences.push_back({std::move(ids)});
    return sequences;
  }
  std::map<std::string_view, size_t> known;
  for (const TextLine &line : text.lines()) {
    auto [place, isNew] = known.emplace(line.text, sequences.size());
    if (!isNew) {
      ++sequences[place->second].times;
      continue;
    }
    MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> ids, tokenizer.encode(line.text, text.origin(), line.number));
    sequences.push_back({std::move(ids)});
  }
  return sequences;
}

base::StatusOr<LearnedTokenizer> learnTokenizer(const TokenizerKind &kind, const Text &text, Layout layout,
                                                std::string_view end) {
  LearnedTokenizer result;
  MEKIK_ASSIGN_OR_RETURN(result.tokenizer, makeTokenizer(kind.base, text, layout, end));
  if (!kind.merges)
    return result;
  int64_t baseSize = result.tokenizer->size();
  result.mergesAskedFor = kind.sizeCountsMerges ? kind.size : kind.size - baseSize;
  if (result.mergesAskedFor < 0 || baseSize + result.mergesAskedFor > tokenizer::largestVocabulary)
    return base::invalidArgumentError(concat("--tokenizer: expected a number of symbols from ", baseSize,
                                             " (there are ", result.tokenizer->describe(), " to begin with) to ",
                                             tokenizer::largestVocabulary, ", got ", baseSize + result.mergesAskedFor));
  MEKIK_ASSIGN_OR_RETURN(std::vector<tokenizer::Sequence> sequences, sequencesOf(*result.tokenizer, text, layout));
  uint64_t ends = layout == Layout::Lines ? text.lines().size() : 0;
  result.merges = tokenizer::learnMerges(*result.tokenizer, std::move(sequences), result.mergesAskedFor);
  std::vector<tokenizer::Merge> merges;
  for (tokenizer::LearnedMerge &learned : result.merges) {
    learned.symbolsLeft += ends;
    merges.push_back(learned.merge);
  }
  MEKIK_ASSIGN_OR_RETURN(result.tokenizer,
                         tokenizer::makeBpeTokenizer(std::move(result.tokenizer), std::move(merges), text.origin()));
  return result;
}

} // namespace mekik::data
