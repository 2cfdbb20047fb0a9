// Philox through Arithmetic against the published vectors and against the header that compiler and runtime share.
#include "compiler/numerics/Philox.h"

#include "compiler/numerics/CompiledFunction.h"
#include "compiler/numerics/NumberArithmetic.h"
#include "runtime/abi/MekikPhilox.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace mekik::numerics;

namespace {

nlohmann::json oracle() {
  const char *root = std::getenv("MEKIK_SOURCE_DIR");
  std::ifstream file(std::string(root ? root : ".") + "/tests/oracles/philox4x32_10.json");
  return nlohmann::json::parse(file);
}

uint32_t word(const nlohmann::json &hex) { return std::stoul(hex.get<std::string>(), nullptr, 16); }

Number number(uint32_t value) { return fromInt32(static_cast<int32_t>(value)); }

} // namespace

TEST(Philox, GivesThePublishedWords) {
  nlohmann::json vectors = oracle();
  NumberArithmetic arithmetic;
  int count = 0;
  for (const char *group : {"published", "derived"})
    for (const nlohmann::json &vector : vectors[group]) {
      const auto &counter = vector["ctr"], &key = vector["key"], &want = vector["out"];
      MekikPhiloxBlock block = {{word(counter[0]), word(counter[1]), word(counter[2]), word(counter[3])}};
      MekikPhiloxBlock shared = mekikPhilox(block, word(key[0]), word(key[1]));
      auto computed = philox(
          arithmetic, {number(block.word[0]), number(block.word[1]), number(block.word[2]), number(block.word[3])},
          number(word(key[0])), number(word(key[1])));
      for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(shared.word[i], word(want[i]));
        EXPECT_EQ(static_cast<uint32_t>(toInt32(computed[i])), word(want[i]));
      }
      ++count;
    }
  EXPECT_EQ(count, 15);
}

TEST(Philox, UniformNumbersFollowTheRuleAndNeverReachOne) {
  nlohmann::json vectors = oracle()["uniform24"];
  NumberArithmetic arithmetic;
  auto words = philox(arithmetic, {number(0), number(0), number(0), number(0)}, number(word(vectors["key"][0])),
                      number(word(vectors["key"][1])));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(toFloat(uniform(arithmetic, words[i], ElementType::F32)), vectors["u"][i].get<float>());
    EXPECT_EQ(toDouble(uniform(arithmetic, words[i], ElementType::F64)), vectors["u"][i].get<double>());
    EXPECT_EQ(mekikUniform(static_cast<uint32_t>(toInt32(words[i]))), vectors["u"][i].get<float>());
  }
  EXPECT_EQ(toFloat(uniform(arithmetic, number(0xffffffffu), ElementType::F32)), 0x1.fffffep-1f);
}

TEST(Philox, SixteenCompiledCountersFillFourVectorsAsElementsAreDealt) {
  auto compiled = CompiledFunction::compile(
      [](Arithmetic &arithmetic, const std::vector<Number> &operands) {
        Number zero = arithmetic.constant(ElementType::I32, 0);
        Number stream = arithmetic.constant(ElementType::I32, int64_t(MEKIK_STREAM_DROP + 3));
        Number step = arithmetic.constant(ElementType::I32, 77);
        auto words = philox(arithmetic, {operands[0], zero, step, stream},
                            arithmetic.constant(ElementType::I32, int64_t(0xdeadbeef)),
                            arithmetic.constant(ElementType::I32, 9));
        return std::vector<Number>(words.begin(), words.end());
      },
      {ElementType::I32}, 16);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  for (uint32_t group = 0; group < 50; ++group) {
    alignas(64) uint32_t blocks[16], words[4][16];
    for (uint32_t lane = 0; lane < 16; ++lane)
      blocks[lane] = group * 16 + lane;
    void *buffers[] = {blocks, words[0], words[1], words[2], words[3]};
    (*compiled)(buffers);
    for (uint32_t element = 0; element < 64; ++element)
      ASSERT_EQ(words[element / 16][element % 16],
                mekikRandomBits(0x9deadbeefu, MEKIK_STREAM_DROP + 3, 77, group * 64 + element));
  }
}
