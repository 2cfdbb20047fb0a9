// UTF-8 against reference verdicts, in one piece and cut anywhere.
#include "runtime/base/Utf8.h"
#include "tests/runtime/Support.h"

namespace mekik::test {
namespace {

using base::CodePoints;

nlohmann::json cases() { return readJson("tests/oracles/utf8.json")["cases"]; }

std::vector<char32_t> decodeAll(std::string_view text) {
  std::vector<char32_t> out;
  for (char32_t c : CodePoints(text))
    out.push_back(c);
  return out;
}

TEST(Utf8, GivesTheReferenceVerdictsCodePointsAndFirstBadBytes) {
  int count = 0;
  for (const auto &test : cases()) {
    SCOPED_TRACE(test["name"].get<std::string>());
    std::string bytes = fromHex(test["hex"].get<std::string>());
    std::optional<base::Utf8Error> error = base::findInvalidUtf8(bytes);
    EXPECT_EQ(!error, test["valid"].get<bool>());
    auto expected = test[test["valid"] ? "codepoints" : "replaced_codepoints"].get<std::vector<char32_t>>();
    EXPECT_EQ(decodeAll(bytes), expected);
    EXPECT_EQ(decodeAll(base::replaceInvalidUtf8(bytes)), expected);
    if (error) {
      EXPECT_EQ(error->offset, test["first_bad_byte"].get<uint64_t>());
    }
    ++count;
  }
  EXPECT_EQ(count, 31);
}

TEST(Utf8, ValidatesTheSameWhereverThePiecesAreCut) {
  for (const auto &test : cases()) {
    SCOPED_TRACE(test["name"].get<std::string>());
    std::string bytes = fromHex(test["hex"].get<std::string>());
    for (size_t first = 0; first <= bytes.size(); ++first)
      for (size_t second = first; second <= bytes.size(); ++second) {
        base::Utf8Validator validator;
        validator.feed(std::string_view(bytes).substr(0, first));
        validator.feed(std::string_view(bytes).substr(first, second - first));
        validator.feed(std::string_view(bytes).substr(second));
        std::optional<base::Utf8Error> error = validator.finish();
        ASSERT_EQ(!error, test["valid"].get<bool>());
        if (error) {
          ASSERT_EQ(error->offset, test["first_bad_byte"].get<uint64_t>());
        }
      }
  }
}

TEST(Utf8, FindsABadByteAfterManyGoodOnes) {
  for (const auto &test : cases()) {
    SCOPED_TRACE(test["name"].get<std::string>());
    for (size_t good : {70000u, 65534u, 65535u}) {
      std::string bytes = std::string(good, 'a') + fromHex(test["hex"].get<std::string>());
      std::optional<base::Utf8Error> error = base::findInvalidUtf8(bytes);
      EXPECT_EQ(!error, test["valid"].get<bool>());
      if (error) {
        EXPECT_EQ(error->offset, good + test["first_bad_byte"].get<uint64_t>());
      }
    }
  }
}

TEST(Utf8, CountsLinesByAnyLineEndAndColumnsInCodePoints) {
  auto place = [](std::string_view text) {
    std::optional<base::Utf8Error> error = base::findInvalidUtf8(text);
    return error ? std::pair(error->line, error->column) : std::pair<uint64_t, uint64_t>(0, 0);
  };
  EXPECT_EQ(place("\x80"), std::pair(1ul, 1ul));
  EXPECT_EQ(place("a\nb\xff"), std::pair(2ul, 2ul));
  EXPECT_EQ(place("a\r\nb\xff"), std::pair(2ul, 2ul));
  EXPECT_EQ(place("a\rb\xff"), std::pair(2ul, 2ul));
  EXPECT_EQ(place("a\r\n\r\n\xff"), std::pair(3ul, 1ul));
  EXPECT_EQ(place("şığ\xff"), std::pair(1ul, 4ul));
}

// Nothing that long need be in memory: it is fed piece by piece.
TEST(Utf8, CountsBytesAndColumnsBeyondFourGibibytes) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "takes minutes under sanitizers";
#endif
#endif
  base::Utf8Validator validator;
  const std::string piece(1 << 20, 'a');
  for (uint64_t fed = 0; fed < 1ull << 32; fed += piece.size())
    ASSERT_FALSE(validator.feed(piece));
  validator.feed("a\xff");
  std::optional<base::Utf8Error> error = validator.finish();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->offset, (1ull << 32) + 1);
  EXPECT_EQ(error->line, 1u);
  EXPECT_EQ(error->column, (1ull << 32) + 2);
}

TEST(Utf8, EncodesEveryScalarValueAsItDecodesIt) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    std::string bytes = base::encodeUtf8(c);
    base::Utf8Step step = base::decodeUtf8(bytes, 0);
    bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    ASSERT_TRUE(step.valid);
    ASSERT_EQ(step.length, bytes.size());
    ASSERT_EQ(step.codePoint, surrogate ? base::replacementCharacter : c);
  }
}

TEST(Utf8, ShowsCharactersInMessagesAndInvisibleOnesByNumber) {
  EXPECT_EQ(base::describeCodePoint(U'ş'), "\"ş\" (U+015F)");
  EXPECT_EQ(base::describeCodePoint('\n'), "newline (U+000A)");
  EXPECT_EQ(base::describeCodePoint(7), "U+0007");
  EXPECT_EQ(base::describeCodePoint(0x307), "U+0307");
  EXPECT_EQ(base::describeCodePoint(0x1F642), "\"🙂\" (U+1F642)");
}

} // namespace
} // namespace mekik::test
