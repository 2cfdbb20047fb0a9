// Messages of the front end, one model file a case (tests/syntax/DiagnosticCases.h says how). A first line such as
// "# -D width=3 -D heads=2" gives options.
#include "tests/frontend/Elaborated.h"
#include "tests/syntax/DiagnosticCases.h"

#include <absl/strings/str_split.h>

namespace mekik::tests {
namespace {

constexpr const char *folder = "tests/frontend/diagnostics";

class FrontendMessage : public testing::TestWithParam<std::string> {};

TEST_P(FrontendMessage, IsAsExpected) {
  auto base = sourceFolder() / folder / GetParam();
  std::string text = readFile(base.string() + ".mekik");
  std::map<std::string, std::string> overrides;
  std::string firstLine = text.substr(0, text.find('\n'));
  if (firstLine.rfind("# -D", 0) == 0)
    for (absl::string_view word : absl::StrSplit(firstLine, ' '))
      if (std::pair<std::string, std::string> option = absl::StrSplit(word, absl::MaxSplits('=', 1));
          word.find('=') != word.npos)
        overrides.insert(option);
  Elaborated elaborated(text, overrides, GetParam() + ".mekik");
  EXPECT_NE(elaborated.messages(), "");
  EXPECT_EQ(elaborated.diagnostics.hasErrors(), !elaborated.module);
  EXPECT_EQ(elaborated.messages().find("internal error"), std::string::npos);
  checkExpected(base.string() + ".out", elaborated.messages());
}

INSTANTIATE_TEST_SUITE_P(All, FrontendMessage, testing::ValuesIn(caseNames(folder)), testName);

TEST(FrontendMessages, HasAtLeastFortyCases) { EXPECT_GE(caseNames(folder).size(), 40u); }

} // namespace
} // namespace mekik::tests
