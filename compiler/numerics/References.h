// What the functions of one argument are judged against: the C library in higher precision, and the measure of error.
// Used by tests and by mekik-ulp; never part of a compiled model.
#ifndef MEKIK_NUMERICS_REFERENCES_H
#define MEKIK_NUMERICS_REFERENCES_H

#include "compiler/numerics/Arithmetic.h"

#include <string>
#include <vector>

namespace mekik::numerics {

struct FunctionReference {
  std::string name;
  Number (*definition)(Arithmetic &, Number);
  double (*forSingle)(double);           ///< right to well below an f32 ulp
  long double (*forDouble)(long double); ///< right to well below an f64 ulp
};

/// Every function of Functions.h that takes one argument.
const std::vector<FunctionReference> &functionReferences();

/// |got - want| in units of the last place of the format at `want` (of the smallest normal below it). 0 if both are NaN
/// or equal infinities, infinity if only one is NaN. An infinite `got` counts as the first number past the range.
double ulpError(float got, double want);
double ulpError(double got, long double want);

} // namespace mekik::numerics

#endif
