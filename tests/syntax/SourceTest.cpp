// Lines, columns, line ends, byte-order marks, and what is UTF-8.
#include "compiler/syntax/Lexer.h"
#include "compiler/syntax/Parser.h"
#include "tests/syntax/DiagnosticCases.h"

#include <absl/strings/escaping.h>
#include <nlohmann/json.hpp>

namespace mekik::syntax {
namespace {

std::string messages(const std::string &text) {
  Source source("m", text);
  Diagnostics diagnostics(source);
  parse(source, diagnostics);
  return diagnostics.print();
}

TEST(Source, EndsLinesWithLfAndCrLfAndLoneCr) {
  Source source("m", "a\nb\r\nc\rd");
  EXPECT_EQ(source.lineCount(), 4u);
  EXPECT_EQ(source.line(2), "b");
  EXPECT_EQ(source.line(3), "c");
  EXPECT_EQ(source.position(7).line, 4u);
  EXPECT_EQ(source.position(3).line, 2u);
}

TEST(Source, CountsColumnsInCodePointsNotBytes) {
  Source source("m", "ağaç = x");
  EXPECT_EQ(source.position(source.text().find('x')).column, 8u);
}

TEST(Source, RefusesAFolderAndAMissingFile) {
  EXPECT_FALSE(Source::fromFile("/").ok());
  auto missing = Source::fromFile("/nowhere/gpt.mekik");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().message(), "/nowhere/gpt.mekik: cannot read the model: No such file or directory");
}

TEST(LineEnds, GiveTheSameProgramAndTheSamePlaces) {
  std::string lines[] = {"model m", "config a: int = 1", "let b = a +", "let c = ["};
  std::string reference;
  for (const char *end : {"\n", "\r\n", "\r"}) {
    for (const char *start : {"", "\xEF\xBB\xBF"}) {
      for (bool final : {true, false}) {
        std::string text = start;
        for (size_t i = 0; i < 4; ++i)
          text += lines[i] + (i < 3 || final ? end : "");
        std::string said = messages(text);
        if (reference.empty())
          reference = said;
        EXPECT_EQ(said, reference);
      }
    }
  }
  EXPECT_NE(reference.find("m:4:1: error"), std::string::npos) << reference;
}

TEST(ByteOrderMark, InTheMiddleIsReportedWhereTheEditorShowsIt) {
  EXPECT_NE(messages("model m\nlet a = \xEF\xBB\xBF"
                     "1\n")
                .find("m:2:9: error: a byte-order mark"),
            std::string::npos);
  EXPECT_EQ(messages("\xEF\xBB\xBFmodel m\n"), "");
}

TEST(Utf8, VerdictsAndFirstBadByteMatchTheOracle) {
  auto oracle = nlohmann::json::parse(tests::readFile(tests::sourceFolder() / "tests/oracles/utf8.json"));
  ASSERT_GT(oracle["cases"].size(), 20u);
  for (const auto &test : oracle["cases"]) {
    for (size_t good : {size_t(0), size_t(70000)}) {
      // In a comment every well-formed text is welcome, except a mark in the middle and zero bytes.
      std::string bytes = absl::HexStringToBytes(test["hex"].get<std::string>());
      std::string text = "#" + std::string(good, '.') + bytes;
      std::string said = messages(text);
      bool invalid = said.find("is not UTF-8") != std::string::npos;
      EXPECT_EQ(!invalid, test["valid"].get<bool>()) << test["name"];
      if (!test["valid"].get<bool>()) {
        std::string place = "byte offset " + std::to_string(1 + good + test["first_bad_byte"].get<size_t>()) + ")";
        EXPECT_NE(said.find(place), std::string::npos) << test["name"] << said;
      }
    }
  }
}

TEST(Locale, DoesNotTouchKeywordsOrNumbers) {
  // Under Turkish rules "INIT" in lower case is not "init" and the decimal sign is a comma.
  std::string missing;
  for (const char *name : {"C", "tr_TR.UTF-8", "tr_TR.ISO-8859-9"}) {
    if (!std::setlocale(LC_ALL, name)) {
      missing += std::string(" ") + name;
      continue;
    }
    EXPECT_EQ(messages("model kitap\nconfig i: int = 1 in 0..2\ninput ı: i32[i] below 3\nif i == 1 { let İ = 0.5 }\n"),
              "")
        << name;
  }
  std::setlocale(LC_ALL, "C");
  if (!missing.empty())
    GTEST_SKIP() << "not installed, so not tried:" << missing;
}

} // namespace
} // namespace mekik::syntax
