// Whole models through the compiler and in compiled code against numbers known from outside: loss, logits, every
// gradient, and training step by step; in f64 to 1e-10, in f32 to the bounds of a float32 program.
#include "tests/autodiff/Oracle.h"
#include "tests/models/CompiledModel.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace mekik;
using namespace mekik::tests;
using nlohmann::json;

namespace {

/// The model must have the parameters of the reference, no others, and starts from their values.
CompiledModel withParameters(CompiledModel compiled, const json &oracle) {
  if (!compiled.good())
    return compiled;
  EXPECT_EQ(compiled.parameterNames().size(), oracle["params"].size());
  for (const auto &[name, value] : oracle["params"].items()) {
    Numbers numbers = readNumbers(value);
    EXPECT_EQ(compiled.parameterShape(name), numbers.shape) << name;
    compiled.setParameter(name, numbers.data);
  }
  return compiled;
}

std::vector<double> flat(const json &value) {
  std::vector<double> all;
  for (const json &entry : value)
    if (entry.is_array())
      for (double number : flat(entry))
        all.push_back(number);
    else
      all.push_back(readNumber(entry));
  return all;
}

std::vector<double> rowOf(const std::vector<double> &all, int64_t row, int64_t width) {
  return {all.begin() + row * width, all.begin() + (row + 1) * width};
}

/// How far a program of this precision may be from the reference.
struct Bounds {
  double loss, absolute, relative;
};
Bounds boundsOf(const std::string &precision) {
  return precision == "f64" ? Bounds{1e-10, 1e-10, 1e-10} : Bounds{1e-5, 1e-5, 1e-4};
}

/// Largest violation of the bounds, as a multiple of them; a NaN is infinitely wrong.
double worst(const std::vector<double> &found, const std::vector<double> &wanted, const Bounds &bounds) {
  if (found.size() != wanted.size())
    return INFINITY;
  double most = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    double excess = std::fabs(found[i] - wanted[i]) / (bounds.absolute + bounds.relative * std::fabs(wanted[i]));
    most = std::isnan(excess) ? INFINITY : std::max(most, excess);
  }
  return most;
}

void compareGradients(CompiledModel &compiled, const json &oracle, const Bounds &bounds) {
  for (const auto &[name, wanted] : oracle["grads"].items())
    EXPECT_LE(worst(compiled.gradient(name), readNumbers(wanted).data, bounds), 1) << name;
}

void set(CompiledModel &compiled, const std::vector<double> &x, const std::vector<double> &y) {
  compiled.set("x", x);
  compiled.set("y", y);
}

class ReferenceGpt : public ::testing::TestWithParam<std::tuple<const char *, const char *>> {
protected:
  ReferenceGpt()
      : oracle(readOracle(std::get<0>(GetParam()))), precision(std::get<1>(GetParam())), bounds(boundsOf(precision)),
        x(flat(oracle["x"])), y(flat(oracle["y"])), train(oracle["train_same_batch"]) {}

  CompiledModel compile(const std::string &optimizer = "sgd", const std::string &clip = "0.0") {
    bool biases = oracle["params"].contains("lnf.b");
    Settings settings = {{"precision", precision},
                         {"activation", oracle["config"]["act"] == "relu" ? "relu" : "gelu"},
                         {"biases", biases ? "true" : "false"},
                         {"optimizer", optimizer},
                         {"clip", clip}};
    return withParameters(CompiledModel::fromFile("reference-gpt.mekik", settings, /*threads=*/2), oracle);
  }

  /// The likeliest symbol after the last `kContext` of `text`, and how far its logit is above the second.
  std::pair<int64_t, double> greedy(CompiledModel &compiled, const std::vector<double> &text) {
    std::vector<double> window(kContext);
    size_t length = std::min<size_t>(text.size(), kContext);
    std::copy(text.end() - length, text.end(), window.begin());
    compiled.set("x", window);
    compiled.call("forward");
    std::vector<double> logits = rowOf(compiled.output("logits"), length - 1, kVocab);
    int64_t best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    double top = logits[best];
    logits[best] = -INFINITY;
    return {best, top - *std::max_element(logits.begin(), logits.end())};
  }

  /// Steps with a large rate multiply the rounding errors of float32, so the error the reference's own float32 program
  /// made in a run is allowed as well.
  double mostLossError(const json &run) const {
    return precision == "f64" ? bounds.loss : std::max(bounds.loss, run["f32_max_abs_err"].get<double>());
  }

  static constexpr int64_t kContext = 5, kVocab = 7;
  json oracle;
  std::string precision;
  Bounds bounds;
  std::vector<double> x, y;
  const json &train;
};

TEST_P(ReferenceGpt, CompiledLossLogitsAndEveryGradientMatch) {
  CompiledModel gpt = compile();
  ASSERT_TRUE(gpt.good());
  set(gpt, x, y);
  gpt.call("gradient");
  EXPECT_NEAR(gpt.loss(), oracle["loss"].get<double>(), bounds.loss);
  compareGradients(gpt, oracle, bounds);
  std::vector<double> logits;
  double loss = 0;
  for (int64_t row = 0; row < 3; ++row) { // used, a model takes one example at a time
    set(gpt, rowOf(x, row, kContext), rowOf(y, row, kContext));
    gpt.call("forward");
    std::vector<double> one = gpt.output("logits");
    logits.insert(logits.end(), one.begin(), one.end());
    gpt.call("loss");
    loss += gpt.loss() / 3;
  }
  EXPECT_LE(worst(logits, readNumbers(oracle["logits"]).data, bounds), 1);
  EXPECT_NEAR(loss, oracle["loss"].get<double>(), bounds.loss);
}

TEST_P(ReferenceGpt, FiveCompiledStepsOfEveryOptimizerMatch) {
  for (auto [name, optimizer, clip] :
       {std::tuple("sgd_5", "sgd", "0.0"), {"adamw_5", "adamw", "0.0"}, {"adamw_clip_5", "adamw", "0.5"}}) {
    SCOPED_TRACE(name);
    CompiledModel gpt = compile(optimizer, clip);
    ASSERT_TRUE(gpt.good());
    set(gpt, x, y);
    const json &losses = train[name]["loss_before_each_step_then_final"];
    double most = mostLossError(train[name]);
    for (int64_t it = 0; it < 5; ++it) {
      gpt.call("train_step", it);
      EXPECT_NEAR(gpt.loss(), losses[it].get<double>(), most) << it;
    }
    EXPECT_LE(worst(rowOf(gpt.parameter("wte"), 0, 8), flat(train[name]["final_wte_row0"]), bounds), 1);
    gpt.call("gradient");
    EXPECT_NEAR(gpt.loss(), losses[5].get<double>(), most);
  }
}

TEST_P(ReferenceGpt, AHundredCompiledStepsAndTheGreedyTextAfterThemMatch) {
  const json &hundred = train["adamw_clip_100"];
  CompiledModel gpt = compile("adamw", "0.5");
  ASSERT_TRUE(gpt.good());
  set(gpt, x, y);
  std::map<int64_t, double> wanted;
  for (size_t i = 0; i < hundred["at_steps"].size(); ++i)
    wanted[hundred["at_steps"][i].get<int64_t>()] = hundred["loss_before_each_step_then_final"][i].get<double>();
  for (int64_t it = 0; it < 100; ++it) {
    gpt.call("train_step", it);
    if (wanted.count(it))
      EXPECT_NEAR(gpt.loss(), wanted[it], bounds.loss) << it;
  }
  gpt.call("gradient");
  EXPECT_NEAR(gpt.loss(), wanted.at(100), bounds.loss);

  const json &text = hundred["greedy_after_training"];
  std::vector<double> symbols = flat(text["prompt"]);
  for (size_t i = 0; i < text["generated"].size(); ++i) {
    auto [symbol, margin] = greedy(gpt, symbols);
    EXPECT_EQ(symbol, text["generated"][i].get<int64_t>()) << i;
    EXPECT_NEAR(margin, text["logit_margins"][i].get<double>(), precision == "f64" ? 1e-9 : 1e-3) << i;
    symbols.push_back(symbol);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ReferenceGpt,
                         ::testing::Combine(::testing::Values("gpt_relu_nobias", "gpt_gelu_tanh_bias"),
                                            ::testing::Values("f64", "f32")),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

class ReferenceMlp : public ::testing::TestWithParam<const char *> {
protected:
  json oracle = readOracle("mlp_bengio");
  Bounds bounds = boundsOf(GetParam());

  CompiledModel compile(const char *batch) {
    return withParameters(CompiledModel::fromFile("reference-mlp.mekik", {{"precision", GetParam()}, {"batch", batch}}),
                          oracle);
  }
};

TEST_P(ReferenceMlp, CompiledLossLogitsAndEveryGradientMatch) {
  CompiledModel mlp = compile("8");
  ASSERT_TRUE(mlp.good());
  std::vector<double> x = flat(oracle["x"]), y = flat(oracle["y"]);
  set(mlp, x, y);
  mlp.call("gradient");
  EXPECT_NEAR(mlp.loss(), oracle["loss"].get<double>(), bounds.loss);
  compareGradients(mlp, oracle, bounds);
  std::vector<double> logits = readNumbers(oracle["logits"]).data;
  for (int64_t row = 0; row < 8; ++row) {
    set(mlp, rowOf(x, row, 3), {});
    mlp.call("forward");
    EXPECT_LE(worst(mlp.output("logits"), rowOf(logits, row, 30), bounds), 1) << row;
  }
}

TEST_P(ReferenceMlp, FiftyCompiledStepsMatch) {
  CompiledModel mlp = compile("32");
  ASSERT_TRUE(mlp.good());
  for (int64_t s = 0; s < 50; ++s) {
    auto letter = [&](int64_t i) { return static_cast<double>((i * i + 7 * i + i / 5 + s) % 30); };
    std::vector<double> windows, next;
    for (int64_t i = 0; i < 32; ++i) {
      for (int64_t j = 0; j < 3; ++j)
        windows.push_back(letter(i + j));
      next.push_back(letter(i + 3));
    }
    set(mlp, windows, next);
    mlp.call("train_step", s);
    EXPECT_NEAR(mlp.loss(), oracle["train"]["loss"][s].get<double>(), bounds.loss) << s;
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, ReferenceMlp, ::testing::Values("f64", "f32"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
