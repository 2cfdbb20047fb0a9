// Philox4x32-10 through Arithmetic: the words of runtime/abi/MekikPhilox.h, in code that is emitted for sixteen
// counters at once.
#ifndef MEKIK_NUMERICS_PHILOX_H
#define MEKIK_NUMERICS_PHILOX_H

#include "compiler/numerics/Arithmetic.h"

#include <array>

namespace mekik::numerics {

/// The four output words of each counter; all are I32, the key words may be scalars beside counters that are vectors.
std::array<Number, 4> philox(Arithmetic &arithmetic, std::array<Number, 4> counter, Number key0, Number key1);

/// Uniform in [0, 1), a multiple of 2^-24, out of 32 random bits (I32); `type` is F32 or F64, exact in both.
Number uniform(Arithmetic &arithmetic, Number bits, ElementType type);

} // namespace mekik::numerics

#endif
