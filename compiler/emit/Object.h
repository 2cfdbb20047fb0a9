// Machine code: a module of the LLVM dialect to LLVM IR, assembly, or one relocatable object file.
#ifndef MEKIK_EMIT_OBJECT_H
#define MEKIK_EMIT_OBJECT_H

#include "absl/status/statusor.h"
#include "compiler/lowering/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mekik::emit {

/// The descriptor's name in an object that holds one model.
inline constexpr const char *kModelSymbol = "mekik_model";

struct ObjectOptions {
  /// Threads that compile; the bytes of an object do not depend on it.
  unsigned threads = 1;
  /// Kernels can be found by name in a shared object. Otherwise `modelSymbol` is the only global symbol.
  bool exportKernels = false;
  /// What the descriptor is called in an object.
  std::string modelSymbol = kModelSymbol;
};

/// The bytes of a position-independent ELF object: every kernel, and the descriptor if the module has
/// schedules. Its undefined symbols are among memcpy, memset and memmove; Internal names any other.
absl::StatusOr<std::string> emitObject(mlir::ModuleOp module, const lowering::Target &target,
                                       const ObjectOptions &options = {});

/// The same as assembly.
absl::StatusOr<std::string> emitAssembly(mlir::ModuleOp module, const lowering::Target &target,
                                         const ObjectOptions &options = {});

/// The optimized LLVM IR from which both are made.
absl::StatusOr<std::string> emitLlvmIr(mlir::ModuleOp module, const lowering::Target &target,
                                       const ObjectOptions &options = {});

} // namespace mekik::emit

#endif
