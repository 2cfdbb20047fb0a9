// Work on the kernels of a module, in the threads of its context.
#ifndef MEKIK_LOWERING_EACH_KERNEL_H
#define MEKIK_LOWERING_EACH_KERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mekik::lowering {

/// Calls `work` for every kernel of `module` and puts what `work` leaves where the kernel stood. Meanwhile each kernel
/// is alone in a module, so that `work` may put others beside it or in its place; calls run at the same time and may
/// change nothing else. Failure if one call failed; the module holds all that is left of the kernels then as well.
llvm::LogicalResult forEachKernel(mlir::ModuleOp module,
                                  llvm::function_ref<llvm::LogicalResult(mlir::func::FuncOp)> work);

} // namespace mekik::lowering

#endif
