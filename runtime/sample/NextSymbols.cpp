#include "runtime/sample/NextSymbols.h"

#include <algorithm>

namespace mekik::sample {

std::vector<NextSymbol> mostProbable(std::span<const double> probabilities, int64_t most) {
  std::vector<NextSymbol> result;
  for (size_t id = 0; id < probabilities.size(); ++id)
    if (probabilities[id] > 0)
      result.push_back({static_cast<int32_t>(id), probabilities[id]});
  std::sort(result.begin(), result.end(), [](const NextSymbol &a, const NextSymbol &b) {
    return a.probability != b.probability ? a.probability > b.probability : a.id < b.id;
  });
  if (most > 0 && static_cast<uint64_t>(most) < result.size())
    result.resize(static_cast<size_t>(most));
  return result;
}

} // namespace mekik::sample
