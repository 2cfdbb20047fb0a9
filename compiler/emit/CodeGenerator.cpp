// Translation, the pass list, and LLVM's code generator. Kernels come as finished vector loops, so the passes only
// clean up; no loop transformation and no vectorizer runs.
#include "compiler/emit/CodeGenerator.h"
#include "absl/strings/str_cat.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

namespace mekik::emit {
namespace {

// No pass that finds nothing in kernels: they hold no memory of their own that could become values, and no store that
// another one covers. Without the check, which is fatal, that one run of instcombine leaves nothing for a second.
constexpr const char *kPasses = "function(early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),"
                                "early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)";

void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

} // namespace

absl::StatusOr<std::unique_ptr<CodeGenerator>> CodeGenerator::create(const lowering::Target &target) {
  initializeTargets();
  llvm::Triple triple(target.triple);
  std::string error;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return absl::UnimplementedError(absl::StrCat("cannot generate code for ", target.triple, ": ", error));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict; // a product and a sum stay two roundings
  options.FunctionSections = true;
  options.DataSections = true;
  auto generator = std::make_unique<CodeGenerator>();
  generator->machine.reset(found->createTargetMachine(triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                                      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!generator->machine)
    return absl::InternalError(absl::StrCat("cannot set up code generation for ", target.cpu));
  return generator;
}

absl::StatusOr<std::unique_ptr<llvm::Module>> CodeGenerator::translate(mlir::ModuleOp source) {
  auto module = mlir::translateModuleToLLVMIR(source, context);
  if (!module)
    return absl::InternalError("the module holds operations that have no LLVM IR");
  setLayout(*module);
  return module;
}

void CodeGenerator::setLayout(llvm::Module &module) const {
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple());
}

absl::Status CodeGenerator::optimize(llvm::Module &module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, kPasses))
    return absl::InternalError(llvm::toString(std::move(error)));
  passes.run(module, modules);
  return absl::OkStatus();
}

absl::StatusOr<std::string> CodeGenerator::generate(llvm::Module &module, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, type))
    return absl::InternalError("LLVM cannot write this kind of file");
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace mekik::emit
