// Reduction of an angle to the nearest quarter turn, for sin and cos.
#ifndef MEKIK_NUMERICS_TURNREDUCTION_H
#define MEKIK_NUMERICS_TURNREDUCTION_H

#include "compiler/numerics/Expression.h"

namespace mekik::numerics {

/// x = (4 k + quadrant) pi/2 + angle + tail, |angle| a little over pi/4 at most.
struct TurnFraction {
  Expression quadrant; ///< integer of x's width; only the low two bits mean something
  Expression angle;
  Expression tail; ///< zero in F32
};

/// x >= 0 or NaN; an infinite x gives angle NaN.
TurnFraction reduceSingle(Expression x);
TurnFraction reduceDouble(Expression x);

} // namespace mekik::numerics

#endif
