#include "runtime/sample/Generator.h"
#include "runtime/sample/Exp.h"
#include "tests/runtime/trainer/BigramModel.h"
#include <gtest/gtest.h>

namespace mekik::sample {
namespace {

struct Collected {
  std::string text;
  std::vector<std::string> pieces;
};

template <typename BigramModel> struct Writer {
  explicit Writer(std::unique_ptr<tokenizer::Tokenizer> tokenizer) : tokenizer(std::move(tokenizer)) {}
  /// After `from` the greedy choice is `to`.
  void follow(int from, int to) {
    static_cast<float *>(model.data(BigramModel::tensors[0]))[from * tokenizer->size() + to] = 10;
  }
  Collected write(const GeneratorOptions &options, uint32_t sample = 0) {
    Collected result;
    auto generator = Generator::create(model, *tokenizer).value();
    base::Status status = generator.generate(sample, options, [&](std::string_view piece) {
      result.text += piece;
      result.pieces.emplace_back(piece);
      return base::Status();
    });
    EXPECT_TRUE(status.ok()) << status.message();
    return result;
  }
  std::unique_ptr<tokenizer::Tokenizer> tokenizer;
  model::Model model = model::Model::create(BigramModel::model).value();
};

using ByteModel = test::BigramModel<256, 1, 4>;
constexpr SamplerOptions greedy = {.temperature = 0};

TEST(Generator, NeverCutsACharacter) {
  Writer<ByteModel> writer(tokenizer::makeByteTokenizer(false));
  const unsigned char smile[] = {'x', 0xF0, 0x9F, 0x99, 0x82, '!'};
  for (int i = 0; i < 5; ++i)
    writer.follow(smile[i], smile[i + 1]);
  writer.follow('!', 'x');
  Collected whole = writer.write({.sampler = greedy, .length = 5, .prompt = "x"});
  EXPECT_EQ(whole.pieces, (std::vector<std::string>{"x", "\xF0\x9F\x99\x82", "!"}));
  Collected cut = writer.write({.sampler = greedy, .length = 2, .prompt = "x"});
  EXPECT_EQ(cut.text, "x\xEF\xBF\xBD");
}

TEST(Generator, StopsAtTheEndSymbolWithoutWritingIt) {
  Writer<test::BigramModel<4, 1, 3>> writer(
      tokenizer::tokenizerFromJson("{\"kind\":\"characters\",\"end\":\".\",\"characters\":\"abc\"}", "test").value());
  writer.follow(0, 1); // . a b c .
  writer.follow(1, 2);
  writer.follow(2, 3);
  writer.follow(3, 0);
  EXPECT_EQ(writer.write({.sampler = greedy}).text, "abc");
  EXPECT_EQ(writer.write({.sampler = greedy, .prompt = "cab"}).text, "cabc");
  EXPECT_EQ(writer.write({.sampler = greedy, .length = 2}).text, "ab");
  EXPECT_EQ(writer.write({.sampler = greedy, .length = 0, .prompt = "b"}).text, "b");
}

TEST(Generator, GivesTheProbabilitiesOfTheNextSymbol) {
  Writer<test::BigramModel<4, 1, 3>> writer(
      tokenizer::tokenizerFromJson("{\"kind\":\"characters\",\"end\":\".\",\"characters\":\"abc\"}", "test").value());
  writer.follow(0, 1);
  writer.follow(2, 3);
  auto generator = Generator::create(writer.model, *writer.tokenizer).value();
  auto next = [&](std::string_view prompt, SamplerOptions sampler = {}) {
    auto probabilities = generator.next({.sampler = sampler, .prompt = prompt});
    EXPECT_TRUE(probabilities.ok()) << probabilities.status().message();
    return *probabilities;
  };
  double rest = 1 / (portableExp(10) + 3);
  EXPECT_DOUBLE_EQ(next("")[0], rest); // after the end symbol
  EXPECT_DOUBLE_EQ(next("")[1], portableExp(10) * rest);
  EXPECT_DOUBLE_EQ(next("cab")[3], portableExp(10) * rest);
  EXPECT_EQ(next("a"), (std::vector<double>{0.25, 0.25, 0.25, 0.25}));
  EXPECT_EQ(next("a", {.topK = 2}), (std::vector<double>{0.5, 0.5, 0, 0}));
  EXPECT_EQ(next("b", greedy), (std::vector<double>{0, 0, 0, 1}));
  EXPECT_FALSE(generator.next({.prompt = "x"}).ok());
}

TEST(Generator, WritesBeyondTheContextFromASlidingWindow) {
  Writer<test::BigramModel<2, 1, 3>> writer(tokenizer::makeCharacterTokenizer("ab", {}).value());
  writer.follow(0, 1);
  writer.follow(1, 0);
  EXPECT_EQ(writer.write({.sampler = greedy, .length = 9, .prompt = "abab"}).text, "ababababababa");
}

TEST(Generator, StartsWithoutAPromptWhereNeitherSpaceNorNewlineExist) {
  Writer<test::BigramModel<2, 1, 3>> writer(tokenizer::makeCharacterTokenizer("ab", {}).value());
  writer.follow(0, 1);
  writer.follow(1, 0);
  EXPECT_EQ(writer.write({.sampler = greedy, .length = 4}).text, "baba");
}

TEST(Generator, ASampleDoesNotDependOnOtherSamples) {
  Writer<test::BigramModel<2, 1, 3>> writer(tokenizer::makeCharacterTokenizer("ab", {}).value());
  std::string third = writer.write({.seed = 5, .length = 40}, 3).text;
  writer.write({.seed = 5, .length = 7}, 0);
  EXPECT_EQ(writer.write({.seed = 5, .length = 40}, 3).text, third);
  EXPECT_NE(writer.write({.seed = 5, .length = 40}, 2).text, third);
  EXPECT_NE(writer.write({.seed = 6, .length = 40}, 3).text, third);
}

TEST(Generator, AVocabularyOfAnotherSizeIsRefusedWithBothSizes) {
  model::Model model = model::Model::create(ByteModel::model).value();
  auto tokenizer = tokenizer::makeCharacterTokenizer("ab", {}).value();
  auto generator = Generator::create(model, *tokenizer);
  ASSERT_FALSE(generator.ok());
  EXPECT_NE(generator.status().message().find("256"), std::string::npos) << generator.status().message();
  EXPECT_NE(generator.status().message().find("has 2"), std::string::npos) << generator.status().message();
}

} // namespace
} // namespace mekik::sample
