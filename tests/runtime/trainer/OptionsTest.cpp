#include "runtime/app/Options.h"
#include <gtest/gtest.h>

namespace mekik::app {
namespace {

constexpr OptionSpec specs[] = {{"--steps", "N", "steps"},
                                {"--seed", "N", "seed"},
                                {"--top-p", "P", "share"},
                                {"--resume", "", "go on"},
                                {"--data", "FILE", "data"}};

base::StatusOr<Options> parse(std::vector<std::string> words) {
  static std::vector<std::string> kept;
  kept = std::move(words);
  std::vector<char *> pointers;
  for (std::string &word : kept)
    pointers.push_back(word.data());
  return Options::parse(pointers, specs);
}

TEST(Options, ValuesFollowAfterASpaceOrAnEqualsSign) {
  auto options = parse({"--steps", "12", "--data=a=b", "--resume", "--top-p", "0.5"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(*options->integerOr("--steps", 1, 1), 12);
  EXPECT_EQ(options->textOr("--data", ""), "a=b");
  EXPECT_TRUE(options->has("--resume"));
  EXPECT_EQ(*options->numberOr("--top-p", 1, 0, 1), 0.5);
  EXPECT_EQ(*options->seedOr("--seed", 7), 7u);
}

TEST(Options, AValueMayBeginWithADash) { EXPECT_EQ(*parse({"--data", "-x"})->text("--data"), "-x"); }

TEST(Options, AMisspeltOptionGetsASuggestion) {
  EXPECT_EQ(parse({"--stesp", "1"}).status().message(), "unknown option \"--stesp\"; did you mean --steps?");
  EXPECT_EQ(parse({"--top_p", "1"}).status().message(), "unknown option \"--top_p\"; did you mean --top-p?");
  EXPECT_EQ(parse({"--entirely-else"}).status().message(),
            "unknown option \"--entirely-else\"; --help lists the options");
}

TEST(Options, WrongFormsAreNamed) {
  EXPECT_EQ(parse({"--steps"}).status().message(), "--steps: expected N after it");
  EXPECT_EQ(parse({"--resume=yes"}).status().message(), "--resume: takes no value, got \"yes\"");
  EXPECT_EQ(parse({"--seed", "1", "--seed", "2"}).status().message(), "--seed: given twice");
  EXPECT_NE(parse({"data.txt"}).status().message().find("\"data.txt\""), std::string::npos);
}

TEST(Options, WrongValuesNameTheOptionAndTheValue) {
  for (const char *bad : {"3k", "", "-1", "0", "1.5", "99999999999999999999", " 3"}) {
    auto steps = parse({"--steps", bad})->integerOr("--steps", 1, 1);
    ASSERT_FALSE(steps.ok()) << bad;
    EXPECT_NE(steps.status().message().find("--steps"), std::string::npos);
    EXPECT_NE(steps.status().message().find(std::string("\"") + bad + "\""), std::string::npos)
        << steps.status().message();
  }
  for (const char *bad : {"-1", "18446744073709551616", "abc", ""})
    EXPECT_FALSE(parse({"--seed", bad})->seedOr("--seed", 1).ok()) << bad;
  EXPECT_EQ(*parse({"--seed", "18446744073709551615"})->seedOr("--seed", 1), ~uint64_t{0});
  for (const char *bad : {"nan", "inf", "-0.1", "1.01", "x"})
    EXPECT_FALSE(parse({"--top-p", bad})->numberOr("--top-p", 1, 0, 1).ok()) << bad;
}

TEST(Options, HelpListsEveryOption) {
  std::string help = describeOptions(specs);
  for (const OptionSpec &spec : specs)
    EXPECT_NE(help.find(std::string(spec.name) + (spec.value.empty() ? " " : " " + std::string(spec.value))),
              std::string::npos);
}

} // namespace
} // namespace mekik::app
