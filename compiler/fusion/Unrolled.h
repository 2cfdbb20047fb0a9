// What loops that were unrolled leave behind: one slice, one padded gradient, one operand of a concat for every round,
// each at another place. As they stand every one would be a kernel of its own, since the place is part of it.
#ifndef MEKIK_FUSION_UNROLLED_H
#define MEKIK_FUSION_UNROLLED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mekik::fusion {

/// Rewrites them in steps of a few places, so that the kernels of n rounds are some logarithm of n different ones. Only
/// moves elements: every bit stays.
void shareUnrolled(mlir::func::FuncOp function);

} // namespace mekik::fusion

#endif
