// Kernels from vector, scf, memref and arith to the LLVM dialect. A kernel's body keeps one pointer argument a buffer,
// with what is known about it (noalias, alignment, size), because that keeps alias analysis sharp; an entry of the
// signature MekikKernel in front of it loads the pointers.
#include "compiler/driver/Passes.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/lowering/EachKernel.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace mekik {
#define GEN_PASS_DEF_LOWERTOLLVM
#include "compiler/driver/Passes.h.inc"
} // namespace mekik

namespace mekik::lowering {
namespace {

namespace LLVM = mlir::LLVM;

/// Every buffer comes at this alignment, whatever its type.
constexpr int64_t kBufferAlignment = 64;

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
       {graph::kKernel, graph::kTiles, graph::kBytes, graph::kParts, graph::kResults, graph::kCycles, graph::kTraffic, graph::kContraction,
        graph::kScratch,        graph::kOperations, graph::kInPlace})
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

/// Buffers are dense, so that a collapse of their dimensions leaves the pointer as it is.
struct CollapseToLlvm : mlir::ConvertOpToLLVMPattern<mlir::memref::CollapseShapeOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  mlir::LogicalResult matchAndRewrite(mlir::memref::CollapseShapeOp op, OpAdaptor adaptor,
                                      mlir::ConversionPatternRewriter &rewriter) const override {
    mlir::MemRefType from = op.getSrcType(), to = op.getResultType();
    if (!from.getLayout().isIdentity() || !to.getLayout().isIdentity() || !to.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "expected dense buffers of static shape");
    mlir::Location loc = op.getLoc();
    mlir::Value pointer = mlir::MemRefDescriptor(adaptor.getSrc()).alignedPtr(rewriter, loc);
    rewriter.replaceOp(op, {mlir::MemRefDescriptor::fromStaticShape(rewriter, loc, *getTypeConverter(), to, pointer)});
    return mlir::success();
  }
};

mlir::LowerToLLVMOptions llvmOptions(mlir::MLIRContext *context) {
  mlir::LowerToLLVMOptions options(context);
  options.useBarePtrCallConv = true;
  options.overrideIndexBitwidth(64);
  return options;
}

/// The patterns, made once for all kernels; threads share them. All dialects are left in one conversion: most of what a
/// kernel holds is converted once then, and not looked at again by pass after pass.
struct Conversion {
  explicit Conversion(mlir::MLIRContext &context) : types(&context, llvmOptions(&context)), target(context) {
    mlir::RewritePatternSet all(&context);
    mlir::populateSCFToControlFlowConversionPatterns(all);
    mlir::populateFuncToLLVMConversionPatterns(types, all);
    mlir::populateFinalizeMemRefToLLVMConversionPatterns(types, all);
    mlir::arith::populateArithToLLVMConversionPatterns(types, all);
    mlir::populateMathToLLVMConversionPatterns(types, all);
    mlir::cf::populateControlFlowToLLVMConversionPatterns(types, all);
    mlir::populateVectorToLLVMConversionPatterns(types, all); // does not reassociate, which would change results
    mlir::vector::populateVectorBitCastLoweringPatterns(all);
    mlir::vector::populateVectorBroadcastLoweringPatterns(all);
    mlir::vector::populateVectorMaskOpLoweringPatterns(all);
    mlir::vector::populateVectorShapeCastLoweringPatterns(all);
    mlir::vector::populateVectorTransposeLoweringPatterns(all, mlir::vector::VectorTransposeLowering::Shuffle16x16);
    mlir::vector::populateVectorMaskMaterializationPatterns(all, /*force32BitVectorIndices=*/false);
    mlir::vector::populateVectorInsertExtractStridedSliceTransforms(all);
    all.add<CollapseToLlvm>(types);
    patterns = std::move(all);
    target.addIllegalDialect<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                             mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                             mlir::vector::VectorDialect>();
    target.addLegalOp<mlir::ModuleOp>();

    mlir::RewritePatternSet trivial(&context);
    mlir::scf::ForOp::getCanonicalizationPatterns(trivial, &context);
    mlir::scf::IfOp::getCanonicalizationPatterns(trivial, &context);
    loops = std::move(trivial);
  }

  mlir::LogicalResult apply(mlir::ModuleOp module) const {
    mlir::ConversionConfig config;
    config.foldingMode = mlir::DialectConversionFoldingMode::Never; // clean already
    return mlir::applyFullConversion(module, target, patterns, config);
  }

  mlir::LLVMTypeConverter types;
  mlir::LLVMConversionTarget target;
  mlir::FrozenRewritePatternSet patterns, loops;
};

/// Removes what is plain to see while loops still are loops: those that run once, equal values, what does not change in
/// a loop. The rest is LLVM's.
void cleanUp(mlir::func::FuncOp kernel, const mlir::FrozenRewritePatternSet &loops) {
  mlir::GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(mlir::GreedySimplifyRegionLevel::Disabled);
  config.setMaxIterations(2);
  (void)mlir::applyPatternsGreedily(kernel, loops, config); // did what it could
  mlir::IRRewriter rewriter(kernel.getContext());
  mlir::DominanceInfo dominance(kernel);
  mlir::eliminateCommonSubExpressions(rewriter, dominance, kernel);
  kernel.walk([](mlir::LoopLikeOpInterface loop) { mlir::moveLoopInvariantCode(loop); });
}

struct LowerToLlvm : impl::LowerToLlvmBase<LowerToLlvm> {
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    LowerToLlvmBase::getDependentDialects(registry);
    registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                    mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  }

  void runOnOperation() override {
    Conversion conversion(getContext());
    auto lower = [&](mlir::func::FuncOp kernel) -> mlir::LogicalResult {
      auto home = llvm::cast<mlir::ModuleOp>(kernel->getParentOp());
      describeBuffers(kernel);
      cleanUp(kernel, conversion.loops);
      if (failed(conversion.apply(home)))
        return mlir::failure();
      for (auto function : llvm::make_early_inc_range(home.getOps<LLVM::LLVMFuncOp>()))
        addEntry(function);
      return mlir::success();
    };
    if (failed(forEachKernel(getOperation(), lower)))
      return signalPassFailure();
  }
};

} // namespace
} // namespace mekik::lowering
