// Text to ids and back without loss, and what is said about text that does not fit.
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/base/Utf8.h"
#include "runtime/data/Text.h"
#include "runtime/data/TextData.h"
#include "tests/runtime/Support.h"

#include <clocale>
#include <set>

namespace mekik::test {
namespace {

using tokenizer::makeByteTokenizer;
using tokenizer::makeCharacterTokenizer;
using tokenizer::StreamDecoder;
using tokenizer::Tokenizer;
using tokenizer::tokenizerFromJson;

std::unique_ptr<Tokenizer> characters(std::string_view text, std::optional<std::string_view> end = std::nullopt) {
  auto result = makeCharacterTokenizer(text, end);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return std::move(*result);
}

TEST(Tokenizer, GivesTheProverbsTheirThirtySymbols) {
  auto text = data::Text::load(sourcePath("models/gpt/atasozleri.txt"));
  ASSERT_TRUE(text.ok()) << text.status().message();
  auto made = data::makeTokenizer("characters", *text, data::Layout::Lines);
  ASSERT_TRUE(made.ok()) << made.status().message();
  const Tokenizer &tokenizer = **made;
  EXPECT_EQ(tokenizer.size(), 30);
  EXPECT_EQ(tokenizer.endId(), 0);
  std::string vocabulary;
  for (int32_t id = 0; id < 30; ++id)
    vocabulary += tokenizer.bytesOf(id);
  EXPECT_EQ(vocabulary, ". abcdefghiklmnoprstuvyzçöüğış");
  std::vector<int32_t> expected = {5, 2, 13, 12, 2, 22, 2, 1, 5, 2, 13, 12, 2, 22, 2, 1, 8, 25, 12, 1, 15, 12, 20, 17};
  EXPECT_EQ(tokenizer.encode("damlaya damlaya göl olur").value(), expected);
  EXPECT_EQ(tokenizer.decode(expected).value(), "damlaya damlaya göl olur");
  EXPECT_EQ(tokenizer.defaultStart(), 0);
}

TEST(Tokenizer, KeepsTurkishLettersApartInEveryLocale) {
  const std::string text = "İIıi ŞşĞğÇçÖöÜü";
  std::string missing;
  for (const char *locale : {"C", "C.UTF-8", "tr_TR.ISO-8859-9", "tr_TR.UTF-8"}) {
    if (!std::setlocale(LC_ALL, locale)) {
      missing += std::string(" ") + locale;
      continue;
    }
    std::unique_ptr<Tokenizer> tokenizer = characters(text);
    std::vector<int32_t> ids = tokenizer->encode(text).value();
    EXPECT_EQ(tokenizer->size(), 15);
    EXPECT_EQ(std::set<int32_t>(ids.begin(), ids.end()).size(), 15u);
    EXPECT_EQ(tokenizer->decode(ids).value(), text);
  }
  std::setlocale(LC_ALL, "C");
  if (!missing.empty())
    GTEST_SKIP() << "not installed, so not tried:" << missing;
}

TEST(Tokenizer, DoesNotComposeOrDecompose) {
  std::string decomposed = fromHex("49cc872063cca7");
  std::unique_ptr<Tokenizer> tokenizer = characters(decomposed);
  EXPECT_EQ(tokenizer->size(), 5);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(decomposed).value()).value(), decomposed);
  expectFailure(tokenizer->encode("ç"), {"U+00E7"});
}

TEST(Tokenizer, RoundTripsEveryValidReferenceText) {
  nlohmann::json oracle = readJson("tests/oracles/utf8.json");
  for (const auto &test : oracle["cases"]) {
    SCOPED_TRACE(test["name"].get<std::string>());
    std::string bytes = fromHex(test["hex"].get<std::string>());
    std::unique_ptr<Tokenizer> byBytes = makeByteTokenizer(false);
    EXPECT_EQ(byBytes->decode(byBytes->encode(bytes).value()).value(), bytes);
    if (bytes.empty() || !test["valid"]) {
      EXPECT_FALSE(makeCharacterTokenizer(bytes, std::nullopt).ok());
      continue;
    }
    std::unique_ptr<Tokenizer> byCharacters = characters(bytes);
    EXPECT_EQ(byCharacters->decode(byCharacters->encode(bytes).value()).value(), bytes);
    EXPECT_EQ(byCharacters->encode(bytes)->size(), test["codepoints"].size());
  }
}

TEST(Tokenizer, SaysWhichCharacterIsUnknownAndWhere) {
  std::unique_ptr<Tokenizer> tokenizer = characters("abc\n", ".");
  expectFailure(tokenizer->encode("ab\nşb", "--prompt"),
                {"--prompt:2:1: the character \"ş\" (U+015F) is not in the vocabulary of 5 characters \".\\nabc\""});
  expectFailure(tokenizer->encode("ab b", "f.txt", 7), {"f.txt:7:3: the character space (U+0020)"});
  expectFailure(tokenizer->encode("a\xff"), {"text:1:2: the text is not valid UTF-8 at byte 1"});
}

TEST(Tokenizer, RefusesATextThatHoldsTheEndSymbolWithAWayOut) {
  expectFailure(makeCharacterTokenizer("ab\nc.", ".", "t.txt"),
                {"t.txt:2:2", "\".\" (U+002E)", "remove it from the text", "choose one that does not occur with --end SYMBOL"});
  EXPECT_TRUE(makeCharacterTokenizer("ab.", "|").ok());
  EXPECT_TRUE(makeCharacterTokenizer("ab.", "§").ok());
  for (std::string_view end : {"", "ab", "\xff", "\xc3"})
    expectFailure(makeCharacterTokenizer("ab", end), {"--end: expected one character"});
}

TEST(Tokenizer, TravelsAsJsonAndIsRecognisedByItsHash) {
  std::vector<std::unique_ptr<Tokenizer>> all;
  all.push_back(characters("abşç\"\\\n\t\x01 🙂"));
  all.push_back(characters("abc", "."));
  all.push_back(characters("abd", "."));
  all.push_back(characters("abc", "|"));
  all.push_back(makeByteTokenizer(true));
  all.push_back(makeByteTokenizer(false));
  std::set<std::string> hashes;
  for (const auto &tokenizer : all) {
    auto back = tokenizerFromJson(tokenizer->toJson(), "f");
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ((*back)->toJson(), tokenizer->toJson());
    EXPECT_EQ((*back)->hash(), tokenizer->hash());
    EXPECT_TRUE(checkSameTokenizer(*tokenizer, "a", **back, "b").ok());
    EXPECT_NO_THROW((void)nlohmann::json::parse(tokenizer->toJson()));
    hashes.insert(tokenizer->hash());
  }
  EXPECT_EQ(hashes.size(), all.size());
}

TEST(Tokenizer, RefusesBrokenJson) {
  const std::pair<const char *, const char *> broken[] = {
      {"", "expected a JSON value"},
      {"[]", "expected an object, found an array"},
      {"{}", "\"kind\": expected \"characters\", \"bytes\" or \"bpe\", found nothing"},
      {R"({"kind":"words"})", "found \"words\"; a newer Mekik may know it"},
      {R"({"kind":"bytes"})", "\"end\""},
      {R"({"kind":"bytes","end":"x"})", "expected \"\\n\" or null"},
      {R"({"kind":"characters","end":null})", "\"characters\": expected a string, found nothing"},
      {R"({"kind":"characters","characters":"ab"})", "\"end\": expected one character or null"},
      {R"({"kind":"characters","end":"ab","characters":"c"})", "\"end\": expected one character or null"},
      {R"({"kind":"characters","end":null,"characters":""})", "at least one"},
      {R"({"kind":"characters","end":null,"characters":"ba"})", "ascending, found \"a\" (U+0061) after \"b\""},
      {R"({"kind":"characters","end":null,"characters":"aa"})", "ascending"},
      {R"({"kind":"characters","end":"a","characters":"ab"})", "which is the symbol between examples"},
      {R"({"kind":"characters","kind":"bytes","end":null})", "the key \"kind\" occurs twice"},
      {R"({"kind":"bytes","end":null} x)", "expected the end of the text"}};
  for (const auto &[json, message] : broken)
    expectFailure(tokenizerFromJson(json, "m.safetensors"), {"m.safetensors: tokenizer", message});
}

TEST(Tokenizer, RefusesVocabulariesThatDoNotMatchWithBothSizesOrTheFirstDifference) {
  auto five = characters("abcde"), six = characters("abcdef"), other = characters("abcdx");
  expectFailure(checkSameTokenizer(*five, "run.safetensors", *six, "b.txt"),
                {"run.safetensors has 5 characters", "b.txt has 6 characters"});
  expectFailure(checkSameTokenizer(*five, "run.safetensors", *other, "c.txt"),
                {"both have 5 ids, but id 4 is \"e\" in run.safetensors and \"x\" in c.txt"});
  auto point = characters("bcde", "a");
  expectFailure(checkSameTokenizer(*five, "x", *point, "y"), {"differ in their kind or in the symbol"});
}

TEST(Tokenizer, RefusesIdsOutsideTheVocabulary) {
  auto tokenizer = characters("abc");
  for (int32_t id : {3, 65535, -1})
    expectFailure(tokenizer->decode(std::vector<int32_t>{0, id}), {"id " + std::to_string(id) + " at position 1"});
}

TEST(Tokenizer, StartsWithoutAPromptFromSomethingThatExists) {
  EXPECT_EQ(characters("ababab")->defaultStart(), 0);
  auto words = characters("b a");
  EXPECT_EQ(words->bytesOf(words->defaultStart()), " ");
  auto lines = characters("b a\n");
  EXPECT_EQ(lines->bytesOf(lines->defaultStart()), "\n");
  EXPECT_EQ(makeByteTokenizer(false)->defaultStart(), '\n');
}

TEST(StreamDecoder, HoldsBackHalfACharacter) {
  auto tokenizer = makeByteTokenizer(false);
  StreamDecoder decoder(*tokenizer);
  EXPECT_EQ(decoder.append('a'), "a");
  EXPECT_EQ(decoder.append(0xF0), "");
  EXPECT_EQ(decoder.append(0x9F), "");
  EXPECT_EQ(decoder.append(0x99), "");
  EXPECT_EQ(decoder.append(0x82), "🙂");
  EXPECT_EQ(decoder.append(0xC5), "");
  EXPECT_EQ(decoder.append(0x9F), "ş");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(StreamDecoder, EndsAnUnfinishedCharacterWithOneReplacement) {
  auto tokenizer = makeByteTokenizer(false);
  StreamDecoder decoder(*tokenizer);
  EXPECT_EQ(decoder.append(0xF0) + decoder.append(0x9F), "");
  EXPECT_EQ(decoder.finish(), "\uFFFD");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(StreamDecoder, GivesWhatDecodingAllAtOnceGives) {
  auto tokenizer = makeByteTokenizer(false);
  nlohmann::json oracle = readJson("tests/oracles/utf8.json");
  for (const auto &test : oracle["cases"]) {
    std::string bytes = fromHex(test["hex"].get<std::string>()), streamed;
    StreamDecoder decoder(*tokenizer);
    std::vector<int32_t> ids = tokenizer->encode(bytes).value();
    for (int32_t id : ids) {
      std::string piece = decoder.append(id);
      EXPECT_TRUE(base::isValidUtf8(piece));
      streamed += piece;
    }
    EXPECT_EQ(streamed + decoder.finish(), base::replaceInvalidUtf8(bytes)) << test["name"];
  }
}

} // namespace
} // namespace mekik::test
