// Loops of kernels of kind columns: one fold over leading axes, each result element a chain in ascending order.
#ifndef MEKIK_LOWERING_EMIT_COLUMNS_H
#define MEKIK_LOWERING_EMIT_COLUMNS_H

#include "compiler/lowering/KernelEmitter.h"

namespace mekik::lowering {

/// Number of independent tiles; depends on shapes alone.
int64_t columnsTiles(mlir::func::FuncOp kernel);

/// Of the buffer of the result, as in EmitRows.h; of operands any part may be read.
int64_t columnsResultParts(mlir::func::FuncOp kernel);

/// Emits tiles [first, last) of `kernel` (still in tensor form) at the builder's insertion point.
void emitColumns(mlir::OpBuilder &builder, mlir::func::FuncOp kernel, mlir::ValueRange operands, mlir::ValueRange results,
                 mlir::Value first, mlir::Value last);

} // namespace mekik::lowering

#endif
