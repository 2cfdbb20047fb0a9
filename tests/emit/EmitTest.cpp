// From a module of kernels and schedules to machine code: the descriptor, what the object may refer to, executables.
#include "compiler/driver/Passes.h"
#include "compiler/emit/Link.h"
#include "compiler/emit/LoadedModel.h"
#include "compiler/emit/Object.h"
#include "compiler/emit/TemporaryFolder.h"
#include "compiler/graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include <cstring>
#include <gtest/gtest.h>

namespace {

using namespace mekik;

/// Two kernels over 40 numbers; @second needs scratch. `%BODY` is an operation on the number %x giving %y.
constexpr const char *kModel = R"(
module @tiny attributes {mekik.source_hash = "00ff", mekik.configuration = "{\"batch\":1}",
    mekik.parameter_bytes = 256 : i64, mekik.state_bytes = 64 : i64,
    mekik.storage = [{name = "wağ", role = "parameter", type = tensor<40xf32>, offset = 64 : i64},
                     {name = "wağ.m", role = "state", type = tensor<f64>, offset = 0 : i64}]} {
  func.func private @first(%in: memref<40xf32> {llvm.noalias}, %out: memref<40xf32> {llvm.noalias}, %from: index,
                           %to: index)
      attributes {mekik.kernel, mekik.tiles = 40 : i64, mekik.bytes = array<i64: 160, 160>,
          mekik.parts = array<i64: 40, 40>, mekik.results = 1 : i64, mekik.scratch = 0 : i64, mekik.operations = 80.0 : f64,
          mekik.cycles = 20.5 : f64, mekik.traffic = 320.0 : f64} {
    %one = arith.constant 1 : index
    scf.for %i = %from to %to step %one {
      %x = memref.load %in[%i] : memref<40xf32>
      %BODY
      memref.store %y, %out[%i] : memref<40xf32>
    }
    return
  }
  func.func private @second(%in: memref<40xf32>, %out: memref<f32>, %scratch: memref<128xi8>, %from: index, %to: index)
      attributes {mekik.kernel, mekik.tiles = 1 : i64, mekik.bytes = array<i64: 160, 4>,
          mekik.parts = array<i64: 1, 1>, mekik.results = 1 : i64, mekik.scratch = 128 : i64, mekik.operations = 1.0 : f64,
          mekik.cycles = 3.0 : f64, mekik.traffic = 164.0 : f64, mekik.contraction} {
    %i = arith.constant 7 : index
    %x = memref.load %in[%i] : memref<40xf32>
    memref.store %x, %out[] : memref<f32>
    return
  }
  graph.schedule @forward work 512 tensors [
      {name = "tokens", role = "input", type = tensor<2x3xi32>, arena = 2 : i64, offset = 448 : i64, classes = 30 : i64},
      {name = "y", role = "output", type = tensor<f32>, arena = 2 : i64, offset = 0 : i64, classes = 0 : i64}] {
    graph.dispatch @first arenas [0, 2] offsets [64, 128] loc("tiny.mekik":17:3)
    graph.dispatch @second arenas [2, 2] offsets [128, 0] loc(fused["tiny.mekik":21:5, "tiny.mekik":22:5])
  }
  graph.schedule @loss work 192 tensors [] {
    graph.dispatch @first arenas [0, 2] offsets [64, 0]
  }
}
)";

class Emit : public testing::Test {
protected:
  void SetUp() override {
    context.loadDialect<graph::GraphDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                        mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                        mlir::vector::VectorDialect, mlir::LLVM::LLVMDialect>();
    auto parsed = lowering::Target::parse("x86-64-v3");
    ASSERT_TRUE(parsed.ok());
    target = *parsed;
  }

  mlir::OwningOpRef<mlir::ModuleOp> lower(const std::string &body = "%y = arith.addf %x, %x : f32") {
    std::string text = kModel;
    text.replace(text.find("%BODY"), 5, body);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    mlir::PassManager passes(&context, mlir::ModuleOp::getOperationName());
    passes.addPass(createLowerToLlvm());
    EXPECT_TRUE(succeeded(passes.run(*module)));
    return module;
  }

  std::string compile() {
    auto module = lower();
    auto object = emit::emitObject(*module, target);
    EXPECT_TRUE(object.ok()) << object.status();
    return object.ok() ? *object : "";
  }

  mlir::MLIRContext context;
  lowering::Target target;
};

TEST_F(Emit, TheDescriptorSaysWhatTheModuleSays) {
  auto loaded = emit::LoadedModel::load(compile());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const MekikModel *model = (*loaded)->model();
  ASSERT_NE(model, nullptr);
  EXPECT_STREQ(model->name, "tiny");
  EXPECT_STREQ(model->sourceHash, "00ff");
  EXPECT_STREQ(model->target, "x86-64-v3");
  EXPECT_STREQ(model->configuration, "{\"batch\":1}");
  EXPECT_EQ(model->parameterBytes, 256u);
  EXPECT_EQ(model->stateBytes, 64u);
  EXPECT_EQ(model->workBytes, 512u);
  EXPECT_EQ(model->scratchBytes, 128u);
  ASSERT_EQ(model->tensorCount, 2u);
  EXPECT_STREQ(model->tensors[0].name, "wağ");
  EXPECT_EQ(model->tensors[0].role, MEKIK_PARAMETER);
  EXPECT_EQ(model->tensors[0].type, MEKIK_F32);
  EXPECT_EQ(model->tensors[0].arena, MEKIK_PARAMETERS);
  EXPECT_EQ(model->tensors[0].shape[0], 40);
  EXPECT_EQ(model->tensors[0].offset, 64u);
  EXPECT_EQ(model->tensors[0].bytes, 160u);
  EXPECT_EQ(model->tensors[1].role, MEKIK_OPTIMIZER_STATE);
  EXPECT_EQ(model->tensors[1].arena, MEKIK_STATE);
  EXPECT_EQ(model->tensors[1].rank, 0);
  EXPECT_EQ(model->tensors[1].bytes, 8u);

  ASSERT_EQ(model->functionCount, 2u);
  const MekikFunction &forward = model->functions[0];
  EXPECT_STREQ(forward.name, "forward");
  ASSERT_EQ(forward.tensorCount, 2u);
  EXPECT_EQ(forward.tensors[0].role, MEKIK_INPUT);
  EXPECT_EQ(forward.tensors[0].arena, MEKIK_WORK);
  EXPECT_EQ(forward.tensors[0].rank, 2);
  EXPECT_EQ(forward.tensors[0].classes, 30);
  EXPECT_EQ(forward.tensors[0].offset, 448u);
  EXPECT_EQ(forward.tensors[0].bytes, 24u);
  ASSERT_EQ(forward.dispatchCount, 2u);
  EXPECT_STREQ(forward.dispatches[0].kernelName, "first");
  EXPECT_EQ(forward.dispatches[0].tiles, 40);
  EXPECT_EQ(forward.dispatches[0].bufferCount, 2);
  EXPECT_EQ(forward.dispatches[0].line, 17);
  EXPECT_EQ(forward.dispatches[0].operations, 80.0);
  EXPECT_EQ(forward.dispatches[0].cost.cycles, 20.5);
  EXPECT_EQ(forward.dispatches[0].cost.traffic, 320.0);
  EXPECT_EQ(forward.dispatches[0].cost.contraction, 0);
  EXPECT_EQ(forward.dispatches[1].cost.cycles, 3.0);
  EXPECT_EQ(forward.dispatches[1].cost.traffic, 164.0);
  EXPECT_EQ(forward.dispatches[1].cost.contraction, 1);
  EXPECT_EQ(forward.dispatches[1].line, 21);
  EXPECT_EQ(forward.dispatches[1].buffers[0].offset, 128u);
  EXPECT_EQ(forward.dispatches[1].buffers[0].arena, MEKIK_WORK);
  const MekikBuffer *buffers = forward.dispatches[0].buffers;
  EXPECT_EQ(buffers[0].bytes, 160u);
  EXPECT_EQ(buffers[0].written, 0);
  EXPECT_EQ(buffers[1].written, 1);
  EXPECT_EQ(buffers[1].parts, 40);
  EXPECT_EQ(forward.dispatches[1].buffers[1].bytes, 4u);
  EXPECT_EQ(forward.workBytes, 512u);
  EXPECT_EQ(forward.scratchBytes, 128u);

  // The arenas of the model are those of its largest function, whichever comes last.
  const MekikFunction &loss = model->functions[1];
  EXPECT_STREQ(loss.name, "loss");
  EXPECT_EQ(loss.workBytes, 192u);
  EXPECT_EQ(loss.scratchBytes, 0u);
}

TEST_F(Emit, DispatchesRunOnTheArenasTheyName) {
  auto loaded = emit::LoadedModel::load(compile());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const MekikModel *model = (*loaded)->model();
  alignas(64) unsigned char parameters[256], state[64], work[512], scratch[128];
  std::memset(work, 0xff, sizeof(work));
  for (int i = 0; i < 40; ++i)
    reinterpret_cast<float *>(parameters + 64)[i] = float(i) + 0.25f;
  unsigned char *arenas[] = {parameters, state, work};
  for (uint64_t number = 0; number < model->functions[0].dispatchCount; ++number) {
    const MekikDispatch &dispatch = model->functions[0].dispatches[number];
    void *buffers[8];
    for (int i = 0; i < dispatch.bufferCount; ++i)
      buffers[i] = mekikAddress(&dispatch.buffers[i], arenas);
    for (int64_t tile = dispatch.tiles; tile-- > 0;)
      dispatch.kernel(buffers, scratch, tile, tile + 1);
  }
  EXPECT_EQ(*reinterpret_cast<float *>(work), 14.5f);
}

TEST_F(Emit, TheObjectShowsOneSymbolAndNeedsNone) {
  std::string bytes = compile();
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "object"));
  ASSERT_TRUE(bool(file));
  std::vector<std::string> seen;
  for (const llvm::object::ELFSymbolRef symbol : (*file)->symbols()) {
    uint32_t flags = cantFail(symbol.getFlags());
    std::string name = cantFail(symbol.getName()).str();
    EXPECT_FALSE((flags & llvm::object::SymbolRef::SF_Undefined) && !name.empty()) << name;
    // A hidden symbol is seen by other objects of the same link.
    if (flags & llvm::object::SymbolRef::SF_Global)
      seen.push_back(name);
  }
  EXPECT_EQ(seen, std::vector<std::string>{"mekik_model"});
}

TEST_F(Emit, ACallIntoTheMathLibraryIsRefusedByName) {
  auto module = lower("%y = math.exp %x : f32");
  auto object = emit::emitObject(*module, target);
  ASSERT_FALSE(object.ok());
  EXPECT_NE(object.status().message().find("expf"), std::string::npos) << object.status();
}

TEST_F(Emit, EveryOperationThatKernelsUseIsInstructions) {
  auto module = lower("%a = arith.maximumf %x, %x : f32\n %b = arith.minimumf %a, %x : f32\n"
                      "%c = arith.maxnumf %a, %b : f32\n %d = math.sqrt %c : f32\n %e = math.absf %d : f32\n"
                      "%f = math.fma %e, %a, %b : f32\n %g = arith.divf %f, %c : f32\n"
                      "%h = arith.fptosi %g : f32 to i64\n %i0 = arith.sitofp %h : i64 to f32\n"
                      "%j = math.roundeven %i0 : f32\n %k = math.copysign %j, %f : f32\n"
                      "%l = math.floor %k : f32\n %y = arith.negf %l : f32");
  auto object = emit::emitObject(*module, target);
  EXPECT_TRUE(object.ok()) << object.status();
}

TEST_F(Emit, ProductsAndSumsStayTwoRoundings) {
  auto module = lower("%p = arith.mulf %x, %x : f32\n %y = arith.addf %p, %x : f32");
  auto assembly = emit::emitAssembly(*module, target);
  ASSERT_TRUE(assembly.ok()) << assembly.status();
  EXPECT_NE(assembly->find("vmulss"), std::string::npos);
  EXPECT_NE(assembly->find("vaddss"), std::string::npos);
  EXPECT_EQ(assembly->find("fmadd"), std::string::npos);
}

TEST_F(Emit, BytesDoNotDependOnTheNumberOfThreads) {
  auto module = lower();
  auto one = emit::emitObject(*module, target, {.threads = 1});
  auto three = emit::emitObject(*module, target, {.threads = 3});
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(*one, *three);
}

TEST_F(Emit, LlvmIrIsTextWithTheModelInIt) {
  auto module = lower();
  auto text = emit::emitLlvmIr(*module, target);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_NE(text->find("@mekik_model"), std::string::npos);
  EXPECT_NE(text->find("define hidden void @first"), std::string::npos) << *text;
}

TEST_F(Emit, LocationsReachTheLlvmStage) {
  auto module = lower();
  std::string text;
  llvm::raw_string_ostream out(text);
  module->print(out, mlir::OpPrintingFlags().enableDebugInfo());
  EXPECT_NE(text.find("\"tiny.mekik\":17:3"), std::string::npos);
}

/// Shared libraries that a program asks for.
std::vector<std::string> neededLibraries(const std::string &path) {
  std::vector<std::string> needed;
  auto file = llvm::object::ObjectFile::createObjectFile(path);
  if (!file) {
    ADD_FAILURE() << llvm::toString(file.takeError());
    return needed;
  }
  auto *elf = llvm::cast<llvm::object::ELF64LEObjectFile>(file->getBinary());
  uint64_t strings = 0;
  std::vector<uint64_t> names;
  for (const auto &entry : cantFail(elf->getELFFile().dynamicEntries())) {
    if (entry.getTag() == llvm::ELF::DT_NEEDED)
      names.push_back(entry.getVal());
    if (entry.getTag() == llvm::ELF::DT_STRTAB)
      strings = entry.getPtr();
  }
  for (uint64_t name : names)
    needed.push_back(reinterpret_cast<const char *>(cantFail(elf->getELFFile().toMappedAddr(strings + name))));
  return needed;
}

class Executables : public Emit, public testing::WithParamInterface<bool> {};

TEST_P(Executables, RunAndNeedNoLibraryBeyondLibc) {
  auto folder = emit::TemporaryFolder::create();
  ASSERT_TRUE(folder.ok());
  std::string path = folder->file("tiny"), out = folder->file("out");
  absl::Status status = emit::linkExecutable(compile(), "", path, {.fullyStatic = GetParam(), .runtime = ""});
  ASSERT_TRUE(status.ok()) << status;
  std::vector<std::string> expected;
  if (!GetParam()) // the loader is part of libc, and there in any case
    expected = {"libc.so.6", "ld-linux-x86-64.so.2"};
  EXPECT_EQ(neededLibraries(path), expected);
  uint64_t size = 0;
  llvm::sys::fs::file_size(path, size);
  RecordProperty("bytes", int(size));
  EXPECT_LT(size, GetParam() ? 3000000u : 1000000u);
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), llvm::StringRef(out), llvm::StringRef(out)};
  EXPECT_EQ(llvm::sys::ExecuteAndWait(path, {path, "--help"}, std::nullopt, redirects), 0)
      << emit::readFile(out).value_or("");
  EXPECT_NE(emit::readFile(out)->find("train"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Executables, testing::Bool(),
                         [](const auto &info) { return info.param ? "Static" : "Dynamic"; });

TEST_F(Emit, AMissingRuntimeIsSaidWithItsPath) {
  absl::Status status =
      emit::linkExecutable(compile(), "", "/tmp/never-written", {.fullyStatic = false, .runtime = "/nowhere/libx.a"});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("/nowhere/libx.a"), std::string::npos) << status;
}

} // namespace
