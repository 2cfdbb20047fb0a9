// A language model by counting: which symbols follow the last order - 1 symbols, and how often. Nothing is trained; it
// is what a trained model has to beat.
//
// Texts are streams as training sees them (data::TextData): END line END ... END, or one text without ends. The first
// symbol is given, every other one is predicted. A context does not reach over the start of a line: where it would, it
// holds END again and again. At the start of a text without ends it holds a mark that no symbol has.
#ifndef MEKIK_RUNTIME_NGRAM_NGRAM_H
#define MEKIK_RUNTIME_NGRAM_NGRAM_H

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace mekik::ngram {

constexpr int64_t largestOrder = 1000;

struct Loss {
  /// Mean of -ln p over the predicted symbols, in nats; infinite if one of them has probability 0.
  double mean = 0;
  uint64_t symbols = 0;
  uint64_t impossible = 0; // predicted symbols of probability 0
};

/// Which symbols of a text are predicted: `first`, `first + step`, ..., at most `count` of them.
struct Places {
  size_t first = 1, step = 1;
  size_t count = std::numeric_limits<size_t>::max();
};

class Ngram {
public:
  struct Entry {
    int32_t id;
    uint64_t count;
  };

  /// `order` 1 .. largestOrder; ids below `vocabulary`; `end` as the tokenizer has it. The text counts as if it
  /// occurred `times` times.
  Ngram(std::vector<int32_t> text, std::optional<int32_t> end, int64_t vocabulary, int64_t order, uint64_t times = 1);

  int64_t order() const { return length + 1; }
  uint64_t contextCount() const { return contexts.size(); }
  /// Different sequences of `order` symbols.
  uint64_t entryCount() const { return entries.size(); }
  uint64_t symbolCount() const { return predicted; }

  /// What follows the end of `ids`, ascending by id; empty if that context never occurred before a symbol.
  std::span<const Entry> following(std::span<const int32_t> ids) const;
  /// (count + smoothing) / (sum of counts + smoothing * vocabulary) for every id. Without smoothing, a context that
  /// never occurred gives all zeros; with it, all ids alike.
  std::vector<double> probabilities(std::span<const int32_t> ids, double smoothing) const;

  /// Loss on those symbols of `ids`; all but the first unless told otherwise.
  Loss loss(std::span<const int32_t> ids, double smoothing, const Places &places = {}) const;

private:
  struct Context {
    size_t place; // of a symbol in `text` that it precedes
    size_t firstEntry;
    uint64_t total;
  };
  /// The symbol `back` places before `at`, or what stands for it; `ended` is kept while walking backwards.
  int32_t before(std::span<const int32_t> ids, size_t at, size_t back, bool &ended) const;
  /// Less, equal, greater: -1, 0, 1.
  int compare(std::span<const int32_t> a, size_t atA, std::span<const int32_t> b, size_t atB) const;
  /// The context of what stands at `at` or would; contextCount() if it never occurred.
  size_t find(std::span<const int32_t> ids, size_t at) const;
  std::span<const Entry> entriesOf(size_t context) const;

  std::vector<int32_t> text;
  std::optional<int32_t> end;
  int64_t vocabulary, length; // of contexts
  uint64_t predicted = 0;
  std::vector<Context> contexts; // ascending
  std::vector<Entry> entries;
};

} // namespace mekik::ngram

#endif
