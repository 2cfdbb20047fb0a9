// Kernels from vector, scf, memref and arith to the LLVM dialect. A kernel's body keeps one pointer argument a buffer,
// with what is known about it (noalias, alignment, size), because that keeps alias analysis sharp; an entry of the
// signature MekikKernel in front of it loads the pointers.
#include "compiler/driver/Passes.h"
#include "compiler/graph/ModelConventions.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/Passes.h"

namespace mekik {
#define GEN_PASS_DEF_LOWERTOLLVM
#include "compiler/driver/Passes.h.inc"
} // namespace mekik

namespace mekik::lowering {
namespace {

namespace LLVM = mlir::LLVM;

/// Every buffer comes at this alignment, whatever its type.
constexpr int64_t kBufferAlignment = 64;

bool isKernel(mlir::Operation *function) { return function->hasAttr(graph::kKernel); }

/// What is known about a buffer argument, in the words of LLVM.
void describeBuffers(mlir::func::FuncOp function) {
  mlir::Builder builder(function.getContext());
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto buffer = llvm::dyn_cast<mlir::MemRefType>(type);
    if (!buffer)
      continue;
    int64_t bytes = buffer.getNumElements() * ((buffer.getElementTypeBitWidth() + 7) / 8);
    function.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(kBufferAlignment));
    function.setArgAttr(number, LLVM::LLVMDialect::getNonNullAttrName(), builder.getUnitAttr());
    function.setArgAttr(number, LLVM::LLVMDialect::getNoUndefAttrName(), builder.getUnitAttr());
    function.setArgAttr(number, LLVM::LLVMDialect::getDereferenceableAttrName(), builder.getI64IntegerAttr(bytes));
  }
}

/// void NAME(ptr buffers, ptr scratch, i64 first, i64 last) in front of the body, which takes buffers, scratch if it
/// needs some, first and last.
void addEntry(LLVM::LLVMFuncOp body) {
  mlir::MLIRContext *context = body.getContext();
  mlir::OpBuilder builder(body);
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto integer = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer, pointer, integer, integer});
  std::string name = body.getName().str();
  body.setName(name + ".body");
  body.setLinkage(LLVM::Linkage::Internal);
  body.setNoInline(true);
  body.setNoUnwind(true);
  body.setDsoLocal(true);

  auto entry = LLVM::LLVMFuncOp::create(builder, body.getLoc(), name, type);
  entry.setNoUnwind(true);
  entry.setDsoLocal(true);
  auto scratch = body->getAttrOfType<mlir::IntegerAttr>(graph::kScratch);
  bool takesScratch = scratch && scratch.getInt() > 0;
  for (llvm::StringRef attribute :
       {graph::kKernel, graph::kTiles, graph::kScratch, graph::kOperations, graph::kInPlace})
    if (mlir::Attribute value = body->removeAttr(attribute))
      entry->setAttr(attribute, value);

  mlir::Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  mlir::Location loc = body.getLoc();
  unsigned buffers = body.getNumArguments() - 2 - (takesScratch ? 1 : 0);
  llvm::SmallVector<mlir::Value> arguments;
  for (unsigned number = 0; number < buffers; ++number) {
    mlir::Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, block->getArgument(0),
                                            llvm::ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(number))});
    arguments.push_back(LLVM::LoadOp::create(builder, loc, pointer, place));
  }
  if (takesScratch)
    arguments.push_back(block->getArgument(1));
  arguments.append({block->getArgument(2), block->getArgument(3)});
  LLVM::CallOp::create(builder, loc, body, arguments);
  LLVM::ReturnOp::create(builder, loc, mlir::ValueRange());
}

struct LowerToLlvm : impl::LowerToLlvmBase<LowerToLlvm> {
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    LowerToLlvmBase::getDependentDialects(registry);
    registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                    mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  }

  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    for (auto function : module.getOps<mlir::func::FuncOp>())
      describeBuffers(function);

    mlir::OpPassManager before(mlir::ModuleOp::getOperationName());
    before.addPass(mlir::createCanonicalizerPass());
    before.addPass(mlir::createCSEPass());
    before.addPass(mlir::createLoopInvariantCodeMotionPass());
    before.addPass(mlir::createSCFToControlFlowPass());
    before.addPass(mlir::memref::createExpandStridedMetadataPass());
    mlir::ConvertVectorToLLVMPassOptions vectors; // reassociateFPReductions stays false: it would change results
    vectors.force32BitVectorIndices = false;
    vectors.vectorTransposeLowering = mlir::vector::VectorTransposeLowering::Shuffle16x16;
    before.addPass(mlir::createConvertVectorToLLVMPass(vectors));
    if (failed(runPipeline(before, module)) || failed(convert(module)))
      return signalPassFailure();

    mlir::OpPassManager after(mlir::ModuleOp::getOperationName());
    after.addPass(mlir::createReconcileUnrealizedCastsPass());
    after.addPass(mlir::createCanonicalizerPass());
    after.addPass(mlir::createCSEPass());
    if (failed(runPipeline(after, module)))
      return signalPassFailure();
    for (auto function : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>()))
      if (isKernel(function))
        addEntry(function);
  }

  mlir::LogicalResult convert(mlir::ModuleOp module) {
    mlir::MLIRContext *context = module.getContext();
    mlir::LowerToLLVMOptions options(context);
    options.useBarePtrCallConv = true;
    options.overrideIndexBitwidth(64);
    mlir::LLVMTypeConverter types(context, options);
    mlir::RewritePatternSet patterns(context);
    mlir::populateFuncToLLVMConversionPatterns(types, patterns);
    mlir::populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
    mlir::arith::populateArithToLLVMConversionPatterns(types, patterns);
    mlir::populateMathToLLVMConversionPatterns(types, patterns);
    mlir::cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    mlir::populateVectorToLLVMConversionPatterns(types, patterns);
    mlir::LLVMConversionTarget target(*context);
    target.addIllegalDialect<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                             mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                             mlir::vector::VectorDialect>();
    target.addLegalOp<mlir::ModuleOp, mlir::UnrealizedConversionCastOp>();
    return mlir::applyPartialConversion(module, target, std::move(patterns));
  }
};

} // namespace
} // namespace mekik::lowering
