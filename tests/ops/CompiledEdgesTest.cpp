// Where compiled code of such systems goes wrong: odd numbers of rows and odd row lengths, rows that are masked as a
// whole, points where a formula is 0 / 0, ties, shares of 0 and 1, the first step of a warmup, seeds.
#include "absl/strings/str_cat.h"
#include "tests/models/CompiledModel.h"
#include "tests/ops/CompiledModels.h"
#include <cmath>
#include <set>

using namespace mekik;
using namespace mekik::tests;

namespace {

using Doubles = std::vector<double>;

/// A model of one parameter p of shape `shape`, loss `loss`, that trains with `optimizer`.
std::string modelOf(const std::string &shape, const std::string &loss,
                    const std::string &optimizer = "momentum(rate = 0.125)", const std::string &precision = "f32") {
  return absl::StrCat("model edge\nprecision = ", precision, "\nparam p: ", shape, " = uniform(-3.0, -1.0)\nloss ", loss,
                      "\ntrain ", optimizer, "\n");
}

/// The compiled gradient of sum(`value`) at p = `at`.
Doubles gradientAt(const Doubles &at, const std::string &value, const char *precision = "f32") {
  auto model = CompiledModel::fromText(
      modelOf(absl::StrCat("[", at.size(), "]"), absl::StrCat("sum(", value, ")"), "sgd(rate = 0.125)", precision));
  if (!model.good())
    return {};
  model.setParameter("p", at);
  model.call("gradient");
  return model.gradient("p");
}

TEST(CompiledRows, NormalizationsOfAnyNumberOfRowsKeepEveryRowOfTheirGradients) {
  std::string text = "model rows\n", loss;
  for (int rows : {1, 2, 7, 8, 9, 15, 16, 17, 37, 1025}) {
    std::string n = std::to_string(rows);
    absl::StrAppend(&text, "param x", n, ": [", n, ", 3] = normal(1.0)\nparam gain", n, ": [3] = normal(1.0)\n", "param bias", n,
                    ": [3] = zeros\nlet y", n, " = normalize(x", n, ") * gain", n, " + rms_normalize(x", n, ") * bias", n, "\n");
    absl::StrAppend(&loss, loss.empty() ? "" : " + ", "sum(y", n, " * y", n, " * 0.5 + sin(y", n, "))");
  }
  expectTheEvaluatorsBits(absl::StrCat(text, "loss ", loss, "\ntrain momentum(rate = 0.125)\n"));
}

TEST(CompiledRows, NormalizationOfThreeAxesIsThatOfTheFlattenedRowsInEveryBit) {
  std::vector<std::vector<Doubles>> seen;
  for (const char *shape : {"[3, 5, 8]", "[15, 8]"}) {
    auto model = CompiledModel::fromText(
        absl::StrCat("model rows\nparam x: ", shape, " = normal(1.0)\nparam gain: [8] = normal(1.0)\n",
                     "param bias: [8] = normal(1.0)\noutput y = normalize(x) * gain + bias\n",
                     "loss sum(sin(reshape(y, [15, 8])))\ntrain sgd(rate = 0.125)\n"));
    ASSERT_TRUE(model.good());
    model.call("init");
    model.call("forward");
    Doubles y = model.output("y");
    model.call("gradient");
    seen.push_back({y, model.gradient("x"), model.gradient("gain"), model.gradient("bias")});
  }
  EXPECT_EQ(seen[0], seen[1]);
}

TEST(CompiledRows, OfNegativeNumbersOfAnyLengthKeepTheirMaximum) {
  std::string text = "model rows\n", loss;
  for (int length : {1, 3, 7, 8, 9, 15, 17, 31, 33, 1178}) {
    std::string n = std::to_string(length);
    // p goes into the fold as it is, q through an op that is computed with it.
    absl::StrAppend(&text, "param p", n, ": [2, ", n, "] = uniform(-3.0, -1.0)\nparam q", n, ": [2, ", n,
                    "] = uniform(-1.5, -0.5)\noutput s", n, " = softmax(p", n, ")\noutput m", n, " = max(p", n,
                    ", axis = -1)\noutput t", n, " = softmax(q", n, " * 2.0)\noutput c", n, " = max(transpose(p", n,
                    "), axis = 0)\n");
    absl::StrAppend(&loss, loss.empty() ? "" : " + ", "sum(sin(s", n, ")) + sum(m", n, ") + sum(sin(t", n, ")) + sum(c", n,
                    " * 2.0) + sum(max(q", n, ", axis = 1)) + sum(log_softmax(p", n, "))");
  }
  absl::StrAppend(&text, "loss ", loss, "\ntrain momentum(rate = 0.001)\n");
  expectTheEvaluatorsBits(text);
  auto model = CompiledModel::fromText(text);
  ASSERT_TRUE(model.good());
  model.call("init");
  model.call("forward");
  for (int length : {1, 3, 7, 8, 9, 15, 17, 31, 33, 1178}) {
    std::string n = std::to_string(length);
    Doubles p = model.parameter("p" + n), soft = model.output("s" + n), maximum = model.output("m" + n);
    EXPECT_EQ(model.output("c" + n), maximum) << length;
    for (int row = 0; row < 2; ++row) {
      double sum = 0, most = -INFINITY;
      for (int i = row * length; i < (row + 1) * length; ++i) {
        EXPECT_LT(p[i], 0);
        sum += soft[i];
        most = std::max(most, p[i]);
      }
      EXPECT_NEAR(sum, 1, 1e-5) << length;
      EXPECT_EQ(maximum[row], most) << length;
    }
  }
}

/// Rows that are computed side by side, with what a maximum, an exponential or a sum may stumble over in some of them.
TEST(CompiledRows, SpecialNumbersInARowStayInThatRow) {
  constexpr double inf = INFINITY, nan = NAN;
  constexpr size_t rows = 8, lengths[] = {1, 2, 7, 16, 32, 33};
  for (size_t length : lengths) {
    SCOPED_TRACE(length);
    auto model = CompiledModel::fromText(absl::StrCat("model rows\nparam p: [", rows, ", ", length,
                                                      "] = zeros\noutput y = softmax(p)\noutput l = log_softmax(p)\n",
                                                      "loss sum(p)\ntrain sgd(rate = 0.5)\n"));
    ASSERT_TRUE(model.good());
    Doubles ordinary(rows * length), special;
    for (size_t i = 0; i < ordinary.size(); ++i)
      ordinary[i] = 0.25 * double(i % length) - 3;
    special = ordinary;
    auto last = [&](size_t row) -> double & { return special[row * length + length - 1]; };
    last(1) = nan;
    std::fill_n(&special[2 * length], length, -inf);
    last(3) = inf;
    std::fill_n(&special[4 * length], length, 0.0);
    last(4) = -0.0;
    special[5 * length] = nan;
    last(6) = -inf;
    model.setParameter("p", ordinary);
    model.call("forward");
    Doubles expected = model.output("y"), expectedLog = model.output("l");
    model.setParameter("p", special);
    model.call("forward");
    Doubles y = model.output("y"), l = model.output("l");
    for (size_t row = 0; row < rows; ++row)
      for (size_t i = row * length; i < (row + 1) * length; ++i) {
        SCOPED_TRACE(absl::StrCat("row ", row, ", element ", i - row * length));
        if (row == 0 || row == 7) {
          EXPECT_EQ(y[i], expected[i]);
          EXPECT_EQ(l[i], expectedLog[i]);
        } else if (row == 1 || row == 3 || row == 5) {
          EXPECT_TRUE(std::isnan(y[i]));
          EXPECT_TRUE(std::isnan(l[i]));
        } else if (row == 2 || special[i] == -inf) {
          EXPECT_EQ(y[i], 0);
          EXPECT_EQ(l[i], -inf);
        } else if (row == 4) {
          EXPECT_FLOAT_EQ(float(y[i]), 1 / float(length));
        }
      }
  }
}

TEST(CompiledRows, InThePlaceOfAnOperandReadItBeforeItIsGone) {
  std::string text = "model rows\nparam a: [24, 4] = normal(1.0)\n", loss;
  for (int length : {5, 16, 33, 128, 200, 1030}) { // in registers, one pass after the other
    std::string n = std::to_string(length);
    // The weights could rest in the place of the result, which is that of x, but x is needed once more.
    absl::StrAppend(&text, "param b", n, ": [4, ", n, "] = normal(1.0)\nlet x", n, " = a @ b", n, "\noutput y", n,
                    " = (softmax(x", n, " * 0.5) * x", n, ") @ transpose(b", n, ")\noutput z", n, " = softmax(a @ b", n,
                    " * 0.5) @ transpose(b", n, ")\n");
    absl::StrAppend(&loss, loss.empty() ? "" : " + ", "sum(sin(y", n, ")) + sum(cos(z", n, "))");
  }
  expectTheEvaluatorsBits(absl::StrCat(text, "loss ", loss, "\ntrain momentum(rate = 0.125)\n"));
}

TEST(CompiledRows, OfCausalAttentionHaveTheEvaluatorsBitsHoweverLongTheyAre) {
  std::string text = "model rows\n", loss;
  // Queries, keys: rows in registers and longer ones, ends in every place of a vector, a chunk of a fold behind them.
  for (auto [queries, keys] : {std::pair(128, 128), {129, 129}, {150, 150}, {160, 144}, {3, 4100}}) {
    std::string n = absl::StrCat(queries, "x", keys);
    absl::StrAppend(&text, "param q", n, ": [2, ", queries, ", 4] = normal(1.0)\nparam k", n, ": [2, ", keys,
                    ", 4] = normal(1.0)\nparam v", n, ": [2, ", keys, ", 3] = normal(1.0)\nlet s", n,
                    " = einsum(\"b t s, b u s -> b t u\", q", n, ", k", n, ")\nlet w", n, " = softmax(causal(s", n,
                    " / 2.0))\nlet y", n, " = einsum(\"b t u, b u s -> b t s\", drop(w", n, ", 0.25), v", n, ")\n");
    absl::StrAppend(&loss, loss.empty() ? "" : " + ", "sum(sin(y", n, "))");
  }
  expectTheEvaluatorsBits(absl::StrCat(text, "loss ", loss, "\ntrain momentum(rate = 0.125)\n"));
  // Whoever looks at all of the weights sees zeros behind the diagonal.
  expectTheEvaluatorsBits(absl::StrCat(
      text, "output seen = w150x150\noutput far = w3x4100\n",
      "output both = w129x129 + einsum(\"b t s, b u s -> b t u\", k129x129, q129x129)\nloss ", loss,
      " + sum(cos(w160x144))\ntrain momentum(rate = 0.125)\n"));
}

TEST(CompiledRows, OfCausalAttentionAreReadThroughTranspositionsAndOtherMasks) {
  expectTheEvaluatorsBits(
      "model rows\nparam q: [3, 150, 2, 4] = normal(1.0)\nparam k: [3, 150, 2, 4] = normal(1.0)\n"
      "let s = einsum(\"b t h s, b u h s -> b h t u\", q, k)\nlet w = softmax(mask(causal(s), s > -1.0))\n"
      "let v = softmax(causal(s), axis = 3)\nlet z = transpose(v, [0, 1, 3, 2])\n"
      "let y = einsum(\"b h t u, b u h s -> b t h s\", w, k) + einsum(\"b h u t, b t h s -> b u h s\", z, q)\n"
      "let x = einsum(\"b h u t, b u h s -> b t h s\", transpose(softmax(s * 0.5, causal = true), [0, 1, 3, 2]), k)\n"
      "loss sum(sin(y)) + sum(cos(x)) + sum(cos(z))\ntrain momentum(rate = 0.125)\n");
}

TEST(CompiledRows, ThatEndAtADiagonalInPartsReadOperandsBeforeTheyAreGone) {
  std::string text = "model rows\nparam x: [150, 8] = normal(1.0)\nparam bias: [150, 1] = normal(0.5)\n";
  std::string loss;
  // Scores of their own for each value, so that it may take their place.
  auto add = [&](const std::string &name, const std::string &value) {
    absl::StrAppend(&text, "let s", name, " = einsum(\"i k, j k -> i j\", x, x * 0.", name.size(), name.back() - 'a' + 1,
                    ")\n", value, "\noutput ", name, " = einsum(\"i j, j k -> i k\", w", name, ", x)\n");
    absl::StrAppend(&loss, loss.empty() ? "" : " + ", "sum(sin(", name, "))");
  };
  // The last fold goes over the whole row; what it folds stands behind the diagonal too.
  add("a", "let ya = softmax(sa)\nlet wa = exp(causal(ya)) + ya * 2.0");
  // It folds a row that is told apart by the diagonal itself.
  add("b", "let yb = softmax(causal(sb))\nlet wb = yb / sum(yb, axis = -1, keep = true)");
  // The same, once more behind another diagonal.
  add("c", "let yc = softmax(causal(sc))\nlet wc = yc / max(causal(yc), axis = -1, keep = true)");
  // The gradient of the bias folds that of the scores.
  add("d", "let wd = softmax(causal(sd + bias))");
  expectTheEvaluatorsBits(absl::StrCat(text, "loss ", loss, "\ntrain momentum(rate = 0.125)\n"));
  // Whole rows of an output.
  for (const char *outputs :
       {"let y = softmax(s)\noutput z = exp(causal(y))\noutput w = y * 1000.0\n",
        "let y = softmax(causal(s))\noutput w = y / sum(y, axis = -1, keep = true)\n",
        "let y = softmax(causal(s))\noutput w = y / max(causal(y), axis = -1, keep = true)\n"})
    expectTheEvaluatorsBits(absl::StrCat("model rows\nparam x: [200, 8] = normal(1.0)\n",
                                         "let s = einsum(\"i k, j k -> i j\", x, x)\n", outputs));
}

TEST(CompiledRows, OfCausalAttentionDoNotSeeWhatIsBehindTheDiagonal) {
  constexpr size_t size = 150;
  auto model = CompiledModel::fromText(
      absl::StrCat("model rows\nparam p: [", size, ", ", size, "] = normal(1.0)\nparam v: [", size,
                   ", 3] = normal(1.0)\nlet w = softmax(causal(p))\noutput y = w\nloss sum(sin(w @ v))\n",
                   "train sgd(rate = 0.5)\n"));
  ASSERT_TRUE(model.good());
  Doubles before(size * size, -1e30), behind(size * size, NAN);
  for (size_t row = 0; row < size; ++row)
    for (size_t column = 0; column <= row; ++column)
      before[row * size + column] = behind[row * size + column] = 0.01 * double(row % 7) * double(column % 11) - 20;
  Doubles outputs[2], gradients[2];
  for (bool strange : {false, true}) {
    model.setParameter("p", strange ? behind : before);
    model.setParameter("v", Doubles(3 * size, 0.5));
    model.call("forward");
    outputs[strange] = model.output("y");
    model.call("gradient");
    gradients[strange] = model.gradient("p");
  }
  EXPECT_EQ(outputs[0], outputs[1]);
  EXPECT_EQ(gradients[0], gradients[1]);
  for (size_t row = 0; row < size; ++row)
    for (size_t column = row + 1; column < size; ++column)
      EXPECT_EQ(outputs[1][row * size + column], 0) << row << ", " << column;
  // What is undefined before the diagonal stays in its row.
  behind[100 * size + 99] = NAN;
  model.setParameter("p", behind);
  model.call("forward");
  Doubles y = model.output("y");
  for (size_t row = 0; row < size; ++row)
    for (size_t column = 0; column < size; ++column)
      if (row == 100 && column <= row)
        EXPECT_TRUE(std::isnan(y[row * size + column]));
      else
        EXPECT_EQ(y[row * size + column], outputs[1][row * size + column]) << row << ", " << column;
}

TEST(CompiledRows, NegativeAxesAreTheirPositiveFormsInEveryBit) {
  for (const char *op : {"softmax", "log_softmax", "normalize", "rms_normalize"}) {
    std::vector<std::vector<Doubles>> seen;
    for (int first : {0, -3}) {
      std::string text = "model rows\nparam x: [2, 3, 5] = normal(1.0)\n", loss;
      for (int axis = 0; axis < 3; ++axis) {
        absl::StrAppend(&text, "output y", axis, " = ", op, "(x, ", first + axis, ")\n");
        absl::StrAppend(&loss, axis ? " + " : "", "sum(sin(y", axis, ") * ", axis + 1, ".0)");
      }
      absl::StrAppend(&text, "loss ", loss, "\ntrain sgd(rate = 0.125)\n");
      auto model = CompiledModel::fromText(text);
      ASSERT_TRUE(model.good());
      model.call("init");
      model.call("forward");
      std::vector<Doubles> all = {model.output("y0"), model.output("y1"), model.output("y2")};
      model.call("gradient");
      all.push_back(model.gradient("x"));
      seen.push_back(all);
    }
    EXPECT_EQ(seen[0], seen[1]) << op;
  }
}

TEST(CompiledRows, AMaskedRowIsZerosWithZeroGradientsAndHarmsNoOther) {
  // Row 0 of the scores is masked in every column: q[0] has no influence, everything else is as without that row.
  auto attention = [](int rows, const char *keep) {
    return absl::StrCat("model masked\nparam q: [", rows, ", 4] = normal(1.0)\nparam k: [5, 4] = normal(1.0)\n",
                        "param v: [5, 3] = normal(1.0)\n",
                        "output y = softmax(mask(q @ transpose(k) / 2.0, ", keep, ")) @ v\nloss sum(sin(y))\n",
                        "train momentum(rate = 0.125)\n");
  };
  std::string masked = attention(4, "reshape(positions(4), [4, 1]) > 0");
  expectTheEvaluatorsBits(masked);
  auto whole = CompiledModel::fromText(masked);
  auto rest = CompiledModel::fromText(attention(3, "reshape(positions(3), [3, 1]) >= 0"));
  ASSERT_TRUE(whole.good() && rest.good());
  for (const char *name : {"q", "k", "v"}) {
    int shift = *name == 'q' ? 4 : 0; // row 0 of q is only in one of them
    Doubles all(*name == 'q' ? 16 : *name == 'k' ? 20 : 15);
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = std::sin(1 + i + *name);
    whole.setParameter(name, all);
    rest.setParameter(name, Doubles(all.begin() + shift, all.end()));
  }
  whole.call("forward");
  rest.call("forward");
  Doubles y = whole.output("y");
  EXPECT_EQ(Doubles(y.begin(), y.begin() + 3), Doubles(3, 0.0));
  EXPECT_EQ(Doubles(y.begin() + 3, y.end()), rest.output("y"));
  whole.call("gradient");
  rest.call("gradient");
  Doubles q = whole.gradient("q");
  EXPECT_EQ(Doubles(q.begin(), q.begin() + 4), Doubles(4, 0.0));
  EXPECT_EQ(Doubles(q.begin() + 4, q.end()), rest.gradient("q"));
  EXPECT_EQ(whole.gradient("k"), rest.gradient("k"));
  EXPECT_EQ(whole.gradient("v"), rest.gradient("v"));
}

TEST(CompiledRows, LogSoftmaxOfAMaskedRowIsMinusInfinityWithZeroGradients) {
  std::string text = "model masked\nparam p: [2, 3] = normal(1.0)\nlet keep = reshape(positions(2), [2, 1]) > 0\n"
                     "output y = log_softmax(mask(p, keep))\nloss sum(select(keep, y, 0.0))\ntrain sgd(rate = 0.5)\n";
  expectTheEvaluatorsBits(text);
  auto model = CompiledModel::fromText(text);
  ASSERT_TRUE(model.good());
  model.setParameter("p", {1, 2, 3, 1, 2, 3});
  model.call("forward");
  Doubles y = model.output("y");
  EXPECT_EQ(Doubles(y.begin(), y.begin() + 3), Doubles(3, -INFINITY));
  EXPECT_NEAR(std::exp(y[3]) + std::exp(y[4]) + std::exp(y[5]), 1, 1e-6);
  model.call("gradient");
  Doubles gradient = model.gradient("p");
  EXPECT_EQ(Doubles(gradient.begin(), gradient.begin() + 3), Doubles(3, 0.0));
  EXPECT_NE(gradient[3], 0);
}

TEST(CompiledTraining, AParameterWithoutInfluenceGetsZerosAndStaysAsItIs) {
  std::string text = "model idle\nparam used: [2] = ones\nparam idle: [3] = normal(1.0)\n"
                     "output y = cast(cast(idle, int), float)\nloss sum(used * used)\ntrain adam(rate = 0.5)\n";
  expectTheEvaluatorsBits(text);
  auto model = CompiledModel::fromText(text);
  ASSERT_TRUE(model.good());
  model.setParameter("used", {1, 2});
  model.setParameter("idle", {1.5, -2.5, 0});
  model.call("gradient");
  EXPECT_EQ(model.gradient("idle"), Doubles(3, 0.0));
  model.call("train_step");
  EXPECT_EQ(model.parameter("idle"), Doubles({1.5, -2.5, 0}));
  EXPECT_NE(model.parameter("used"), Doubles({1, 2}));
}

TEST(CompiledGradients, NoNanComesThroughABranchThatWasNotTaken) {
  for (const char *precision : {"f32", "f64"}) {
    EXPECT_EQ(gradientAt({0, 4}, "select(p < 1.0, p, sqrt(p))", precision), Doubles({1, 0.25}));
    EXPECT_EQ(gradientAt({0, 4}, "log(select(p > 0.0, p, 1.0))", precision), Doubles({0, 0.25}));
    EXPECT_EQ(gradientAt({0, 4}, "1.0 / select(p == 0.0, 1.0, p)", precision), Doubles({0, -0.0625}));
  }
}

TEST(CompiledGradients, TheNormOfTheZeroVectorHasGradientZero) {
  EXPECT_EQ(gradientAt({0, 0, 0}, "sqrt(sum(p * p))"), Doubles({0, 0, 0}));
  EXPECT_EQ(gradientAt({0, 3, 4}, "sqrt(sum(p * p))")[0], 0);
}

TEST(CompiledGradients, TiesShareTheGradientAndAddUpToIt) {
  EXPECT_EQ(gradientAt({1, 3, 3, 0}, "max(p, axis = 0) * 4.0"), Doubles({0, 2, 2, 0}));
  EXPECT_EQ(gradientAt({-1, -1, -1, -1}, "max(p, axis = 0)"), Doubles({0.25, 0.25, 0.25, 0.25}));
  EXPECT_EQ(gradientAt({1, 3, 1, 5}, "min(p, axis = 0)"), Doubles({0.5, 0, 0.5, 0}));
  EXPECT_EQ(gradientAt({1, 2, 3}, "max(p, 2.0)"), Doubles({0, 0.5, 1}));
  EXPECT_EQ(gradientAt({1, 2, 3}, "min(p, 2.0)"), Doubles({1, 0.5, 0}));
  EXPECT_EQ(gradientAt({0, -0.0, 2}, "relu(p)"), Doubles({0, 0, 1}));
  EXPECT_EQ(gradientAt({0, -0.0, 2}, "abs(p)"), Doubles({0, 0, 1}));
}

TEST(CompiledGradients, SoftplusKeepsItsDigitsForVeryNegativeNumbers) {
  auto model = CompiledModel::fromText("model soft\nparam p: [1] = zeros\noutput a = softplus(p)\noutput b = log(sigmoid(p))\n"
                                       "loss sum(softplus(p))\ntrain sgd(rate = 0.125)\n");
  ASSERT_TRUE(model.good());
  double x = static_cast<float>(-12.3392);
  model.setParameter("p", {x});
  model.call("forward");
  EXPECT_NEAR(model.output("a")[0], std::log1p(std::exp(x)), 1e-5 * std::log1p(std::exp(x)));
  EXPECT_NEAR(model.output("b")[0], x, 1e-5);
  model.call("gradient");
  EXPECT_NEAR(model.gradient("p")[0], 1 / (1 + std::exp(-x)), 1e-5 / (1 + std::exp(-x)));
}

TEST(CompiledTraining, ClippingGradientsThatAreAllZeroLeavesParametersAsTheyAre) {
  for (const char *optimizer : {"sgd(rate = 0.5, clip = 1.0)", "momentum(rate = 0.5, clip = 1.0)", "adam(rate = 0.5, clip = 1.0)",
                                "adamw(rate = 0.5, clip = 1.0, weight_decay = 0)"}) {
    auto model = CompiledModel::fromText(modelOf("[3, 7]", "sum(p * p * 0.0)", optimizer));
    ASSERT_TRUE(model.good());
    model.call("init");
    Doubles start = model.parameter("p");
    for (int64_t step = 0; step < 3; ++step)
      model.call("train_step", step);
    EXPECT_EQ(model.parameter("p"), start) << optimizer;
  }
}

TEST(CompiledTraining, TheFirstStepOfAWarmupMoves) {
  for (const char *schedule : {"constant(0.5, warmup = 2)", "cosine(0.5, steps = 10, warmup = 2)", "linear(0.5, steps = 10, warmup = 2)"})
    for (const char *optimizer : {"sgd", "adam"}) {
      auto model = CompiledModel::fromText(modelOf("[5]", "sum(p * p)", absl::StrCat(optimizer, "(rate = ", schedule, ")")));
      ASSERT_TRUE(model.good());
      model.call("init");
      Doubles start = model.parameter("p");
      model.call("train_step", 0);
      Doubles moved = model.parameter("p");
      for (size_t i = 0; i < start.size(); ++i)
        EXPECT_NE(moved[i], start[i]) << schedule << " " << optimizer;
    }
}

TEST(CompiledTraining, DropOfShareZeroIsTheModelWithoutDropInEveryBitForTwentySteps) {
  auto losses = [](const char *hidden) {
    auto model = CompiledModel::fromText(absl::StrCat(
        "model dropped\nconfig batch: int = 4\ninput x: f32[batch, 3]\ntarget y: f32[batch, 5]\n",
        "param a: [3, 17] = normal(0.5)\nparam b: [17, 5] = normal(0.5)\nlet h = ", hidden,
        "\nloss mse(h @ b, y)\ntrain adam(rate = 0.01)\n"));
    Doubles all;
    if (!model.good())
      return all;
    Doubles x, y;
    for (int i = 0; i < 20; ++i)
      (i < 12 ? x : y).push_back(std::sin(i + 1.0));
    y.resize(20, 0.25);
    model.set("x", x);
    model.set("y", y);
    model.call("init");
    for (int64_t step = 0; step < 20; ++step) {
      model.call("train_step", step);
      all.push_back(model.loss());
    }
    return all;
  };
  Doubles without = losses("tanh(x @ a)");
  EXPECT_EQ(without.size(), 20u);
  EXPECT_EQ(losses("drop(tanh(x @ a), 0.0)"), without);
  EXPECT_NE(losses("drop(tanh(x @ a), 0.5)"), without);
}

// Twelve ids, of which at most five differ, in a table of forty rows: compiled as if it were large, their gradients are
// summed in a small table. The table is also the head (another contribution is added) or not, in one word of 5 numbers, a
// row held whole, and one of 130, a row in passes. Tables of 400 rows have squares that are summed row by row.
TEST(CompiledTraining, FewUpdatesOfALargeTableAreTheEvaluators) {
  fuzz::CompareOptions options;
  options.largeBytes = 0;
  options.targets = {"x86-64-v3"};
  options.threads = {2};
  for (const char *precision : {"f32", "f64"})
    for (auto [rows, width] : {std::pair(40, 5), {40, 130}, {400, 170}})
      for (const char *head : {"table", "head"}) {
        SCOPED_TRACE(absl::StrCat(precision, " ", rows, " ", width, " ", head));
        std::string shape = absl::StrCat("[", rows, ", ", width, "] = normal(1.0)\n");
        expectTheEvaluatorsBits(absl::StrCat(
            "model few\nprecision = ", precision, "\nconfig batch: int = 3 in 1..\ninput ids: i32[batch, 4] below 5\n",
            "target next: i32[batch, 4] below 40\nparam table: ", shape, "param head: ", shape,
            "let x = tanh(embedding(ids, table)) + head[0]\nloss cross_entropy(x @ transpose(", head,
            "), next)\ntrain adam(rate = 0.01, clip = 1)\n"), options);
      }
}

TEST(CompiledTraining, DropOfEverythingGivesZerosAndZeroGradients) {
  EXPECT_EQ(gradientAt({1, 2, 3}, "drop(p, 1.0)"), Doubles({0, 0, 0}));
  EXPECT_EQ(gradientAt({1, 2, 3}, "drop(p, 0.0)"), Doubles({1, 1, 1}));
}

TEST(CompiledTraining, EverySeedDrawsOtherParametersAndDropsOthers) {
  auto model = CompiledModel::fromText("model seeds\nparam p: [9] = normal(1.0)\nparam q: [40] = ones\n"
                                       "loss sum(p) + sum(drop(q, 0.5))\ntrain sgd(rate = 0.125)\n");
  ASSERT_TRUE(model.good());
  std::set<Doubles> parameters, drops;
  for (uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32, (uint64_t{1} << 32) + 1, uint64_t{1} << 63, ~uint64_t{0}}) {
    model.call("init", 0, seed);
    EXPECT_TRUE(parameters.insert(model.parameter("p")).second) << seed;
    model.call("gradient", 0, seed);
    EXPECT_TRUE(drops.insert(model.gradient("q")).second) << seed;
    model.call("gradient", 0, seed);
    EXPECT_TRUE(drops.count(model.gradient("q"))) << seed;
    model.call("init", 0, seed);
    EXPECT_TRUE(parameters.count(model.parameter("p"))) << seed;
  }
  model.call("gradient", 1, 0);
  EXPECT_TRUE(drops.insert(model.gradient("q")).second) << "another step";
}

} // namespace
