// Byte-pair encoding: learned by the written rule, encoded as it was learned, refused where it could do harm.
#include "runtime/base/Random.h"
#include "runtime/base/Utf8.h"
#include "runtime/data/LearnedTokenizer.h"
#include "tests/runtime/Support.h"

#include <map>
#include <set>

namespace mekik::test {
namespace {

using data::Layout;
using data::LearnedTokenizer;
using tokenizer::LearnedMerge;
using tokenizer::learnMerges;
using tokenizer::makeBpeTokenizer;
using tokenizer::makeByteTokenizer;
using tokenizer::makeCharacterTokenizer;
using tokenizer::Merge;
using tokenizer::Sequence;
using tokenizer::Tokenizer;
using tokenizer::tokenizerFromJson;

data::Text textOf(std::string bytes) { return data::Text::fromBytes(std::move(bytes), "t.txt").value(); }

LearnedTokenizer learn(std::string_view kind, const data::Text &text, Layout layout) {
  auto parsed = data::parseTokenizerKind("--tokenizer", kind);
  EXPECT_TRUE(parsed.ok() && *parsed) << kind;
  auto made = data::learnTokenizer(**parsed, text, layout);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return std::move(*made);
}

/// "left right count" of every merge.
std::vector<std::string> described(const LearnedTokenizer &made) {
  std::vector<std::string> result;
  for (const LearnedMerge &learned : made.merges)
    result.push_back(std::string(made.tokenizer->bytesOf(learned.merge.left)) + " " +
                     std::string(made.tokenizer->bytesOf(learned.merge.right)) + " " + std::to_string(learned.count));
  return result;
}

TEST(Bpe, LearnsTheReferenceMergesAndEncodesWithThem) {
  nlohmann::json oracle = readJson("tests/oracles/bpe_train.json");
  std::string corpus = oracle["corpus"];
  LearnedTokenizer made = learn("bpe:+40", textOf(corpus), Layout::Stream);
  ASSERT_EQ(made.merges.size(), 40u);
  for (size_t i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(made.tokenizer->bytesOf(made.merges[i].merge.left), fromHex(oracle["merges"][i][0].get<std::string>()));
    EXPECT_EQ(made.tokenizer->bytesOf(made.merges[i].merge.right), fromHex(oracle["merges"][i][1].get<std::string>()));
    EXPECT_EQ(made.merges[i].count, oracle["counts"][i].get<uint64_t>());
  }
  std::vector<int32_t> ids = made.tokenizer->encode(corpus).value();
  ASSERT_EQ(ids.size(), oracle["encoded_length"].get<size_t>());
  EXPECT_EQ(made.merges.back().symbolsLeft, ids.size());
  EXPECT_EQ(std::vector<int32_t>(ids.begin(), ids.begin() + 40),
            oracle["encoded_first_40"].get<std::vector<int32_t>>());
  int64_t sum = 0;
  for (int32_t id : ids)
    sum += id;
  EXPECT_EQ(sum, oracle["encoded_sum"].get<int64_t>());
  EXPECT_EQ(made.tokenizer->decode(ids).value(), corpus);
}

TEST(Bpe, TakesTheSmallerPairInByteOrderAmongEqualCounts) {
  // "aa" and "bb" stand together twice each, "cc" and "dd" three times.
  for (const char *text : {"aaabbbccccdddd", "ddddccccbbbaaa"}) {
    LearnedTokenizer first = learn("bpe:+9", textOf(text), Layout::Stream);
    EXPECT_EQ(described(first), (std::vector<std::string>{"c c 3", "d d 3", "a a 2", "b b 2"})) << text;
    for (int run = 0; run < 20; ++run)
      EXPECT_EQ(learn("bpe:+9", textOf(text), Layout::Stream).tokenizer->toJson(), first.tokenizer->toJson());
  }
}

// As in the book, whose list of proverbs is another one: 1,137 symbols with a point after each proverb. The numbers
// were counted once more by a few lines of Python.
TEST(Bpe, MergesTheFirstFortyProverbsAsCountedByHand) {
  std::string all = readBytes(sourcePath("models/gpt/atasozleri.txt")), forty;
  for (size_t i = 0, lines = 0; lines < 40; ++i) {
    lines += all[i] == '\n';
    forty += all[i] == '\n' ? '.' : all[i];
  }
  LearnedTokenizer made = learn("characters+bpe:+6", textOf(forty), Layout::Stream);
  EXPECT_EQ(described(made), (std::vector<std::string>{"n   32", "r . 26", "k a 20", "m a 20", "e   17", "l a 15"}));
  std::vector<uint64_t> left;
  for (const LearnedMerge &learned : made.merges)
    left.push_back(learned.symbolsLeft);
  EXPECT_EQ(left, (std::vector<uint64_t>{1105, 1079, 1059, 1039, 1022, 1007}));
}

/// Counts all pairs again in every round, as the rule reads.
std::vector<Merge> learnPlainly(std::vector<std::string> symbols, std::vector<std::vector<int32_t>> sequences,
                                size_t merges) {
  std::vector<Merge> result;
  while (result.size() < merges) {
    std::map<std::tuple<std::string, std::string, int32_t, int32_t>, uint64_t> counts;
    for (const auto &ids : sequences)
      for (size_t i = 0; i + 1 < ids.size(); ++i)
        ++counts[{symbols[static_cast<size_t>(ids[i])], symbols[static_cast<size_t>(ids[i + 1])], ids[i], ids[i + 1]}];
    uint64_t most = 1;
    Merge best{};
    for (const auto &[pair, count] : counts)
      if (count > most) {
        most = count;
        best = {std::get<2>(pair), std::get<3>(pair)};
      }
    if (most < 2)
      break;
    auto made = static_cast<int32_t>(symbols.size());
    symbols.push_back(symbols[static_cast<size_t>(best.left)] + symbols[static_cast<size_t>(best.right)]);
    for (auto &ids : sequences) {
      std::vector<int32_t> shorter;
      for (size_t i = 0; i < ids.size(); ++i) {
        bool here = i + 1 < ids.size() && ids[i] == best.left && ids[i + 1] == best.right;
        shorter.push_back(here ? made : ids[i]);
        i += here;
      }
      ids = shorter;
    }
    result.push_back(best);
  }
  return result;
}

TEST(Bpe, LearnsAndEncodesWhatTheRuleGivesCountedAfreshInEveryRound) {
  auto base = makeCharacterTokenizer("abc", std::nullopt).value();
  std::vector<std::string> symbols = {"a", "b", "c"};
  for (uint64_t text = 0; text < 60; ++text) {
    SCOPED_TRACE(text);
    std::vector<std::vector<int32_t>> lines(1 + text % 4);
    uint64_t draw = 0, letters = 1 + text % 3;
    for (auto &line : lines)
      for (uint64_t i = base::uniformIndex(7, 0, text, draw++, 60); i > 0; --i)
        line.push_back(static_cast<int32_t>(base::uniformIndex(7, 0, text, draw++, letters)));
    std::vector<Sequence> sequences;
    for (const auto &line : lines)
      sequences.push_back({line});
    std::vector<Merge> expected = learnPlainly(symbols, lines, 40), got;
    for (const LearnedMerge &learned : learnMerges(*base, sequences, 40))
      got.push_back(learned.merge);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(got[i].left == expected[i].left && got[i].right == expected[i].right) << i;
    auto bpe = makeBpeTokenizer(makeCharacterTokenizer("abc", std::nullopt).value(), got, "x").value();
    // Encoding makes the merges one after the other too.
    for (auto &line : lines) {
      std::string plain;
      for (int32_t id : line)
        plain += symbols[static_cast<size_t>(id)];
      std::vector<int32_t> ids = line;
      for (size_t merge = 0; merge < got.size(); ++merge) {
        std::vector<int32_t> shorter;
        for (size_t i = 0; i < ids.size(); ++i) {
          bool here = i + 1 < ids.size() && ids[i] == got[merge].left && ids[i + 1] == got[merge].right;
          shorter.push_back(here ? static_cast<int32_t>(3 + merge) : ids[i]);
          i += here;
        }
        ids = shorter;
      }
      EXPECT_EQ(bpe->encode(plain).value(), ids) << plain;
      EXPECT_EQ(bpe->decode(ids).value(), plain);
    }
  }
}

TEST(Bpe, CountsPastThirtyTwoBits) {
  auto base = makeByteTokenizer(false);
  const uint64_t many = (uint64_t{1} << 32) + 1;
  // In 32 bits "ab" would count 1 and "cd" 3.
  std::vector<LearnedMerge> merges = learnMerges(*base, {{{'a', 'b'}, many}, {{'c', 'd'}, 3}}, 2);
  ASSERT_EQ(merges.size(), 2u);
  EXPECT_EQ(merges[0].merge.left, 'a');
  EXPECT_EQ(merges[0].count, many);
  EXPECT_EQ(merges[0].symbolsLeft, many + 6);
  EXPECT_EQ(merges[1].count, 3u);
}

TEST(Bpe, NeverMergesAcrossLinesOrWithTheirEnd) {
  LearnedTokenizer made = learn("characters+bpe:+50", textOf("ab\nab\nba\nba\n"), Layout::Lines);
  EXPECT_EQ(described(made), (std::vector<std::string>{"a b 2", "b a 2"}));
  EXPECT_EQ(made.merges.back().symbolsLeft, 8u); // four lines of one symbol, four ends
  auto data = data::TextData::create(textOf("ab\nba\n"), *made.tokenizer, {Layout::Lines, 0});
  ASSERT_TRUE(data.ok()) << data.status().message();
  EXPECT_EQ(data->train(), (std::vector<int32_t>{0, 3, 0, 4, 0}));
  expectFailure(data::TextData::create(textOf("a.b\n"), *made.tokenizer, {Layout::Lines, 0}), {"t.txt:1"});
  LearnedTokenizer bytes = learn("bpe:+50", textOf("ab\nab\nba\nba\n"), Layout::Lines);
  EXPECT_EQ(bytes.tokenizer->endId(), '\n');
  EXPECT_EQ(bytes.tokenizer->size(), 258);
}

TEST(Bpe, MeansAllSymbolsBySizeAndMergesByPlus) {
  data::Text text = textOf("abababab");
  EXPECT_EQ(learn("bpe:258", text, Layout::Stream).tokenizer->size(), 258);
  EXPECT_EQ(learn("bytes+bpe:+2", text, Layout::Stream).tokenizer->size(), 258);
  EXPECT_EQ(learn("characters+bpe:3", text, Layout::Stream).tokenizer->size(), 3);
  EXPECT_EQ(learn("characters+bpe:2", text, Layout::Stream).merges.size(), 0u);
  LearnedTokenizer scarce = learn("characters+bpe:100", text, Layout::Stream); // "ab", then "abab", then nothing twice
  EXPECT_EQ(scarce.tokenizer->size(), 4);
  EXPECT_EQ(scarce.mergesAskedFor, 98);
  EXPECT_FALSE(data::parseTokenizerKind("--tokenizer", "bpf:3").value());
  EXPECT_FALSE(data::parseTokenizerKind("--tokenizer", "my.json").value());
  for (std::string_view wrong : {"bpe", "bpe:", "bpe:x", "bpe:-1", "bpe:+", "characters+bpe", "bpe:1048577", "bpe:1e3"})
    expectFailure(data::parseTokenizerKind("--tokenizer", wrong), {"--tokenizer: expected", "as in bpe:512", wrong});
  auto small = data::parseTokenizerKind("--tokenizer", "bpe:255").value();
  expectFailure(data::learnTokenizer(*small, text, Layout::Stream), {"from 256", "got 255"});
}

TEST(Bpe, KeepsEveryByteOfEveryText) {
  nlohmann::json oracle = readJson("tests/oracles/utf8.json");
  LearnedTokenizer made = learn("bpe:400", textOf(readBytes(sourcePath("models/gpt/atasozleri.txt"))), Layout::Lines);
  for (const auto &test : oracle["cases"]) {
    std::string bytes = fromHex(test["hex"].get<std::string>());
    std::vector<int32_t> ids = made.tokenizer->encode(bytes).value();
    EXPECT_EQ(made.tokenizer->decode(ids).value(), bytes);
    tokenizer::StreamDecoder decoder(*made.tokenizer);
    std::string streamed;
    for (int32_t id : ids)
      streamed += decoder.append(id);
    EXPECT_EQ(streamed + decoder.finish(), base::replaceInvalidUtf8(bytes)) << test["name"];
  }
}

TEST(Bpe, TravelsAsJsonAndIsRecognisedByItsHash) {
  data::Text text = textOf("damlaya damlaya göl olur");
  std::set<std::string> hashes;
  for (std::string_view kind : {"bpe:+3", "bpe:+4", "characters+bpe:+4"}) {
    auto made = learn(kind, text, Layout::Lines).tokenizer;
    auto back = tokenizerFromJson(made->toJson(), "f");
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ((*back)->toJson(), made->toJson());
    EXPECT_EQ((*back)->kind(), "bpe");
    EXPECT_TRUE(checkSameTokenizer(*made, "a", **back, "b").ok());
    EXPECT_EQ((*back)->encode("damla göl").value(), made->encode("damla göl").value());
    hashes.insert(made->hash());
  }
  EXPECT_EQ(hashes.size(), 3u);
  // "abc" from "ab" and "c", or from "a" and "bc".
  auto one = tokenizerFromJson(
      R"({"kind":"bpe","base":{"kind":"characters","end":null,"characters":"abc"},"merges":[[0,1],[1,2],[3,2]]})", "f");
  auto other = tokenizerFromJson(
      R"({"kind":"bpe","base":{"kind":"characters","end":null,"characters":"abc"},"merges":[[0,1],[1,2],[0,4]]})", "f");
  expectFailure(checkSameTokenizer(**one, "a", **other, "b"), {"same symbols, but merge them in another way"});
}

TEST(Bpe, RefusesBrokenJson) {
  const std::pair<const char *, const char *> broken[] = {
      {R"({"kind":"bpe"})", "\"base\": expected an object, found nothing"},
      {R"({"kind":"bpe","base":{"kind":"bytes","end":null}})", "\"merges\": expected an array, found nothing"},
      {R"({"kind":"bpe","base":{"kind":"bpe"},"merges":[]})", "expected \"characters\" or \"bytes\", found \"bpe\""},
      {R"({"kind":"bpe","base":{"kind":"bytes","end":null},"merges":[[1]]})", "merge 1: expected two ids"},
      {R"({"kind":"bpe","base":{"kind":"bytes","end":null},"merges":[[1,2.5]]})", "merge 1: expected two ids"},
      {R"({"kind":"bpe","base":{"kind":"bytes","end":null},"merges":[{"a":1,"b":2}]})", "merge 1: expected two ids"},
      {R"({"kind":"bpe","base":{"kind":"bytes","end":null},"merges":[[1,-2]]})", "merge 1: expected two ids"},
      {R"({"kind":"bpe","base":{"kind":"bytes","end":null},"merges":[[1,4294967296]]})", "merge 1: expected two ids"},
      {R"({"kind":"bpe","base":{"kind":"bytes","end":null},"merges":[[1,2],[257,1]]})",
       "merge 2: expected ids from 0 to 256"},
      {R"({"kind":"bpe","base":{"kind":"bytes","end":null},"merges":[[1,2],[1,2]]})",
       "the pair of 1 and 2 occurs twice"},
      {R"({"kind":"bpe","base":{"kind":"bytes","end":"\n"},"merges":[[1,10]]})", "stands between examples"}};
  for (const auto &[json, message] : broken)
    expectFailure(tokenizerFromJson(json, "m.safetensors"), {"m.safetensors: tokenizer", message});
}

TEST(Bpe, RefusesMergesThatDoubleWithoutEnd) {
  std::vector<Merge> merges = {{'a', 'a'}};
  for (int32_t id = 256; id < 340; ++id)
    merges.push_back({id, id});
  expectFailure(makeBpeTokenizer(makeByteTokenizer(false), merges, "f"), {"f: merge 26", "67108864 bytes"});
}

} // namespace
} // namespace mekik::test
