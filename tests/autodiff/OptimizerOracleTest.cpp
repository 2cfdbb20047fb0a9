// Optimizers and schedules against outside numbers, through the whole derivation of @train_step. The loss is
// sum(p g), whose gradient is the g that is fed in.
#include "tests/autodiff/Program.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mekik;
using namespace mekik::tests;
using nlohmann::json;

namespace {

std::string number(double value) {
  char text[64];
  snprintf(text, sizeof text, "%.17e : f64", value);
  return text;
}

std::string optimizerOf(const json &one) {
  std::string name = one["name"];
  const json &hyper = one["hyper"];
  std::string text = "{kind = \"" + name.substr(0, name.find('_')) + "\", decay = \"all\"";
  for (auto [key, entry] :
       {std::pair("momentum", "momentum"), {"weight_decay", "weight_decay"}, {"eps", "eps"}, {"clip", "clip"}})
    if (hyper.contains(key))
      text += std::string(", ") + entry + " = " + number(hyper[key].get<double>());
  if (hyper.contains("betas"))
    text +=
        ", beta1 = " + number(hyper["betas"][0].get<double>()) + ", beta2 = " + number(hyper["betas"][1].get<double>());
  if (hyper.contains("nesterov"))
    text += ", nesterov = true";
  if (hyper.contains("lr"))
    return text + ", rate = {kind = \"constant\", peak = " + number(hyper["lr"].get<double>()) + "}}";
  return text + ", rate = {kind = \"cosine\", peak = " + number(0.1) + ", floor = " + number(0.01) +
         ", steps = 5 : i64, warmup = 2 : i64, warmup_rule = \"next\"}}";
}

void buildWeightedSum(Training &training, const Numbers &p0, const Numbers &p1) {
  graph::Build &b = training.program.build();
  Value a = training.parameter("p0", p0);
  Value c = training.parameter("p1", p1);
  Value first = b.sum(b.mul(a, training.input("g0", p0)), {0, 1});
  Value second = b.sum(b.mul(c, training.input("g1", p1)), {0});
  ASSERT_TRUE(training.finish(b.add(first, second))) << training.program.errors;
}

TEST(OptimizerOracle, EveryRuleGivesTheSameParametersAfterEachOfFiveSteps) {
  json oracle = readOracle("optim");
  ASSERT_EQ(oracle["cases"].size(), 14u);
  Numbers p0 = readNumbers(oracle["params"]["p0"]);
  Numbers p1 = readNumbers(oracle["params"]["p1"]);
  for (const json &one : oracle["cases"]) {
    SCOPED_TRACE(one["name"].get<std::string>());
    Training training(Precision::F64, optimizerOf(one));
    ASSERT_NO_FATAL_FAILURE(buildWeightedSum(training, p0, p1));
    double scale = one["grads_all_zero"].get<bool>() ? 0 : one["grad_scale"].get<double>();
    for (int s = 1; s <= 5; ++s) {
      training.set("g0", filled(62 + 2 * s, scale, 0, p0.shape));
      training.set("g1", filled(63 + 2 * s, scale, 0, p1.shape));
      Training::Step step = training.step(s - 1);
      if (one.contains("lr_per_step"))
        EXPECT_NEAR(step.rate, one["lr_per_step"][s - 1].get<double>(), 1e-15);
      const json &after = one["after_step"][s - 1];
      for (const char *name : {"p0", "p1"}) {
        Numbers wanted{name == std::string("p0") ? p0.shape : p1.shape, after[name].get<std::vector<double>>()};
        EXPECT_LE(worst(training.parameterNow(name), wanted, 1e-10, 1e-10), 1) << name << " after step " << s;
      }
    }
  }
}

TEST(OptimizerOracle, SchedulesMatch) {
  json schedules = readOracle("optim")["schedules"];
  auto rates = [&](const std::string &name, const std::string &rate) {
    SCOPED_TRACE(name);
    Training training(Precision::F64, "{kind = \"sgd\", rate = " + rate + "}");
    Numbers p0{{1, 1}, {0}}, p1{{1}, {0}};
    ASSERT_NO_FATAL_FAILURE(buildWeightedSum(training, p0, p1));
    for (size_t i = 0; i < schedules[name]["it"].size(); ++i) {
      auto it = schedules[name]["it"][i].get<int64_t>();
      EXPECT_NEAR(training.step(it).rate, schedules[name]["lr"][i].get<double>(), 1e-15) << "it " << it;
    }
  };
  rates("a", "{kind = \"cosine\", peak = 0.1 : f64, floor = 0.01 : f64, steps = 5 : i64, warmup = 2 : i64}");
  std::string decay = "{kind = \"cosine\", peak = 6.0e-4 : f64, floor = 6.0e-5 : f64, steps = 100 : i64";
  rates("b", decay + ", warmup = 10 : i64, warmup_rule = \"next_open\"}");
  rates("c", decay + ", warmup = 10 : i64, warmup_rule = \"current\"}");
  rates("warmup0", decay + ", warmup = 0 : i64, warmup_rule = \"next_open\"}");
}

TEST(Optimizer, LinearDecayGoesStraightFromPeakToFloor) {
  Training training(Precision::F64, "{kind = \"sgd\", rate = {kind = \"linear\", peak = 1.0 : f64, floor = 0.2 : f64, "
                                    "steps = 10 : i64, warmup = 2 : i64}}");
  ASSERT_NO_FATAL_FAILURE(buildWeightedSum(training, {{1, 1}, {0}}, {{1}, {0}}));
  const double wanted[] = {0.5, 1, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.2, 0.2};
  for (int it = 0; it < 13; ++it)
    EXPECT_NEAR(training.step(it).rate, wanted[it], 1e-15) << it;
}

TEST(Optimizer, ScheduleWhoseStepsAreAllWarmupHasNoDivisionByZero) {
  Training training(Precision::F64, "{kind = \"sgd\", rate = {kind = \"cosine\", peak = 1.0 : f64, floor = 0.5 : f64, "
                                    "steps = 4 : i64, warmup = 4 : i64}}");
  ASSERT_NO_FATAL_FAILURE(buildWeightedSum(training, {{1, 1}, {0}}, {{1}, {0}}));
  const double wanted[] = {0.25, 0.5, 0.75, 1, 1, 0.5};
  for (int it = 0; it < 6; ++it)
    EXPECT_NEAR(training.step(it).rate, wanted[it], 1e-15) << it;
}

// A gradient norm of zero must not become 0 / 0.
TEST(Optimizer, ClippingAllZeroGradientsLeavesParametersAsTheyAre) {
  for (const char *kind : {"sgd", "adam", "adamw"}) {
    Training training(Precision::F32, std::string("{kind = \"") + kind +
                                          "\", clip = 1.0 : f64, rate = {kind = \"constant\", peak = 0.1 : f64}}");
    Numbers p0 = filled(60, 1, 0, {2, 3}), p1 = filled(61, 2, 0, {4});
    ASSERT_NO_FATAL_FAILURE(buildWeightedSum(training, p0, p1));
    training.set("g0", filled(0, 0, 0, {2, 3}));
    training.set("g1", filled(0, 0, 0, {4}));
    training.step(0);
    EXPECT_EQ(training.parameterNow("p0").data, p0.data) << kind;
    EXPECT_EQ(training.parameterNow("p1").data, p1.data) << kind;
  }
}

// -0 - 0 u is +0 for a negative u: only a select keeps the sign.
TEST(Optimizer, RateZeroKeepsEveryBitEvenOfMinusZero) {
  for (const char *kind : {"sgd", "adam", "adamw"}) {
    Training training(Precision::F32,
                      std::string("{kind = \"") + kind + "\", rate = {kind = \"constant\", peak = 0.0 : f64}}");
    Numbers p0{{1, 2}, {-0.0, 1.5}}, p1{{2}, {-0.0, -0.0}};
    ASSERT_NO_FATAL_FAILURE(buildWeightedSum(training, p0, p1));
    training.set("g0", {{1, 2}, {-1, 1}});
    training.set("g1", {{2}, {-1, INFINITY}});
    training.step(0);
    EXPECT_TRUE(std::signbit(training.parameterNow("p0").data[0])) << kind;
    EXPECT_EQ(training.parameterNow("p1").data, p1.data) << kind;
    EXPECT_TRUE(std::signbit(training.parameterNow("p1").data[1])) << kind;
  }
}

TEST(Optimizer, DecayOfMatricesLeavesVectorsAlone) {
  Training training(Precision::F64, "{kind = \"adamw\", weight_decay = 0.5 : f64, rate = {kind = \"constant\", peak = "
                                    "0.5 : f64}}");
  ASSERT_NO_FATAL_FAILURE(buildWeightedSum(training, {{1, 1}, {1}}, {{1}, {1}}));
  training.set("g0", {{1, 1}, {0}});
  training.set("g1", {{1}, {0}});
  training.step(0);
  EXPECT_EQ(training.parameterNow("p0").data[0], 0.75);
  EXPECT_EQ(training.parameterNow("p1").data[0], 1);
}

TEST(Optimizer, FirstStepOfAWarmupMoves) {
  Training training(Precision::F64, "{kind = \"adam\", rate = {kind = \"cosine\", peak = 0.1 : f64, steps = 10 : i64, "
                                    "warmup = 2 : i64}}");
  ASSERT_NO_FATAL_FAILURE(buildWeightedSum(training, {{1, 1}, {1}}, {{1}, {1}}));
  training.step(0);
  EXPECT_NEAR(training.parameterNow("p0").data[0], 0.95, 1e-8);
}

struct BadOptimizer {
  const char *attribute;
  const char *message;
};

class OptimizerErrors : public ::testing::TestWithParam<BadOptimizer> {};

TEST_P(OptimizerErrors, NameTheEntryAndWhatWasExpected) {
  Training training(Precision::F64, GetParam().attribute);
  graph::Build &b = training.program.build();
  Value p = training.parameter("p", {{2}, {1, 2}});
  EXPECT_FALSE(training.finish(b.sum(p, {0})));
  EXPECT_NE(training.program.errors.find(GetParam().message), std::string::npos) << training.program.errors;
}

INSTANTIATE_TEST_SUITE_P(
    All, OptimizerErrors,
    ::testing::Values(
        BadOptimizer{"{kind = \"adagrad\", rate = {peak = 0.1 : f64}}",
                     "optimizer expects 'kind' to be one of sgd, adam, adamw, got \"adagrad\""},
        BadOptimizer{"{kind = \"adam\", beta1 = 1.0 : f64, rate = {peak = 0.1 : f64}}",
                     "optimizer expects 'beta1' to be a number from 0 to below 1, got 1.0"},
        BadOptimizer{"{kind = \"sgd\", clip = -1.0 : f64, rate = {peak = 0.1 : f64}}",
                     "optimizer expects 'clip' to be a finite number of at least 0, got -1.0"},
        BadOptimizer{"{kind = \"sgd\", rate = {peak = 0x7FF0000000000000 : f64}}",
                     "learning rate expects 'peak' to be a finite number of at least 0"},
        BadOptimizer{"{kind = \"sgd\", nesterov = true, rate = {peak = 0.1 : f64}}",
                     "asks for nesterov without momentum"},
        BadOptimizer{"{kind = \"sgd\"}", "optimizer has no learning rate"},
        BadOptimizer{"{kind = \"sgd\", rate = {}}", "learning rate has no 'peak'"},
        BadOptimizer{"{kind = \"sgd\", speed = 1.0 : f64, rate = {peak = 0.1 : f64}}",
                     "optimizer has an unknown entry 'speed'"},
        BadOptimizer{
            "{kind = \"sgd\", rate = {kind = \"linear\", peak = 0.1 : f64, steps = 5 : i64, warmup = 6 : i64}}",
            "learning rate warms up for 6 steps, more than the 5 steps it has"}));

} // namespace
