// Trees: what is read, what printing gives back, and that no input can break the parser.
#include "compiler/syntax/Parser.h"
#include "compiler/syntax/AstPrinter.h"
#include "tests/syntax/DiagnosticCases.h"

#include <random>

namespace mekik::syntax {
namespace {

struct Parsed {
  explicit Parsed(const std::string &text)
      : source("m", text), diagnostics(source), model(parse(source, diagnostics)) {}
  Source source;
  Diagnostics diagnostics;
  Model model;
};

/// The printed form of `text`, after proving that it is the same tree again.
std::string roundTrip(const std::string &text) {
  Parsed first(text);
  EXPECT_EQ(first.diagnostics.print(), "");
  std::string printed = print(first.model);
  Parsed second(printed);
  EXPECT_EQ(second.diagnostics.print(), "") << printed;
  EXPECT_TRUE(sameTree(first.model, second.model)) << printed;
  EXPECT_EQ(print(second.model), printed);
  return printed;
}

std::string expression(const std::string &text) {
  std::string printed = roundTrip("let x = " + text + "\n");
  return printed.substr(8, printed.size() - 9);
}

TEST(Parser, BindsOperatorsAsTheReferenceSays) {
  EXPECT_EQ(expression("((a + (b * c)))"), "a + b * c");
  EXPECT_EQ(expression("(a + b) * c"), "(a + b) * c");
  EXPECT_EQ(expression("a - (b - c)"), "a - (b - c)");
  EXPECT_EQ(expression("(a - b) - c"), "a - b - c");
  EXPECT_EQ(expression("-(x ** 2)"), "-x ** 2");
  EXPECT_EQ(expression("(-x) ** 2"), "(-x) ** 2");
  EXPECT_EQ(expression("2 ** (3 ** 2)"), "2 ** 3 ** 2");
  EXPECT_EQ(expression("(2 ** 3) ** 2"), "(2 ** 3) ** 2");
  EXPECT_EQ(expression("2 ** (-1)"), "2 ** -1");
  EXPECT_EQ(expression("a @ b // c % d"), "a @ b // c % d");
  EXPECT_EQ(expression("not (a == b) or c and d"), "not a == b or c and d");
  EXPECT_EQ(expression("(a or b) and not (c and d)"), "(a or b) and not (c and d)");
  EXPECT_EQ(expression("(a < b) == c"), "(a < b) == c");
  EXPECT_EQ(expression("(-x).shape[0]"), "(-x).shape[0]");
  EXPECT_EQ(expression("a * -b"), "a * -b");
}

TEST(Parser, ReadsCallsListsSlicesAndLabels) {
  EXPECT_EQ(expression("f(x, [1, 2,], axis = -1,) as first"), "f(x, [1, 2], axis = -1) as first");
  EXPECT_EQ(expression("x[1, 2:, :3, :, a:b + 1]"), "x[1, 2:, :3, :, a:b + 1]");
  EXPECT_EQ(expression("f(g(x) as a)[0].rank"), "f(g(x) as a)[0].rank");
  EXPECT_EQ(expression("\"a\\\"b\\\\c\\n\\t ğ\""), "\"a\\\"b\\\\c\\n\\t ğ\"");
  EXPECT_EQ(expression("adam(rate = 1e-3, loss = 1_000)"), "adam(rate = 1e-3, loss = 1000)");
}

TEST(Parser, GoesOnInTheNextLineInsideBracketsAndBehindAnOperator) {
  EXPECT_EQ(expression("f(a,\n\n  b # why\n) +\n c"), "f(a, b) + c");
}

TEST(Parser, ReadsEveryStatement) {
  std::string text = "model gpt\n"
                     "precision = f64\n"
                     "config vocab: int\n"
                     "config width: int = 32 in 1..4096\n"
                     "config rate: float = 0.1 in 0..1\n"
                     "config deep: int = 2 in 1..\n"
                     "config act: string = \"relu\" in \"relu\", \"gelu\"\n"
                     "config bias: bool = true\n"
                     "input tokens: i32[batch, context] below vocab\n"
                     "target next: i32[batch, context] below vocab\n"
                     "block norm(x, eps = 1e-5) {\n"
                     "  param gain: [width] = ones as \"ln.weight\"\n"
                     "  if bias {\n"
                     "    return x * gain\n"
                     "  } else if width > 3 {\n"
                     "    x = x + 1\n"
                     "  } else {\n"
                     "    let y = 2\n"
                     "  }\n"
                     "  probe weights = softmax(x)\n"
                     "  return x\n"
                     "}\n"
                     "param scalar: [] = zeros\n"
                     "repeat i in 3 {\n"
                     "  repeat j in 1:i {\n"
                     "    x = norm(x) as a\n"
                     "  }\n"
                     "}\n"
                     "output logits = x\n"
                     "loss cross_entropy(logits, next)\n"
                     "train adam(rate = cosine(0.003, steps = 3000))\n";
  EXPECT_EQ(roundTrip(text), text);
}

TEST(Parser, FindsElseOnTheNextLine) { roundTrip("if a {\n}\n\n# so\nelse {\n let x = 1\n}\n"); }

TEST(Parser, PrintsTheBundledModelAsTheSameTree) {
  roundTrip(tests::readFile(tests::sourceFolder() / "models/gpt/gpt.mekik"));
}

TEST(Parser, ReportsErrorsOfSeveralStatementsInOneRun) {
  Parsed parsed("let = 1\nlet b = 2\nlet c = (3\nlet d = 4\nblock e( {\n  let f = \n  return 3\n}\nlet g = )\n");
  EXPECT_EQ(parsed.diagnostics.errorCount(), 5) << parsed.diagnostics.print();
  EXPECT_EQ(print(parsed.model), "let b = 2\nlet d = 4\n");
}

TEST(Parser, LimitsEveryKindOfNesting) {
  auto repeated = [](const std::string &part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i)
      text += part;
    return text;
  };
  std::string chain = "let x = 1" + repeated(" + 1", 100000);
  for (const std::string &text :
       {"let x = " + repeated("(", 100000), "let x = " + repeated("[", 100000),
        "let x = " + repeated("-", 100000) + "1", "let x = " + repeated("not ", 100000) + "y", chain,
        "let x = 2" + repeated(" ** 2", 100000), "let x = y" + repeated("[0]", 100000),
        "let x = y" + repeated(".shape", 100000), "let x = " + repeated("f(", 100000), repeated("if a {\n", 100000),
        "if a {\n}" + repeated(" else if a {\n}", 100000), repeated("repeat i in 2 {\n", 5000)}) {
    Parsed parsed(text);
    EXPECT_TRUE(parsed.diagnostics.hasErrors()) << text.substr(0, 40);
    EXPECT_LT(parsed.diagnostics.print().size(), 20000u);
  }
}

TEST(Parser, AcceptsNestingBelowTheLimits) {
  roundTrip("let x = " + std::string(150, '(') + "1" + std::string(150, ')') + "\n");
  std::string braces;
  for (int i = 0; i < maxBraceDepth; ++i)
    braces += "if a {\n";
  for (int i = 0; i < maxBraceDepth; ++i)
    braces += "}\n";
  roundTrip(braces);
}

TEST(Parser, RefusesNumbersThatDoNotFit) {
  EXPECT_EQ(expression("9223372036854775807"), "9223372036854775807");
  EXPECT_TRUE(Parsed("let x = 9223372036854775808").diagnostics.hasErrors());
  EXPECT_TRUE(Parsed("let x = " + std::string(100000, '9')).diagnostics.hasErrors());
  EXPECT_TRUE(Parsed("let x = 1e309").diagnostics.hasErrors());
  EXPECT_TRUE(Parsed("let x = 1e-400").diagnostics.hasErrors());
  EXPECT_EQ(expression("0.0e5"), "0.0e5");
}

TEST(Fuzz, GarbageOfAMegabyteIsRefusedWithoutHarm) {
  std::mt19937 random(7);
  std::string bytes(1 << 20, '\0');
  for (char &c : bytes)
    c = static_cast<char>(random());
  Parsed binary(bytes);
  EXPECT_TRUE(binary.diagnostics.hasErrors());
  for (char &c : bytes)
    c = static_cast<char>(' ' + random() % 95);
  Parsed printable(bytes);
  EXPECT_TRUE(printable.diagnostics.hasErrors());
}

TEST(Fuzz, RandomTokensNeverBreakTheParserAndWhatItAcceptsRoundTrips) {
  const char *words[] = {"model",
                         "precision",
                         "config",
                         "input",
                         "target",
                         "param",
                         "let",
                         "block",
                         "return",
                         "repeat",
                         "if",
                         "probe",
                         "output",
                         "loss",
                         "train",
                         "else",
                         "in",
                         "as",
                         "and",
                         "or",
                         "not",
                         "true",
                         "below",
                         "(",
                         ")",
                         "[",
                         "]",
                         "{",
                         "}",
                         ",",
                         ":",
                         ".",
                         "..",
                         "=",
                         "+",
                         "-",
                         "*",
                         "/",
                         "//",
                         "%",
                         "**",
                         "@",
                         "==",
                         "<",
                         "x",
                         "y",
                         "int",
                         "f32",
                         "1",
                         "2.5",
                         "\"s\"",
                         "\n",
                         "\n",
                         "\n",
                         "let x =",
                         "let y = (",
                         "x = f(",
                         "repeat i in 2 {\n",
                         "block b(x) {\n",
                         "if x {\n",
                         "}\n",
                         "\xC4",
                         "ş",
                         "#"};
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    std::string text;
    for (unsigned i = random() % 60; i > 0; --i)
      text += std::string(words[random() % std::size(words)]) + " ";
    Parsed parsed(text);
    if (parsed.diagnostics.hasErrors())
      EXPECT_NE(parsed.diagnostics.print(), "");
    std::string printed = print(parsed.model);
    Parsed again(printed);
    bool placeErrors = parsed.diagnostics.hasErrors();
    if (!placeErrors)
      EXPECT_TRUE(sameTree(parsed.model, again.model)) << "seed " << seed << "\n" << text << "\n" << printed;
  }
}

TEST(Fuzz, MutatedModelsNeverBreakTheParser) {
  std::string model =
      "model m\nconfig a: int = 3 in 1..9\ninput x: f32[a, 2]\nblock n(x, e = 1) {\n  param g: [a] = "
      "normal(1 / sqrt(a)) as \"g\"\n  return x[1:, :] * g\n}\nrepeat i in a {\n  x = n(x)\n}\nloss sum(x)\n";
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    std::string text = model;
    for (unsigned i = 1 + random() % 4; i > 0; --i) {
      size_t place = random() % text.size();
      if (random() % 2)
        text.erase(place, 1 + random() % 5);
      else
        text.insert(place, 1, static_cast<char>(random()));
    }
    Parsed parsed(text);
    if (!parsed.diagnostics.hasErrors())
      roundTrip(text);
  }
}

} // namespace
} // namespace mekik::syntax
