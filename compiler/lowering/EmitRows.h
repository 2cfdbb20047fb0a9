// Loops of kernels of kind rows: element ops over one shape, with folds of the last axis between them.
#ifndef MEKIK_LOWERING_EMIT_ROWS_H
#define MEKIK_LOWERING_EMIT_ROWS_H

#include "compiler/lowering/KernelEmitter.h"
#include "compiler/lowering/Target.h"

namespace mekik::lowering {

/// Number of independent tiles; depends on shapes and the target alone.
int64_t rowsTiles(mlir::func::FuncOp kernel, const Target &target);

/// Of the buffer of each operand and result: the number of equal parts of which the tiles touch one each, in their order
/// (MekikBuffer::parts).
llvm::SmallVector<int64_t> rowsParts(mlir::func::FuncOp kernel, const Target &target);

/// Emits tiles [first, last) of `kernel` (still in tensor form) at the builder's insertion point.
void emitRows(mlir::OpBuilder &builder, mlir::func::FuncOp kernel, mlir::ValueRange operands, mlir::ValueRange results,
              mlir::Value first, mlir::Value last, const Target &target);

} // namespace mekik::lowering

#endif
