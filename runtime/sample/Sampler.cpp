#include "runtime/sample/Sampler.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include "runtime/base/Random.h"
#include "runtime/sample/Exp.h"
#include <algorithm>
#include <limits>
#include <numeric>

namespace mekik::sample {
namespace {

using base::concat;
using base::Status;
using base::StatusOr;

constexpr double infinity = std::numeric_limits<double>::infinity();
// Division by a smaller temperature could overflow, and no two different logits are drawn both at this one.
constexpr double coldest = 1e-20;

void normalize(std::vector<double> &weights) {
  double sum = 0.0;
  for (double weight : weights)
    sum += weight;
  for (double &weight : weights)
    weight /= sum;
}

} // namespace

Status checkSamplerOptions(const SamplerOptions &options) {
  // Comparisons are written so that NaN fails them.
  if (!(options.temperature >= 0.0 && options.temperature < infinity))
    return base::invalidArgumentError(
        concat("--temperature: expected a number of at least 0, got ", base::formatNumber(options.temperature)));
  if (options.topK < 0)
    return base::invalidArgumentError(
        concat("--top-k: expected a whole number of at least 0 (0 is off), got ", options.topK));
  if (!(options.topP >= 0.0 && options.topP <= 1.0))
    return base::invalidArgumentError(
        concat("--top-p: expected a number from 0 to 1, got ", base::formatNumber(options.topP)));
  return {};
}

StatusOr<std::vector<double>> probabilities(std::span<const double> logits, const SamplerOptions &options) {
  MEKIK_RETURN_IF_ERROR(checkSamplerOptions(options));
  size_t best = logits.size();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] < infinity))
      return base::outOfRangeError(concat("the model's logit for id ", i, " is ", base::formatNumber(logits[i]),
                                          "; its parameters are damaged or training diverged"));
    if (logits[i] > -infinity && (best == logits.size() || logits[i] > logits[best]))
      best = i;
  }
  if (best == logits.size())
    return base::outOfRangeError("every logit of the model is -inf: no id can be drawn");

  std::vector<double> result(logits.size(), 0.0);
  if (options.temperature < coldest) {
    result[best] = 1.0;
    return result;
  }
  std::vector<size_t> order(logits.size());
  std::iota(order.begin(), order.end(), size_t{0});
  bool filtered = options.topK > 0 || options.topP < 1.0;
  if (filtered)
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  size_t kept = order.size();
  if (options.topK > 0 && static_cast<uint64_t>(options.topK) < kept)
    kept = static_cast<size_t>(options.topK);
  for (size_t i = 0; i < kept; ++i)
    result[order[i]] = portableExp((logits[order[i]] - logits[best]) / options.temperature);
  normalize(result);
  if (options.topP < 1.0) {
    double sum = 0.0;
    size_t prefix = 0;
    do
      sum += result[order[prefix++]];
    while (prefix < kept && sum < options.topP);
    for (size_t i = prefix; i < kept; ++i)
      result[order[i]] = 0.0;
    normalize(result);
  }
  return result;
}

int32_t draw(std::span<const double> probabilities, double uniform) {
  double sum = 0.0;
  int32_t last = 0;
  for (size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] == 0.0)
      continue;
    last = static_cast<int32_t>(i);
    sum += probabilities[i];
    if (uniform < sum)
      break;
  }
  return last;
}

StatusOr<int32_t> nextId(std::span<const double> logits, const SamplerOptions &options, uint64_t seed, uint32_t sample,
                         uint64_t position) {
  MEKIK_ASSIGN_OR_RETURN(std::vector<double> chances, probabilities(logits, options));
  return draw(chances, base::uniformDouble(seed, MEKIK_STREAM_SAMPLE, sample, position));
}

} // namespace mekik::sample
