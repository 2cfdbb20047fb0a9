// The most probable next symbols, in the order in which people read them.
#ifndef MEKIK_RUNTIME_SAMPLE_NEXTSYMBOLS_H
#define MEKIK_RUNTIME_SAMPLE_NEXTSYMBOLS_H

#include <cstdint>
#include <span>
#include <vector>

namespace mekik::sample {

struct NextSymbol {
  int32_t id;
  double probability;
};

/// At most `most` symbols (0: all) whose probability is not 0, the most probable first; among equals the lower id.
std::vector<NextSymbol> mostProbable(std::span<const double> probabilities, int64_t most);

} // namespace mekik::sample

#endif
