// Text and tensors as training data: what is refused, how it is split, which windows a step sees.
#include "runtime/base/Random.h"
#include "runtime/checkpoint/Safetensors.h"
#include "runtime/data/TensorData.h"
#include "runtime/data/Text.h"
#include "runtime/data/TextData.h"
#include "tests/runtime/Support.h"

#include <cmath>
#include <map>
#include <set>
#include <sys/mman.h>

namespace mekik::test {
namespace {

using data::Layout;
using data::Text;
using data::TextData;
using data::TextOptions;

struct Loaded {
  std::unique_ptr<tokenizer::Tokenizer> tokenizer;
  TextData data;
};

Loaded load(const Text &text, TextOptions options = {}, std::string_view kind = "characters") {
  auto tokenizer = data::makeTokenizer(kind, text, options.layout);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  auto data = TextData::create(text, **tokenizer, options);
  EXPECT_TRUE(data.ok()) << data.status().message();
  return {std::move(*tokenizer), std::move(*data)};
}

Text textOf(std::string bytes) {
  auto text = Text::fromBytes(std::move(bytes), "t.txt");
  EXPECT_TRUE(text.ok()) << text.status().message();
  return std::move(*text);
}

TEST(Text, RefusesFilesWithNothingInThem) {
  TemporaryFolder folder;
  auto refused = [&](std::string_view name, std::string_view bytes, std::string_view message) {
    std::string path = folder / name;
    writeBytes(path, bytes);
    expectFailure(Text::load(path), {path, message});
  };
  refused("empty", "", "found an empty file");
  refused("bom", "\xEF\xBB\xBF", "found only a byte-order mark");
  refused("newline", "\n", "found only blanks and line ends");
  refused("crlf", "\r\n\r\n", "found only blanks and line ends");
  refused("spaces", "   \t ", "found only blanks and line ends");
  refused("bom-spaces", "\xEF\xBB\xBF \n", "found only blanks and line ends");
  expectFailure(Text::load(folder.path), {folder.path, "expected a file, found a folder"});
  expectFailure(Text::load("/dev/null"), {"/dev/null", "found a device or pipe"});
  expectFailure(Text::load(folder / "missing"), {folder / "missing", "no such file"});
}

TEST(Text, RefusesEveryInvalidReferenceTextAloneAndFarBehindGoodBytes) {
  nlohmann::json oracle = readJson("tests/oracles/utf8.json");
  for (const auto &test : oracle["cases"]) {
    SCOPED_TRACE(test["name"].get<std::string>());
    std::string bytes = fromHex(test["hex"].get<std::string>());
    if (test["valid"]) {
      EXPECT_EQ(Text::fromBytes(bytes, "f").ok(), !bytes.empty());
      EXPECT_TRUE(Text::fromBytes(std::string(70000, 'a') + bytes, "f").ok());
      continue;
    }
    uint64_t bad = test["first_bad_byte"].get<uint64_t>();
    expectFailure(Text::fromBytes(bytes, "f"), {"f:1:", "not valid UTF-8 at byte " + std::to_string(bad), "iconv"});
    expectFailure(Text::fromBytes(std::string(70000, '\n') + bytes, "f"),
                  {"f:70001:", "at byte " + std::to_string(70000 + bad)});
  }
  expectFailure(Text::fromBytes(fromHex("fffe61006200"), "f"), {"looks like UTF-16"});
}

TEST(Text, DropsTheByteOrderMarkAndMakesEveryLineEndANewline) {
  Text text = textOf("\xEF\xBB\xBF"
                     "a\r\nb\rc\n\r\n \t\r\nd\xEF\xBB\xBF");
  EXPECT_EQ(text.content(), "a\nb\nc\n\n \t\nd\xEF\xBB\xBF");
  std::vector<data::TextLine> lines = text.lines();
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[3].text, "d\xEF\xBB\xBF");
  EXPECT_EQ(lines[3].number, 6u);
  EXPECT_EQ(text.hash(), textOf("a\nb\nc\n\n \t\nd\xEF\xBB\xBF").hash());
}

TEST(Text, TakesNoOtherCharacterForALineEnd) {
  EXPECT_EQ(textOf(fromHex("61e280a862e280a963c28564")).lines().size(), 1u);
  EXPECT_EQ(textOf(std::string("ab\0cd", 5)).lines()[0].text.size(), 5u);
}

TEST(TextData, SplitsTheProverbsAsTheBookDoes) {
  auto text = Text::load(sourcePath("models/gpt/atasozleri.txt"));
  ASSERT_TRUE(text.ok());
  Loaded loaded = load(*text);
  EXPECT_EQ(loaded.data.trainLines(), 160u);
  EXPECT_EQ(loaded.data.validationLines(), 18u);
  EXPECT_EQ(loaded.data.train().size(), 4725u);
  EXPECT_EQ(loaded.data.validation().size(), 559u);
  EXPECT_EQ(loaded.data.train().front(), 0);
  EXPECT_EQ(loaded.data.train().back(), 0);
  EXPECT_EQ(TextData::evaluationWindowCount(loaded.data.validation(), 16, 512), 31);
  EXPECT_EQ(TextData::evaluationWindowCount(loaded.data.validation(), 16, 0), 34);
}

TEST(TextData, CutsEvaluationWindowsByTheWrittenRule) {
  for (int64_t size = 0; size < 40; ++size)
    for (int64_t context = 1; context < 12; ++context)
      for (int64_t limit : {0, 1, 7, 16, 100}) {
        std::vector<int32_t> ids(static_cast<size_t>(size));
        for (size_t i = 0; i < ids.size(); ++i)
          ids[i] = static_cast<int32_t>(i);
        int64_t expected = 0, bound = limit ? std::min(size, limit) : size;
        for (int64_t s = 0; s + context + 1 <= bound; s += context)
          ++expected;
        ASSERT_EQ(TextData::evaluationWindowCount(ids, context, limit), expected);
        for (int64_t i = 0; i < expected; ++i) {
          data::Window window = TextData::evaluationWindow(ids, context, i);
          ASSERT_EQ(window.input.front(), i * context);
          ASSERT_EQ(window.target.back(), i * context + context);
        }
      }
}

// 16 GiB of ids as address space alone: what is read of them is one page.
TEST(TextData, CutsWindowsOfMoreThanFourBillionSymbols) {
  const uint64_t size = (1ull << 32) + 1;
  void *space = ::mmap(nullptr, size * sizeof(int32_t), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED)
    GTEST_SKIP() << "this machine gives no 16 GiB of address space";
  auto *ids = static_cast<int32_t *>(space);
  ids[size - 1] = 7;
  const std::span<const int32_t> all(ids, size);
  const int64_t windows = TextData::evaluationWindowCount(all, 16, 0);
  EXPECT_EQ(windows, int64_t{1} << 28);
  EXPECT_EQ(TextData::evaluationWindowCount(all, 16, (int64_t{1} << 32) - 15), (int64_t{1} << 28) - 1);
  data::Window last = TextData::evaluationWindow(all, 16, windows - 1);
  EXPECT_EQ(last.input.data(), ids + size - 17);
  EXPECT_EQ(last.target.back(), 7);
  ::munmap(space, size * sizeof(int32_t));
  // Starts of training windows are drawn from all of them.
  uint64_t highest = 0;
  for (uint64_t example = 0; example < 100; ++example)
    highest = std::max(highest, base::uniformIndex(1, MEKIK_STREAM_DATA, 0, example, size - 16));
  EXPECT_GT(highest, uint64_t{1} << 31);
  EXPECT_LT(highest, size - 16);
  static_assert(std::is_same_v<decltype(data::TextLine::number), uint64_t>);
  static_assert(std::is_same_v<decltype(std::declval<TextData>().trainLines()), uint64_t>);
}

TEST(TextData, ChoosesWindowsByNothingButSeedStepAndExample) {
  std::string bytes;
  for (char c = 'a'; c <= 'z'; ++c)
    bytes += c;
  Loaded loaded = load(textOf(bytes), {Layout::Stream, 0});
  std::set<int32_t> starts;
  for (uint64_t step = 0; step < 100; ++step)
    for (uint64_t example = 0; example < 8; ++example) {
      data::Window window = loaded.data.windowAt(3, step, example, 4);
      ASSERT_EQ(window.input.size(), 4u);
      ASSERT_EQ(window.target.size(), 4u);
      for (size_t i = 0; i < 4; ++i) {
        ASSERT_EQ(window.target[i], window.input[i] + 1);
        ASSERT_EQ(window.input[i], window.input[0] + static_cast<int32_t>(i));
      }
      starts.insert(window.input[0]);
      ASSERT_EQ(loaded.data.windowAt(3, step, example, 4).input.data(), window.input.data());
    }
  EXPECT_EQ(starts.size(), 22u); // every start of 26 ids with 5 needed
  EXPECT_EQ(*starts.rbegin(), 21);
  // Pinned: these draws are part of what "same seed, same weights" promises across releases.
  std::vector<int32_t> first;
  for (uint64_t example = 0; example < 8; ++example)
    first.push_back(loaded.data.windowAt(1, 0, example, 4).input[0]);
  EXPECT_EQ(first, (std::vector<int32_t>{18, 1, 1, 15, 2, 13, 7, 18}));
}

TEST(TextData, SingleTargetsSeeNothingFromBeforeTheirLine) {
  using Seen = std::vector<int32_t>; // window and target
  auto all = [](const TextData &data, int64_t context) {
    std::vector<Seen> seen;
    for (int64_t i = 0; i < data.targetCount(data.train(), context); ++i) {
      Seen one(static_cast<size_t>(context));
      int32_t target = data.targetAt(data.train(), i, one);
      one.push_back(target);
      seen.push_back(one);
    }
    return seen;
  };
  Loaded lines = load(textOf("ab\nc\n"), {Layout::Lines, 0}); // . a b . c .
  EXPECT_EQ(all(lines.data, 3), (std::vector<Seen>{{0, 0, 0, 1}, {0, 0, 1, 2}, {0, 1, 2, 0}, {0, 0, 0, 3}, {0, 0, 3, 0}}));
  EXPECT_EQ(all(lines.data, 1), (std::vector<Seen>{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {3, 0}}));
  EXPECT_EQ(lines.data.targetCount(lines.data.train(), 3, 4), 3);
  EXPECT_TRUE(lines.data.checkTargets(100).ok()); // what is missing is filled
  Loaded stream = load(textOf("abca"), {Layout::Stream, 0});
  EXPECT_EQ(all(stream.data, 2), (std::vector<Seen>{{0, 1, 2}, {1, 2, 0}}));
  expectFailure(stream.data.checkTargets(4), {"context 4 needs at least 5"});
  std::set<int64_t> drawn;
  for (uint64_t step = 0; step < 100; ++step)
    drawn.insert(lines.data.targetIndexAt(1, step, 0, 3));
  EXPECT_EQ(drawn, (std::set<int64_t>{0, 1, 2, 3, 4}));
}

TEST(TextData, AnExampleIsOneLineOrAPartOfIt) {
  Text text = textOf("ab\ncdefg\nh\nij\n");
  Loaded loaded = load(text, {Layout::Examples, 250000});
  ASSERT_EQ(loaded.data.trainLines(), 3u);
  auto shown = [&](const data::Window &window) {
    std::vector<int32_t> ids(window.input.begin(), window.input.end());
    ids.push_back(window.target.back());
    EXPECT_EQ(window.target.size(), window.input.size());
    return *loaded.tokenizer->decode(ids);
  };
  std::map<std::string, int> seen;
  for (uint64_t step = 0; step < 300; ++step)
    for (uint64_t example = 0; example < 2; ++example)
      ++seen[shown(loaded.data.windowAt(7, step, example, 4))];
  // Lines shorter than the window come whole, longer ones from any start, each line as often as another.
  std::vector<std::string> kinds;
  for (const auto &[window, count] : seen)
    kinds.push_back(window);
  EXPECT_EQ(kinds, (std::vector<std::string>{".ab.", ".cdef", ".h.", "cdefg", "defg.", "efg.", "fg.", "g."}));
  EXPECT_NEAR(seen[".ab."], 200, 40);
  EXPECT_NEAR(seen[".h."], 200, 40);
  EXPECT_NEAR(seen["cdefg"], 33, 20);

  auto evaluated = [&](bool ofValidation, int64_t limit) {
    std::vector<std::string> result;
    for (const data::Window &window : loaded.data.evaluationWindows(ofValidation, 4, limit))
      result.push_back(shown(window));
    return result;
  };
  EXPECT_EQ(evaluated(false, 0), (std::vector<std::string>{".ab.", ".cdef", "fg.", ".h."}));
  EXPECT_EQ(evaluated(false, 8), (std::vector<std::string>{".ab.", ".cdef"}));
  EXPECT_EQ(evaluated(false, 1), (std::vector<std::string>{".ab."}));
  EXPECT_EQ(evaluated(true, 0), (std::vector<std::string>{".ij."}));
  EXPECT_TRUE(loaded.data.checkContext(1000).ok());
}

TEST(TextData, RefusesATextShorterThanTheContext) {
  for (size_t size : {1u, 7u, 8u}) {
    Loaded loaded = load(textOf(std::string(size, 'a')), {Layout::Stream, 0});
    expectFailure(loaded.data.checkContext(8),
                  {"t.txt: the training part has " + std::to_string(size) + " tokens, context 8 needs at least 9"});
  }
  EXPECT_TRUE(load(textOf(std::string(9, 'a')), {Layout::Stream, 0}).data.checkContext(8).ok());
  Loaded split = load(textOf(std::string(40, 'a')), {Layout::Stream, 100000});
  EXPECT_EQ(split.data.train().size(), 36u);
  expectFailure(split.data.checkContext(8), {"the validation part has 4 tokens, context 8 needs at least 9"});
  expectFailure(split.data.checkContext(0), {"at least 1"});
  expectFailure(split.data.checkContext(-5), {"at least 1"});
  expectFailure(split.data.checkContext(INT64_MAX), {"context"});
}

TEST(TextData, RefusesWhatTheVocabularyDoesNotHold) {
  Text small = textOf("abc\nab\n"), large = textOf("abc\nabx\n");
  auto tokenizer = data::makeTokenizer("characters", small, Layout::Lines);
  expectFailure(TextData::create(large, **tokenizer, {Layout::Lines, 0}), {"t.txt:2:3", "\"x\" (U+0078)"});
  expectFailure(TextData::create(textOf("ab\na.b"), **tokenizer, {Layout::Lines, 0}), {"t.txt:2", "--end SYMBOL"});
  expectFailure(data::makeTokenizer("characters", textOf("\n ab\nc.d"), Layout::Lines), {"t.txt:3:2", "--end SYMBOL"});
  EXPECT_TRUE(data::makeTokenizer("characters", textOf("ab\nc.d"), Layout::Lines, "|").ok());
  expectFailure(data::makeTokenizer("words", small, Layout::Lines), {"--tokenizer", "\"words\""});
  auto stream = data::makeTokenizer("characters", small, Layout::Stream);
  expectFailure(TextData::create(small, **stream, {Layout::Lines, 0}),
                {"no symbol to stand between lines", "--layout stream"});
  expectFailure(TextData::create(textOf("a"), **tokenizer, {}),
                {"expected lines to train on, found 1 line", "--validation"});
}

TEST(TextData, SeparatesLinesOfBytesByNewlines) {
  Loaded loaded = load(textOf("ab\r\nç\n"), {Layout::Lines, 0}, "bytes");
  EXPECT_EQ(loaded.data.train(), (std::vector<int32_t>{10, 'a', 'b', 10, 0xC3, 0xA7, 10}));
}

TEST(TextData, ReadsTheShareForValidationExactly) {
  EXPECT_EQ(data::parseValidationShare("--validation", "0.1").value(), 100000);
  EXPECT_EQ(data::parseValidationShare("--validation", "0").value(), 0);
  EXPECT_EQ(data::parseValidationShare("--validation", "0.29").value(), 290000);
  EXPECT_EQ(data::parseValidationShare("--validation", "0.000001").value(), 1);
  for (std::string_view text : {"1", "-0.1", "nan", "", "0.0000001", "0.9999999", "ten"})
    expectFailure(data::parseValidationShare("--validation", text), {"--validation: expected a share"});
  // 0.3 of ten lines are three: in binary fractions floor(10 * 0.7) could be 6.
  EXPECT_EQ(load(textOf("a\nb\nc\nd\ne\nf\ng\nh\ni\nj"), {Layout::Lines, 300000}).data.trainLines(), 7u);
}

std::string tensorFile(const TemporaryFolder &folder, std::vector<float> x, std::vector<int32_t> y, int64_t rows) {
  std::string path = folder / "d.safetensors";
  using checkpoint::DataType;
  base::Status status = checkpoint::writeSafetensors(
      path,
      std::vector<checkpoint::TensorView>{
          {"x",
           DataType::F32,
           {rows, static_cast<int64_t>(x.size()) / rows},
           checkpoint::bytesOf(std::span<const float>(x))},
          {"y", DataType::I32, {static_cast<int64_t>(y.size())}, checkpoint::bytesOf(std::span<const int32_t>(y))}},
      {});
  EXPECT_TRUE(status.ok()) << status.message();
  return path;
}

TEST(TensorData, GivesExamplesOfAFileAndChecksThemBeforehand) {
  TemporaryFolder folder;
  auto data = data::TensorData::load(tensorFile(folder, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 0}, 4), 250000);
  ASSERT_TRUE(data.ok()) << data.status().message();
  EXPECT_EQ(data->examples(), 4);
  EXPECT_EQ(data->trainExamples(), 3);
  using checkpoint::DataType;
  std::vector<int64_t> pair = {2}, none;
  EXPECT_TRUE(data->check({"x", DataType::F32, pair}).ok());
  EXPECT_TRUE(data->check({"y", DataType::I32, none, 3}).ok());
  expectFailure(data->check({"y", DataType::I32, none, 2}), {"tensor \"y\"", "from 0 to 1, found 2 at element 2"});
  expectFailure(data->check({"y", DataType::I64, none, 3}), {"expected I64 [4], found I32 [4]"});
  expectFailure(data->check({"x", DataType::F32, none}), {"expected F32 [4], found F32 [4, 2]"});
  expectFailure(data->check({"z", DataType::F32, none}), {"tensor \"z\"", "found none of this name"});
  float example[2];
  std::memcpy(example, data->example("x", data->validationExample(0)).data(), sizeof example);
  EXPECT_EQ(example[0], 6);
  std::set<int64_t> seen;
  for (uint64_t step = 0; step < 50; ++step)
    seen.insert(data->exampleAt(1, step, 0));
  EXPECT_EQ(seen, (std::set<int64_t>{0, 1, 2}));
}

TEST(TensorData, RefusesValuesAndShapesThatCannotBeTrainedOn) {
  TemporaryFolder folder;
  using checkpoint::DataType;
  std::vector<int64_t> pair = {2}, none;
  auto bad = data::TensorData::load(tensorFile(folder, {0, 1, 2, NAN}, {0, -1}, 2), 0);
  ASSERT_TRUE(bad.ok());
  expectFailure(bad->check({"x", DataType::F32, pair}), {"found nan or inf at element 3"});
  expectFailure(bad->check({"y", DataType::I32, none, 5}), {"found -1 at element 1"});
  expectFailure(data::TensorData::load(tensorFile(folder, {0, 1, 2, 3}, {0, 1, 2}, 2)),
                {"expected 2 examples", "found 3"});
  expectFailure(data::TensorData::load(tensorFile(folder, {0, 1}, {0}, 1)), {"expected examples to train on, found 1"});
  std::string empty = folder / "e.safetensors";
  ASSERT_TRUE(checkpoint::writeSafetensors(empty, {}, {}).ok());
  expectFailure(data::TensorData::load(empty), {empty, "expected tensors to train on, found none"});
}

} // namespace
} // namespace mekik::test
