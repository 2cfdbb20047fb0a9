// The loops that ops with a kernel of their own emit, run in this process: tile by tile, in any order, over a result
// full of garbage, they must give the evaluator's bits and touch nothing else.
#include "compiler/graph/Graph.h"
#include "compiler/reference/Evaluator.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/TargetSelect.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mekik;
using mekik::reference::Tensor;
using numerics::ElementType;

namespace {

/// Makes the op under test; its operands are the function's arguments.
using MakeOp = std::function<Operation *(OpBuilder &, Location, ValueRange)>;

class CompiledKernel {
public:
  CompiledKernel(TypeRange tensorTypes, MLIRContext &context, const MakeOp &makeOp) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    // The op itself, to be asked for its duties and to be evaluated.
    auto graphFunction = func::FuncOp::create(builder, loc, "graph", builder.getFunctionType(tensorTypes, {}));
    builder.setInsertionPointToStart(graphFunction.addEntryBlock());
    Operation *op = makeOp(builder, loc, graphFunction.getArguments());
    resultType = cast<RankedTensorType>(op->getResult(0).getType());
    func::ReturnOp::create(builder, loc, op->getResults());
    graphFunction.setType(builder.getFunctionType(tensorTypes, {resultType}));
    auto standalone = cast<graph::StandaloneOpInterface>(op);
    tiles = standalone.kernelTiles();

    OwningOpRef<ModuleOp> loops = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(loops->getBody());
    SmallVector<Type> memory;
    for (Type type : tensorTypes)
      memory.push_back(memoryType(type));
    memory.push_back(memoryType(resultType));
    memory.append(2, builder.getIndexType());
    auto function = func::FuncOp::create(builder, loc, "kernel", builder.getFunctionType(memory, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    ValueRange arguments = block->getArguments();
    size_t operands = tensorTypes.size();
    standalone.emitKernel(builder, arguments.take_front(operands), arguments[operands], arguments[operands + 1],
                          arguments[operands + 2]);
    builder.setInsertionPointToEnd(block);
    func::ReturnOp::create(builder, loc);

    PassManager passes(&context, ModuleOp::getOperationName());
    passes.enableVerifier();
    passes.addPass(createSCFToControlFlowPass());
    passes.addPass(createConvertVectorToLLVMPass());
    passes.addPass(createConvertMathToLLVMPass());
    passes.addPass(createFinalizeMemRefToLLVMConversionPass());
    passes.addPass(createArithToLLVMConversionPass());
    passes.addPass(createConvertControlFlowToLLVMPass());
    ConvertFuncToLLVMPassOptions options;
    options.useBarePtrCallConv = true;
    passes.addPass(createConvertFuncToLLVMPass(options));
    passes.addPass(createReconcileUnrealizedCastsPass());
    EXPECT_TRUE(succeeded(passes.run(*loops)));
    auto created = ExecutionEngine::create(*loops);
    EXPECT_TRUE(static_cast<bool>(created));
    engine = std::move(*created);
    entry = llvm::cantFail(engine->lookup("kernel"));
  }

  Tensor evaluate(ArrayRef<Tensor> operands) {
    auto results = reference::evaluate(module->lookupSymbol<func::FuncOp>("graph"), operands);
    EXPECT_TRUE(results.ok()) << results.status();
    return results->front();
  }

  /// Runs the tiles [first, last) for two or three operands.
  void run(ArrayRef<const Tensor *> operands, void *result, int64_t first, int64_t last) {
    auto pointer = [&](size_t i) { return const_cast<uint8_t *>(operands[i]->data()); };
    if (operands.size() == 3)
      reinterpret_cast<void (*)(void *, void *, void *, void *, int64_t, int64_t)>(entry)(
          pointer(0), pointer(1), pointer(2), result, first, last);
    else
      reinterpret_cast<void (*)(void *, void *, void *, int64_t, int64_t)>(entry)(pointer(0), pointer(1), result, first,
                                                                                  last);
  }

  int64_t tiles = 0;
  RankedTensorType resultType;

private:
  static Type memoryType(Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return MemRefType::get(tensor.getShape(), tensor.getElementType());
  }

  OwningOpRef<ModuleOp> module;
  std::unique_ptr<ExecutionEngine> engine;
  void *entry = nullptr;
};

class StandaloneKernel : public testing::Test {
protected:
  StandaloneKernel() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    DialectRegistry registry;
    registry.insert<graph::GraphDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                    memref::MemRefDialect, vector::VectorDialect, LLVM::LLVMDialect>();
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Runs every tile by itself, last first, and all of them at once.
  void expectTheEvaluatorsBits(CompiledKernel &kernel, ArrayRef<Tensor> operands) {
    Tensor expected = kernel.evaluate(operands);
    constexpr size_t kGuard = 256;
    SmallVector<const Tensor *> pointers;
    for (const Tensor &operand : operands)
      pointers.push_back(&operand);
    for (bool oneByOne : {true, false}) {
      std::vector<uint8_t> bytes(expected.byteSize() + 2 * kGuard, 0xA5);
      if (oneByOne) {
        for (int64_t tile = kernel.tiles - 1; tile >= 0; --tile)
          kernel.run(pointers, bytes.data() + kGuard, tile, tile + 1);
      } else {
        kernel.run(pointers, bytes.data() + kGuard, 0, kernel.tiles);
      }
      EXPECT_EQ(std::memcmp(bytes.data() + kGuard, expected.data(), expected.byteSize()), 0);
      for (size_t i = 0; i < kGuard; ++i) {
        ASSERT_EQ(bytes[i], 0xA5) << "written before the result";
        ASSERT_EQ(bytes[bytes.size() - 1 - i], 0xA5) << "written behind the result";
      }
    }
  }

  MLIRContext context;
};

TEST_F(StandaloneKernel, RandomNumbersOfEverySizeAreTheEvaluators) {
  OpBuilder builder(&context);
  Type scalar = RankedTensorType::get({}, builder.getI64Type());
  for (bool isF64 : {false, true})
    for (int64_t size : {1, 15, 16, 17, 63, 64, 65, 127, 130, 2048, 2100, 5000}) {
      Type element = isF64 ? Type(builder.getF64Type()) : Type(builder.getF32Type());
      CompiledKernel kernel({scalar, scalar, scalar}, context,
                            [&](OpBuilder &builder, Location loc, ValueRange x) -> Operation * {
                              return graph::RandomOp::create(builder, loc, RankedTensorType::get({size}, element), x[0],
                                                             x[1], x[2]);
                            });
      for (uint64_t seed : {uint64_t{0}, uint64_t{1} << 32, ~uint64_t{0}}) {
        Tensor seedTensor(ElementType::I64, {}), step(ElementType::I64, {}), stream(ElementType::I64, {});
        seedTensor.as<uint64_t>()[0] = seed;
        step.as<uint64_t>()[0] = 12345678901;
        stream.as<uint64_t>()[0] = 0xE0000001;
        SCOPED_TRACE(size);
        expectTheEvaluatorsBits(kernel, {seedTensor, step, stream});
      }
    }
}

TEST_F(StandaloneKernel, ScatteredSumsOfEveryWidthAreTheEvaluators) {
  OpBuilder builder(&context);
  constexpr int64_t kPositions = 23, kRows = 7;
  for (bool isF64 : {false, true})
    for (bool wideIds : {false, true})
      for (int64_t columns : {1, 5, 16, 17, 64, 65, 127, 200}) {
        Type element = isF64 ? Type(builder.getF64Type()) : Type(builder.getF32Type());
        Type idElement = wideIds ? builder.getI64Type() : builder.getI32Type();
        CompiledKernel kernel(
            {RankedTensorType::get({kPositions}, idElement), RankedTensorType::get({kPositions, columns}, element)},
            context, [&](OpBuilder &builder, Location loc, ValueRange x) -> Operation * {
              return graph::ScatterAddOp::create(builder, loc, x[0], x[1], kRows);
            });
        Tensor ids(wideIds ? ElementType::I64 : ElementType::I32, {kPositions});
        Tensor updates(isF64 ? ElementType::F64 : ElementType::F32, {kPositions, columns});
        for (int64_t i = 0; i < ids.size(); ++i)
          ids.setDouble(i, i * i % kRows);
        for (int64_t i = 0; i < updates.size(); ++i)
          updates.setDouble(i, 1.0 / (1 + i * 37 % 101) - 0.3);
        SCOPED_TRACE(columns);
        expectTheEvaluatorsBits(kernel, {ids, updates});
      }
}

TEST_F(StandaloneKernel, UpdatesOfAnyRankAreScattered) {
  OpBuilder builder(&context);
  Type f32 = builder.getF32Type();
  CompiledKernel kernel(
      {RankedTensorType::get({2, 3}, builder.getI32Type()), RankedTensorType::get({2, 3, 2, 10}, f32)}, context,
      [&](OpBuilder &builder, Location loc, ValueRange x) -> Operation * {
        return graph::ScatterAddOp::create(builder, loc, x[0], x[1], 4);
      });
  Tensor ids(ElementType::I32, {2, 3}), updates(ElementType::F32, {2, 3, 2, 10});
  for (int64_t i = 0; i < ids.size(); ++i)
    ids.setDouble(i, i % 4);
  for (int64_t i = 0; i < updates.size(); ++i)
    updates.setDouble(i, 0.1 * i);
  expectTheEvaluatorsBits(kernel, {ids, updates});
}

} // namespace
