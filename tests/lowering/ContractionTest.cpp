// Contractions of every orientation and size, compiled, against the definition: one chain of fused multiply-adds an
// element. Equal in every bit, for every target, whatever tiles run in which order.
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
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/TargetParser/Host.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace {

using namespace mekik;
using lowering::Contraction;
using lowering::ContractionPlan;
using lowering::Target;

struct Case {
  std::string left, right, result;
  std::map<char, int64_t> sizes;
  bool isDouble = false;
  bool numbered = false;     // the epilogue multiplies by the number of the element, from 1
  std::string triangle = ""; // later and earlier label: products at earlier <= later alone

  std::vector<int64_t> shape(const std::string &labels) const {
    std::vector<int64_t> shape;
    for (char label : labels)
      shape.push_back(sizes.at(label));
    return shape;
  }
  std::string describe() const {
    std::string text = left + "," + right + "->" + result + (isDouble ? " f64" : " f32") +
                       (numbered ? " numbered" : "") + (triangle.empty() ? "" : " triangle " + triangle);
    for (auto [label, size] : sizes)
      text += std::string(" ") + label + "=" + std::to_string(size);
    return text;
  }
  ContractionPlan plan(const Target &target) const {
    return ContractionPlan::make(
        Contraction::analyze(left, right, result, shape(left), shape(right), isDouble ? 8 : 4, {}, triangle), target);
  }
};

template <typename Number> struct Buffer {
  explicit Buffer(int64_t size) : memory(size + 128 / sizeof(Number)) {
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    data = reinterpret_cast<Number *>((address + 63) / 64 * 64);
  }
  std::vector<Number> memory;
  Number *data;
};

int64_t elements(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// The definition, label by label. Compiled for a machine with fma, so that the function is the instruction.
template <typename Number>
__attribute__((target("fma"))) std::vector<Number> define(const Case &c, const Number *left, const Number *right) {
  std::string contracted;
  for (char label : c.left)
    if (c.result.find(label) == std::string::npos)
      contracted += label;
  // Position along `label` of element number `linear` over `labels`; 0 if it is not there.
  auto position = [&](int64_t linear, const std::string &labels, char label) {
    for (size_t i = labels.size(); i-- > 0; linear /= c.sizes.at(labels[i]))
      if (labels[i] == label)
        return linear % c.sizes.at(label);
    return int64_t(0);
  };
  auto takesPart = [&](int64_t element, int64_t k) {
    auto along = [&](char label) { return position(element, c.result, label) + position(k, contracted, label); };
    return c.triangle.empty() || along(c.triangle[1]) <= along(c.triangle[0]);
  };
  // Element number `linear` over `labels` lies at this offset of a tensor with labels `of`.
  auto offsets = [&](const std::string &labels, const std::string &of) {
    std::vector<int64_t> list;
    for (int64_t element = 0; element < elements(c.shape(labels)); ++element) {
      int64_t linear = element, offset = 0;
      for (size_t i = labels.size(); i-- > 0; linear /= c.sizes.at(labels[i]))
        if (size_t position = of.find(labels[i]); position != std::string::npos)
          offset += linear % c.sizes.at(labels[i]) * elements(c.shape(of.substr(position + 1)));
      list.push_back(offset);
    }
    return list;
  };
  auto leftStart = offsets(c.result, c.left), rightStart = offsets(c.result, c.right);
  auto leftStep = offsets(contracted, c.left), rightStep = offsets(contracted, c.right);
  std::vector<Number> result(leftStart.size());
  for (size_t element = 0; element < result.size(); ++element) {
    Number sum = 0;
    for (size_t k = 0; k < leftStep.size(); ++k) {
      if (!takesPart(element, k))
        continue;
      Number a = left[leftStart[element] + leftStep[k]], b = right[rightStart[element] + rightStep[k]];
      if constexpr (sizeof(Number) == 4)
        sum = __builtin_fmaf(a, b, sum);
      else
        sum = __builtin_fma(a, b, sum);
    }
    result[element] = c.numbered ? sum * Number(element + 1) : sum;
  }
  return result;
}

class Contractions : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    auto features = llvm::sys::getHostCPUFeatures();
    if (std::string(GetParam()) == "x86-64-v4" && !(features.lookup("avx512f") && features.lookup("avx512vl")))
      GTEST_SKIP() << "this machine has no AVX-512";
    context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                        mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect,
                        mlir::LLVM::LLVMDialect>();
    auto parsed = Target::parse(GetParam());
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    target = *parsed;
  }

  void addKernel(mlir::ModuleOp module, const Case &c, const std::string &name) {
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module.getBody());
    mlir::Location loc = builder.getUnknownLoc();
    mlir::Type element = c.isDouble ? mlir::Type(builder.getF64Type()) : mlir::Type(builder.getF32Type());
    ContractionPlan plan = c.plan(target);
    llvm::SmallVector<mlir::Type> types;
    for (const std::string *labels : {&c.left, &c.right, &c.result})
      types.push_back(mlir::MemRefType::get(c.shape(*labels), element));
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
    auto multiply = [](mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sum,
                       const lowering::ContractionPosition &position) -> mlir::Value {
      auto type = llvm::cast<mlir::VectorType>(sum.getType());
      auto numbers = type.clone(builder.getI32Type());
      llvm::SmallVector<int32_t> ahead;
      for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
        ahead.push_back(lane < position.lanes ? int32_t(position.spread.of(lane)) + 1 : 0);
      mlir::Value number = mlir::arith::IndexCastOp::create(builder, loc, builder.getI32Type(), position.offset);
      number = mlir::vector::BroadcastOp::create(builder, loc, numbers, number);
      mlir::Value steps = mlir::arith::ConstantOp::create(
          builder, loc, mlir::DenseElementsAttr::get(numbers, llvm::ArrayRef<int32_t>(ahead)));
      number = mlir::arith::AddIOp::create(builder, loc, number, steps);
      number = mlir::arith::SIToFPOp::create(builder, loc, type, number);
      return mlir::arith::MulFOp::create(builder, loc, sum, number);
    };
    lowering::ContractionEpilogue epilogue = nullptr;
    if (c.numbered)
      epilogue = multiply;
    unsigned count = block->getNumArguments();
    lowering::emitContraction(builder, loc, plan, block->getArgument(0), block->getArgument(1), block->getArgument(2),
                              plan.scratchBytes() ? block->getArgument(3) : mlir::Value(),
                              block->getArgument(count - 2), block->getArgument(count - 1), epilogue);
    mlir::func::ReturnOp::create(builder, loc);
  }

  template <typename Number> void compare(const Case &c, MekikKernel kernel, std::mt19937 &random) {
    int64_t leftSize = elements(c.shape(c.left)), rightSize = elements(c.shape(c.right));
    int64_t size = elements(c.shape(c.result));
    Buffer<Number> left(leftSize), right(rightSize), result(size);
    std::uniform_real_distribution<Number> values(-1, 1);
    // In a triangle some elements are infinite, one in many chains: what does not take part must not be read.
    int64_t chain = std::max<int64_t>(1, leftSize * rightSize / std::max<int64_t>(1, size));
    for (int64_t i = 0; i < leftSize; ++i)
      left.data[i] = !c.triangle.empty() && random() % (8 * chain) == 0 ? INFINITY : values(random);
    for (int64_t i = 0; i < rightSize; ++i)
      right.data[i] = values(random);
    std::memset(result.memory.data(), 0xff, result.memory.size() * sizeof(Number)); // NaN everywhere
    ContractionPlan plan = c.plan(target);
    Buffer<char> scratch(plan.scratchBytes() + 64);
    std::memset(scratch.memory.data(), 0xff, scratch.memory.size());
    std::vector<std::pair<int64_t, int64_t>> ranges;
    for (int64_t from = 0; from < plan.tiles();) {
      int64_t most = random() % 2 ? 5 : std::max<int64_t>(5, plan.tiles());
      int64_t to = std::min<int64_t>(plan.tiles(), from + 1 + int64_t(random()) % most);
      ranges.emplace_back(from, to);
      from = to;
    }
    std::shuffle(ranges.begin(), ranges.end(), random);
    void *buffers[] = {left.data, right.data, result.data};
    for (auto [from, to] : ranges)
      kernel(buffers, scratch.data, from, to);
    std::vector<Number> expected = define(c, left.data, right.data);
    for (int64_t i = 0; i < size; ++i)
      ASSERT_TRUE(std::memcmp(&expected[i], &result.data[i], sizeof(Number)) == 0 ||
                  (std::isnan(expected[i]) && std::isnan(result.data[i])))
          << c.describe() << ": element " << i << " is " << result.data[i] << ", expected " << expected[i];
    for (char *byte = reinterpret_cast<char *>(result.data + size);
         byte < reinterpret_cast<char *>(result.memory.data() + result.memory.size()); ++byte)
      ASSERT_EQ(*byte, char(0xff)) << c.describe() << ": wrote past the end";
    for (char *byte = reinterpret_cast<char *>(result.memory.data()); byte < reinterpret_cast<char *>(result.data);
         ++byte)
      ASSERT_EQ(*byte, char(0xff)) << c.describe() << ": wrote before the start";
  }

  void check(const std::vector<Case> &cases, unsigned seed) {
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    for (size_t number = 0; number < cases.size(); ++number)
      addKernel(*module, cases[number], "kernel_" + std::to_string(number));
    ASSERT_TRUE(succeeded(mlir::verify(*module)));
    mlir::PassManager passes(&context, mlir::ModuleOp::getOperationName());
    passes.addPass(createLowerToLlvm());
    ASSERT_TRUE(succeeded(passes.run(*module)));
    auto object = emit::emitObject(*module, target, {.threads = 2, .exportKernels = true});
    ASSERT_TRUE(object.ok()) << object.status();
    auto loaded = emit::LoadedModel::load(*object);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    std::mt19937 random(seed);
    for (size_t number = 0; number < cases.size(); ++number) {
      MekikKernel kernel = (*loaded)->kernel("kernel_" + std::to_string(number));
      ASSERT_NE(kernel, nullptr);
      cases[number].isDouble ? compare<double>(cases[number], kernel, random)
                             : compare<float>(cases[number], kernel, random);
      if (HasFatalFailure())
        return;
    }
  }

  mlir::MLIRContext context;
  Target target;
};

TEST_P(Contractions, OfAGptEqualTheDefinition) {
  check({{"btw", "whs", "bhts", {{'b', 8}, {'t', 16}, {'w', 32}, {'h', 4}, {'s', 8}}},
         {"btw", "hws", "bhts", {{'b', 3}, {'t', 16}, {'w', 32}, {'h', 4}, {'s', 8}}},
         {"bhts", "bhus", "bhtu", {{'b', 8}, {'t', 16}, {'u', 16}, {'h', 4}, {'s', 8}}},
         {"bhtu", "bhus", "bhts", {{'b', 8}, {'t', 16}, {'u', 16}, {'h', 4}, {'s', 8}}},
         {"bhts", "hsw", "btw", {{'b', 8}, {'t', 16}, {'w', 32}, {'h', 4}, {'s', 8}}},
         {"btw", "bhts", "hws", {{'b', 8}, {'t', 16}, {'w', 32}, {'h', 4}, {'s', 8}}},
         {"bhts", "hws", "btw", {{'b', 8}, {'t', 16}, {'w', 32}, {'h', 4}, {'s', 8}}},
         {"btw", "wv", "btv", {{'b', 8}, {'t', 16}, {'w', 32}, {'v', 30}}},
         {"btv", "wv", "btw", {{'b', 8}, {'t', 16}, {'w', 32}, {'v', 30}}},
         {"btw", "btv", "wv", {{'b', 8}, {'t', 16}, {'w', 32}, {'v', 30}}}},
        1);
}

TEST_P(Contractions, OfCausalAttentionEqualTheDefinition) {
  std::vector<Case> cases;
  auto attention = [&](int64_t b, int64_t h, int64_t t, int64_t s, bool isDouble) {
    std::map<char, int64_t> sizes{{'b', b}, {'h', h}, {'t', t}, {'u', t}, {'s', s}};
    for (auto [left, right, result] : {std::array{"bhts", "bhus", "bhtu"},
                                       {"bths", "buhs", "bhtu"},
                                       {"bhtu", "bhus", "bhts"},
                                       {"bhtu", "bhus", "bths"},
                                       {"bhtu", "bhts", "bhus"},
                                       {"bhtu", "bhts", "bhsu"},
                                       {"bhus", "bhts", "bhut"},
                                       {"bhsu", "bhst", "bhtu"},
                                       {"bhtu", "bhsu", "bhts"}})
      cases.push_back({left, right, result, sizes, isDouble, false, "tu"});
  };
  attention(2, 4, 16, 8, false);
  attention(1, 2, 61, 20, false);
  attention(2, 1, 130, 64, true);
  attention(1, 1, 700, 16, false);
  cases.push_back({"bhtu", "bhus", "bhts", {{'b', 1}, {'h', 2}, {'t', 40}, {'u', 70}, {'s', 9}}, false, true, "tu"});
  cases.push_back({"bhts", "bhus", "bhtu", {{'b', 1}, {'h', 2}, {'t', 70}, {'u', 40}, {'s', 9}}, false, true, "tu"});
  cases.push_back({"tus", "tus", "tu", {{'t', 40}, {'u', 70}, {'s', 9}}, false, false, "tu"});
  cases.push_back({"tuas", "usa", "ta", {{'t', 40}, {'u', 23}, {'s', 9}, {'a', 5}}, false, false, "tu"});
  cases.push_back({"tasu", "uas", "t", {{'t', 40}, {'u', 23}, {'s', 31}, {'a', 50}}, false, false, "tu"});
  cases.push_back({"stau", "uas", "t", {{'t', 1}, {'u', 23}, {'s', 31}, {'a', 5}}, false, false, "tu"});
  cases.push_back({"tk", "uk", "tu", {{'t', 200}, {'u', 200}, {'k', 1100}}, false, false, "ut"});
  check(cases, 4);
}

const std::vector<Case> &largeCases() {
  static const std::vector<Case> cases = {{"mk", "kn", "mn", {{'m', 130}, {'n', 200}, {'k', 1100}}},
                                          {"mk", "nk", "mn", {{'m', 130}, {'n', 200}, {'k', 1100}}},
                                          {"km", "kn", "mn", {{'m', 130}, {'n', 200}, {'k', 1100}}},
                                          {"km", "nk", "mn", {{'m', 61}, {'n', 67}, {'k', 1031}}},
                                          {"mk", "kn", "nm", {{'m', 130}, {'n', 200}, {'k', 600}}},
                                          {"mk", "kn", "mn", {{'m', 700}, {'n', 100}, {'k', 530}}},
                                          {"mk", "nk", "mn", {{'m', 700}, {'n', 100}, {'k', 530}}, true},
                                          {"abc", "dbca", "d", {{'a', 9}, {'b', 30}, {'c', 11}, {'d', 19}}},
                                          {"mab", "nab", "mn", {{'m', 20}, {'n', 40}, {'a', 37}, {'b', 31}}},
                                          {"mk", "nk", "mn", {{'m', 130}, {'n', 200}, {'k', 1100}}, false, true},
                                          {"mk", "kn", "mn", {{'m', 130}, {'n', 200}, {'k', 1100}}, false, true}};
  return cases;
}

TEST_P(Contractions, LargerThanACacheBlockEqualTheDefinition) { check(largeCases(), 2); }

/// Caches so small that operands are cut along every axis, asked for ahead, and sums come near a part at a time; tiles
/// so small that every share of them is several boxes.
TEST_P(Contractions, BeyondEveryCacheEqualTheDefinition) {
  target.tileElements = 64;
  target.nearBytes = 16 * 1024;
  target.leftBlockBytes = 16 * 1024;
  target.farBytes = 4 * 1024;
  target.remoteBytes = 64 * 1024;
  std::vector<Case> cases = largeCases();
  cases.push_back({"mk", "kn", "mn", {{'m', 64}, {'n', 400}, {'k', 1024}}}); // rows whole pages apart
  cases.push_back({"akm", "kn", "amn", {{'a', 5}, {'m', 64}, {'n', 200}, {'k', 300}}});
  cases.push_back({"bmk", "bkn", "bmn", {{'b', 7}, {'m', 40}, {'n', 150}, {'k', 300}}});
  cases.push_back({"amk", "kn", "man", {{'a', 9}, {'m', 8}, {'n', 200}, {'k', 600}}});
  cases.push_back({"mak", "kan", "mn", {{'m', 70}, {'n', 200}, {'a', 3}, {'k', 150}}});
  std::map<char, int64_t> square{{'b', 2}, {'m', 150}, {'n', 150}, {'k', 150}};
  for (const char *triangle : {"mn", "nm", "mk", "km"})
    for (auto [left, right] : {std::pair{"bmk", "bnk"}, {"bmk", "bkn"}, {"bkm", "bkn"}, {"bkm", "bnk"}})
      cases.push_back({left, right, "bmn", square, false, false, triangle});
  // So few columns that the left operand is most of what comes.
  for (int64_t few : {13, 30})
    for (const char *triangle : {"", "mk", "km"})
      for (const char *operand : {"bmk", "bkm"})
        cases.push_back({operand, "bkn", "bmn", {{'b', 2}, {'m', 103}, {'n', few}, {'k', 301}}, false, false, triangle});

  bool rows = false, steps = false;
  bool left = false, copied = false, transposed = false, result = false, columns = false, outerRows = false;
  for (const Case &c : cases) {
    ContractionPlan plan = c.plan(target);
    left |= plan.fetchesLeft;
    copied |= plan.fetchesRight && plan.access == lowering::RightAccess::Copied;
    transposed |= plan.fetchesRight && plan.access == lowering::RightAccess::Transposed;
    result |= plan.fetchesResult;
    rows |= plan.fetchesRows;
    steps |= plan.fetchesSteps;
    columns |= plan.cacheColumns < plan.lanes.size();
    outerRows |= plan.cacheOuterRows > 1 && plan.cacheOuterRows < plan.outerRowsSize;
  }
  EXPECT_TRUE(left && copied && transposed && result && columns && outerRows && rows && steps)
      << "no case of one of them: " << left << copied << transposed << result << columns << outerRows << rows << steps;
  check(cases, 5);
}

/// Results so large that whole lines of them are stored past the caches, if they are lines of their own.
TEST_P(Contractions, StoredPastTheCachesEqualTheDefinition) {
  target.passBytes = 8 * 1024;
  std::map<char, int64_t> sizes{{'a', 3}, {'b', 2}, {'m', 67}, {'n', 208}, {'k', 300}};
  std::vector<Case> cases;
  for (bool isDouble : {false, true})
    for (auto [left, right, result] : {std::array{"mk", "kn", "mn"},
                                       {"km", "kn", "mn"},
                                       {"km", "nk", "mn"},
                                       {"nk", "mk", "mn"},
                                       {"bmk", "bnk", "bmn"},
                                       {"amk", "kn", "man"},
                                       {"amk", "bkn", "mban"}})
      cases.push_back({left, right, result, sizes, isDouble});
  int64_t streamed = llvm::count_if(cases, [&](const Case &c) { return c.plan(target).streamsResult; });
  EXPECT_EQ(streamed, target.vectorBytes == 64 ? int64_t(cases.size()) : 0) << "lines of 64 bytes";
  // Rows that start inside of a line, and sums in several visits.
  std::vector<Case> others = {{"mk", "kn", "mn", {{'m', 130}, {'n', 200}, {'k', 300}}},
                              {"mk", "kn", "mn", {{'m', 130}, {'n', 208}, {'k', 1100}}},
                              {"amk", "kn", "amn", {{'a', 4}, {'m', 131}, {'n', 40}, {'k', 30}}}};
  for (const Case &c : others)
    EXPECT_FALSE(c.plan(target).streamsResult);
  cases.insert(cases.end(), others.begin(), others.end());
  check(cases, 6);
}

TEST_P(Contractions, AtTheEdgesOfSizeEqualTheDefinition) {
  std::vector<Case> cases = {{"k", "k", "", {{'k', 1}}},
                             {"k", "k", "", {{'k', 1000}}},
                             {"k", "k", "", {{'k', 1000}}, true},
                             {"bk", "bk", "b", {{'b', 100}, {'k', 37}}},
                             {"kb", "kb", "b", {{'b', 100}, {'k', 37}}},
                             {"kb", "bk", "b", {{'b', 37}, {'k', 7}}},
                             {"bmk", "bnk", "mnb", {{'b', 19}, {'m', 3}, {'n', 5}, {'k', 7}}},
                             {"mbk", "knb", "mbn", {{'b', 6}, {'m', 13}, {'n', 17}, {'k', 9}}},
                             {"mk", "k", "m", {{'m', 77}, {'k', 129}}},
                             {"k", "kn", "n", {{'n', 77}, {'k', 129}}},
                             {"m", "mk", "k", {{'m', 77}, {'k', 129}}}};
  for (int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 31, 33, 47, 49, 97})
    for (int64_t m : {1, 9}) {
      cases.push_back({"mk", "kn", "mn", {{'m', m}, {'n', n}, {'k', n + m}}});
      cases.push_back({"mk", "nk", "mn", {{'m', m}, {'n', n}, {'k', n}}, n % 2 == 0});
    }
  check(cases, 3);
}

/// The fastest axis of the result, s, is narrower than a vector and shares it with another one, h, wherever the two lie
/// in the right operand and however many there are.
TEST_P(Contractions, OfHeadsNarrowerThanAVectorEqualTheDefinition) {
  std::vector<Case> cases;
  for (auto [h, s] : {std::pair<int64_t, int64_t>{4, 8}, {3, 8}, {5, 4}, {7, 2}, {3, 1}, {3, 6}}) {
    std::map<char, int64_t> sizes{{'b', 2}, {'h', h}, {'s', s}, {'m', 37}, {'k', 21}};
    for (auto [left, right, result] : {std::array{"mk", "hks", "hms"},
                                       {"mk", "hsk", "hms"},
                                       {"mk", "khs", "hms"},
                                       {"mk", "skh", "hms"},
                                       {"shk", "km", "hms"},
                                       {"bmk", "bhks", "bhms"}})
      cases.push_back({left, right, result, sizes, h == 7, true});
  }
  std::map<char, int64_t> deep{{'h', 9}, {'s', 8}, {'m', 20}, {'k', 700}, {'a', 37}, {'c', 29}, {'g', 3}};
  for (auto [left, right, result] : {std::array{"mk", "hks", "hms"},
                                     {"km", "khs", "hms"},
                                     {"mk", "hsk", "hms"},
                                     {"amc", "ahcs", "hms"},
                                     {"mac", "ahsc", "hms"},
                                     {"mk", "gkhs", "hgms"}})
    cases.push_back({left, right, result, deep, false, true});
  deep['s'] = 4;
  for (auto [left, right, result] : {std::array{"mk", "hks", "hms"}, {"mk", "hsk", "hms"}, {"ahcs", "amc", "hms"}})
    cases.push_back({left, right, result, deep, true, true});
  std::map<char, int64_t> many{{'h', 300}, {'s', 4}, {'m', 16}, {'a', 9}, {'k', 150}};
  cases.push_back({"amk", "hks", "ahms", many});
  cases.push_back({"amk", "hks", "hams", many, true});
  cases.push_back({"mk", "hks", "hms", {{'h', 4}, {'s', 8}, {'m', 3}, {'k', 40}}, false, true});  // few rows
  cases.push_back({"smk", "shk", "mhs", {{'h', 6}, {'s', 4}, {'m', 20}, {'k', 9}}, false, true}); // s in all three
  std::map<char, int64_t> cut{{'h', 6}, {'s', 8}, {'m', 50}, {'k', 40}, {'g', 2}};
  for (const char *triangle : {"mk", "km", "mh", "hm", "ms", "sm", "hk", "sk"})
    cases.push_back({"mk", "ghks", "ghms", cut, false, true, triangle});
  check(cases, 5);
}

/// A random equation: up to three labels of each role, in random order in each operand, of random sizes.
Case randomCase(std::mt19937 &random) {
  auto below = [&](int limit) { return int(random() % limit); };
  while (true) {
    Case c;
    char next = 'a';
    std::string left, right, result;
    auto add = [&](int count, bool inLeft, bool inRight, bool inResult) {
      for (int i = 0; i < count; ++i, ++next) {
        static constexpr int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 24, 31, 32, 33, 40, 64};
        c.sizes[next] = sizes[below(std::size(sizes))];
        if (inLeft)
          left += next;
        if (inRight)
          right += next;
        if (inResult)
          result += next;
      }
    };
    add(below(3), true, true, true);
    add(below(3), true, false, true);
    add(below(3), false, true, true);
    add(1 + below(3), true, true, false);
    for (std::string *labels : {&left, &right, &result})
      if (below(2))
        std::shuffle(labels->begin(), labels->end(), random);
    c.left = left, c.right = right, c.result = result;
    c.isDouble = below(4) == 0;
    std::string letters = left + right;
    std::string later(1, letters[below(int(letters.size()))]), earlier(1, letters[below(int(letters.size()))]);
    auto has = [&](const std::string &list) { return (list + " ").find_first_of(later + earlier) < list.size(); };
    if (below(2) && later != earlier && has(left) && has(right) && has(result))
      c.triangle = later + earlier;
    c.numbered = below(4) == 0;
    int64_t work = 1;
    for (auto [label, size] : c.sizes)
      work *= size;
    if (work <= 400000)
      return c;
  }
}

TEST_P(Contractions, OfRandomEquationsEqualTheDefinition) {
  for (unsigned seed = 100; seed < 102; ++seed) {
    std::mt19937 random(seed);
    std::vector<Case> cases;
    for (int i = 0; i < 40; ++i)
      cases.push_back(randomCase(random));
    SCOPED_TRACE(seed);
    check(cases, seed);
    if (HasFatalFailure())
      return;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Contractions, testing::Values("x86-64-v3", "x86-64-v4"),
                         [](const auto &info) { return std::string(info.param) == "x86-64-v3" ? "Avx2" : "Avx512"; });

} // namespace
