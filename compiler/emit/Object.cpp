// Divides a module among threads and puts the pieces together again. The pieces depend on the module alone, so the
// object's bytes do not depend on the number of threads.
#include "compiler/emit/Object.h"
#include "absl/strings/str_cat.h"
#include "compiler/emit/CodeGenerator.h"
#include "compiler/emit/Descriptor.h"
#include "compiler/emit/Link.h"
#include "compiler/emit/Symbols.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <thread>
#include <vector>

namespace mekik::emit {
namespace {

namespace LLVM = mlir::LLVM;

/// A kernel is two functions: its body, and the entry that calls it.
struct Kernel {
  llvm::SmallVector<LLVM::LLVMFuncOp, 2> functions;
  size_t size = 0, number = 0;
};

using Piece = std::vector<Kernel>;

/// Pieces a module is divided into: enough to share among threads evenly, and that setting up passes costs little.
constexpr size_t kPieces = 12;

void registerTranslations(mlir::MLIRContext &context) {
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
}

std::vector<Kernel> kernelsOf(mlir::ModuleOp module) {
  std::vector<Kernel> kernels;
  mlir::SymbolTable symbols(module);
  for (auto entry : module.getOps<LLVM::LLVMFuncOp>()) {
    if (entry.getLinkage() == LLVM::Linkage::Internal)
      continue; // comes along with its entry
    Kernel &kernel = kernels.emplace_back();
    kernel.number = kernels.size();
    if (auto body = symbols.lookup<LLVM::LLVMFuncOp>((entry.getName() + ".body").str()))
      kernel.functions.push_back(body);
    kernel.functions.push_back(entry);
    for (LLVM::LLVMFuncOp function : kernel.functions)
      function.walk([&](mlir::Operation *) { ++kernel.size; });
  }
  return kernels;
}

/// Large kernels first and by themselves, so that no thread is left with one at the end; small ones together.
std::vector<Piece> divide(std::vector<Kernel> kernels) {
  size_t total = 0;
  for (const Kernel &kernel : kernels)
    total += kernel.size;
  llvm::sort(kernels, [](const Kernel &a, const Kernel &b) {
    return a.size != b.size ? a.size > b.size : a.number < b.number;
  });
  std::vector<Piece> pieces;
  size_t held = total;
  for (Kernel &kernel : kernels) {
    if (held + kernel.size > total / kPieces) {
      pieces.emplace_back();
      held = 0;
    }
    held += kernel.size;
    pieces.back().push_back(std::move(kernel));
  }
  return pieces;
}

/// A module that holds copies of the functions.
mlir::OwningOpRef<mlir::ModuleOp> moduleOf(mlir::ModuleOp whole, const Piece &piece) {
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(whole.getLoc());
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
  for (const Kernel &kernel : piece)
    for (LLVM::LLVMFuncOp function : kernel.functions)
      builder.clone(*function);
  return module;
}

absl::StatusOr<std::unique_ptr<llvm::Module>> makeIr(CodeGenerator &generator, mlir::ModuleOp piece,
                                                     const ObjectOptions &options) {
  auto module = generator.translate(piece);
  if (!module.ok())
    return module;
  if (!options.exportKernels)
    for (llvm::Function &function : **module)
      if (!function.isDeclaration() && !function.hasLocalLinkage())
        function.setVisibility(llvm::GlobalValue::HiddenVisibility);
  if (absl::Status status = generator.optimize(**module); !status.ok())
    return status;
  return module;
}

absl::StatusOr<std::string> compilePiece(CodeGenerator &generator, mlir::ModuleOp whole, const Piece &piece,
                                         const ObjectOptions &options) {
  auto module = makeIr(generator, *moduleOf(whole, piece), options);
  if (!module.ok())
    return module.status();
  return generator.generate(**module, llvm::CodeGenFileType::ObjectFile);
}

absl::StatusOr<std::string> compileDescriptor(CodeGenerator &generator, mlir::ModuleOp module,
                                              const lowering::Target &target) {
  mlir::OwningOpRef<mlir::ModuleOp> empty = mlir::ModuleOp::create(module.getLoc());
  auto ir = generator.translate(*empty);
  if (!ir.ok())
    return ir.status();
  if (absl::Status status = addDescriptor(module, target, **ir); !status.ok())
    return status;
  return generator.generate(**ir, llvm::CodeGenFileType::ObjectFile);
}

absl::Status checkUndefined(llvm::StringRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "object"));
  if (!file)
    return absl::InternalError(llvm::toString(file.takeError()));
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    auto flags = llvm::expectedToOptional(symbol.getFlags());
    auto name = llvm::expectedToOptional(symbol.getName());
    if (!flags || !name)
      return absl::InternalError("the generated object cannot be read back");
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty() && *name != "memcpy" && *name != "memset" &&
        *name != "memmove")
      return absl::InternalError(absl::StrCat("generated code calls ", name->str(),
                                              ", but may call only memcpy, memset and memmove: a fault of mekik"));
  }
  return absl::OkStatus();
}

/// All of the module in one LLVM module, for people to read.
absl::StatusOr<std::string> emitText(mlir::ModuleOp module, const lowering::Target &target,
                                     const ObjectOptions &options, bool assembly) {
  registerTranslations(*module.getContext());
  auto generator = CodeGenerator::create(target);
  if (!generator.ok())
    return generator.status();
  auto ir = makeIr(**generator, *moduleOf(module, kernelsOf(module)), options);
  if (!ir.ok())
    return ir.status();
  if (hasDescriptor(module))
    if (absl::Status status = addDescriptor(module, target, **ir); !status.ok())
      return status;
  if (assembly)
    return (*generator)->generate(**ir, llvm::CodeGenFileType::AssemblyFile);
  std::string text;
  llvm::raw_string_ostream(text) << **ir;
  return text;
}

} // namespace

absl::StatusOr<std::string> emitObject(mlir::ModuleOp module, const lowering::Target &target,
                                       const ObjectOptions &options) {
  registerTranslations(*module.getContext());
  std::vector<Piece> pieces = divide(kernelsOf(module));
  std::vector<absl::StatusOr<std::string>> objects(pieces.size() + (hasDescriptor(module) ? 1 : 0), std::string());
  if (objects.empty())
    return absl::InvalidArgumentError("the module holds no kernels, so there is no object to write");
  std::atomic<size_t> next = 0;
  auto work = [&] {
    auto generator = CodeGenerator::create(target);
    for (size_t number; (number = next++) < objects.size();)
      objects[number] = !generator.ok()          ? generator.status()
                        : number < pieces.size() ? compilePiece(**generator, module, pieces[number], options)
                                                 : compileDescriptor(**generator, module, target);
  };
  std::vector<std::thread> threads;
  for (size_t number = 1; number < std::min<size_t>(options.threads, objects.size()); ++number)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();

  std::vector<std::string> parts;
  for (auto &object : objects) {
    if (!object.ok())
      return object.status();
    parts.push_back(std::move(*object));
  }
  absl::StatusOr<std::string> whole = parts.size() == 1 ? std::move(parts[0]) : linkRelocatable(parts);
  if (whole.ok() && !options.exportKernels)
    whole = exportOnly(*whole, kModelSymbol, options.modelSymbol);
  if (!whole.ok())
    return whole;
  if (absl::Status status = checkUndefined(*whole); !status.ok())
    return status;
  return whole;
}

absl::StatusOr<std::string> emitAssembly(mlir::ModuleOp module, const lowering::Target &target,
                                         const ObjectOptions &options) {
  return emitText(module, target, options, /*assembly=*/true);
}

absl::StatusOr<std::string> emitLlvmIr(mlir::ModuleOp module, const lowering::Target &target,
                                       const ObjectOptions &options) {
  return emitText(module, target, options, /*assembly=*/false);
}

} // namespace mekik::emit
