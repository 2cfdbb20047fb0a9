#include "compiler/numerics/References.h"

#include "compiler/numerics/Functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mekik::numerics {

namespace {

template <typename Float> Float sigmoidReference(Float x) {
  Float e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

template <typename Float> Float softplusReference(Float x) {
  return std::fmax(x, Float(0)) + std::log1p(std::exp(-std::fabs(x)));
}

template <typename Float> Float rsqrtReference(Float x) { return 1 / std::sqrt(x); }

template <typename Got, typename Want> double measure(Got got, Want want, int minimumExponent, int fractionBits) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(want))
    return std::isnan(got) && std::isnan(want) ? 0 : infinity;
  const Want pastRange = std::ldexp(Want(1), 2 - minimumExponent);
  if (std::fabs(want) >= pastRange)
    return std::isinf(got) && std::signbit(got) == std::signbit(want) ? 0 : infinity;
  Want value = std::isinf(got) ? std::copysign(pastRange, Want(got)) : Want(got);
  int exponent = want == 0 ? minimumExponent : std::max(std::ilogb(want), minimumExponent);
  return static_cast<double>(std::ldexp(std::fabs(value - want), fractionBits - exponent));
}

} // namespace

double ulpError(float got, double want) { return measure(got, want, -126, 23); }
double ulpError(double got, long double want) { return measure(got, want, -1022, 52); }

#define MEKIK_REFERENCE(name, reference)                                                                               \
  {                                                                                                                    \
#name, name,                                                                                                       \
        [](double x) -> double { return reference(x); }, [](long double x) -> long double { return reference(x); }     \
  }

const std::vector<FunctionReference> &functionReferences() {
  static const std::vector<FunctionReference> references = {
      MEKIK_REFERENCE(exp, std::exp),
      MEKIK_REFERENCE(log, std::log),
      MEKIK_REFERENCE(tanh, std::tanh),
      MEKIK_REFERENCE(erf, std::erf),
      MEKIK_REFERENCE(expm1, std::expm1),
      MEKIK_REFERENCE(log1p, std::log1p),
      MEKIK_REFERENCE(softplus, softplusReference),
      MEKIK_REFERENCE(sigmoid, sigmoidReference),
      MEKIK_REFERENCE(sin, std::sin),
      MEKIK_REFERENCE(cos, std::cos),
      MEKIK_REFERENCE(rsqrt, rsqrtReference),
  };
  return references;
}

} // namespace mekik::numerics
