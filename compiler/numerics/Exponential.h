// The core that exp and everything built on it share.
#ifndef MEKIK_NUMERICS_EXPONENTIAL_H
#define MEKIK_NUMERICS_EXPONENTIAL_H

#include "compiler/numerics/Expression.h"

namespace mekik::numerics {

/// exp(x) for x from below the underflow threshold to above the overflow threshold; clamps whatever lies outside.
Expression exponential(Expression x);
/// The same for x <= 0 or NaN.
Expression exponentialOfNonPositive(Expression x);
/// The same for x whose result is a normal number (in F32 -87 <= x <= 88, in F64 -708 <= x <= 709) or NaN.
Expression exponentialOfModerate(Expression x);
/// exp(x + tail) for a tail of the size of x's rounding error.
Expression exponentialOfSum(Expression x, Expression tail);

} // namespace mekik::numerics

#endif
