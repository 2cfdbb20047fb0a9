// Convolution, pooling and rotation against their formulas, written as plain loops here.
#include "tests/ops/OpHarness.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mekik;
using namespace mekik::graph;
using namespace mekik::tests;

namespace {

using Axes = SmallVector<int64_t>;

struct ConvolutionCase {
  const char *name;
  int64_t height, width, in, out, filterHeight, filterWidth;
  Axes strides, low, high, dilations;
  int64_t groups;
};

const ConvolutionCase convolutions[] = {
    {"Plain", 5, 6, 2, 3, 3, 3, {1, 1}, {0, 0}, {0, 0}, {1, 1}, 1},
    {"Padded", 5, 6, 2, 3, 3, 5, {1, 1}, {1, 2}, {1, 2}, {1, 1}, 1},
    {"StridedWithARest", 8, 9, 1, 4, 3, 2, {2, 3}, {0, 1}, {0, 0}, {1, 1}, 1},
    {"Dilated", 9, 7, 2, 2, 3, 2, {1, 2}, {0, 0}, {1, 0}, {2, 3}, 1},
    {"InGroups", 4, 4, 6, 4, 2, 2, {1, 1}, {1, 1}, {0, 0}, {1, 1}, 2},
    {"Depthwise", 5, 5, 3, 3, 3, 3, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 3},
    {"AsLargeAsThePicture", 3, 4, 2, 2, 3, 4, {1, 1}, {0, 0}, {0, 0}, {1, 1}, 1},
};

/// One element of x, 0 outside.
double at(const Tensor &x, int64_t b, int64_t row, int64_t column, int64_t channel) {
  ArrayRef<int64_t> shape = x.shape();
  if (row < 0 || row >= shape[1] || column < 0 || column >= shape[2])
    return 0;
  return x.getDouble(((b * shape[1] + row) * shape[2] + column) * shape[3] + channel);
}

class Convolution : public testing::TestWithParam<ConvolutionCase> {};

TEST_P(Convolution, IsTheChainOfTheNumericsContract) {
  const ConvolutionCase &c = GetParam();
  OpCase op({filled({2, c.height, c.width, c.in}, 31), filled({c.filterHeight, c.filterWidth, c.in / c.groups, c.out}, 32)},
            [&](Build &build, ValueRange x) -> Value {
              return ConvolutionOp::create(build.builder, build.loc, x[0], x[1], c.strides, c.low, c.high, c.dilations,
                                           c.groups);
            },
            /*isF64=*/true, /*withSecond=*/false);
  const Tensor &x = op.operands()[0], &filter = op.operands()[1];
  Tensor result = op.run("value", op.operands())[0];
  auto count = [&](int axis, int64_t extent, int64_t reach) {
    return (extent + c.low[axis] + c.high[axis] - (reach - 1) * c.dilations[axis] - 1) / c.strides[axis] + 1;
  };
  std::vector<int64_t> shape{2, count(0, c.height, c.filterHeight), count(1, c.width, c.filterWidth), c.out};
  ASSERT_EQ(result.shape(), shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t o = i % c.out, column = i / c.out % shape[2], row = i / c.out / shape[2] % shape[1], b = i / c.out / shape[2] / shape[1];
    int64_t inGroup = c.in / c.groups, group = o / (c.out / c.groups);
    double sum = 0;
    for (int64_t p = 0; p < c.filterHeight; ++p)
      for (int64_t q = 0; q < c.filterWidth; ++q)
        for (int64_t k = 0; k < inGroup; ++k)
          sum = std::fma(at(x, b, row * c.strides[0] + p * c.dilations[0] - c.low[0],
                            column * c.strides[1] + q * c.dilations[1] - c.low[1], group * inGroup + k),
                         filter.getDouble(((p * c.filterWidth + q) * inGroup + k) * c.out + o), sum);
    ASSERT_EQ(result.getDouble(i), sum) << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Convolution, testing::ValuesIn(convolutions),
                         [](const auto &info) { return info.param.name; });

TEST(Pooling, TakesTheLargestAndTheMeanOfEachWindow) {
  for (int64_t stride : {1, 2, 3}) {
    Axes sizes{3, 2}, strides{stride, stride}, low{1, 0}, high{2, 1};
    for (bool largest : {true, false}) {
      OpCase op({filled({2, 5, 6, 3}, 33)},
                [&](Build &build, ValueRange x) -> Value {
                  if (largest)
                    return MaxPoolOp::create(build.builder, build.loc, x[0], sizes, strides, low, high);
                  return AveragePoolOp::create(build.builder, build.loc, x[0], sizes, strides, low, high);
                },
                /*isF64=*/true, /*withSecond=*/false);
      Tensor result = op.run("value", op.operands())[0];
      ASSERT_EQ(result.shape(), (std::vector<int64_t>{2, (5 + 3 - 3) / stride + 1, (6 + 1 - 2) / stride + 1, 3}));
      for (int64_t i = 0; i < result.size(); ++i) {
        int64_t channel = i % 3, column = i / 3 % result.shape()[2], row = i / 3 / result.shape()[2] % result.shape()[1];
        int64_t b = i / 3 / result.shape()[2] / result.shape()[1];
        double most = -INFINITY, sum = -0.0;
        for (int64_t p = 0; p < 3; ++p)
          for (int64_t q = 0; q < 2; ++q) {
            int64_t y = row * stride + p - 1, x = column * stride + q;
            double value = at(op.operands()[0], b, y, x, channel);
            if (y >= 0 && y < 5 && x < 6)
              most = std::max(most, value);
            sum += value;
          }
        ASSERT_EQ(result.getDouble(i), largest ? most : sum / 6) << "stride " << stride << ", element " << i;
      }
    }
  }
}

TEST(MaxPool, SharesTheGradientOfTiesAndKeepsMinusInfinityOut) {
  OpCase op({numbers({4, 1}, {-1, -1, -5, -7})},
            [&](Build &build, ValueRange x) -> Value {
              return MaxPoolOp::create(build.builder, build.loc, x[0], Axes{2}, Axes{2}, Axes{1}, Axes{1});
            },
            /*isF64=*/true, /*withSecond=*/false);
  Tensor upstream = filledLike(op.resultZeros(), 0, 0, 1);
  std::vector<Tensor> results = op.run("first", {op.operands()[0], upstream});
  // Not results[0]: where an abbreviation is differentiated through its definition, its op is gone by then.
  Tensor value = op.run("value", {op.operands()[0]})[0];
  const double pooled[] = {-1, -1, -7}, gradient[] = {1, 1, 0, 1};
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(value.getDouble(i), pooled[i]);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(results[2].getDouble(i), gradient[i]);
}

TEST(Rotary, TurnsEveryPairByItsAngleAndKeepsItsLength) {
  constexpr int64_t rows = 5, n = 6;
  for (bool neighbours : {false, true})
    for (bool back : {false, true}) {
      OpCase op({filled({2, rows, n}, 34)},
                [&](Build &build, ValueRange x) -> Value {
                  return RotaryOp::create(build.builder, build.loc, x[0].getType(), x[0], build.builder.getF64FloatAttr(100),
                                          build.builder.getStringAttr(neighbours ? "neighbours" : "halves"),
                                          build.builder.getBoolAttr(back));
                },
                /*isF64=*/true, /*withSecond=*/false);
      const Tensor &x = op.operands()[0];
      Tensor result = op.run("value", op.operands())[0];
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t t = 0; t < rows; ++t)
          for (int64_t i = 0; i < n / 2; ++i) {
            double angle = (back ? -1.0 : 1.0) * static_cast<double>(t) * std::pow(100.0, -2.0 * static_cast<double>(i) / n);
            int64_t row = (b * rows + t) * n, first = row + (neighbours ? 2 * i : i), second = row + (neighbours ? 2 * i + 1 : i + n / 2);
            double u = x.getDouble(first), v = x.getDouble(second);
            SCOPED_TRACE("row " + std::to_string(t) + ", pair " + std::to_string(i) +
                         (neighbours ? " of neighbours" : " of halves") + (back ? ", back" : ""));
            ASSERT_NEAR(result.getDouble(first), u * std::cos(angle) - v * std::sin(angle), 1e-14);
            ASSERT_NEAR(result.getDouble(second), v * std::cos(angle) + u * std::sin(angle), 1e-14);
          }
    }
}

TEST(Rotary, ProductsOfTwoRowsDependOnTheDistanceOfTheirPositionsAlone) {
  // The same query and key in every row: the score of (t, u) is that of (t + 1, u + 1).
  OpCase op({filled({1, 8}, 35), filled({1, 8}, 36)},
            [&](Build &build, ValueRange x) -> Value {
              auto turned = [&](Value row) -> Value {
                Value rows = build.broadcastTo(row, {6, 8});
                return RotaryOp::create(build.builder, build.loc, rows.getType(), rows, build.builder.getF64FloatAttr(10000),
                                        build.builder.getStringAttr("halves"), build.builder.getBoolAttr(false));
              };
              return build.contract("ts,us->tu", turned(x[0]), turned(x[1]));
            },
            /*isF64=*/true, /*withSecond=*/false);
  Tensor scores = op.run("value", op.operands())[0];
  for (int64_t t = 0; t < 5; ++t)
    for (int64_t u = 0; u < 5; ++u)
      EXPECT_NEAR(scores.getDouble(t * 6 + u), scores.getDouble((t + 1) * 6 + u + 1), 1e-14);
  EXPECT_GT(std::fabs(scores.getDouble(0) - scores.getDouble(1)), 1e-3);
}

} // namespace
