// Merging pairs of ids, the earliest learned merge first and each from left to right.
#include "runtime/tokenizer/BpeTokenizer.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"

#include <algorithm>

namespace mekik::tokenizer {

using base::concat;

static uint64_t pairOf(int32_t left, int32_t right) {
  return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
}

BpeTokenizer::BpeTokenizer(std::unique_ptr<Tokenizer> base, std::vector<Merge> merges)
    : base(std::move(base)), mergeList(std::move(merges)) {
  auto id = static_cast<int32_t>(this->base->size());
  for (const Merge &merge : mergeList) {
    symbols.push_back(concat(bytesOf(merge.left), bytesOf(merge.right)));
    rules.push_back({pairOf(merge.left, merge.right), id++});
  }
  std::sort(rules.begin(), rules.end(), [](const Rule &a, const Rule &b) { return a.pair < b.pair; });
}

std::string_view BpeTokenizer::bytesOf(int32_t id) const {
  auto first = static_cast<int32_t>(base->size());
  return id < first ? base->bytesOf(id) : std::string_view(symbols[static_cast<size_t>(id - first)]);
}

int32_t BpeTokenizer::mergedId(int32_t left, int32_t right) const {
  uint64_t pair = pairOf(left, right);
  auto found = std::lower_bound(rules.begin(), rules.end(), pair,
                                [](const Rule &rule, uint64_t key) { return rule.pair < key; });
  return found != rules.end() && found->pair == pair ? found->id : -1;
}

base::StatusOr<std::vector<int32_t>> BpeTokenizer::encode(std::string_view text, std::string_view origin,
                                                          uint64_t firstLine) const {
  MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> ids, base->encode(text, origin, firstLine));
  // A list of what is left, linked both ways: the merged id takes the place of its left part.
  const size_t count = ids.size();
  std::vector<size_t> next(count), previous(count);
  // A merge that could be made. The smallest is the next to be made: its parts were there before it, so whatever it
  // leads to has a larger id.
  struct Candidate {
    int32_t id;
    size_t at;
    int32_t left, right;
    bool operator<(const Candidate &other) const { return id != other.id ? id > other.id : at > other.at; }
  };
  std::vector<Candidate> candidates;
  auto consider = [&](size_t at, size_t after) {
    if (int32_t id = mergedId(ids[at], ids[after]); id >= 0) {
      candidates.push_back({id, at, ids[at], ids[after]});
      std::push_heap(candidates.begin(), candidates.end());
    }
  };
  for (size_t i = 0; i < count; ++i) {
    next[i] = i + 1;
    previous[i] = i - 1;
    if (i > 0)
      consider(i - 1, i);
  }
  while (!candidates.empty()) {
    std::pop_heap(candidates.begin(), candidates.end());
    Candidate candidate = candidates.back();
    candidates.pop_back();
    size_t at = candidate.at, right = next[at];
    // One of the two may have become part of something else meanwhile.
    if (ids[at] != candidate.left || right >= count || ids[right] != candidate.right)
      continue;
    ids[at] = candidate.id;
    ids[right] = -1;
    next[at] = next[right];
    if (next[at] < count) {
      previous[next[at]] = at;
      consider(at, next[at]);
    }
    if (at > 0)
      consider(previous[at], at);
  }
  std::erase(ids, -1);
  return ids;
}

std::string BpeTokenizer::describe() const {
  return concat(size(), " symbols, ", mergeList.size(), " of them merged from ", base->describe());
}

std::string BpeTokenizer::toJson() const {
  std::string text = concat("{\"kind\":\"bpe\",\"base\":", base->toJson(), ",\"merges\":[");
  for (size_t i = 0; i < mergeList.size(); ++i)
    base::append(text, i > 0 ? ",[" : "[", mergeList[i].left, ",", mergeList[i].right, "]");
  return text + "]}";
}

base::StatusOr<std::unique_ptr<Tokenizer>> makeBpeTokenizer(std::unique_ptr<Tokenizer> base, std::vector<Merge> merges,
                                                            std::string_view origin) {
  auto refuse = [&](size_t number, std::string_view message) {
    return base::invalidArgumentError(concat(origin, ": merge ", number + 1, ": ", message));
  };
  if (base->size() + static_cast<int64_t>(merges.size()) > largestVocabulary)
    return base::invalidArgumentError(concat(origin, ": expected at most ", largestVocabulary, " symbols, found ",
                                             base->size() + static_cast<int64_t>(merges.size())));
  std::vector<uint64_t> lengths, pairs;
  for (int32_t id = 0; id < base->size(); ++id)
    lengths.push_back(base->bytesOf(id).size());
  uint64_t together = 0;
  for (size_t i = 0; i < merges.size(); ++i) {
    for (int32_t id : {merges[i].left, merges[i].right}) {
      if (id < 0 || static_cast<size_t>(id) >= lengths.size())
        return refuse(i, concat("expected ids from 0 to ", lengths.size() - 1, ", found ", id));
      if (id == base->endId())
        return refuse(i, concat("id ", id, " stands between examples and cannot be merged"));
    }
    lengths.push_back(lengths[static_cast<size_t>(merges[i].left)] + lengths[static_cast<size_t>(merges[i].right)]);
    together += lengths.back();
    if (together > mostBytesOfMerges)
      return refuse(i, concat("the symbols up to here take more than ", mostBytesOfMerges, " bytes"));
    pairs.push_back(pairOf(merges[i].left, merges[i].right));
  }
  std::sort(pairs.begin(), pairs.end());
  if (auto twice = std::adjacent_find(pairs.begin(), pairs.end()); twice != pairs.end())
    return base::invalidArgumentError(concat(origin, ": merges: the pair of ", *twice >> 32, " and ",
                                             static_cast<uint32_t>(*twice), " occurs twice"));
  return std::unique_ptr<Tokenizer>(std::make_unique<BpeTokenizer>(std::move(base), std::move(merges)));
}

} // namespace mekik::tokenizer
