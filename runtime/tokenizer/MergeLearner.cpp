// The sequences stand one behind the other in one list. A pair knows the places where it was last seen to begin; which
// of them still hold is found out when the pair is merged. Merging a pair can only lower the counts of pairs that exist
// and make new ones that contain the new id, so a count in the queue is never too small.
#include "runtime/tokenizer/MergeLearner.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace mekik::tokenizer {
namespace {

constexpr size_t none = ~size_t{0};

struct Pair {
  uint64_t count = 0;
  std::vector<size_t> places; // ascending
};

struct Entry {
  uint64_t count;
  int32_t left, right;
};

class Learner {
public:
  Learner(const Tokenizer &base, std::vector<Sequence> sequences) {
    for (int32_t id = 0; id < base.size(); ++id)
      symbols.emplace_back(base.bytesOf(id));
    for (Sequence &sequence : sequences) {
      starts.push_back(ids.size());
      weights.push_back(sequence.times);
      symbolsLeft += sequence.times * sequence.ids.size();
      for (size_t i = 0; i < sequence.ids.size(); ++i) {
        previous.push_back(i > 0 ? ids.size() - 1 : none);
        next.push_back(i + 1 < sequence.ids.size() ? ids.size() + 1 : none);
        ids.push_back(sequence.ids[i]);
      }
      sequence.ids = {};
    }
    for (size_t at = 0; at < ids.size(); ++at)
      if (next[at] != none)
        add(at, next[at], weightAt(at));
    for (const auto &[key, pair] : pairs)
      push(key, pair);
  }

  std::vector<LearnedMerge> learn(int64_t mergeCount) {
    std::vector<LearnedMerge> result;
    uint64_t bytes = 0;
    while (static_cast<int64_t>(result.size()) < mergeCount && !queue.empty()) {
      Entry best = queue.top();
      queue.pop();
      Pair &pair = pairs[keyOf(best.left, best.right)];
      if (pair.count != best.count) { // it was counted before later merges took some of it
        push(keyOf(best.left, best.right), pair);
        continue;
      }
      std::string symbol = symbols[static_cast<size_t>(best.left)] + symbols[static_cast<size_t>(best.right)];
      bytes += symbol.size();
      if (bytes > mostBytesOfMerges)
        break;
      symbols.push_back(std::move(symbol));
      merge(best, std::move(pair.places));
      result.push_back({{best.left, best.right}, best.count, symbolsLeft});
    }
    return result;
  }

private:
  static uint64_t keyOf(int32_t left, int32_t right) {
    return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
  }

  uint64_t weightAt(size_t at) const {
    return weights[static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), at) - starts.begin()) - 1];
  }

  void add(size_t at, size_t after, uint64_t weight) {
    Pair &pair = pairs[keyOf(ids[at], ids[after])];
    pair.count += weight;
    pair.places.push_back(at);
  }

  void remove(size_t at, size_t after, uint64_t weight) {
    auto found = pairs.find(keyOf(ids[at], ids[after]));
    found->second.count -= weight;
    if (found->second.count == 0)
      pairs.erase(found);
  }

  void push(uint64_t key, const Pair &pair) {
    if (pair.count >= 2)
      queue.push({pair.count, static_cast<int32_t>(key >> 32), static_cast<int32_t>(key)});
  }

  void merge(const Entry &best, std::vector<size_t> places) {
    auto made = static_cast<int32_t>(symbols.size() - 1);
    std::vector<uint64_t> fresh; // pairs with the new id
    auto join = [&](size_t at, size_t after, uint64_t weight) {
      fresh.push_back(keyOf(ids[at], ids[after]));
      add(at, after, weight);
    };
    for (size_t at : places) {
      size_t right = next[at];
      if (ids[at] != best.left || right == none || ids[right] != best.right)
        continue;
      size_t before = previous[at], after = next[right];
      uint64_t weight = weightAt(at);
      remove(at, right, weight);
      if (before != none)
        remove(before, at, weight);
      if (after != none)
        remove(right, after, weight);
      ids[at] = made;
      ids[right] = -1;
      next[at] = after;
      if (after != none)
        previous[after] = at;
      symbolsLeft -= weight;
      if (before != none)
        join(before, at, weight);
      if (after != none)
        join(at, after, weight);
    }
    std::sort(fresh.begin(), fresh.end());
    fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
    for (uint64_t key : fresh)
      if (auto found = pairs.find(key); found != pairs.end())
        push(key, found->second);
  }

  /// True if `a` comes after `b`.
  struct Later {
    const std::vector<std::string> &symbols;
    bool operator()(const Entry &a, const Entry &b) const {
      if (a.count != b.count)
        return a.count < b.count;
      auto compare = [&](int32_t one, int32_t other) {
        return symbols[static_cast<size_t>(one)].compare(symbols[static_cast<size_t>(other)]);
      };
      if (int left = compare(a.left, b.left))
        return left > 0;
      if (int right = compare(a.right, b.right))
        return right > 0;
      return a.left != b.left ? a.left > b.left : a.right > b.right;
    }
  };

  std::vector<std::string> symbols;   // by id
  std::vector<int32_t> ids;           // -1: part of the symbol before it
  std::vector<size_t> next, previous; // none at the ends of a sequence
  std::vector<size_t> starts;         // of sequences
  std::vector<uint64_t> weights;
  uint64_t symbolsLeft = 0;
  std::unordered_map<uint64_t, Pair> pairs;
  std::priority_queue<Entry, std::vector<Entry>, Later> queue{Later{symbols}};
};

} // namespace

std::vector<LearnedMerge> learnMerges(const Tokenizer &base, std::vector<Sequence> sequences, int64_t mergeCount) {
  return Learner(base, std::move(sequences)).learn(mergeCount);
}

} // namespace mekik::tokenizer
