// The elementary functions of the numerics contract, each defined once over Arithmetic: the evaluator computes with
// them, the lowering emits them. Every function is free of branches (it selects), so that sixteen lanes go at once, and
// uses only + - * / fma sqrt, integer operations, comparisons, selects, bit casts and conversions.
//
// Arguments are F32 or F64; the result has the argument's type. All of them take every value: NaN gives NaN,
// infinities, zeros of either sign and denormals give what IEEE 754-2019 and C's <math.h> say unless stated here.
// Errors are in docs/numerics.md: within 2 ulp in F32, within 4 ulp in F64.
#ifndef MEKIK_NUMERICS_FUNCTIONS_H
#define MEKIK_NUMERICS_FUNCTIONS_H

#include "compiler/numerics/Arithmetic.h"

namespace mekik::numerics {

Number exp(Arithmetic &arithmetic, Number x);
Number log(Arithmetic &arithmetic, Number x); ///< log(-0) = log(0) = -inf, negative gives NaN
Number tanh(Arithmetic &arithmetic, Number x);
Number rsqrt(Arithmetic &arithmetic, Number x);   ///< 1 / sqrt(x): two correctly rounded operations
Number sigmoid(Arithmetic &arithmetic, Number x); ///< 1 / (1 + exp(-x))

} // namespace mekik::numerics

#endif
