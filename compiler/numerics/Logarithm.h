// The cores of log that other definitions build on.
#ifndef MEKIK_NUMERICS_LOGARITHM_H
#define MEKIK_NUMERICS_LOGARITHM_H

#include "compiler/numerics/Expression.h"

namespace mekik::numerics {

/// x = 2^exponent (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), for x positive and finite; other values give some number,
/// never undefined behaviour.
struct SplitNumber {
  Expression f;
  Expression exponent; ///< of x's type
};
SplitNumber splitNumber(Expression x);

Expression logarithm(Expression x);
Expression logarithmOfOnePlus(Expression x);

} // namespace mekik::numerics

#endif
