// Every op's gradient, and the gradient of its gradient, against central differences in f64. Points lie away from
// kinks, where the difference quotient means nothing; what happens at them is tested by name below.
#include "tests/ops/OpHarness.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mekik;
using namespace mekik::graph;
using namespace mekik::tests;

namespace {

struct GradientCase {
  std::string name;
  std::vector<Operand> operands;
  Body body;
};

template <typename Op> GradientCase unary(std::string name, double scale = 1, double offset = 0) {
  return {name, {filled({2, 5}, 3, scale, offset)}, [](Build &build, ValueRange x) { return build.unary<Op>(x[0]); }};
}

std::vector<GradientCase> gradientCases() {
  using Axes = SmallVector<int64_t>;
  std::vector<GradientCase> cases = {
      unary<NegOp>("neg"),
      unary<AbsOp>("abs"),
      unary<SqrtOp>("sqrt", 0.5, 1),
      unary<RsqrtOp>("rsqrt", 0.5, 1),
      unary<ExpOp>("exp"),
      unary<LogOp>("log", 0.5, 1),
      unary<TanhOp>("tanh"),
      unary<SigmoidOp>("sigmoid"),
      unary<SoftplusOp>("softplus"),
      unary<ErfOp>("erf"),
      unary<SinOp>("sin", 2),
      unary<CosOp>("cos", 2),
      unary<NormalCdfOp>("normal_cdf", 2),
      unary<ExpNonPositiveOp>("exp_nonpositive", 0.5, -2),
      unary<ReluOp>("relu"),
      unary<SiluOp>("silu", 2),
  };
  auto add = [&](std::string name, std::vector<Operand> operands, Body body) {
    cases.push_back({name, std::move(operands), std::move(body)});
  };
  Operand a = filled({2, 3}, 5), b = filled({2, 3}, 6), positive = filled({2, 3}, 7, 0.5, 1),
          cube = filled({2, 3, 4}, 8);
  add("add", {a, b}, [](Build &build, ValueRange x) { return build.add(x[0], x[1]); });
  add("sub", {a, b}, [](Build &build, ValueRange x) { return build.sub(x[0], x[1]); });
  add("mul", {a, b}, [](Build &build, ValueRange x) { return build.mul(x[0], x[1]); });
  add("div", {a, positive}, [](Build &build, ValueRange x) { return build.div(x[0], x[1]); });
  add("pow", {positive, b}, [](Build &build, ValueRange x) { return build.pow(x[0], x[1]); });
  for (double exponent : {0.0, 1.0, 2.0, 3.0, -1.5})
    add("pow_of_constant_" + std::to_string(exponent), {positive},
        [=](Build &build, ValueRange x) { return build.pow(x[0], build.constantLike(x[0], exponent)); });
  add("maximum", {a, b}, [](Build &build, ValueRange x) { return build.maximum(x[0], x[1]); });
  add("minimum", {a, b}, [](Build &build, ValueRange x) { return build.minimum(x[0], x[1]); });
  add("select", {a, b}, [](Build &build, ValueRange x) {
    return build.select(build.compare("lt", x[0], x[1]), build.mul(x[0], x[0]), build.mul(x[0], x[1]));
  });
  add("cast", {a}, [](Build &build, ValueRange x) {
    // Narrowing would round the differences away.
    return build.mul(build.cast(x[0], build.builder.getF64Type()), x[0]);
  });
  add("broadcast", {filled({3, 1}, 9)}, [](Build &build, ValueRange x) {
    Value wide = build.broadcastTo(x[0], {2, 3, 4});
    return build.mul(wide, wide);
  });
  add("broadcast_along", {filled({3}, 9)}, [](Build &build, ValueRange x) {
    Value wide = build.broadcastAlong(x[0], {0, 2}, {2, 3, 4});
    return build.mul(wide, wide);
  });
  add("reshape", {cube}, [](Build &build, ValueRange x) {
    Value flat = build.reshape(x[0], {6, 4});
    return build.mul(flat, flat);
  });
  add("transpose", {cube}, [](Build &build, ValueRange x) {
    Value turned = build.transpose(x[0], {2, 0, 1});
    return build.mul(turned, turned);
  });
  add("slice", {cube}, [](Build &build, ValueRange x) -> Value {
    Value part = SliceOp::create(build.builder, build.loc, x[0], Axes{0, 1, 1}, Axes{2, 2, 3});
    return build.mul(part, part);
  });
  add("pad", {a}, [](Build &build, ValueRange x) -> Value {
    Value wide = PadOp::create(build.builder, build.loc, x[0], Axes{1, 0}, Axes{2, 3});
    return build.mul(wide, build.add(wide, 1));
  });
  add("concat", {a, filled({2, 2}, 11), b}, [](Build &build, ValueRange x) -> Value {
    Value all = ConcatOp::create(build.builder, build.loc, x, 1);
    return build.mul(all, all);
  });
  for (Axes axes : {Axes{0}, Axes{1}, Axes{2}, Axes{0, 1}, Axes{1, 2}, Axes{0, 2}, Axes{0, 1, 2}}) {
    std::string suffix;
    for (int64_t axis : axes)
      suffix += "_" + std::to_string(axis);
    add("sum" + suffix, {cube}, [=](Build &build, ValueRange x) {
      Value sum = build.sum(x[0], axes);
      return build.mul(sum, sum);
    });
    add("max" + suffix, {cube}, [=](Build &build, ValueRange x) {
      Value largest = build.max(build.mul(x[0], x[0]), axes);
      return build.mul(largest, largest);
    });
    add("mean" + suffix, {cube}, [=](Build &build, ValueRange x) -> Value {
      Value mean = MeanOp::create(build.builder, build.loc, x[0], axes);
      return build.mul(mean, mean);
    });
  }
  auto addContraction = [&](std::string equation, std::vector<int64_t> left, std::vector<int64_t> right,
                            std::string triangle = "") {
    add("contract_" + equation + triangle, {filled(left, 12), filled(right, 13)},
        [=](Build &build, ValueRange x) { return build.contract(equation, x[0], x[1], triangle); });
  };
  addContraction("tk,uk->tu", {4, 3}, {5, 3}, "tu");
  addContraction("tu,uk->kt", {4, 5}, {5, 3}, "tu");
  addContraction("tu,tk->uk", {4, 5}, {4, 3}, "tu");
  addContraction("tu,u->t", {4, 5}, {5}, "ut"); // its gradient is a product of single elements
  addContraction("ik,kj->ij", {2, 3}, {3, 4});
  addContraction("ik,kj->ji", {2, 3}, {3, 4});
  addContraction("ki,kj->ij", {3, 2}, {3, 4});
  addContraction("ik,jk->ij", {2, 3}, {4, 3});
  addContraction("ij,j->i", {2, 3}, {3});
  addContraction("i,i->", {4}, {4});
  addContraction("bik,bkj->bij", {2, 2, 3}, {2, 3, 2});
  addContraction("btw,whs->bhts", {2, 2, 3}, {3, 2, 2});
  addContraction("bhts,hsw->btw", {2, 2, 2, 2}, {2, 2, 3});
  addContraction("i,j->ij", {2}, {3});
  addContraction("ij,ij->ij", {2, 3}, {2, 3});
  addContraction("ijz,jk->ik", {2, 3, 2}, {3, 2});
  add("matmul_broadcast", {filled({2, 1, 2, 3}, 14), filled({2, 3, 2}, 15)},
      [](Build &build, ValueRange x) { return build.matmul(x[0], x[1]); });
  add("embedding", {integers({2, 2}, {2, 0, 2, 1}), filled({3, 2}, 16)}, [](Build &build, ValueRange x) -> Value {
    Value rows = EmbeddingOp::create(build.builder, build.loc, x[0], x[1]);
    return build.mul(rows, rows);
  });
  add("scatter_add", {integers({4}, {2, 0, 2, 1}), filled({4, 2}, 17)}, [](Build &build, ValueRange x) -> Value {
    Value rows = ScatterAddOp::create(build.builder, build.loc, x[0], x[1], 4);
    return build.mul(rows, rows);
  });
  add("drop", {filled({40}, 18)}, [](Build &build, ValueRange x) -> Value {
    Value seed = build.constant(RankedTensorType::get({}, build.builder.getI64Type()), 7);
    Value dropped = DropOp::create(build.builder, build.loc, x[0].getType(), x[0], seed, seed,
                                   build.builder.getF64FloatAttr(0.5), build.builder.getI64IntegerAttr(3));
    return build.mul(dropped, dropped);
  });
  auto addWindows = [&](std::string name, std::vector<int64_t> shape, Axes axes, Axes sizes, Axes strides,
                        Axes dilations) {
    add("windows_" + name, {filled(shape, 23)}, [=](Build &build, ValueRange x) -> Value {
      Value windows = WindowsOp::create(build.builder, build.loc, x[0], axes, sizes, strides, dilations);
      return build.mul(windows, windows);
    });
  };
  addWindows("overlapping", {2, 5, 2}, {1}, {3}, {1}, {1});
  addWindows("apart_with_a_rest", {9}, {0}, {2}, {3}, {1});
  addWindows("of_the_last_axis", {2, 7}, {1}, {2}, {2}, {3});
  addWindows("of_two_axes", {4, 5}, {0, 1}, {2, 3}, {2, 1}, {1, 1});
  auto addConvolution = [&](std::string name, std::vector<int64_t> shape, std::vector<int64_t> filter, Axes strides,
                            Axes low, Axes high, Axes dilations, int64_t groups = 1) {
    add("convolution_" + name, {filled(shape, 24), filled(filter, 25)}, [=](Build &build, ValueRange x) -> Value {
      return ConvolutionOp::create(build.builder, build.loc, x[0], x[1], strides, low, high, dilations, groups);
    });
  };
  addConvolution("plain", {2, 5, 2}, {3, 2, 3}, {1}, {0}, {0}, {1});
  addConvolution("without_a_batch", {5, 2}, {2, 2, 1}, {1}, {0}, {1}, {1});
  addConvolution("of_two_axes", {1, 4, 3, 2}, {2, 2, 2, 2}, {1, 1}, {1, 0}, {0, 1}, {1, 1});
  addConvolution("strided_with_a_rest", {2, 6, 1}, {2, 1, 2}, {3}, {0}, {0}, {1});
  addConvolution("strided_dilated_padded", {1, 7, 6, 1}, {2, 3, 1, 2}, {3, 2}, {1, 2}, {2, 1}, {2, 1});
  addConvolution("in_groups", {2, 4, 6}, {2, 2, 9}, {1}, {1}, {0}, {1}, 3);
  for (bool largest : {true, false})
    for (int64_t stride : {1, 2, 3})
      add(std::string(largest ? "max" : "average") + "_pool_stride_" + std::to_string(stride),
          {filled({1, 5, 4, 2}, 26)}, [=](Build &build, ValueRange x) -> Value {
            Axes sizes{2, 2}, strides{stride, stride}, low{1, 0}, high{0, 1};
            Value pooled =
                largest ? MaxPoolOp::create(build.builder, build.loc, x[0], sizes, strides, low, high).getResult()
                        : AveragePoolOp::create(build.builder, build.loc, x[0], sizes, strides, low, high).getResult();
            return build.mul(pooled, pooled);
          });
  for (std::string pairs : {"halves", "neighbours"})
    for (bool back : {false, true})
      add("rotary_" + pairs + (back ? "_back" : ""), {filled({2, 3, 6}, 27)}, [=](Build &build, ValueRange x) -> Value {
        Value turned =
            RotaryOp::create(build.builder, build.loc, x[0].getType(), x[0], build.builder.getF64FloatAttr(100),
                             build.builder.getStringAttr(pairs), build.builder.getBoolAttr(back));
        return build.mul(turned, turned);
      });
  add("reverse", {filled({2, 3}, 28)}, [](Build &build, ValueRange x) -> Value {
    Value turned = ReverseOp::create(build.builder, build.loc, x[0], Axes{0, 1});
    return build.mul(turned, turned);
  });
  // Composites.
  add("gelu_tanh", {filled({2, 5}, 3, 2)}, [](Build &build, ValueRange x) -> Value {
    return GeluOp::create(build.builder, build.loc, x[0].getType(), x[0], "tanh");
  });
  add("gelu_erf", {filled({2, 5}, 3, 2)}, [](Build &build, ValueRange x) -> Value {
    return GeluOp::create(build.builder, build.loc, x[0].getType(), x[0], "erf");
  });
  auto axisAttr = [](Build &build, int64_t axis) { return build.builder.getI64IntegerAttr(axis); };
  for (int64_t axis : {-1, 1, 0}) {
    std::string suffix = "_axis_" + std::to_string(axis);
    add("softmax" + suffix, {cube}, [=](Build &build, ValueRange x) -> Value {
      return SoftmaxOp::create(build.builder, build.loc, x[0].getType(), x[0], axisAttr(build, axis));
    });
    add("log_softmax" + suffix, {cube}, [=](Build &build, ValueRange x) -> Value {
      return LogSoftmaxOp::create(build.builder, build.loc, x[0].getType(), x[0], axisAttr(build, axis));
    });
    add("normalize" + suffix, {cube}, [=](Build &build, ValueRange x) -> Value {
      return NormalizeOp::create(build.builder, build.loc, x[0].getType(), x[0], axisAttr(build, axis),
                                 build.builder.getF64FloatAttr(0.0625));
    });
    add("rms_normalize" + suffix, {cube}, [=](Build &build, ValueRange x) -> Value {
      return RmsNormalizeOp::create(build.builder, build.loc, x[0].getType(), x[0], axisAttr(build, axis),
                                    build.builder.getF64FloatAttr(0.0625));
    });
  }
  add("causal_softmax", {filled({2, 4, 4}, 19)}, [=](Build &build, ValueRange x) -> Value {
    Value scores = CausalOp::create(build.builder, build.loc, x[0].getType(), x[0]);
    return SoftmaxOp::create(build.builder, build.loc, scores.getType(), scores, axisAttr(build, -1));
  });
  add("mask_softmax", {filled({3, 3}, 19), integers({3, 3}, {0, 0, 0, 1, 0, 1, 1, 1, 1})},
      [=](Build &build, ValueRange x) -> Value {
        Value keep = build.compare("ne", x[1], build.constantLike(x[1], 0));
        Value scores = MaskOp::create(build.builder, build.loc, x[0].getType(), x[0], keep);
        return SoftmaxOp::create(build.builder, build.loc, scores.getType(), scores, axisAttr(build, -1));
      });
  for (std::string reduction : {"mean", "sum", "none"}) {
    add("cross_entropy_" + reduction, {filled({3, 4}, 20), integers({3}, {1, 3, 0})},
        [=](Build &build, ValueRange x) -> Value {
          return CrossEntropyOp::create(build.builder, build.loc, x[0], x[1], build.builder.getStringAttr(reduction),
                                        build.builder.getI64IntegerAttr(3), build.builder.getF64FloatAttr(0.125));
        });
    add("binary_cross_entropy_" + reduction, {filled({2, 3}, 21), filled({2, 3}, 22, 0.25, 0.5)},
        [=](Build &build, ValueRange x) -> Value {
          return BinaryCrossEntropyOp::create(build.builder, build.loc, x[0], x[1],
                                              build.builder.getStringAttr(reduction));
        });
    add("mse_" + reduction, {a, b}, [=](Build &build, ValueRange x) -> Value {
      return MseOp::create(build.builder, build.loc, x[0], x[1], build.builder.getStringAttr(reduction));
    });
  }
  return cases;
}

/// Compares results 1.. of `function` with the difference quotients of result `scalar`.
void compareWithDifferences(OpCase &op, const std::string &function, std::vector<Tensor> arguments, size_t scalar,
                            size_t firstGradient) {
  std::vector<Tensor> results = op.run(function, arguments);
  ASSERT_EQ(results.size(), firstGradient + op.differentiable().size());
  const double step = 1e-5;
  for (auto [position, number] : llvm::enumerate(op.differentiable())) {
    const Tensor &gradient = results[firstGradient + position];
    for (int64_t i = 0; i < gradient.size(); ++i) {
      double center = arguments[number].getDouble(i);
      arguments[number].setDouble(i, center + step);
      double above = op.run(function, arguments)[scalar].getDouble(0);
      arguments[number].setDouble(i, center - step);
      double below = op.run(function, arguments)[scalar].getDouble(0);
      arguments[number].setDouble(i, center);
      double quotient = (above - below) / (2 * step);
      double bound = 2e-7 * std::max(1.0, std::abs(quotient));
      ASSERT_NEAR(gradient.getDouble(i), quotient, bound)
          << "@" << function << ", operand " << number << ", element " << i;
    }
  }
}

class OpGradient : public testing::TestWithParam<GradientCase> {};

TEST_P(OpGradient, EqualsCentralDifferencesAndSoDoesItsOwnGradient) {
  const GradientCase &parameters = GetParam();
  OpCase op(parameters.operands, parameters.body, /*isF64=*/true);
  std::vector<Tensor> arguments = op.operands();
  arguments.push_back(filledLike(op.resultZeros(), 90, 1, 0.25));
  compareWithDifferences(op, "first", arguments, 1, 2);
  for (size_t number : op.differentiable())
    arguments.push_back(filledLike(op.operands()[number], 70 + static_cast<int64_t>(number)));
  compareWithDifferences(op, "second", arguments, 0, 1);
}

std::string nameOf(const testing::TestParamInfo<GradientCase> &info) {
  std::string name;
  for (char c : info.param.name)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(All, OpGradient, testing::ValuesIn(gradientCases()), nameOf);

/// Gradients at special points: of L = sum of the results.
std::vector<double> gradientAt(std::vector<double> points, Body body, bool second = false) {
  int64_t count = points.size();
  OpCase op({numbers({count}, points)}, body, /*isF64=*/true);
  std::vector<Tensor> arguments = op.operands();
  Tensor ones = filledLike(op.resultZeros(), 0, 0, 1);
  arguments.push_back(ones);
  if (second)
    arguments.push_back(filledLike(op.operands()[0], 0, 0, 1));
  Tensor gradient = op.run(second ? "second" : "first", arguments).back();
  std::vector<double> values;
  for (int64_t i = 0; i < gradient.size(); ++i)
    values.push_back(gradient.getDouble(i));
  return values;
}

using Doubles = std::vector<double>;

TEST(OpGradientAtKinks, AbsSqrtAndReluHaveGradientZeroAtZeroInFirstAndSecondOrder) {
  EXPECT_EQ(gradientAt({0, -0.0}, [](Build &build, ValueRange x) { return build.unary<AbsOp>(x[0]); }),
            Doubles({0, 0}));
  EXPECT_EQ(gradientAt({0, 4}, [](Build &build, ValueRange x) { return build.unary<SqrtOp>(x[0]); }),
            Doubles({0, 0.25}));
  EXPECT_EQ(gradientAt(
                {0, 4}, [](Build &build, ValueRange x) { return build.unary<SqrtOp>(x[0]); }, true),
            Doubles({0, -0.03125}));
  EXPECT_EQ(gradientAt({0, -0.0, 2}, [](Build &build, ValueRange x) { return build.unary<ReluOp>(x[0]); }),
            Doubles({0, 0, 1}));
}

TEST(OpGradientAtKinks, NoNanReachesOtherFactorsInSecondOrder) {
  auto product = [](Build &build, ValueRange x) { return build.mul(x[0], build.unary<SqrtOp>(x[0])); };
  EXPECT_EQ(gradientAt({0, 4}, product, true), Doubles({0, 0.375}));
  auto power = [](Build &build, ValueRange x) {
    Value zero = build.sub(x[0], x[0]);
    return build.mul(x[0], build.pow(x[0], zero));
  };
  for (double value : gradientAt({0, 2}, power, true))
    EXPECT_TRUE(std::isfinite(value)) << value;
}

TEST(OpGradientAtKinks, NormOfTheZeroVectorHasGradientZero) {
  EXPECT_EQ(
      gradientAt({0, 0, 0},
                 [](Build &build, ValueRange x) { return build.unary<SqrtOp>(build.sum(build.mul(x[0], x[0]), {0})); }),
      Doubles({0, 0, 0}));
}

TEST(OpGradientAtKinks, NoNanComesThroughABranchThatWasNotTaken) {
  auto guardedSqrt = [](Build &build, ValueRange x) {
    return build.select(build.compare("lt", x[0], build.constantLike(x[0], 1)), x[0], build.unary<SqrtOp>(x[0]));
  };
  EXPECT_EQ(gradientAt({0, 4}, guardedSqrt), Doubles({1, 0.25}));
  auto guardedLog = [](Build &build, ValueRange x) {
    Value one = build.constantLike(x[0], 1);
    return build.unary<LogOp>(build.select(build.compare("gt", x[0], build.constantLike(x[0], 0)), x[0], one));
  };
  EXPECT_EQ(gradientAt({0, 4}, guardedLog), Doubles({0, 0.25}));
}

TEST(OpGradientAtKinks, TiesShareTheGradientEvenly) {
  EXPECT_EQ(gradientAt({1, 3, 3, 0}, [](Build &build, ValueRange x) { return build.max(x[0], {0}); }),
            Doubles({0, 0.5, 0.5, 0}));
  EXPECT_EQ(gradientAt({2, 2, 2, 2}, [](Build &build, ValueRange x) { return build.max(x[0], {0}); }),
            Doubles({0.25, 0.25, 0.25, 0.25}));
  auto withTwo = [](Build &build, ValueRange x) { return build.maximum(x[0], build.constantLike(x[0], 2)); };
  EXPECT_EQ(gradientAt({1, 2, 3}, withTwo), Doubles({0, 0.5, 1}));
}

TEST(OpGradientAtKinks, PowerHasFiniteGradientsAtZero) {
  OpCase op(
      {numbers({3}, {0, 0, -2}), numbers({3}, {0, 2, 3})},
      [](Build &build, ValueRange x) { return build.pow(x[0], x[1]); }, /*isF64=*/true);
  std::vector<Tensor> arguments = op.operands();
  arguments.push_back(filledLike(op.resultZeros(), 0, 0, 1));
  std::vector<Tensor> results = op.run("first", arguments);
  for (auto [i, expected] : llvm::enumerate(Doubles{0, 0, 12}))
    EXPECT_EQ(results[2].getDouble(i), expected);
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(results[3].getDouble(i), 0);
}

TEST(OpGradientAtKinks, DropOfEverythingGivesZerosAndOfNothingIsTheIdentity) {
  auto drop = [](double rate) {
    return [=](Build &build, ValueRange x) -> Value {
      Value seed = build.constant(RankedTensorType::get({}, build.builder.getI64Type()), 7);
      return DropOp::create(build.builder, build.loc, x[0].getType(), x[0], seed, seed,
                            build.builder.getF64FloatAttr(rate), build.builder.getI64IntegerAttr(0));
    };
  };
  EXPECT_EQ(gradientAt({1, 2, 3}, drop(1)), Doubles({0, 0, 0}));
  EXPECT_EQ(gradientAt({1, 2, 3}, drop(0)), Doubles({1, 1, 1}));
}

} // namespace
