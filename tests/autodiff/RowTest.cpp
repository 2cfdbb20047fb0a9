// Faults that rows have had elsewhere: the tail of a row or of the rows left out, other axes, rows that are masked
// altogether, and the places where a formula runs into 0 / 0 or inf - inf.
#include "compiler/autodiff/Gradient.h"
#include "tests/autodiff/Program.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mekik;
using namespace mekik::tests;
using graph::Build;

namespace {

constexpr double kInfinity = INFINITY;

/// Output and gradient of sum(output * weights) for one operand.
std::pair<Numbers, Numbers> outputAndGradient(Precision precision, const Numbers &x,
                                              llvm::function_ref<Value(Program &, Value)> formula) {
  Program program(precision);
  Value input = program.argument(x);
  Value output = formula(program, input);
  Build &b = program.build();
  Value weights = program.argument(filled(90, 1, 0, std::vector<int64_t>(graph::shapeOf(output))));
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, graph::shapeOf(output).size()));
  Value loss = b.sum(b.mul(output, weights), axes);
  auto gradients = autodiff::buildGradient(b.builder, loss, input);
  EXPECT_TRUE(succeeded(gradients));
  std::vector<Numbers> results = program.run({output, gradients->front()});
  return {results[0], results[1]};
}

template <typename RowOp> Value alongAxis(Program &program, Value x, int64_t axis) {
  Build &b = program.build();
  return RowOp::create(b.builder, b.loc, x.getType(), x, axis);
}

Value normalized(Program &program, Value x, int64_t axis = -1) {
  Build &b = program.build();
  return graph::NormalizeOp::create(b.builder, b.loc, x.getType(), x, b.builder.getI64IntegerAttr(axis),
                                    b.builder.getF64FloatAttr(1e-5));
}

TEST(Rows, NormalizationOfThreeAxesIsThatOfTheFlattenedRowsInEveryBit) {
  Numbers cube = filled(1, 2, 0, {3, 5, 8});
  Numbers flat = cube;
  flat.shape = {15, 8};
  auto a = outputAndGradient(Precision::F32, cube, [](Program &p, Value x) { return normalized(p, x); });
  auto b = outputAndGradient(Precision::F32, flat, [](Program &p, Value x) { return normalized(p, x); });
  EXPECT_EQ(a.first.data, b.first.data);
  EXPECT_EQ(a.second.data, b.second.data);
}

TEST(Rows, GainGradientCountsEveryRowWhateverTheirNumber) {
  for (int64_t rows : {1, 2, 7, 8, 9, 15, 16, 17, 1025}) {
    Program program(Precision::F64);
    Build &b = program.build();
    Value x = program.argument(filled(8, 2, 0, {rows, 3}));
    Value gain = program.argument({{3}, {1, 1, 1}});
    Value y = normalized(program, x);
    Value loss = b.sum(b.mul(y, gain), {0, 1});
    auto gradient = autodiff::buildGradient(b.builder, loss, gain);
    ASSERT_TRUE(succeeded(gradient));
    std::vector<Numbers> results = program.run({y, gradient->front()});
    Numbers wanted{{3}, {0, 0, 0}};
    for (size_t i = 0; i < results[0].data.size(); ++i)
      wanted.data[i % 3] += results[0].data[i];
    EXPECT_LE(worst(results[1], wanted, 1e-10, 1e-10), 1) << rows << " rows";
  }
}

TEST(Rows, SoftmaxOfAllNegativeRowsOfAnyLengthSumsToOne) {
  for (int64_t length : {1, 3, 7, 8, 9, 15, 17, 31, 33, 1178}) {
    auto [y, gradient] = outputAndGradient(Precision::F32, filled(5, 1, -2, {2, length}),
                                           [](Program &p, Value x) { return alongAxis<graph::SoftmaxOp>(p, x, -1); });
    for (int64_t row = 0; row < 2; ++row) {
      double sum = 0, flow = 0;
      for (int64_t i = 0; i < length; ++i) {
        sum += y.data[row * length + i];
        flow += gradient.data[row * length + i];
      }
      EXPECT_NEAR(sum, 1, 1e-5) << length;
      EXPECT_NEAR(flow, 0, 1e-6) << length;
    }
  }
}

TEST(Rows, NegativeAxesAreTheirPositiveForms) {
  Numbers x = filled(11, 4, 0, {2, 3, 5});
  for (int64_t axis = 0; axis < 3; ++axis) {
    auto soft = [&](int64_t at) {
      return outputAndGradient(Precision::F32, x,
                               [&](Program &p, Value v) { return alongAxis<graph::SoftmaxOp>(p, v, at); });
    };
    auto logs = [&](int64_t at) {
      return outputAndGradient(Precision::F32, x,
                               [&](Program &p, Value v) { return alongAxis<graph::LogSoftmaxOp>(p, v, at); });
    };
    auto norm = [&](int64_t at) {
      return outputAndGradient(Precision::F32, x, [&](Program &p, Value v) { return normalized(p, v, at); });
    };
    EXPECT_EQ(soft(axis).first.data, soft(axis - 3).first.data);
    EXPECT_EQ(soft(axis).second.data, soft(axis - 3).second.data);
    EXPECT_EQ(logs(axis).second.data, logs(axis - 3).second.data);
    EXPECT_EQ(norm(axis).second.data, norm(axis - 3).second.data);
  }
}

TEST(Rows, AxisInFrontIsTheLastAxisOfTheTransposed) {
  Numbers x = filled(11, 4, 0, {6, 4});
  auto straight =
      outputAndGradient(Precision::F64, x, [](Program &p, Value v) { return alongAxis<graph::SoftmaxOp>(p, v, 0); });
  auto turned = outputAndGradient(Precision::F64, x, [](Program &p, Value v) {
    Value t = p.build().transpose(v, {1, 0});
    return p.build().transpose(alongAxis<graph::SoftmaxOp>(p, t, -1), {1, 0});
  });
  EXPECT_LE(worst(straight.first, turned.first, 1e-14, 0), 1);
  EXPECT_LE(worst(straight.second, turned.second, 1e-14, 0), 1);
}

TEST(Rows, RowOfMinusInfinityGivesZerosAndLeavesOtherRowsUnharmed) {
  Numbers x{{2, 3}, {-kInfinity, -kInfinity, -kInfinity, 1, 2, 3}};
  Numbers alone{{1, 3}, {1, 2, 3}};
  auto softmax = [](Program &p, Value v) { return alongAxis<graph::SoftmaxOp>(p, v, -1); };
  auto [y, gradient] = outputAndGradient(Precision::F32, x, softmax);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(y.data[i], 0);
    EXPECT_EQ(gradient.data[i], 0);
    EXPECT_EQ(y.data[3 + i], outputAndGradient(Precision::F32, alone, softmax).first.data[i]);
    EXPECT_TRUE(std::isfinite(gradient.data[3 + i]));
  }
}

TEST(Rows, LogSoftmaxOfARowOfMinusInfinityStaysAsItIsWithoutNan) {
  Numbers x{{2, 3}, {-kInfinity, -kInfinity, -kInfinity, 1, 2, 3}};
  Numbers alone{{1, 3}, {1, 2, 3}};
  auto logSoftmax = [](Program &p, Value v) { return alongAxis<graph::LogSoftmaxOp>(p, v, -1); };
  for (Precision precision : {Precision::F32, Precision::F64}) {
    auto [y, gradient] = outputAndGradient(precision, x, logSoftmax);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(y.data[i], -kInfinity);
      EXPECT_EQ(y.data[3 + i], outputAndGradient(precision, alone, logSoftmax).first.data[i]);
      EXPECT_TRUE(std::isfinite(gradient.data[i]) && std::isfinite(gradient.data[3 + i]));
    }
  }
}

TEST(Rows, MeanOverNoKeptRowIsZeroWithZeroGradients) {
  Program program(Precision::F32);
  Build &b = program.build();
  Value x = program.argument(filled(14, 2, 0, {2, 3}));
  Value loss =
      graph::CrossEntropyOp::create(b.builder, b.loc, x, program.ids({-1, -1}, {2}), b.builder.getStringAttr("mean"),
                                    b.builder.getI64IntegerAttr(-1), b.builder.getF64FloatAttr(0.1));
  auto gradient = autodiff::buildGradient(b.builder, loss, x);
  ASSERT_TRUE(succeeded(gradient));
  std::vector<Numbers> results = program.run({loss, gradient->front()});
  EXPECT_EQ(results[0].data, std::vector<double>({0}));
  EXPECT_EQ(results[1].data, std::vector<double>(6, 0));
}

TEST(Rows, CrossEntropyTakesIdsOfEitherWidthAndASingleRow) {
  for (bool wide : {false, true}) {
    Program program(Precision::F64);
    Build &b = program.build();
    Value x = program.argument({{3}, {1, 2, 3}});
    Type id = wide ? b.builder.getI64Type() : b.builder.getI32Type();
    std::vector<Numbers> results = program.run({crossEntropy(b, x, program.argument({{}, {1}}, id))});
    EXPECT_NEAR(results[0].data[0], std::log(std::exp(1) + std::exp(2) + std::exp(3)) - 2, 1e-14);
  }
}

TEST(Gates, GradientsStayFiniteWhereThePowersOverflow) {
  for (const char *form : {"tanh", "erf"}) {
    auto [y, gradient] = outputAndGradient(Precision::F32, {{4}, {1e30, -1e30, 3e38, -3e38}}, [&](Program &p, Value x) {
      return graph::GeluOp::create(p.build().builder, p.build().loc, x, form);
    });
    Numbers weights = filled(90, 1, 0, {4});
    EXPECT_EQ(gradient.data, std::vector<double>({weights.data[0], 0, weights.data[2], 0})) << form;
    EXPECT_EQ(y.data[1], 0) << form;
  }
}

TEST(Gradient, ValueWithoutInfluenceGetsZerosAndIsNotReached) {
  Program program(Precision::F64);
  Build &b = program.build();
  Value used = program.argument({{2}, {1, 2}});
  Value unused = program.argument({{3}, {1, 2, 3}});
  Value stepped = program.argument({{2}, {1, 2}});
  // A comparison lets nothing through.
  Value mask = b.compare("gt", stepped, b.constantLike(stepped, 1));
  Value loss = b.sum(b.select(mask, b.mul(used, used), used), {0});
  llvm::BitVector reached;
  auto gradients = autodiff::buildGradient(b.builder, loss, {used, unused, stepped}, &reached);
  ASSERT_TRUE(succeeded(gradients));
  EXPECT_TRUE(reached[0]);
  EXPECT_FALSE(reached[1]);
  EXPECT_FALSE(reached[2]);
  std::vector<Numbers> results = program.run(*gradients);
  EXPECT_EQ(results[0].data, std::vector<double>({1, 4}));
  EXPECT_EQ(results[1].data, std::vector<double>({0, 0, 0}));
  EXPECT_EQ(results[2].data, std::vector<double>({0, 0}));
}

TEST(Gradient, OfTheLossItselfIsOneAndOfAnIntermediateValueStopsThere) {
  Program program(Precision::F64);
  Build &b = program.build();
  Value x = program.argument({{2}, {3, 4}});
  Value square = b.mul(x, x);
  Value loss = b.sum(b.mul(square, square), {0});
  auto gradients = autodiff::buildGradient(b.builder, loss, {loss, square, x});
  ASSERT_TRUE(succeeded(gradients));
  std::vector<Numbers> results = program.run(*gradients);
  EXPECT_EQ(results[0].data, std::vector<double>({1}));
  EXPECT_EQ(results[1].data, std::vector<double>({18, 32}));
  EXPECT_EQ(results[2].data, std::vector<double>({108, 256}));
}

} // namespace
