// What `form-kernels` does to a function before it is cut into kernels: ops are rewritten such that each value that
// crosses from kernel to kernel is one that deserves a buffer. No value of the function changes in any bit.
#ifndef MEKIK_FUSION_PREPARE_FUNCTION_H
#define MEKIK_FUSION_PREPARE_FUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mekik::fusion {

/// True for an integer that a kernel of its own reads: it stays a constant of the function, which reaches the kernel as
/// an immediate, so that kernels which differ in the number alone are one.
bool isImmediate(mlir::OpOperand &operand);

/// Folds over several trailing axes become folds over one; what is cheap is computed where it is read; operands of
/// contractions and results of the function have buffers. A value of `largeBytes` or more may be computed twice to
/// spare its buffer.
void prepareFunction(mlir::func::FuncOp function, int64_t largeBytes);

} // namespace mekik::fusion

#endif
