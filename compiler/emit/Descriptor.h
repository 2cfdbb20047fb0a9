// The model descriptor of runtime/abi/MekikAbi.h, as constants of the object.
#ifndef MEKIK_EMIT_DESCRIPTOR_H
#define MEKIK_EMIT_DESCRIPTOR_H

#include "absl/status/status.h"
#include "compiler/lowering/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

namespace mekik::emit {

/// True if the module has schedules, which is what a descriptor describes.
bool hasDescriptor(mlir::ModuleOp module);

/// Adds `mekik_model` to `ir`, with everything it points to: tensors, functions and dispatches from the schedules of
/// `module`, kernels by name (declared, if they are elsewhere). InvalidArgument names what a schedule lacks.
absl::Status addDescriptor(mlir::ModuleOp module, const lowering::Target &target, llvm::Module &ir);

} // namespace mekik::emit

#endif
