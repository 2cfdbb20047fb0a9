// From logits to the next id: temperature, then top-k, then top-p, then a draw by inverse distribution function.
// Probabilities are computed in double precision from the logits of either precision; the draw takes its number from
// the seed, the sample and the position alone, so a sample does not depend on the samples before it.
#ifndef MEKIK_RUNTIME_SAMPLE_SAMPLER_H
#define MEKIK_RUNTIME_SAMPLE_SAMPLER_H

#include "runtime/base/Status.h"
#include <cstdint>
#include <span>
#include <vector>

namespace mekik::sample {

struct SamplerOptions {
  /// Logits are divided by it. 0, and everything below 1e-20, takes the largest logit.
  double temperature = 1.0;
  /// Only the k most probable ids; 0 is off, more than there are ids is all of them.
  int64_t topK = 0;
  /// Only the smallest set of most probable ids whose probabilities reach p, at least one id; 1 is off.
  double topP = 1.0;
};

/// InvalidArgument naming the option: a temperature that is negative or not finite, a negative top-k, a top-p outside
/// [0, 1].
base::Status checkSamplerOptions(const SamplerOptions &options);

/// The probability of every id, in id order, 0 for those left out. Order of preference among equal logits: the lower
/// id. Errors: checkSamplerOptions; OutOfRange for a NaN or +inf logit, or none above -inf.
base::StatusOr<std::vector<double>> probabilities(std::span<const double> logits, const SamplerOptions &options);

/// The first id whose cumulative probability, in id order, is above `uniform` in [0, 1); the last id of non-zero
/// probability if rounding leaves the sum below it.
int32_t draw(std::span<const double> probabilities, double uniform);

/// probabilities and draw with the number that belongs to (seed, sample, position).
base::StatusOr<int32_t> nextId(std::span<const double> logits, const SamplerOptions &options, uint64_t seed,
                               uint32_t sample, uint64_t position);

} // namespace mekik::sample

#endif
