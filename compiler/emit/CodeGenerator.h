// One thread's way from LLVM-dialect functions to machine code: its own LLVMContext and target machine.
#ifndef MEKIK_EMIT_CODE_GENERATOR_H
#define MEKIK_EMIT_CODE_GENERATOR_H

#include "absl/status/statusor.h"
#include "compiler/lowering/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>

namespace mekik::emit {

class CodeGenerator {
public:
  static absl::StatusOr<std::unique_ptr<CodeGenerator>> create(const lowering::Target &target);

  /// LLVM IR of the module, not yet optimized. The result lives in this generator's context.
  absl::StatusOr<std::unique_ptr<llvm::Module>> translate(mlir::ModuleOp module);
  /// The passes between translation and code generation; none of them may change a result.
  absl::Status optimize(llvm::Module &module);
  absl::StatusOr<std::string> generate(llvm::Module &module, llvm::CodeGenFileType type);

  llvm::LLVMContext &llvmContext() { return context; }
  /// Gives a module made by hand the target's data layout.
  void setLayout(llvm::Module &module) const;

private:
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
};

} // namespace mekik::emit

#endif
