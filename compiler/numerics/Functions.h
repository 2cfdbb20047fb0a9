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
Number expNonPositive(Arithmetic &arithmetic, Number x); ///< exp for x <= 0 and NaN: equal bits, less work
Number expm1(Arithmetic &arithmetic, Number x); ///< exp(x) - 1
Number log(Arithmetic &arithmetic, Number x);   ///< log(-0) = log(0) = -inf, negative gives NaN
Number log1p(Arithmetic &arithmetic, Number x); ///< log(1 + x)
Number tanh(Arithmetic &arithmetic, Number x);
Number erf(Arithmetic &arithmetic, Number x);
Number sin(Arithmetic &arithmetic, Number x); ///< radians, every finite argument; infinity gives NaN
Number cos(Arithmetic &arithmetic, Number x); ///< likewise

Number rsqrt(Arithmetic &arithmetic, Number x);    ///< 1 / sqrt(x): two correctly rounded operations
Number sigmoid(Arithmetic &arithmetic, Number x);  ///< 1 / (1 + exp(-x))
Number softplus(Arithmetic &arithmetic, Number x); ///< log(1 + exp(x)) as max(x, 0) + log1p(exp(-|x|))
/// (1 + erf(x / sqrt 2)) / 2, of which only the absolute error is small.
Number normalCdf(Arithmetic &arithmetic, Number x);

/// x to the power y; x and y of one type. As pow of C: pow(x, 0) = pow(1, y) = 1 even for NaN; a negative finite x
/// gives NaN unless y is an integer, and then the sign of x if y is odd; zeros and infinities likewise carry their sign
/// for odd y; pow(-1, +-inf) = 1.
Number pow(Arithmetic &arithmetic, Number x, Number y);

} // namespace mekik::numerics

#endif
