// The evaluator itself: the orders of addition it plays, calls, and what it says about wrong input.
#include "compiler/reference/Evaluator.h"
#include "compiler/graph/Graph.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "runtime/abi/MekikPhilox.h"
#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mekik;
using mekik::reference::Tensor;
using numerics::ElementType;

namespace {

class Evaluator : public testing::Test {
protected:
  Evaluator() { context.loadDialect<graph::GraphDialect, func::FuncDialect>(); }

  func::FuncOp parse(const std::string &text, const std::string &name = "f") {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return module->lookupSymbol<func::FuncOp>(name);
  }
  static Tensor floats(std::vector<int64_t> shape) {
    Tensor tensor(ElementType::F32, std::move(shape));
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.as<float>()[i] = 1.0f / static_cast<float>(3 + (i * i * 31 + i * 7) % 1009) - 0.004f;
    return tensor;
  }
  std::vector<Tensor> run(func::FuncOp function, std::vector<Tensor> arguments,
                          numerics::FmaClass fmaClass = numerics::FmaClass::Fused) {
    auto results = reference::evaluate(function, arguments, fmaClass);
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? *std::move(results) : std::vector<Tensor>(1);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

float rowSum(const float *row, int64_t length) {
  if (length > 4096) {
    std::vector<float> chunks;
    for (int64_t begin = 0; begin < length; begin += 4096)
      chunks.push_back(rowSum(row + begin, std::min<int64_t>(4096, length - begin)));
    return rowSum(chunks.data(), chunks.size());
  }
  std::array<float, 16> lanes;
  lanes.fill(-0.0f);
  for (int64_t i = 0; i < length; ++i)
    lanes[i % 16] += row[i];
  for (int half = 8; half; half /= 2)
    for (int lane = 0; lane < half; ++lane)
      lanes[lane] += lanes[lane + half];
  return lanes[0];
}

TEST_F(Evaluator, RowsAreSummedInSixteenLanesAndLongOnesInChunks) {
  for (int64_t length : {1, 2, 15, 16, 17, 33, 4096, 4097, 10000}) {
    std::string n = std::to_string(length);
    Tensor x = floats({2, length});
    Tensor sum =
        run(parse("func.func @f(%x: tensor<2x" + n + "xf32>) -> tensor<2xf32> {\n %s = graph.sum %x [1] : tensor<2x" +
                  n + "xf32>\n return %s : tensor<2xf32>\n}"),
            {x})[0];
    for (int row = 0; row < 2; ++row)
      EXPECT_EQ(sum.as<float>()[row], rowSum(x.as<float>() + row * length, length)) << length;
  }
}

TEST_F(Evaluator, OneNanMakesEveryShareOfItsSoftmaxNan) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  func::FuncOp softmax = parse("func.func @f(%x: tensor<1x40xf32>) -> tensor<1x40xf32> {\n %m = graph.peak %x [1] : "
                               "tensor<1x40xf32>\n %b = graph.broadcast %m [0] : tensor<1xf32> to tensor<1x40xf32>\n "
                               "%r = graph.sub %x, %b : tensor<1x40xf32>\n %p = graph.exp_nonpositive %r : "
                               "tensor<1x40xf32>\n %s = graph.sum %p [1] : tensor<1x40xf32>\n %t = graph.broadcast %s "
                               "[0] : tensor<1xf32> to tensor<1x40xf32>\n %y = graph.div %p, %t : tensor<1x40xf32>\n "
                               "return %y : tensor<1x40xf32>\n}");
  for (int64_t place : {0, 1, 15, 16, 39})
    for (float others : {1.0f, 3e38f, -infinity}) {
      Tensor x(ElementType::F32, {1, 40});
      for (int64_t i = 0; i < 40; ++i)
        x.as<float>()[i] = i % 7 ? others : 0.5f;
      x.as<float>()[place] = nan;
      Tensor y = run(softmax, {x})[0];
      for (int64_t i = 0; i < 40; ++i)
        EXPECT_TRUE(std::isnan(y.as<float>()[i])) << place << ", " << i;
    }
}

TEST_F(Evaluator, OtherAxesAreSummedAsAChainInAscendingOrder) {
  Tensor x = floats({5, 6, 7});
  std::vector<Tensor> results = run(parse(R"(func.func @f(%x: tensor<5x6x7xf32>) -> (tensor<5x7xf32>, tensor<7xf32>) {
    %a = graph.sum %x [1] : tensor<5x6x7xf32>
    %b = graph.sum %x [0, 1] : tensor<5x6x7xf32>
    return %a, %b : tensor<5x7xf32>, tensor<7xf32>
  })"),
                                    {x});
  for (int column = 0; column < 7; ++column) {
    float all = -0.0f;
    for (int i = 0; i < 5; ++i) {
      float sum = -0.0f;
      for (int j = 0; j < 6; ++j) {
        float element = x.as<float>()[(i * 6 + j) * 7 + column];
        sum += element;
        all += element;
      }
      EXPECT_EQ(results[0].as<float>()[i * 7 + column], sum);
    }
    EXPECT_EQ(results[1].as<float>()[column], all);
  }
}

TEST_F(Evaluator, TheMaximumOfNegativeRowsOfAnyLengthIsTheirLargest) {
  for (int64_t length : {1, 3, 7, 8, 9, 15, 17, 31, 33, 1178}) {
    std::string type = "tensor<1x" + std::to_string(length) + "xf32>";
    Tensor x({ElementType::F32, {1, length}});
    float largest = -INFINITY;
    for (int64_t i = 0; i < length; ++i) {
      x.as<float>()[i] = -1.0f - static_cast<float>(i * 37 % 101) / 50;
      largest = std::max(largest, x.as<float>()[i]);
    }
    Tensor max = run(parse("func.func @f(%x: " + type + ") -> tensor<1xf32> {\n %s = graph.max %x [1] : " + type +
                           "\n return %s : tensor<1xf32>\n}"),
                     {x})[0];
    EXPECT_EQ(max.as<float>()[0], largest) << length;
  }
}

TEST_F(Evaluator, AContractionIsOneChainOfMultiplyAddsInTheOrderOfTheLeftLabels) {
  Tensor a = floats({3, 4, 5}), b = floats({5, 4, 18});
  const char *text = R"(func.func @f(%a: tensor<3x4x5xf32>, %b: tensor<5x4x18xf32>) -> tensor<3x18xf32> {
    %c = graph.contract "ipq,qpj->ij" %a, %b : tensor<3x4x5xf32>, tensor<5x4x18xf32>
    return %c : tensor<3x18xf32>
  })";
  Tensor fused = run(parse(text), {a, b})[0];
  Tensor apart = run(parse(text), {a, b}, numerics::FmaClass::ProductThenSum)[0];
  int different = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 18; ++j) {
      float chain = 0, sums = 0;
      for (int p = 0; p < 4; ++p)
        for (int q = 0; q < 5; ++q) {
          float left = a.as<float>()[(i * 4 + p) * 5 + q], right = b.as<float>()[(q * 4 + p) * 18 + j];
          chain = std::fmaf(left, right, chain);
          float product = left * right;
          sums = product + sums;
        }
      EXPECT_EQ(fused.as<float>()[i * 18 + j], chain);
      EXPECT_EQ(apart.as<float>()[i * 18 + j], sums);
      different += chain != sums;
    }
  EXPECT_GT(different, 0) << "the inputs do not tell the two classes apart";
}

TEST_F(Evaluator, ATriangleLeavesOutWhatIsLaterWhateverItHolds) {
  Tensor a = floats({5, 7}), b = floats({7, 3}), c = floats({5, 3});
  a.as<float>()[4] = a.as<float>()[2 * 7 + 3] = INFINITY; // rows 0 and 2, behind the diagonal
  const char *text = R"(func.func @f(%a: tensor<5x7xf32>, %b: tensor<7x3xf32>, %c: tensor<5x3xf32>)
      -> (tensor<5x3xf32>, tensor<5x7xf32>) {
    %s = graph.contract "tu,uk->tk" triangle "tu" %a, %b : tensor<5x7xf32>, tensor<7x3xf32>
    %p = graph.contract "tk,uk->tu" triangle "tu" %c, %b : tensor<5x3xf32>, tensor<7x3xf32>
    return %s, %p : tensor<5x3xf32>, tensor<5x7xf32>
  })";
  for (numerics::FmaClass fmaClass : {numerics::FmaClass::Fused, numerics::FmaClass::ProductThenSum}) {
    std::vector<Tensor> results = run(parse(text), {a, b, c}, fmaClass);
    bool fused = fmaClass == numerics::FmaClass::Fused;
    auto link = [&](float x, float y, float sum) { return fused ? std::fmaf(x, y, sum) : sum + x * y; };
    for (int t = 0; t < 5; ++t) {
      for (int k = 0; k < 3; ++k) {
        float sum = 0;
        for (int u = 0; u <= t; ++u)
          sum = link(a.as<float>()[t * 7 + u], b.as<float>()[u * 3 + k], sum);
        EXPECT_EQ(results[0].as<float>()[t * 3 + k], sum) << "row " << t << ", column " << k << " of the sums";
      }
      for (int u = 0; u < 7; ++u) {
        float sum = 0;
        for (int k = 0; k < 3 && u <= t; ++k)
          sum = link(c.as<float>()[t * 3 + k], b.as<float>()[u * 3 + k], sum);
        EXPECT_EQ(results[1].as<float>()[t * 7 + u], sum) << "row " << t << ", column " << u << " of the scores";
      }
    }
  }
}

TEST_F(Evaluator, RandomNumbersAreThoseOfTheSharedDefinition) {
  Tensor seed(ElementType::I64, {}), step(ElementType::I64, {});
  seed.as<uint64_t>()[0] = 0x123456789ABCDEFull;
  step.as<uint64_t>()[0] = 7;
  Tensor x = run(parse(R"(func.func @f(%seed: tensor<i64>, %step: tensor<i64>) -> tensor<10x20xf32> {
    %five = graph.constant 5 : i64 : tensor<i64>
    %u = graph.random %seed, %step stream %five : tensor<10x20xf32>
    return %u : tensor<10x20xf32>
  })"),
                 {seed, step})[0];
  for (int64_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(x.as<float>()[i], mekikUniform(mekikRandomBits(0x123456789ABCDEFull, 5, 7, i)));
}

TEST_F(Evaluator, FunctionsMayCallOthersOfTheModule) {
  Tensor x = floats({4});
  Tensor y = run(parse(R"(
    func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = graph.add %x, %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %a = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %b = call @twice(%a) : (tensor<4xf32>) -> tensor<4xf32>
      return %b : tensor<4xf32>
    })"),
                 {x})[0];
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(y.as<float>()[i], 4 * x.as<float>()[i]);
}

TEST_F(Evaluator, PromotionToDoubleKeepsConstantsAndRandomNumbers) {
  func::FuncOp function = parse(R"(func.func @f(%seed: tensor<i64>) -> (tensor<64xf32>, tensor<64xf32>) {
    %five = graph.constant 5 : i64 : tensor<i64>
    %u = graph.random %seed, %seed stream %five : tensor<64xf32>
    %c = graph.constant 0.1 : f32 : tensor<64xf32>
    return %u, %c : tensor<64xf32>, tensor<64xf32>
  })");
  Tensor seed(ElementType::I64, {});
  std::vector<Tensor> single = run(function, {seed});
  reference::promoteToF64(*module);
  EXPECT_TRUE(succeeded(module->verify()));
  std::vector<Tensor> wide = run(function, {seed});
  ASSERT_EQ(wide[0].type(), ElementType::F64);
  for (int result = 0; result < 2; ++result)
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(wide[result].getDouble(i), single[result].getDouble(i));
}

TEST_F(Evaluator, RefusesIdsOutsideTheTable) {
  func::FuncOp function = parse(R"(func.func @f(%ids: tensor<2xi32>, %table: tensor<3x2xf32>) -> tensor<2x2xf32> {
    %r = graph.embedding %ids, %table : tensor<2xi32>, tensor<3x2xf32>
    return %r : tensor<2x2xf32>
  })");
  for (int32_t id : {-1, 3, 65535, -65536}) {
    Tensor ids(ElementType::I32, {2});
    ids.as<int32_t>()[1] = id;
    auto result = reference::evaluate(function, {ids, floats({3, 2})});
    EXPECT_EQ(result.status().code(), absl::StatusCode::kOutOfRange) << id;
  }
}

TEST_F(Evaluator, SaysWhichArgumentDoesNotFit) {
  func::FuncOp function = parse("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }");
  auto tooFew = reference::evaluate(function, {});
  EXPECT_EQ(tooFew.status().message(), "@f takes 1 tensors, got 0");
  auto otherShape = reference::evaluate(function, {floats({2, 2})});
  EXPECT_NE(std::string(otherShape.status().message()).find("argument 0 of @f is tensor<4xf32>"), std::string::npos);
}

} // namespace
