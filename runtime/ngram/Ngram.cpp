// All places of the text sorted by what stands before them: equal contexts lie side by side, and within them the
// symbols that follow. No table of all possible contexts is needed, whatever the order.
#include "runtime/ngram/Ngram.h"
#include "runtime/sample/Log.h"

#include <algorithm>

namespace mekik::ngram {

Ngram::Ngram(std::vector<int32_t> ids, std::optional<int32_t> end, int64_t vocabulary, int64_t order, uint64_t times)
    : text(std::move(ids)), end(end), vocabulary(vocabulary), length(order - 1) {
  std::vector<size_t> places;
  for (size_t at = 1; at < text.size(); ++at)
    places.push_back(at);
  predicted = places.size() * times;
  std::sort(places.begin(), places.end(), [&](size_t a, size_t b) {
    int order = compare(text, a, text, b);
    return order != 0 ? order < 0 : text[a] < text[b];
  });
  for (size_t i = 0; i < places.size(); ++i) {
    bool isNew = i == 0 || compare(text, places[i - 1], text, places[i]) != 0;
    if (isNew)
      contexts.push_back({places[i], entries.size(), 0});
    if (isNew || entries.back().id != text[places[i]])
      entries.push_back({text[places[i]], 0});
    entries.back().count += times;
    contexts.back().total += times;
  }
}

int32_t Ngram::before(std::span<const int32_t> ids, size_t at, size_t back, bool &ended) const {
  if (ended || back > at)
    return end.value_or(-1);
  int32_t id = ids[at - back];
  ended = id == end;
  return id;
}

int Ngram::compare(std::span<const int32_t> a, size_t atA, std::span<const int32_t> b, size_t atB) const {
  bool endedA = false, endedB = false;
  for (size_t back = 1; back <= static_cast<size_t>(length); ++back) {
    int32_t idA = before(a, atA, back, endedA), idB = before(b, atB, back, endedB);
    if (idA != idB)
      return idA < idB ? -1 : 1;
    if ((endedA || back > atA) && (endedB || back > atB))
      return 0; // nothing but the same from here on
  }
  return 0;
}

size_t Ngram::find(std::span<const int32_t> ids, size_t at) const {
  auto found = std::lower_bound(contexts.begin(), contexts.end(), at, [&](const Context &context, size_t wanted) {
    return compare(text, context.place, ids, wanted) < 0;
  });
  if (found == contexts.end() || compare(text, found->place, ids, at) != 0)
    return contexts.size();
  return static_cast<size_t>(found - contexts.begin());
}

std::span<const Ngram::Entry> Ngram::entriesOf(size_t context) const {
  if (context == contexts.size())
    return {};
  size_t first = contexts[context].firstEntry;
  size_t last = context + 1 < contexts.size() ? contexts[context + 1].firstEntry : entries.size();
  return std::span(entries).subspan(first, last - first);
}

std::span<const Ngram::Entry> Ngram::following(std::span<const int32_t> ids) const {
  return entriesOf(find(ids, ids.size()));
}

std::vector<double> Ngram::probabilities(std::span<const int32_t> ids, double smoothing) const {
  size_t context = find(ids, ids.size());
  double total = context < contexts.size() ? static_cast<double>(contexts[context].total) : 0;
  total += smoothing * static_cast<double>(vocabulary);
  std::vector<double> result(static_cast<size_t>(vocabulary), total > 0 ? smoothing / total : 0);
  for (const Entry &entry : entriesOf(context))
    result[static_cast<size_t>(entry.id)] = (static_cast<double>(entry.count) + smoothing) / total;
  return result;
}

Loss Ngram::loss(std::span<const int32_t> ids, double smoothing, const Places &places) const {
  Loss result;
  double sum = 0;
  for (size_t at = places.first; at < ids.size() && result.symbols < places.count; at += places.step) {
    size_t context = find(ids, at);
    double total = context < contexts.size() ? static_cast<double>(contexts[context].total) : 0, seen = 0;
    std::span<const Entry> list = entriesOf(context);
    auto entry =
        std::lower_bound(list.begin(), list.end(), ids[at], [](const Entry &e, int32_t id) { return e.id < id; });
    if (entry != list.end() && entry->id == ids[at])
      seen = static_cast<double>(entry->count);
    ++result.symbols;
    if (seen + smoothing > 0)
      sum -= sample::portableLog((seen + smoothing) / (total + smoothing * static_cast<double>(vocabulary)));
    else
      ++result.impossible;
  }
  result.mean = result.impossible > 0 ? std::numeric_limits<double>::infinity()
                : result.symbols > 0  ? sum / static_cast<double>(result.symbols)
                                      : 0;
  return result;
}

} // namespace mekik::ngram
