// Reverse-mode differentiation of graph functions. It names no op: each op builds its own gradient out of graph ops
// (GradientOpInterface), so a gradient can be differentiated again.
#ifndef MEKIK_AUTODIFF_GRADIENT_H
#define MEKIK_AUTODIFF_GRADIENT_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"

namespace mekik::autodiff {

/// The gradient of `loss`, a floating-point scalar, with respect to each value of `wrt` (floating-point; all in the
/// block of `loss`), built at `builder`'s insertion point, which must come after `loss`. Each has the type of its
/// value. A value that does not influence the loss gets zeros; `reached`, if given, has one bit a value of `wrt` that
/// says whether it does.
///
/// Order of accumulation, part of the definition: the contributions to a value are added as the walk meets them, from
/// the last op of the block to the first, and within one op from its first operand to its last:
/// ((c_1 + c_2) + c_3) + ...
///
/// A composite op without a gradient of its own is replaced by its expansion first. An op on the way that has no
/// gradient at all is reported at its location, and the result is failure.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> buildGradient(mlir::OpBuilder &builder, mlir::Value loss,
                                                              llvm::ArrayRef<mlir::Value> wrt,
                                                              llvm::BitVector *reached = nullptr);

/// Erases ops of the block whose results nobody uses.
void eraseUnused(mlir::Block &block);

} // namespace mekik::autodiff

#endif
