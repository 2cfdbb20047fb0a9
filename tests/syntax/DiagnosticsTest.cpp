// Messages of the syntax stage, and the printer's treatment of odd lines.
#include "compiler/syntax/Diagnostics.h"
#include "compiler/syntax/Parser.h"
#include "compiler/syntax/Spelling.h"
#include "tests/syntax/DiagnosticCases.h"

namespace mekik::syntax {
namespace {

using ::mekik::tests::caseNames;
using ::mekik::tests::checkExpected;
using ::mekik::tests::readFile;
using ::mekik::tests::sourceFolder;

constexpr const char *folder = "tests/syntax/diagnostics";

class SyntaxMessage : public testing::TestWithParam<std::string> {};

TEST_P(SyntaxMessage, IsAsExpected) {
  auto base = sourceFolder() / folder / GetParam();
  Source source(GetParam() + ".mekik", readFile(base.string() + ".mekik"));
  Diagnostics diagnostics(source);
  parse(source, diagnostics);
  EXPECT_TRUE(diagnostics.hasErrors());
  checkExpected(base.string() + ".out", diagnostics.print());
}

INSTANTIATE_TEST_SUITE_P(All, SyntaxMessage, testing::ValuesIn(caseNames(folder)), tests::testName);

TEST(Diagnostics, HasAtLeastThirtySyntaxCases) { EXPECT_GE(caseNames(folder).size(), 30u); }

TEST(Diagnostics, PutsTheCaretUnderTheCodePointAlsoBehindTabsAndWideLetters) {
  Source source("m", "\tğüş = x");
  Diagnostics diagnostics(source);
  diagnostics.error(SourceRange{1, 7}, "here");
  EXPECT_EQ(diagnostics.print(), "m:1:2: error: here\n   1 | \tğüş = x\n     | \t^~~\n");
}

TEST(Diagnostics, ShowsAWindowOfAVeryLongLine) {
  Source source("m", std::string(100000, 'a') + "!" + std::string(100000, 'b'));
  Diagnostics diagnostics(source);
  diagnostics.error(SourceRange{100000, 100001}, "here");
  EXPECT_LT(diagnostics.print().size(), 400u);
  EXPECT_NE(diagnostics.print().find("a!b"), std::string::npos);
}

TEST(Diagnostics, StopsAtTheLimitAndSaysSo) {
  Source source("m", "abc");
  Diagnostics diagnostics(source);
  for (uint32_t i = 0; i < 100; ++i)
    diagnostics.error(SourceRange{0, i}, "here").note("kept with a forgotten message, too");
  EXPECT_EQ(diagnostics.errorCount(), Diagnostics::maxErrors);
  EXPECT_NE(diagnostics.print().find("m: stopped after 20 errors"), std::string::npos);
}

TEST(Diagnostics, SaysTheSameOnlyOnceAtOnePlace) {
  Source source("m", "abc");
  Diagnostics diagnostics(source);
  diagnostics.error(SourceRange{0, 1}, "here");
  diagnostics.error(SourceRange{0, 1}, "here");
  EXPECT_EQ(diagnostics.errorCount(), 1);
}

TEST(Diagnostics, ColoursOnlyOnRequest) {
  Source source("m", "abc");
  Diagnostics diagnostics(source);
  diagnostics.warning(SourceRange{0, 1}, "here");
  EXPECT_EQ(diagnostics.print().find('\x1b'), std::string::npos);
  EXPECT_NE(diagnostics.print(true).find("\x1b[1;35mwarning: "), std::string::npos);
}

TEST(Spelling, SuggestsTheNearestNameAndNothingFarAway) {
  EXPECT_EQ(suggestion("softmx", {"relu", "softmax", "softplus"}), "; did you mean 'softmax'?");
  EXPECT_EQ(suggestion("wdith", {"width", "depth"}), "; did you mean 'width'?");
  EXPECT_EQ(suggestion("banana", {"relu", "softmax"}), "");
  EXPECT_EQ(suggestion("x", {"y", "z"}), "");
}

} // namespace
} // namespace mekik::syntax
