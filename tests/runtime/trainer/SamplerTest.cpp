#include "runtime/sample/Sampler.h"
#include "runtime/base/File.h"
#include "runtime/base/Json.h"
#include "runtime/sample/Exp.h"
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>

namespace mekik::sample {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

const base::Json &oracle() {
  static const base::Json json = [] {
    std::string path = std::string(std::getenv("MEKIK_SOURCE_DIR")) + "/tests/oracles/sampling.json";
    return base::Json::parse(base::readFile(path).value(), path).value();
  }();
  return json;
}

double numberOf(const base::Json &value) {
  if (value.isString())
    return value.text() == "-inf" ? -infinity : value.text() == "inf" ? infinity : std::nan("");
  return value.number().value();
}

std::vector<double> numbersOf(const base::Json &array) {
  std::vector<double> values;
  for (const base::Json &value : array.elements())
    values.push_back(numberOf(value));
  return values;
}

TEST(Sampler, GivesTheProbabilitiesOfTheOracle) {
  int cases = 0;
  for (const base::Json &entry : oracle().find("cases")->elements()) {
    SamplerOptions options;
    options.temperature = numberOf(*entry.find("temperature"));
    options.topK = entry.find("top_k")->integer().value_or(0);
    options.topP = entry.find("top_p")->number().value_or(1.0);
    auto result = probabilities(numbersOf(*entry.find("logits")), options);
    ASSERT_TRUE(result.ok()) << entry.find("name")->text() << ": " << result.status().message();
    std::vector<double> expected = numbersOf(*entry.find("probs"));
    ASSERT_EQ(result->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR((*result)[i], expected[i], 1e-14) << entry.find("name")->text() << " id " << i;
      EXPECT_EQ((*result)[i] == 0, expected[i] == 0) << entry.find("name")->text() << " id " << i;
    }
    ++cases;
  }
  EXPECT_EQ(cases, 13);
}

TEST(Sampler, DrawsByTheInverseDistributionFunctionOfTheOracle) {
  const base::Json &plain = oracle().find("cases")->elements().front();
  std::vector<double> chances = numbersOf(*plain.find("probs"));
  int draws = 0;
  for (const base::Json &entry : oracle().find("inverse_cdf_plain")->find("draws")->elements()) {
    EXPECT_EQ(draw(chances, numberOf(*entry.find("u"))), entry.find("token")->integer()) << numberOf(*entry.find("u"));
    ++draws;
  }
  EXPECT_GE(draws, 7);
  EXPECT_EQ(draw(std::vector<double>{0.5, 0.25, 0.0}, 0.999), 1); // a sum below 1 falls to the last possible id
}

TEST(Sampler, RefusesWhatTheOracleRefuses) {
  std::vector<double> logits = {1, 2, 3};
  int refused = 0;
  for (const base::Json &entry : oracle().find("must_refuse")->elements()) {
    SamplerOptions options;
    std::vector<double> current = logits;
    if (const base::Json *value = entry.find("temperature"))
      options.temperature = numberOf(*value);
    if (const base::Json *value = entry.find("top_p"))
      options.topP = numberOf(*value);
    if (const base::Json *value = entry.find("top_k"))
      options.topK = *value->integer();
    if (const base::Json *value = entry.find("logits"))
      current =
          value->text() == "all -inf" ? std::vector<double>(3, -infinity) : std::vector<double>{1, std::nan(""), 0};
    EXPECT_FALSE(probabilities(current, options).ok()) << refused;
    ++refused;
  }
  EXPECT_GE(refused, 7);
  EXPECT_FALSE(probabilities(logits, {.temperature = infinity}).ok());
  EXPECT_FALSE(probabilities(logits, {.topP = 1.5}).ok());
  EXPECT_FALSE(probabilities(std::vector<double>{1, infinity}, {}).ok());
}

TEST(Sampler, ATinyTemperatureIsGreedy) {
  std::vector<double> logits = {1, 5, 5, 0, 4.999999};
  for (double temperature : {0.0, 1e-30, 1e-300})
    EXPECT_EQ(*probabilities(logits, {.temperature = temperature}), (std::vector<double>{0, 1, 0, 0, 0}));
  EXPECT_EQ((*probabilities(std::vector<double>{1e30, -1e30, 2e30}, {.temperature = 1e-6}))[2], 1.0);
}

TEST(Sampler, TopPOfZeroKeepsTheLargestLogit) {
  std::vector<double> logits = {0, 1, 2, 9, 3};
  EXPECT_EQ(*probabilities(logits, {.topP = 0}), (std::vector<double>{0, 0, 0, 1, 0}));
}

TEST(Sampler, DrawsDependOnSeedSampleAndPositionAlone) {
  std::vector<double> logits(1000, 0.0);
  std::set<int32_t> seen;
  for (uint64_t seed :
       {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32, (uint64_t{1} << 32) + 1, uint64_t{1} << 63, ~uint64_t{0}})
    EXPECT_TRUE(seen.insert(*nextId(logits, {}, seed, 0, 0)).second) << seed;
  EXPECT_NE(*nextId(logits, {}, 1, 0, 0), *nextId(logits, {}, 1, 1, 0));
  EXPECT_NE(*nextId(logits, {}, 1, 0, 0), *nextId(logits, {}, 1, 0, 1));
  EXPECT_EQ(*nextId(logits, {}, 1, 7, 3), *nextId(logits, {}, 1, 7, 3));
}

TEST(Exp, IsWithinOneInAQuadrillion) {
  double worst = 0;
  for (double x = -708; x < 709.7; x += 0.00731) {
    long double exact = std::exp(static_cast<long double>(x));
    worst = std::max(worst, static_cast<double>(std::fabs((portableExp(x) - exact) / exact)));
  }
  EXPECT_LT(worst, 4.5e-16);
  EXPECT_EQ(portableExp(0), 1.0);
  EXPECT_EQ(portableExp(-800), 0.0);
  EXPECT_EQ(portableExp(-infinity), 0.0);
  EXPECT_EQ(portableExp(800), infinity);
  EXPECT_TRUE(std::isnan(portableExp(std::nan(""))));
  EXPECT_EQ(portableExp(-745), std::exp(-745.0));
}

} // namespace
} // namespace mekik::sample
