// Single contractions, compiled as those of a model are, beside oneDNN and OpenBLAS in one run. Measured with Google
// Benchmark; its repetitions are interleaved at random, so that a machine that changes its pace changes it for all.
//
//   mekik-bench-contractions [--threads N] [--rounds N] [--seconds S] [--only TEXT]
//
// Prints one JSON line a shape: GFLOP/s of each library, median and spread over the rounds of S seconds each. --only
// takes the shapes whose name holds TEXT. Not part of the default build: ninja -C build mekik-bench-contractions.
// oneDNN is there if its headers were (libdnnl-dev), OpenBLAS if its library is when this starts.
#include "compiler/driver/Passes.h"
#include "compiler/emit/LoadedModel.h"
#include "compiler/emit/Object.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/lowering/EmitContraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/model/ThreadPool.h"
#include <algorithm>
#include <benchmark/benchmark.h>
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <random>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>
#ifdef MEKIK_BENCH_ONEDNN
#include <dnnl.hpp>
#endif

namespace {

using namespace mekik;
using lowering::ContractionPlan;

/// `batch` products of matrices, each m x n with k products a sum. The letters b, m, n, k in the order in which the
/// axes lie in memory; b is left out where there is one product only.
struct Shape {
  std::string name;
  int64_t batch, m, n, k;
  bool leftTransposed, rightTransposed;

  std::string labels(const char *axes) const { return (batch > 1 ? "b" : "") + std::string(axes); }
  std::string left() const { return labels(leftTransposed ? "km" : "mk"); }
  std::string right() const { return labels(rightTransposed ? "nk" : "kn"); }
  std::string result() const { return labels("mn"); }
  std::vector<int64_t> sizes(const std::string &labels) const {
    std::vector<int64_t> list;
    for (char label : labels)
      list.push_back(label == 'b' ? batch : label == 'm' ? m : label == 'n' ? n : k);
    return list;
  }
  double operations() const { return 2.0 * double(batch) * double(m) * double(n) * double(k); }
  ContractionPlan plan(const lowering::Target &target) const {
    return ContractionPlan::make(
        lowering::Contraction::analyze(left(), right(), result(), sizes(left()), sizes(right()), 4), target);
  }
};

std::vector<Shape> shapes() {
  std::vector<Shape> list;
  constexpr int64_t matrices[][3] = {{128, 32, 32},    {128, 128, 32},   {128, 32, 128},     {256, 768, 768},
                                     {256, 3072, 768}, {256, 768, 3072}, {1024, 1024, 1024}, {256, 50304, 768}};
  for (auto [m, n, k] : matrices) {
    std::string name = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    list.push_back({name + "/AB", 1, m, n, k, false, false});
    list.push_back({name + "/AtB", 1, m, n, k, true, false});
    list.push_back({name + "/ABt", 1, m, n, k, false, true});
  }
  // Attention: scores, their use, and the gradient that goes through the transposed weights. Products, context,
  // channels of a head: the book's GPT, shakespeare, gpt2 with 4x64 and 1x1024.
  constexpr int64_t heads[][3] = {{32, 16, 8}, {48, 64, 32}, {48, 64, 64}, {12, 1024, 64}};
  for (auto [products, context, size] : heads) {
    std::string front = std::to_string(products) + " of ", t = std::to_string(context), s = std::to_string(size);
    list.push_back({front + t + "x" + t + "x" + s + "/ABt", products, context, context, size, false, true});
    list.push_back({front + t + "x" + s + "x" + t + "/AB", products, context, size, context, false, false});
    list.push_back({front + t + "x" + s + "x" + t + "/AtB", products, context, size, context, true, false});
  }
  return list;
}

using Memory = std::unique_ptr<float, decltype(&std::free)>;
/// In large pages where there are some, like the memory of a model (runtime/model/Model.cpp): for all libraries.
Memory allocate(int64_t count) {
  constexpr size_t largePage = 2 * 1024 * 1024;
  auto bytes = (size_t(count) * sizeof(float) + 64 + largePage - 1) / largePage * largePage;
  Memory memory(static_cast<float *>(std::aligned_alloc(largePage, bytes)), &std::free);
  madvise(memory.get(), bytes, MADV_HUGEPAGE);
  return memory;
}

/// The operands of one shape, made when its first benchmark runs and given up when another shape's does.
struct Operands {
  explicit Operands(const Shape &shape)
      : left(allocate(shape.batch * shape.m * shape.k)), right(allocate(shape.batch * shape.k * shape.n)),
        result(allocate(shape.batch * shape.m * shape.n)) {
    std::minstd_rand random(1);
    std::uniform_real_distribution<float> values(-1, 1);
    for (int64_t i = 0; i < shape.batch * shape.m * shape.k; ++i)
      left.get()[i] = values(random);
    for (int64_t i = 0; i < shape.batch * shape.k * shape.n; ++i)
      right.get()[i] = values(random);
  }
  Memory left, right, result;
};

const Operands &operands(const Shape &shape) {
  static const Shape *last = nullptr;
  static std::unique_ptr<Operands> made;
  if (last != &shape) {
    made.reset();
    made = std::make_unique<Operands>(shape);
    last = &shape;
  }
  return *made;
}

/// Whether some elements of the result are what they must be, to rounding. A fast wrong answer is no answer.
bool isRight(const Shape &shape, const Operands &o) {
  std::minstd_rand random(2);
  for (int sample = 0; sample < 64; ++sample) {
    int64_t b = int64_t(random() % shape.batch), row = int64_t(random() % shape.m);
    int64_t column = int64_t(random() % shape.n);
    const float *left = o.left.get() + b * shape.m * shape.k, *right = o.right.get() + b * shape.k * shape.n;
    double sum = 0;
    for (int64_t k = 0; k < shape.k; ++k)
      sum += double(left[shape.leftTransposed ? k * shape.m + row : row * shape.k + k]) *
             right[shape.rightTransposed ? column * shape.k + k : k * shape.n + column];
    double found = o.result.get()[(b * shape.m + row) * shape.n + column];
    if (!(std::abs(found - sum) <= 1e-5 * double(shape.k)))
      return false;
  }
  return true;
}

template <typename Work> void measure(benchmark::State &state, const Shape &shape, Work &&work) {
  const Operands &o = operands(shape);
  work(o);
  if (!isRight(shape, o))
    return state.SkipWithError("the result is wrong");
  for (auto _ : state)
    work(o);
}

/// Collects what each library reached and prints it as one line.
class Line : public benchmark::BenchmarkReporter {
public:
  explicit Line(const Shape &shape) : shape(shape) {}
  bool ReportContext(const Context &) override { return true; }
  void ReportRuns(const std::vector<Run> &runs) override {
    for (const Run &run : runs)
      if (run.error_occurred)
        std::fprintf(stderr, "%s, %s: %s\n", shape.name.c_str(), run.run_name.function_name.c_str(),
                     run.error_message.c_str());
      else if (run.run_type == Run::RT_Iteration)
        speeds[run.run_name.function_name].push_back(shape.operations() * double(run.iterations) /
                                                     run.real_accumulated_time * 1e-9);
  }
  void print() {
    std::printf("{\"name\":\"%s\"", shape.name.c_str());
    for (auto &[library, list] : speeds) {
      std::sort(list.begin(), list.end());
      std::printf(",\"%s\":{\"median\":%.2f,\"least\":%.2f,\"most\":%.2f}", library.c_str(), list[list.size() / 2],
                  list.front(), list.back());
    }
    std::printf("}\n");
    std::fflush(stdout);
  }

private:
  const Shape &shape;
  std::map<std::string, std::vector<double>> speeds;
};

// ------------------------------------------------------------------------------------------------ Mekik

void addKernel(mlir::ModuleOp module, const Shape &shape, const lowering::Target &target, const std::string &name) {
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module.getBody());
  mlir::Location loc = builder.getUnknownLoc();
  ContractionPlan plan = shape.plan(target);
  llvm::SmallVector<mlir::Type> types;
  for (const std::string &labels : {shape.left(), shape.right(), shape.result()})
    types.push_back(mlir::MemRefType::get(shape.sizes(labels), builder.getF32Type()));
  if (plan.scratchBytes())
    types.push_back(mlir::MemRefType::get({plan.scratchBytes()}, builder.getI8Type()));
  types.append(2, builder.getIndexType());
  auto function = mlir::func::FuncOp::create(builder, loc, name, builder.getFunctionType(types, {}));
  function.setPrivate();
  function->setAttr(graph::kKernel, builder.getUnitAttr());
  function->setAttr(graph::kTiles, builder.getI64IntegerAttr(plan.tiles()));
  function->setAttr(graph::kScratch, builder.getI64IntegerAttr(plan.scratchBytes()));
  for (unsigned argument = 0; argument < types.size() - 2; ++argument)
    function.setArgAttr(argument, "llvm.noalias", builder.getUnitAttr());
  mlir::Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  unsigned count = block->getNumArguments();
  lowering::emitContraction(builder, loc, plan, block->getArgument(0), block->getArgument(1), block->getArgument(2),
                            plan.scratchBytes() ? block->getArgument(3) : mlir::Value(), block->getArgument(count - 2),
                            block->getArgument(count - 1));
  mlir::func::ReturnOp::create(builder, loc);
}

struct Compiled {
  std::unique_ptr<emit::LoadedModel> code;
  std::vector<MekikKernel> kernels;
  std::vector<int64_t> tiles;
  std::vector<Memory> scratch;
  std::vector<void *> scratchAddresses;
};

[[noreturn]] void stop(int status, const std::string &message) {
  std::fprintf(stderr, "mekik-bench-contractions: %s\n", message.c_str());
  std::exit(status);
}

Compiled compile(const std::vector<Shape> &shapes, int threads) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                      mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect,
                      mlir::LLVM::LLVMDialect>();
  auto target = lowering::Target::parse("native");
  if (!target.ok())
    stop(1, std::string(target.status().message()));
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  Compiled compiled;
  int64_t scratchBytes = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    addKernel(*module, shapes[i], *target, "kernel_" + std::to_string(i));
    ContractionPlan plan = shapes[i].plan(*target);
    compiled.tiles.push_back(plan.tiles());
    scratchBytes = std::max(scratchBytes, plan.scratchBytes());
  }
  mlir::PassManager passes(&context, mlir::ModuleOp::getOperationName());
  passes.addPass(createLowerToLlvm());
  if (failed(passes.run(*module)))
    stop(1, "the kernels could not be lowered");
  auto object =
      emit::emitObject(*module, *target, {.threads = unsigned(model::availableCores()), .exportKernels = true});
  if (!object.ok())
    stop(1, std::string(object.status().message()));
  auto loaded = emit::LoadedModel::load(*object);
  if (!loaded.ok())
    stop(1, std::string(loaded.status().message()));
  compiled.code = std::move(*loaded);
  for (size_t i = 0; i < shapes.size(); ++i)
    compiled.kernels.push_back(compiled.code->kernel("kernel_" + std::to_string(i)));
  for (int thread = 0; thread < threads; ++thread) {
    compiled.scratch.push_back(allocate(scratchBytes / 4 + 16));
    compiled.scratchAddresses.push_back(compiled.scratch.back().get());
  }
  return compiled;
}

// ------------------------------------------------------------------------------------------------ OpenBLAS

using Sgemm = void (*)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                       int);

/// Null if the library is not there. Only what is named in the environment when it is loaded counts, so the program
/// starts again with what it needs.
Sgemm loadOpenBlas(int threads, char **words) {
  std::string count = std::to_string(threads);
  const char *known = std::getenv("OMP_NUM_THREADS");
  bool again = !known || count != known;
  for (const char *variable : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
    setenv(variable, count.c_str(), 1);
  void *library = nullptr;
  for (const char *name : {"/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0", "libopenblas.so.0"})
    if ((library = library ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL)))
      break;
  if (library && !std::getenv("OPENBLAS_CORETYPE")) {
    // A processor newer than the library is taken for the oldest there is.
    auto core = reinterpret_cast<char *(*)()>(dlsym(library, "openblas_get_corename"));
    std::string name = core ? core() : "";
    if (name == "Prescott" || name == "Core2" || name == "generic") {
      setenv("OPENBLAS_CORETYPE", __builtin_cpu_supports("avx512f") ? "SKYLAKEX" : "HASWELL", 1);
      again = true;
    }
  }
  if (again && !std::getenv("BENCH_RESTARTED")) {
    setenv("BENCH_RESTARTED", "1", 1);
    execv("/proc/self/exe", words);
  }
  return library ? reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm")) : nullptr;
}

void multiply(Sgemm sgemm, const Shape &s, const Operands &o) {
  constexpr int rowMajor = 101, plain = 111, transposed = 112;
  int m = int(s.m), n = int(s.n), k = int(s.k);
  for (int64_t b = 0; b < s.batch; ++b)
    sgemm(rowMajor, s.leftTransposed ? transposed : plain, s.rightTransposed ? transposed : plain, m, n, k, 1,
          o.left.get() + b * s.m * s.k, s.leftTransposed ? m : k, o.right.get() + b * s.k * s.n,
          s.rightTransposed ? k : n, 0, o.result.get() + b * s.m * s.n, n);
}

// ------------------------------------------------------------------------------------------------ oneDNN

#ifdef MEKIK_BENCH_ONEDNN
void measureOneDnn(benchmark::State &state, const Shape &s) {
  using namespace dnnl;
  static engine cpu(engine::kind::cpu, 0);
  static stream queue(cpu);
  auto type = memory::data_type::f32;
  auto strides = [](int64_t rows, int64_t columns, bool isTransposed) {
    return isTransposed ? memory::dims{rows * columns, 1, rows} : memory::dims{rows * columns, columns, 1};
  };
  memory::desc left({s.batch, s.m, s.k}, type, strides(s.m, s.k, s.leftTransposed));
  memory::desc right({s.batch, s.k, s.n}, type, strides(s.k, s.n, s.rightTransposed));
  memory::desc result({s.batch, s.m, s.n}, type, strides(s.m, s.n, false));
  if (s.batch == 1) {
    auto flat = [&](int64_t rows, int64_t columns, bool isTransposed) {
      return memory::desc({rows, columns}, type, isTransposed ? memory::dims{1, rows} : memory::dims{columns, 1});
    };
    left = flat(s.m, s.k, s.leftTransposed);
    right = flat(s.k, s.n, s.rightTransposed);
    result = flat(s.m, s.n, false);
  }
  matmul product(matmul::primitive_desc(matmul::desc(left, right, result), cpu));
  const Operands &made = operands(s);
  const std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, memory(left, cpu, made.left.get())},
                                                     {DNNL_ARG_WEIGHTS, memory(right, cpu, made.right.get())},
                                                     {DNNL_ARG_DST, memory(result, cpu, made.result.get())}};
  measure(state, s, [&](const Operands &) {
    product.execute(queue, arguments);
    queue.wait();
  });
}
#endif

} // namespace

int main(int count, char **words) {
  int threads = 1, rounds = 5;
  double seconds = 0.05;
  std::string only;
  for (int i = 1; i < count; ++i) {
    std::string_view word = words[i];
    if (i + 1 < count && word == "--threads")
      threads = std::atoi(words[++i]);
    else if (i + 1 < count && word == "--rounds")
      rounds = std::atoi(words[++i]);
    else if (i + 1 < count && word == "--seconds")
      seconds = std::atof(words[++i]);
    else if (i + 1 < count && word == "--only")
      only = words[++i];
    else
      stop(2, "usage: mekik-bench-contractions [--threads N] [--rounds N] [--seconds S] [--only TEXT]");
  }
  if (threads < 1 || threads > model::ThreadPool::maximumThreads || rounds < 1 || !(seconds > 0))
    stop(2, "--threads and --rounds count from 1, --seconds is above 0");
  Sgemm sgemm = loadOpenBlas(threads, words);
  auto pool = model::ThreadPool::create(threads);
  if (!pool.ok())
    stop(1, pool.status().message());
  char interleaving[] = "--benchmark_enable_random_interleaving=true";
  char *settings[] = {words[0], interleaving};
  int settingCount = 2;
  benchmark::Initialize(&settingCount, settings);

  std::vector<Shape> chosen;
  for (const Shape &shape : shapes())
    if (shape.name.find(only) != std::string::npos)
      chosen.push_back(shape);
  const Compiled compiled = compile(chosen, threads);
  for (size_t i = 0; i < chosen.size(); ++i) {
    const Shape &shape = chosen[i];
    auto add = [&](const char *library, auto work) {
      benchmark::RegisterBenchmark(library, work)->UseRealTime()->Repetitions(rounds)->MinTime(seconds);
    };
    add("mekik", [&](benchmark::State &state) {
      measure(state, shape, [&](const Operands &o) {
        void *buffers[] = {o.left.get(), o.right.get(), o.result.get()};
        (*pool)->run(compiled.kernels[i], buffers, compiled.scratchAddresses.data(), compiled.tiles[i]);
      });
    });
#ifdef MEKIK_BENCH_ONEDNN
    add("onednn", [&](benchmark::State &state) { measureOneDnn(state, shape); });
#endif
    if (sgemm)
      add("openblas", [&](benchmark::State &state) {
        measure(state, shape, [&](const Operands &o) { multiply(sgemm, shape, o); });
      });
    Line line(shape);
    benchmark::RunSpecifiedBenchmarks(&line);
    line.print();
    benchmark::ClearRegisteredBenchmarks();
  }
  return 0;
}
