// Whole models against outside numbers: loss, logits, every gradient, and training step by step, in f64 to 1e-10.
#include "tests/autodiff/Program.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mekik;
using namespace mekik::tests;
using graph::Build;
using nlohmann::json;

namespace {

constexpr int64_t kBatch = 3, kContext = 5, kWidth = 8, kHeads = 2, kSize = 4, kVocab = 7;

/// The small GPT of the oracle files: norm before each sublayer, linear weights as [out, in].
class Gpt {
public:
  Gpt(const json &oracle, StringRef optimizer, Precision precision = Precision::F64)
      : training(precision, optimizer), oracle(oracle), b(training.program.build()) {
    for (const auto &[name, numbers] : oracle["params"].items())
      parameters[name] = training.parameter(name, readNumbers(numbers));
    std::vector<int64_t> x, y;
    for (int64_t row = 0; row < kBatch; ++row) {
      append(x, oracle["x"][row]);
      append(y, oracle["y"][row]);
    }
    Value tokens = training.ids("x", x, {kBatch, kContext});
    Value next = training.ids("y", y, {kBatch, kContext});
    Value h = graph::EmbeddingOp::create(b.builder, b.loc, tokens, parameters["wte"]);
    h = b.add(h, parameters["wpe"]);
    for (const char *layer : {"h0.", "h1."}) {
      h = b.add(h, attention(norm(h, layer + std::string("ln1")), layer + std::string("attn.")));
      Value inner = linear(norm(h, layer + std::string("ln2")), layer + std::string("mlp.fc"));
      h = b.add(h, linear(gate(inner), layer + std::string("mlp.proj")));
    }
    Value logits = linear(norm(h, "lnf"), "head");
    good = training.finish(crossEntropy(b, logits, next), logits);
  }

  Training training;
  bool good = false;

  /// The likeliest symbol after the last `kContext` of `text`, and how far its logit is above the second.
  std::pair<int64_t, double> greedy(const std::vector<int64_t> &text) {
    Numbers window{{kBatch, kContext}, std::vector<double>(kBatch * kContext)};
    size_t length = std::min<size_t>(text.size(), kContext);
    std::copy(text.end() - length, text.end(), window.data.begin());
    training.set("x", window);
    std::vector<double> all = training.output().data;
    const double *logits = all.data() + (length - 1) * kVocab;
    int64_t best = std::max_element(logits, logits + kVocab) - logits;
    double second = -INFINITY;
    for (int64_t i = 0; i < kVocab; ++i)
      if (i != best)
        second = std::max(second, logits[i]);
    return {best, logits[best] - second};
  }

private:
  static void append(std::vector<int64_t> &all, const json &row) {
    auto numbers = row.get<std::vector<int64_t>>();
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  Value biased(Value x, const std::string &name) {
    auto found = parameters.find(name + ".b");
    return found == parameters.end() ? x : b.add(x, found->second);
  }
  Value linear(Value x, const std::string &name) {
    return biased(b.contract("bti,oi->bto", x, parameters.at(name + ".w")), name);
  }
  Value norm(Value x, const std::string &name) {
    return biased(b.mul(graph::NormalizeOp::create(b.builder, b.loc, x), parameters.at(name + ".w")), name);
  }
  Value gate(Value x) {
    if (oracle["config"]["act"] == "relu")
      return b.unary<graph::ReluOp>(x);
    return graph::GeluOp::create(b.builder, b.loc, x);
  }
  Value attention(Value x, const std::string &name) {
    Value all = b.reshape(linear(x, name + "qkv"), {kBatch, kContext, 3, kHeads, kSize});
    Value parts[3];
    for (int64_t i = 0; i < 3; ++i) {
      Value part = graph::SliceOp::create(b.builder, b.loc, all, ArrayRef<int64_t>{0, 0, i, 0, 0},
                                          ArrayRef<int64_t>{kBatch, kContext, 1, kHeads, kSize});
      parts[i] = b.reshape(part, {kBatch, kContext, kHeads, kSize});
    }
    Value scores = b.mul(b.contract("bthd,buhd->bhtu", parts[0], parts[1]), 0.5);
    Value weights = graph::SoftmaxOp::create(b.builder, b.loc, graph::CausalOp::create(b.builder, b.loc, scores));
    Value mixed = b.contract("bhtu,buhd->bthd", weights, parts[2]);
    return linear(b.reshape(mixed, {kBatch, kContext, kWidth}), name + "proj");
  }

  const json &oracle;
  Build &b;
  std::map<std::string, Value> parameters;
};

constexpr const char *kConstant = "{kind = \"constant\", peak = ";
const std::string kSgd = std::string("{kind = \"sgd\", rate = ") + kConstant + "0.125 : f64}}";
const std::string kAdamW = std::string("{kind = \"adamw\", beta1 = 0.9 : f64, beta2 = 0.95 : f64, weight_decay = 0.1 : "
                                       "f64, rate = ") +
                           kConstant + "0.01 : f64}";

class GptOracle : public ::testing::TestWithParam<const char *> {};

TEST_P(GptOracle, LossLogitsAndEveryGradientMatch) {
  json oracle = readOracle(GetParam());
  Gpt gpt(oracle, kSgd);
  ASSERT_TRUE(gpt.good) << gpt.training.program.errors;
  std::map<std::string, Numbers> found = gpt.training.gradients();
  EXPECT_NEAR(found.at("loss").data[0], oracle["loss"].get<double>(), 1e-10);
  EXPECT_LE(worst(gpt.training.output(), readNumbers(oracle["logits"]), 1e-10, 1e-10), 1);
  EXPECT_EQ(found.size(), oracle["grads"].size() + 1);
  for (const auto &[name, wanted] : oracle["grads"].items())
    EXPECT_LE(worst(found.at(name), readNumbers(wanted), 1e-10, 1e-10), 1) << name;
}

TEST_P(GptOracle, LossAndEveryGradientMatchInSinglePrecisionWithinItsBounds) {
  json oracle = readOracle(GetParam());
  Gpt gpt(oracle, kSgd, Precision::F32);
  ASSERT_TRUE(gpt.good) << gpt.training.program.errors;
  std::map<std::string, Numbers> found = gpt.training.gradients();
  EXPECT_NEAR(found.at("loss").data[0], oracle["loss"].get<double>(), 1e-5);
  for (const auto &[name, wanted] : oracle["grads"].items())
    EXPECT_LE(worst(found.at(name), readNumbers(wanted), 1e-5, 1e-4), 1) << name;
}

TEST_P(GptOracle, FiveStepsOfEveryOptimizerMatch) {
  json oracle = readOracle(GetParam());
  const json &train = oracle["train_same_batch"];
  for (auto [name, optimizer] : {std::pair<const char *, std::string>("sgd_5", kSgd),
                                 {"adamw_5", kAdamW + "}"},
                                 {"adamw_clip_5", kAdamW + ", clip = 0.5 : f64}"}}) {
    SCOPED_TRACE(name);
    Gpt gpt(oracle, optimizer);
    ASSERT_TRUE(gpt.good) << gpt.training.program.errors;
    const json &losses = train[name]["loss_before_each_step_then_final"];
    for (int64_t it = 0; it < 5; ++it)
      EXPECT_NEAR(gpt.training.step(it).loss, losses[it].get<double>(), 1e-10) << it;
    Numbers table = gpt.training.parameterNow("wte");
    Numbers row{{kWidth}, std::vector<double>(table.data.begin(), table.data.begin() + kWidth)};
    EXPECT_LE(worst(row, {{kWidth}, train[name]["final_wte_row0"].get<std::vector<double>>()}, 1e-10, 1e-10), 1);
    EXPECT_NEAR(gpt.training.gradients().at("loss").data[0], losses[5].get<double>(), 1e-10);
  }
}

TEST_P(GptOracle, AHundredStepsOfAdamWWithClippingMatch) {
  json oracle = readOracle(GetParam());
  const json &long100 = oracle["train_same_batch"]["adamw_clip_100"];
  Gpt gpt(oracle, kAdamW + ", clip = 0.5 : f64}");
  ASSERT_TRUE(gpt.good) << gpt.training.program.errors;
  std::map<int64_t, double> wanted;
  for (size_t i = 0; i < long100["at_steps"].size(); ++i)
    wanted[long100["at_steps"][i].get<int64_t>()] = long100["loss_before_each_step_then_final"][i].get<double>();
  for (int64_t it = 0; it < 100; ++it) {
    double loss = gpt.training.step(it).loss;
    if (wanted.count(it))
      EXPECT_NEAR(loss, wanted[it], 1e-10) << it;
  }
  EXPECT_NEAR(gpt.training.gradients().at("loss").data[0], wanted.at(100), 1e-10);

  const json &greedy = long100["greedy_after_training"];
  auto text = greedy["prompt"].get<std::vector<int64_t>>();
  for (size_t i = 0; i < greedy["generated"].size(); ++i) {
    auto [symbol, margin] = gpt.greedy(text);
    EXPECT_EQ(symbol, greedy["generated"][i].get<int64_t>()) << i;
    EXPECT_NEAR(margin, greedy["logit_margins"][i].get<double>(), 1e-9) << i;
    text.push_back(symbol);
  }
}

TEST_P(GptOracle, GreedyTextAfterAHundredStepsInSinglePrecisionIsTheSame) {
  json oracle = readOracle(GetParam());
  Gpt gpt(oracle, kAdamW + ", clip = 0.5 : f64}", Precision::F32);
  ASSERT_TRUE(gpt.good) << gpt.training.program.errors;
  for (int64_t it = 0; it < 100; ++it)
    gpt.training.step(it);
  const json &greedy = oracle["train_same_batch"]["adamw_clip_100"]["greedy_after_training"];
  auto text = greedy["prompt"].get<std::vector<int64_t>>();
  for (const json &wanted : greedy["generated"]) {
    text.push_back(gpt.greedy(text).first);
    EXPECT_EQ(text.back(), wanted.get<int64_t>());
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GptOracle, ::testing::Values("gpt_relu_nobias", "gpt_gelu_tanh_bias"),
                         [](const auto &info) { return std::string(info.param); });

/// tanh(concat(C[x0], C[x1], C[x2]) W1 + b1) W2 + b2 over `batch` windows of three characters.
class Mlp {
public:
  Mlp(const json &oracle, const std::vector<int64_t> &x, const std::vector<int64_t> &y)
      : training(Precision::F64, kSgd) {
    Build &b = training.program.build();
    auto batch = static_cast<int64_t>(y.size());
    std::map<std::string, Value> p;
    for (const char *name : {"C", "W1", "b1", "W2", "b2"})
      p[name] = training.parameter(name, readNumbers(oracle["params"][name]));
    Value letters = training.ids("x", x, {batch, 3});
    Value next = training.ids("y", y, {batch});
    Value features = b.reshape(graph::EmbeddingOp::create(b.builder, b.loc, letters, p["C"]), {batch, 30});
    Value hidden = b.unary<graph::TanhOp>(b.add(b.matmul(features, p["W1"]), p["b1"]));
    Value logits = b.add(b.matmul(hidden, p["W2"]), p["b2"]);
    good = training.finish(crossEntropy(b, logits, next));
  }
  Training training;
  bool good = false;
};

TEST(MlpOracle, LossAndEveryGradientMatch) {
  json oracle = readOracle("mlp_bengio");
  std::vector<int64_t> x;
  for (const json &row : oracle["x"])
    for (const json &letter : row)
      x.push_back(letter.get<int64_t>());
  Mlp mlp(oracle, x, oracle["y"].get<std::vector<int64_t>>());
  ASSERT_TRUE(mlp.good) << mlp.training.program.errors;
  std::map<std::string, Numbers> found = mlp.training.gradients();
  EXPECT_NEAR(found.at("loss").data[0], oracle["loss"].get<double>(), 1e-10);
  for (const auto &[name, wanted] : oracle["grads"].items())
    EXPECT_LE(worst(found.at(name), readNumbers(wanted), 1e-10, 1e-10), 1) << name;
}

TEST(MlpOracle, FiftyStepsMatch) {
  json oracle = readOracle("mlp_bengio");
  std::vector<int64_t> x(96), y(32);
  Mlp mlp(oracle, x, y);
  ASSERT_TRUE(mlp.good) << mlp.training.program.errors;
  for (int64_t s = 0; s < 50; ++s) {
    auto letter = [&](int64_t i) { return static_cast<double>((i * i + 7 * i + i / 5 + s) % 30); };
    Numbers windows{{32, 3}, {}}, next{{32}, {}};
    for (int64_t i = 0; i < 32; ++i) {
      for (int64_t j = 0; j < 3; ++j)
        windows.data.push_back(letter(i + j));
      next.data.push_back(letter(i + 3));
    }
    mlp.training.set("x", windows);
    mlp.training.set("y", next);
    EXPECT_NEAR(mlp.training.step(s).loss, oracle["train"]["loss"][s].get<double>(), 1e-10) << s;
  }
}

} // namespace
