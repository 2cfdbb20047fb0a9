// Numbers that users type, numbers that are stored, hashes, and the draws of the runtime.
#include "runtime/base/Parse.h"
#include "runtime/base/Random.h"
#include "runtime/base/Sha256.h"
#include "tests/runtime/Support.h"

#include <bit>
#include <clocale>
#include <cmath>
#include <set>

namespace mekik::test {
namespace {

TEST(Parse, ReadsWholeNumbersAndNothingElse) {
  EXPECT_EQ(base::parseInteger("n", "-42").value(), -42);
  EXPECT_EQ(base::parseInteger("n", "9223372036854775807").value(), INT64_MAX);
  for (std::string_view text : {"", " 1", "1 ", "+1", "1.0", "1e3", "0x10", "9223372036854775808", "3k", "١"})
    expectFailure(base::parseInteger("--steps", text), {"--steps", "whole number"});
  expectFailure(base::parseInteger("--steps", "0", 1), {"--steps: expected a whole number of at least 1, got \"0\""});
  expectFailure(base::parseInteger("--top-k", "-5", 0, 100), {"from 0 to 100", "\"-5\""});
  expectFailure(base::parseInteger("--steps", std::string_view("1\0", 2)), {"1\\x00"});
}

TEST(Parse, ReadsEverySeedAndKeepsThemApart) {
  std::set<uint64_t> draws;
  for (std::string_view text : {"0", "1", "4294967296", "4294967297", "9223372036854775808", "18446744073709551615"}) {
    uint64_t seed = base::parseSeed("--seed", text).value();
    EXPECT_EQ(std::to_string(seed), text);
    draws.insert(base::randomBits64(seed, MEKIK_STREAM_DATA, 0, 0));
  }
  EXPECT_EQ(draws.size(), 6u);
  for (std::string_view text : {"-1", "18446744073709551616", "abc", "", "1.5", " 7"})
    expectFailure(base::parseSeed("--seed", text), {"--seed", "from 0 to 18446744073709551615", base::quoted(text)});
}

TEST(Parse, ReadsDecimalNumbersAndRefusesWhatIsNotOne) {
  EXPECT_EQ(base::parseNumber("r", "0.003").value(), 0.003);
  EXPECT_EQ(base::parseNumber("r", "3e-3").value(), 0.003);
  EXPECT_EQ(base::parseNumber("r", ".5").value(), 0.5);
  EXPECT_EQ(base::parseNumber("r", "-2.").value(), -2);
  EXPECT_EQ(base::parseNumber("r", "0e999").value(), 0);
  EXPECT_EQ(base::parseNumber("r", "4.9406564584124654e-324").value(), 4.9406564584124654e-324);
  for (std::string_view text :
       {"", "nan", "inf", "-inf", "0x1p3", "1e999", "1e-999", "1,5", "1e", ".", "-", "1 ", "1f"})
    expectFailure(base::parseNumber("--rate", text), {"--rate: expected a finite number"});
  expectFailure(base::parseNumber("--dropout", "1.5", 0, 1), {"--dropout: expected a number from 0 to 1, got \"1.5\""});
}

TEST(Parse, WritesNumbersThatReadBackExactlyInAnyLocale) {
  std::vector<double> values = {0.0, -0.0, 1, 0.1, 1.0 / 3, 1e300, 4.9406564584124654e-324, 2.207, 1e21, 123456789};
  for (uint64_t i = 0; i < 20000; ++i) {
    double value = std::bit_cast<double>(base::randomBits64(7, 0, 0, i));
    if (std::isfinite(value))
      values.push_back(value);
  }
  std::string missing;
  for (const char *locale : {"C", "de_DE.UTF-8", "tr_TR.UTF-8"}) {
    if (!std::setlocale(LC_ALL, locale)) {
      missing += std::string(" ") + locale;
      continue;
    }
    base::StatusOr<double> read = base::parseNumber("r", "0.003");
    ASSERT_TRUE(read.ok() && *read == 0.003) << locale << ": " << read.status().message();
    for (double value : values)
      ASSERT_EQ(std::bit_cast<uint64_t>(base::parseFormattedNumber("x", base::formatNumber(value)).value()),
                std::bit_cast<uint64_t>(value));
    EXPECT_EQ(base::formatNumber(0.003), "0.003");
    EXPECT_EQ(base::formatNumber(0.1 + 0.7), "0.7999999999999999");
    EXPECT_EQ(base::formatNumber(0.1 + 0.2), "0.30000000000000004");
    EXPECT_EQ(base::formatFixed(2.2075, 3), "2.208");
  }
  std::setlocale(LC_ALL, "C");
  EXPECT_EQ(base::formatNumber(NAN), "nan");
  EXPECT_TRUE(std::isnan(base::parseFormattedNumber("x", "nan").value()));
  EXPECT_EQ(base::parseFormattedNumber("x", base::formatNumber(-INFINITY)).value(), -INFINITY);
  if (!missing.empty())
    GTEST_SKIP() << "not installed, so not tried:" << missing;
}

TEST(Parse, FormatsForPeople) {
  EXPECT_EQ(base::formatFixed(0, 2), "0.00");
  EXPECT_EQ(base::formatFixed(-1.005, 1), "-1.0");
  EXPECT_EQ(base::formatFixed(-0.001, 2), "0.00");
  EXPECT_EQ(base::formatFixed(1234.5, 0), "1235");
  EXPECT_EQ(base::formatFixed(NAN, 2), "nan");
  EXPECT_EQ(base::formatFixed(1e300, 2), "1e+300");
  EXPECT_EQ(base::formatCount(27678), "27,678");
  EXPECT_EQ(base::formatCount(999), "999");
  EXPECT_EQ(base::formatCount(1234567), "1,234,567");
  EXPECT_EQ(base::quoted("a\"b\n\xff\x01ş"), "\"a\\\"b\\n\\xff\\x01ş\"");
  EXPECT_EQ(base::quoted(std::string(200, 'x'), 5), "\"xxxxx...\"");
}

TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(base::sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(base::sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(base::sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  base::Sha256 million;
  for (int i = 0; i < 1000; ++i)
    million.update(std::string(1000, 'a'));
  EXPECT_EQ(million.finishHex(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Philox, GivesTheReferenceWords) {
  nlohmann::json oracle = readJson("tests/oracles/philox4x32_10.json");
  auto words = [](const nlohmann::json &list) {
    std::vector<uint32_t> out;
    for (const auto &word : list)
      out.push_back(static_cast<uint32_t>(std::stoul(word.get<std::string>(), nullptr, 16)));
    return out;
  };
  int count = 0;
  for (std::string_view group : {"published", "derived"})
    for (const auto &test : oracle[group]) {
      std::vector<uint32_t> counter = words(test["ctr"]), key = words(test["key"]), out = words(test["out"]);
      MekikPhiloxBlock block = mekikPhilox({{counter[0], counter[1], counter[2], counter[3]}}, key[0], key[1]);
      for (size_t i = 0; i < 4; ++i)
        EXPECT_EQ(block.word[i], out[i]);
      ++count;
    }
  EXPECT_EQ(count, 15);
  const auto &uniform = oracle["uniform24"];
  MekikPhiloxBlock block = mekikPhilox({{0, 0, 0, 0}}, 42, 0);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(mekikUniform(block.word[i]), uniform["u"][i].get<double>());
  EXPECT_EQ(mekikUniform(0xffffffffu), uniform["extreme"]["u"].get<double>());
}

TEST(Random, DrawsIndicesEvenlyAndInsideTheirRange) {
  std::vector<int> counts(10);
  for (uint64_t i = 0; i < 100000; ++i)
    ++counts[base::uniformIndex(1, MEKIK_STREAM_DATA, i / 8, i % 8, 10)];
  for (int count : counts)
    EXPECT_NEAR(count, 10000, 400);
  EXPECT_EQ(base::uniformIndex(1, 0, 0, 0, 1), 0u);
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_LT(base::uniformIndex(1, 0, 0, i, UINT64_MAX), UINT64_MAX);
    double u = base::uniformDouble(1, 0, 0, i);
    EXPECT_TRUE(u >= 0 && u < 1);
  }
}

} // namespace
} // namespace mekik::test
