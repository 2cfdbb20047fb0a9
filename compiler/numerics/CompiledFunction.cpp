// MLIR -> LLVM IR -> O2 -> machine code in memory, by way of LLVM's ORC. The JIT searches no library for symbols, so a
// call that slipped in is an error and not a silent use of libm.
#include "compiler/numerics/CompiledFunction.h"

#include "compiler/numerics/IrArithmetic.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace mekik::numerics {

struct CompiledFunction::Engine {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

CompiledFunction::CompiledFunction(std::unique_ptr<Engine> engine, void (*entry)(void *const *))
    : engine(std::move(engine)), entry(entry) {}
CompiledFunction::CompiledFunction(CompiledFunction &&) = default;
CompiledFunction &CompiledFunction::operator=(CompiledFunction &&) = default;
CompiledFunction::~CompiledFunction() = default;

namespace {

/// One function over an array of pointers that loads the operands, applies the definition and stores the results.
OwningOpRef<ModuleOp> emit(MLIRContext &context, const Definition &definition, const std::vector<ElementType> &operands,
                           unsigned lanes) {
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  Type pointer = LLVM::LLVMPointerType::get(&context);
  auto function = LLVM::LLVMFuncOp::create(builder, loc, "entry",
                                           LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&context), {pointer}));
  Block *block = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);

  auto shaped = [&](Type scalar) -> Type { return lanes ? VectorType::get({lanes}, scalar) : scalar; };
  auto bufferAt = [&](int64_t index) -> Value {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, block->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(static_cast<int32_t>(index))});
    return LLVM::LoadOp::create(builder, loc, pointer, slot);
  };
  auto alignmentOf = [](Type scalar) { return std::max(1u, scalar.getIntOrFloatBitWidth() / 8); };

  std::vector<Number> arguments;
  for (size_t i = 0; i < operands.size(); ++i) {
    Type scalar = scalarTypeOf(operands[i], &context);
    Value buffer = bufferAt(i);
    if (operands[i] == ElementType::Bool) {
      Value bytes = LLVM::LoadOp::create(builder, loc, shaped(builder.getI8Type()), buffer, 1);
      arguments.push_back(toNumber(arith::TruncIOp::create(builder, loc, shaped(scalar), bytes)));
    } else {
      arguments.push_back(toNumber(LLVM::LoadOp::create(builder, loc, shaped(scalar), buffer, alignmentOf(scalar))));
    }
  }

  IrArithmetic arithmetic(builder, loc);
  int64_t next = operands.size();
  for (Number result : definition(arithmetic, arguments)) {
    Value value = toValue(result);
    if (lanes && !isa<VectorType>(value.getType()))
      value = vector::BroadcastOp::create(builder, loc, shaped(value.getType()), value);
    if (result.type == ElementType::Bool)
      value = arith::ExtUIOp::create(builder, loc, shaped(builder.getI8Type()), value);
    LLVM::StoreOp::create(builder, loc, value, bufferAt(next++), alignmentOf(getElementTypeOrSelf(value.getType())));
  }
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return module;
}

absl::Status failed(const char *stage, llvm::Error error) {
  return absl::InternalError(std::string(stage) + ": " + llvm::toString(std::move(error)));
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder passes(&machine);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

} // namespace

absl::StatusOr<CompiledFunction> CompiledFunction::compile(const Definition &definition,
                                                           const std::vector<ElementType> &operands, unsigned lanes) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;

  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadDialect<arith::ArithDialect, math::MathDialect, vector::VectorDialect, LLVM::LLVMDialect>();

  OwningOpRef<ModuleOp> module = emit(context, definition, operands, lanes);
  if (failed(verify(*module)))
    return absl::InternalError("the emitted function does not verify");
  PassManager passes(&context);
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(passes.run(*module)))
    return absl::InternalError("the emitted function does not lower to the LLVM dialect");

  auto machineBuilder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!machineBuilder)
    return numerics::failed("host detection", machineBuilder.takeError());
  machineBuilder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  auto machine = machineBuilder->createTargetMachine();
  if (!machine)
    return numerics::failed("target machine", machine.takeError());
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> translated = translateModuleToLLVMIR(*module, *llvmContext);
  if (!translated)
    return absl::InternalError("the emitted function does not translate to LLVM IR");
  translated->setDataLayout((*machine)->createDataLayout());
  translated->setTargetTriple((*machine)->getTargetTriple());
  optimize(*translated, **machine);

  llvm::orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(std::move(*machineBuilder));
  builder.setLinkProcessSymbolsByDefault(false);
  builder.setPlatformSetUp(llvm::orc::setUpInactivePlatform);
  auto jit = builder.create();
  if (!jit)
    return numerics::failed("JIT", jit.takeError());
  if (auto error = (*jit)->addIRModule({std::move(translated), std::move(llvmContext)}))
    return numerics::failed("JIT", std::move(error));
  auto symbol = (*jit)->lookup("entry");
  if (!symbol)
    return numerics::failed("a definition may call no library", symbol.takeError());
  auto *entry = symbol->toPtr<void (*)(void *const *)>();
  auto engine = std::make_unique<Engine>();
  engine->jit = std::move(*jit);
  return CompiledFunction(std::move(engine), entry);
}

} // namespace mekik::numerics
