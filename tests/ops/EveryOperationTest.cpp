// Every operation of the model language in the middle of a model that is trained: its compiled gradient is the
// derivative of the compiled loss, and compiled code gives the evaluator's bits. An op of the graph dialect that no
// model here uses fails the last test, so that a new one cannot be forgotten.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/graph/Graph.h"
#include "tests/models/CompiledModel.h"
#include "tests/ops/CompiledModels.h"
#include <cmath>
#include <set>

using namespace mekik;
using namespace mekik::tests;

namespace {

struct Family {
  const char *name;
  /// Expressions of X and Y, f32[2, 3, 5] between -1 and 1, Q of the same shape between 0.5 and 1.5, R, f32[5], M,
  /// f32[4, 5]. Every expression gets parameters of its own.
  std::vector<const char *> expressions;
};

const Family families[] = {
    {"Elementwise",
     {"X + Y",
      "X - Y",
      "X * Y",
      "X / Q",
      "X * R",
      "-X",
      "Q ** Y",
      "X ** 2",
      "X ** 3",
      "Q ** -0.5",
      "exp(X)",
      "log(Q)",
      "sqrt(Q)",
      "rsqrt(Q)",
      "sin(X)",
      "cos(X)",
      "tanh(X)",
      "erf(X)",
      "abs(X)",
      "sigmoid(X)",
      "relu(X)",
      "gelu(X)",
      "gelu(X, form = \"erf\")",
      "silu(X)",
      "softplus(X)",
      "max(X, Y)",
      "min(X, R)",
      "max(X, 0.125)"}},
    {"Chosen",
     {"select(X < Y, X, Y)", "select(X > 0.0 and Y >= 0.0, X, Y * 2.0)", "select(X <= 0.0 or not (Y != 0.5), X, Y)",
      "cast(X > Y, float) * (X + Y)", "cast(cast(X * 4.0, int) + 1, float) * X",
      "select(cast(X * 3.0, int) == 1, X, Y)"}},
    {"Folded",
     {"sum(X)", "sum(X, 0)", "sum(X, axis = [0, 2], keep = true)", "sum(X, -1)", "mean(X)", "mean(X, 1)",
      "mean(X, [1, 2])", "max(X, axis = 0)", "max(X, axis = -1, keep = true)", "min(X, axis = 1)"}},
    {"Rows",
     {"softmax(X)", "softmax(X, 0)", "softmax(X, -2)", "log_softmax(X)", "log_softmax(X, 1)", "normalize(X)",
      "normalize(X, 1)", "normalize(X) * R", "rms_normalize(X)", "rms_normalize(X, 1)"}},
    {"Products",
     {"X @ transpose(M)", "X @ R", "R @ transpose(M)", "einsum(\"b t w, v w -> v b t\", X, M)",
      "einsum(\"b t w, b t w -> t\", X, Y)", "einsum(\"b t w, b u w, v w -> t u v\", X, Y, M)",
      "einsum(\"w, v -> w v\", R, R)"}},
    {"Shapes",
     {"reshape(X, [6, -1])", "transpose(X)", "transpose(X, [2, 0, 1])", "concat([X, Y, X], axis = 1)",
      "broadcast(R, [3, 5])", "full([5], 2.0) * R", "X[:, 1:3, -1]", "X[1]", "embedding(ids, M)", "one_hot(ids, 5) * R",
      "cast(positions(5), float) * R"}},
    {"Sliding",
     {"convolution(X, reshape(Y, [2, 5, 3]))", "convolution(X, reshape(Y, [2, 5, 3]), stride = 2, padding = 2)",
      "convolution(X, reshape(Y, [2, 5, 3]), dilation = 2)",
      "convolution(reshape(X, [3, 10, 1]), reshape(R, [5, 1, 1]), stride = 3, padding = \"same\")",
      "convolution(reshape(X, [1, 3, 5, 2]), reshape(Y, [1, 5, 2, 3]), padding = [1, 2])",
      "convolution(reshape(X, [3, 5, 2]), reshape(M, [2, 5, 2, 1]), padding = \"same\")",
      "convolution(reshape(X, [1, 5, 3, 2]), reshape(M, [5, 2, 1, 2]), stride = [2, 1], padding = 2, groups = 2)",
      "convolution(reshape(X, [1, 6, 5, 1]), reshape(M, [2, 2, 1, 5]), stride = [1, 2], dilation = [2, 1])",
      "max_pool(X, 2)", "max_pool(X, 3, stride = 1, padding = 1)",
      "max_pool(reshape(X, [1, 6, 5, 1]), [3, 2], stride = 2)",
      "max_pool(reshape(X, [1, 3, 5, 2]), 2, padding = \"same\")", "average_pool(X, 3)",
      "average_pool(X, 2, stride = 1)", "average_pool(reshape(X, [1, 6, 5, 1]), 2, padding = 1)"}},
    {"Turned",
     {"rotary(reshape(X, [5, 6]))", "rotary(reshape(X, [3, 5, 2]), pairs = \"neighbours\")",
      "rotary(reshape(X, [3, 1, 10]), base = 100.0)",
      "rotary(reshape(X, [5, 6]), pairs = \"neighbours\", back = true, base = 4.0)", "reverse(X)", "reverse(X, [0, 2])",
      "reverse(X, 1) * X", "stack([X, Y])", "stack([X, Y, X], axis = -1)",
      "stack([X, Y, X, Y, X, Y, X, Y, X, X, Y], axis = 1) * R", "concat([X] + [Y, X, Y, X, Y, X, Y, X, X], axis = 2)"}},
    {"NextToConstants",
     {"X @ full([5, 2], 0.5)", "full([2, 4], 2.0) @ M", "sum(full([4], 2.0) @ M)",
      "full([2, 3], 2.0) @ full([3, 4], 1.0) @ M", "embedding(positions(3), M)", "one_hot(positions(4), 5) * M",
      "select(reshape(positions(20), [4, 5]) > 4, M, R)", "cross_entropy(M, positions(4))",
      "concat([full([1, 5], 1.0), M], axis = 0)", "sum(full([4, 5], 2.0), 0) * R", "normalize(full([4, 5], 1.0)) + M",
      "softmax(reshape(cast(positions(20), float), [4, 5])) * M",
      "einsum(\"v w, v -> w\", M, cast(positions(4), float))"}},
    {"MasksAndLosses",
     {"softmax(causal(X))", "max(causal(X), axis = -1)", "softmax(mask(X, X > -0.5))",
      "softmax(mask(X, reshape(positions(3), [3, 1]) > 0))", "drop(X, 0.375)", "drop(X, 1.0)", "cross_entropy(M, ids)",
      "cross_entropy(M, ids, reduction = \"none\")", "cross_entropy(M, ids, reduction = \"sum\", smoothing = 0.1)",
      "cross_entropy(M, ids, ignore = 0)", "binary_cross_entropy(X, sigmoid(Y))", "mse(X, Y)",
      "mse(X, Y, reduction = \"none\")"}},
};

std::string modelOf(const Family &family, const char *precision) {
  static constexpr std::pair<const char *, const char *> operands[] = {{"X", "[2, 3, 5] = uniform(-1.0, 1.0)"},
                                                                       {"Y", "[2, 3, 5] = uniform(-1.0, 1.0)"},
                                                                       {"Q", "[2, 3, 5] = uniform(0.5, 1.5)"},
                                                                       {"R", "[5] = uniform(-1.0, 1.0)"},
                                                                       {"M", "[4, 5] = uniform(-1.0, 1.0)"}};
  std::string text = absl::StrCat("model every_operation\nprecision = ", precision, "\ninput ids: i32[4] below 4\n");
  std::string loss;
  for (auto [number, expression] : llvm::enumerate(family.expressions)) {
    std::string body = expression;
    for (auto [letter, declaration] : operands)
      if (body.find(letter) != std::string::npos) {
        std::string name = absl::StrCat(letter, number);
        absl::StrAppend(&text, "param ", name, ": ", declaration, "\n");
        body = absl::StrReplaceAll(body, {{letter, absl::StrCat("(", name, " * 1.25)")}});
      }
    absl::StrAppend(&text, "let t", number, " = ", body, "\n");
    absl::StrAppend(&loss, loss.empty() ? "" : " + ", "sum(cos(t", number, " + 0.25))");
  }
  return text + "loss " + loss + "\ntrain momentum(rate = 0.125)\n";
}

class EveryOperation : public ::testing::TestWithParam<Family> {};

TEST_P(EveryOperation, HasACompiledGradientThatIsTheDerivativeOfItsLoss) {
  CompiledModel model = CompiledModel::fromText(modelOf(GetParam(), "f64"));
  ASSERT_TRUE(model.good());
  model.set("ids", {0, 3, 1, 3});
  model.call("init");
  model.call("gradient");
  std::map<std::string, std::vector<double>> gradients;
  for (const std::string &name : model.parameterNames())
    gradients[name] = model.gradient(name);
  constexpr double h = 1e-5;
  for (const auto &[name, gradient] : gradients) {
    std::vector<double> start = model.parameter(name);
    auto lossAt = [&](size_t i, double shift) {
      std::vector<double> moved = start;
      moved[i] += shift;
      model.setParameter(name, moved);
      model.call("gradient");
      return model.loss();
    };
    for (size_t i = 0; i < start.size(); ++i)
      EXPECT_NEAR((lossAt(i, h) - lossAt(i, -h)) / (2 * h), gradient[i], 1e-7 * (1 + std::fabs(gradient[i])))
          << name << " element " << i << " of " << GetParam().expressions[std::stoi(name.substr(1))];
    model.setParameter(name, start);
  }
}

TEST_P(EveryOperation, GivesTheEvaluatorsBitsOnEveryTarget) { expectTheEvaluatorsBits(modelOf(GetParam(), "f32")); }

INSTANTIATE_TEST_SUITE_P(Families, EveryOperation, ::testing::ValuesIn(families),
                         [](const auto &info) { return info.param.name; });

// What the tests above compare would agree for another operation as well: these results are computed by hand.
TEST(OperationArguments, MeanWhatTheReferenceSays) {
  struct Case {
    const char *expression;
    std::vector<double> wanted;
  };
  const double one = std::cos(1.0), other = std::sin(1.0);
  // A is 1, 2; B is 3, 4; LINE and FILTER are A, B and 1, 10 as places of one channel; T holds 1, 1, 0, 0 twice.
  const Case cases[] = {
      {"stack([A, B])", {1, 2, 3, 4}},
      {"stack([A, B], axis = 1)", {1, 3, 2, 4}},
      {"stack([A, B], axis = -1)", {1, 3, 2, 4}},
      {"reverse(stack([A, B]))", {4, 3, 2, 1}},
      {"reverse(stack([A, B]), 0)", {3, 4, 1, 2}},
      {"reverse(stack([A, B]), axis = -1)", {2, 1, 4, 3}},
      {"convolution(LINE, FILTER)", {21, 32, 43}},
      {"convolution(LINE, FILTER, padding = \"same\")", {21, 32, 43, 4}},
      {"convolution(LINE, FILTER, padding = 1)", {10, 21, 32, 43, 4}},
      {"convolution(LINE, FILTER, stride = 2)", {21, 43}},
      {"convolution(LINE, FILTER, dilation = 2)", {31, 42}},
      {"convolution(LINE, FILTER, 3, 1, 2)", {20, 3}},
      {"convolution(reshape(LINE, [2, 2]), reshape(FILTER, [1, 1, 2]), groups = 2)", {1, 20, 3, 40}},
      {"max_pool(LINE, 2)", {2, 4}},
      {"max_pool(LINE, 2, stride = 1)", {2, 3, 4}},
      {"max_pool(-LINE, 2, stride = 1, padding = \"same\")", {-1, -2, -3, -4}},
      {"max_pool(-LINE, 2, padding = 1)", {-1, -2, -4}},
      {"max_pool(reshape(LINE, [2, 2, 1]), [1, 2])", {2, 4}},
      {"average_pool(LINE, 2)", {1.5, 3.5}},
      {"average_pool(LINE, 2, padding = 1)", {0.5, 2.5, 2}},
      {"average_pool(LINE, 2, stride = 1, padding = \"same\")", {1.5, 2.5, 3.5, 2}},
      {"rotary(T)[1]", {one, std::cos(0.01), other, std::sin(0.01)}},
      {"rotary(T, base = 4.0)[1]", {one, std::cos(0.5), other, std::sin(0.5)}},
      {"rotary(T, back = true)[1]", {one, std::cos(0.01), -other, -std::sin(0.01)}},
      {"rotary(T, pairs = \"neighbours\")[1]", {one - other, one + other, 0, 0}},
  };
  std::string text = "model arguments\nprecision = f64\nparam A: [2] = zeros\nparam B: [2] = zeros\n"
                     "let LINE = reshape(concat([A, B], axis = 0), [1, 4, 1])\n"
                     "let FILTER = reshape(cast(positions(2), float) * 9.0 + 1.0, [2, 1, 1])\n"
                     "let T = reshape(cast(positions(8) == 0, float) + cast(positions(8) == 1, float) + "
                     "cast(positions(8) == 4, float) + cast(positions(8) == 5, float), [2, 4])\n";
  for (auto [number, each] : llvm::enumerate(cases))
    absl::StrAppend(&text, "output y", number, " = ", each.expression, "\n");
  CompiledModel model = CompiledModel::fromText(text);
  ASSERT_TRUE(model.good());
  model.setParameter("A", {1, 2});
  model.setParameter("B", {3, 4});
  model.call("forward");
  for (auto [number, each] : llvm::enumerate(cases)) {
    std::vector<double> found = model.output(absl::StrCat("y", number));
    ASSERT_EQ(found.size(), each.wanted.size()) << each.expression;
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], each.wanted[i], 1e-12) << "element " << i << " of " << each.expression;
  }
}

TEST(EveryOperationOfTheDialect, IsUsedByOneOfTheseModels) {
  std::set<std::string> used, known;
  for (const Family &family : families)
    if (auto compiler = elaborated(modelOf(family, "f32"))) {
      compiler->module()->walk([&](mlir::Operation *op) { used.insert(op->getName().getStringRef().str()); });
      for (mlir::RegisteredOperationName name :
           compiler->module()->getContext()->getRegisteredOperationsByDialect("graph"))
        known.insert(name.getStringRef().str());
    }
  ASSERT_GT(known.size(), 40u);
  // Only the compiler makes these: gradients, initial values, numbers of the drop, parts of composites, programs.
  for (const char *name :
       {"graph.pad", "graph.scatter_add", "graph.random", "graph.random_normal", "graph.schedule", "graph.dispatch",
        "graph.windows", "graph.contract_windows", "graph.exp_nonpositive", "graph.normal_cdf", "graph.peak"})
    known.erase(name);
  for (const std::string &name : known)
    EXPECT_TRUE(used.count(name)) << name;
}

} // namespace
