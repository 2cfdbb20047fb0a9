// Models by counting: the book's numbers on the proverbs, any order against a count in the plainest way, 64-bit counts.
#include "runtime/ngram/Ngram.h"
#include "runtime/base/Random.h"
#include "runtime/data/TextData.h"
#include "runtime/sample/Exp.h"
#include "runtime/sample/Log.h"
#include "runtime/sample/NextSymbols.h"
#include "tests/runtime/Support.h"

#include <cmath>
#include <map>

namespace mekik::test {
namespace {

using ngram::Loss;
using ngram::Ngram;

struct Proverbs {
  Proverbs(int64_t validation = 0) {
    data::Text text = data::Text::load(sourcePath("models/gpt/atasozleri.txt")).value();
    tokenizer = data::makeTokenizer("characters", text, data::Layout::Lines).value();
    data = data::TextData::create(text, *tokenizer, {data::Layout::Lines, validation}).value();
  }
  Ngram counted(int64_t order) const { return Ngram(data->train(), tokenizer->endId(), tokenizer->size(), order); }
  std::unique_ptr<tokenizer::Tokenizer> tokenizer;
  std::optional<data::TextData> data;
};

TEST(Ngram, FindsTheLossOfTheProverbs) {
  Proverbs proverbs;
  Ngram pairs = proverbs.counted(2);
  EXPECT_EQ(pairs.symbolCount(), 5282u);
  EXPECT_EQ(pairs.contextCount(), 30u);
  Loss counted = pairs.loss(proverbs.data->train(), 0), smoothed = pairs.loss(proverbs.data->train(), 1);
  EXPECT_EQ(counted.symbols, 5282u);
  EXPECT_NEAR(counted.mean, 2.3224300657, 1e-9);
  EXPECT_NEAR(smoothed.mean, 2.3975178034, 1e-9);
  EXPECT_NEAR(sample::portableExp(smoothed.mean), 10.9958, 1e-4);
  // Longer contexts know the text better, and alone say less about another.
  double before = 10;
  for (int64_t order : {1, 2, 3, 4, 8}) {
    double loss = proverbs.counted(order).loss(proverbs.data->train(), 0).mean;
    EXPECT_LT(loss, before);
    before = loss;
  }
}

TEST(Ngram, MeasuresWhatItDidNotCount) {
  Proverbs proverbs(100000);
  Ngram pairs = proverbs.counted(2);
  Loss plain = pairs.loss(proverbs.data->validation(), 0), smoothed = pairs.loss(proverbs.data->validation(), 1);
  EXPECT_EQ(smoothed.symbols, proverbs.data->validation().size() - 1);
  EXPECT_GT(plain.impossible, 0u);
  EXPECT_TRUE(std::isinf(plain.mean));
  EXPECT_EQ(smoothed.impossible, 0u);
  EXPECT_GT(smoothed.mean, pairs.loss(proverbs.data->train(), 1).mean);
}

/// The n - 1 symbols before `at`, one list for each context; beyond the start of a line its end, beyond a stream -1.
std::vector<int32_t> contextOf(const std::vector<int32_t> &ids, size_t at, int64_t order, std::optional<int32_t> end) {
  std::vector<int32_t> context;
  bool over = false;
  for (int64_t back = 1; back < order; ++back) {
    over = over || back > static_cast<int64_t>(at);
    int32_t id = over ? end.value_or(-1) : ids[at - static_cast<size_t>(back)];
    over = over || id == end;
    context.push_back(id);
  }
  return context;
}

TEST(Ngram, CountsAnyOrderAsAPlainTableDoes) {
  for (uint64_t text = 0; text < 40; ++text) {
    std::optional<int32_t> end = text % 2 ? std::optional<int32_t>(0) : std::nullopt;
    std::vector<int32_t> ids = {0};
    for (uint64_t i = 0; i < 60; ++i)
      ids.push_back(static_cast<int32_t>(base::uniformIndex(3, 0, text, i, 4)));
    for (int64_t order : {1, 2, 3, 5, 70}) {
      SCOPED_TRACE(std::to_string(text) + " order " + std::to_string(order));
      std::map<std::vector<int32_t>, std::map<int32_t, uint64_t>> table;
      for (size_t at = 1; at < ids.size(); ++at)
        ++table[contextOf(ids, at, order, end)][ids[at]];
      Ngram model(ids, end, 5, order);
      ASSERT_EQ(model.contextCount(), table.size());
      double expected = 0;
      for (size_t at = 1; at < ids.size(); ++at) {
        const auto &row = table[contextOf(ids, at, order, end)];
        std::span<const int32_t> history = std::span(ids).first(at);
        std::span<const Ngram::Entry> following = model.following(history);
        ASSERT_EQ(following.size(), row.size());
        double total = 0;
        for (const Ngram::Entry &entry : following) {
          EXPECT_EQ(entry.count, row.at(entry.id));
          total += static_cast<double>(entry.count);
        }
        std::vector<double> chances = model.probabilities(history, 0.5);
        double sum = 0;
        for (double chance : chances)
          sum += chance;
        EXPECT_NEAR(sum, 1, 1e-12);
        auto seen = static_cast<double>(row.at(ids[at]));
        EXPECT_DOUBLE_EQ(chances[static_cast<size_t>(ids[at])], (seen + 0.5) / (total + 2.5));
        expected -= std::log((seen + 0.5) / (total + 2.5));
      }
      EXPECT_NEAR(model.loss(ids, 0.5).mean, expected / 60, 1e-12);
    }
  }
}

TEST(Ngram, ACountedContextDoesNotReachOverALine) {
  // 0 ends lines: "1 2", "1 2".
  const std::vector<int32_t> ids = {0, 1, 2, 0, 1, 2, 0};
  Ngram lines(ids, 0, 3, 4), stream(ids, std::nullopt, 3, 4);
  EXPECT_EQ(lines.contextCount(), 3u);  // ends; 1; 1 2
  EXPECT_EQ(stream.contextCount(), 5u); // "0 1 2" twice, else each place has its own past
  EXPECT_EQ(lines.following(std::vector<int32_t>{2, 1, 0})[0].count, 2u);
  EXPECT_TRUE(stream.following(std::vector<int32_t>{2, 1, 0}).empty());
}

TEST(Ngram, AContextThatNeverOccurredGivesNothingOrEverySymbolAlike) {
  Ngram model({0, 1, 0}, 0, 4, 2);
  const std::vector<int32_t> unknown = {0, 3};
  EXPECT_TRUE(model.following(unknown).empty());
  EXPECT_EQ(model.probabilities(unknown, 0), (std::vector<double>{0, 0, 0, 0}));
  EXPECT_EQ(model.probabilities(unknown, 2), (std::vector<double>{0.25, 0.25, 0.25, 0.25}));
  Loss loss = model.loss(std::vector<int32_t>{0, 3, 2}, 0);
  EXPECT_EQ(loss.symbols, 2u);
  EXPECT_EQ(loss.impossible, 2u);
}

TEST(Ngram, CountsPastThirtyTwoBits) {
  const uint64_t many = (uint64_t{1} << 32) + 1;
  Ngram model({0, 1, 1, 2, 0}, 0, 3, 2, many);
  EXPECT_EQ(model.symbolCount(), 4 * many);
  std::span<const Ngram::Entry> after = model.following(std::vector<int32_t>{1});
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(after[0].count, many);
  EXPECT_DOUBLE_EQ(model.probabilities(std::vector<int32_t>{1}, 0)[1], 0.5);
}

TEST(Ngram, MeasuresTheSymbolsAskedFor) {
  Ngram model({0, 1, 2, 1, 2, 0}, 0, 3, 2);
  const std::vector<int32_t> ids = {0, 1, 2, 1, 2, 0};
  EXPECT_EQ(model.loss(ids, 0, {1, 1, 3}).symbols, 3u);
  EXPECT_EQ(model.loss(ids, 0, {2, 2, 10}).symbols, 2u);
  EXPECT_NEAR(model.loss(ids, 0, {1, 2, 2}).mean, std::log(2.0) / 2,
              1e-15); // 1 after 0, surely; 1 after 2, every second time
  EXPECT_EQ(model.loss({}, 1).symbols, 0u);
}

TEST(NextSymbols, AreOrderedByProbabilityAndThenById) {
  std::vector<sample::NextSymbol> all = sample::mostProbable(std::vector<double>{0.1, 0.3, 0, 0.3, 0.3}, 0);
  std::vector<int32_t> ids;
  for (const sample::NextSymbol &next : all)
    ids.push_back(next.id);
  EXPECT_EQ(ids, (std::vector<int32_t>{1, 3, 4, 0}));
  EXPECT_EQ(sample::mostProbable(std::vector<double>{0.1, 0.3, 0.6}, 2).size(), 2u);
}

TEST(Log, IsWithinTwoUnitsOfTheLastPlace) {
  double worst = 0;
  auto check = [&](double x) {
    double expected = std::log(x), got = sample::portableLog(x);
    double error = expected == 0 ? std::fabs(got) : std::fabs(got - expected) / std::fabs(expected);
    worst = std::max(worst, error);
  };
  for (uint64_t i = 0; i < 200000; ++i) {
    check(base::uniformDouble(1, 0, 0, i));
    check(
        std::ldexp(1 + base::uniformDouble(1, 0, 1, i), static_cast<int>(base::uniformIndex(1, 0, 2, i, 2000)) - 1000));
  }
  for (double x : {1.0, 0.5, 2.0, 1e-308, 1e-320, 4.9e-324, 1.7e308, 1 + 0x1p-52, 1 - 0x1p-53})
    check(x);
  EXPECT_LT(worst, 4.5e-16);
  EXPECT_EQ(sample::portableLog(1), 0);
  EXPECT_TRUE(std::isinf(sample::portableLog(0)) && sample::portableLog(0) < 0);
  EXPECT_TRUE(std::isnan(sample::portableLog(-1)) && std::isnan(sample::portableLog(std::nan(""))));
}

} // namespace
} // namespace mekik::test
