// Every parser of the runtime on damaged input: good samples are mutated from a seed, the results must be refused with
// a message or hold what acceptance promises. MEKIK_FUZZ_ROUNDS sets the rounds a sample (default 400), MEKIK_FUZZ_SEED
// the seed; a failure prints seed, round and bytes.
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "runtime/base/Random.h"
#include "runtime/base/Utf8.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/data/Text.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "tests/runtime/Support.h"

#include <cstdlib>

namespace mekik::test {
namespace {

uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// A sequence of draws that one number names.
class Draws {
public:
  Draws(uint64_t seed, uint64_t round) : seed(seed), round(round) {}
  uint64_t below(uint64_t count) { return base::uniformIndex(seed, 0, round, next++, count); }

private:
  uint64_t seed, round, next = 0;
};

std::string mutate(std::string bytes, Draws &draws) {
  static const std::string_view interesting[] = {"{",        "}",
                                                 "[",        "]",
                                                 "\"",       ",",
                                                 ":",        "\\u0000",
                                                 "\\ud800",  "null",
                                                 "-1",       "18446744073709551616",
                                                 "1e999",    "0",
                                                 "\xff",     "\xc3",
                                                 "\xf0\x9f", "\xef\xbb\xbf",
                                                 " ",        "\n",
                                                 "\\",       "9223372036854775807",
                                                 "{}",       "[[[[[[[["};
  for (uint64_t edits = 1 + draws.below(4); edits > 0; --edits) {
    size_t at = draws.below(bytes.size() + 1), length = draws.below(9);
    std::string piece(interesting[draws.below(std::size(interesting))]);
    switch (draws.below(6)) {
    case 0:
      bytes.insert(at, piece);
      break;
    case 1:
      bytes.replace(at, std::min(piece.size(), bytes.size() - at), piece);
      break;
    case 2:
      bytes.erase(at, length);
      break;
    case 3:
      bytes.resize(at);
      break;
    case 4:
      bytes.insert(draws.below(bytes.size() + 1), bytes.substr(at, length * 4));
      break;
    default:
      if (at < bytes.size())
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << draws.below(8)));
    }
  }
  return bytes;
}

/// Runs `check` on each sample and on mutations of it.
template <typename Check> void fuzz(const std::vector<std::string> &samples, Check check) {
  const uint64_t seed = setting("MEKIK_FUZZ_SEED", 1), rounds = setting("MEKIK_FUZZ_ROUNDS", 400);
  uint64_t round = 0;
  for (const std::string &sample : samples)
    for (uint64_t i = 0; i < rounds; ++i, ++round) {
      Draws draws(seed, round);
      std::string bytes = i == 0 ? sample : mutate(sample, draws);
      check(bytes, draws);
      if (::testing::Test::HasFailure())
        FAIL() << "seed " << seed << ", round " << round << ", bytes " << base::quoted(bytes, 4000);
    }
}

std::vector<std::string> hexSamples(std::string_view file) {
  std::vector<std::string> samples;
  nlohmann::json oracle = readJson(file);
  for (const auto &test : oracle["cases"])
    samples.push_back(fromHex(test["hex"].get<std::string>()));
  return samples;
}

TEST(Robustness, Utf8ValidationReplacementAndStreamsAgree) {
  auto bytesTokenizer = tokenizer::makeByteTokenizer(false);
  fuzz(hexSamples("tests/oracles/utf8.json"), [&](const std::string &bytes, Draws &draws) {
    bool valid = base::isValidUtf8(bytes);
    std::string replaced = base::replaceInvalidUtf8(bytes);
    ASSERT_TRUE(base::isValidUtf8(replaced));
    ASSERT_EQ(valid, replaced == bytes);
    size_t cut = draws.below(bytes.size() + 1);
    base::Utf8Validator validator;
    validator.feed(bytes.substr(0, cut));
    validator.feed(bytes.substr(cut));
    ASSERT_EQ(!validator.finish(), valid);
    tokenizer::StreamDecoder decoder(*bytesTokenizer);
    std::string streamed;
    for (char byte : bytes)
      streamed += decoder.append(static_cast<uint8_t>(byte));
    ASSERT_EQ(streamed + decoder.finish(), replaced);
    auto text = data::Text::fromBytes(bytes, "f");
    ASSERT_TRUE(!text.ok() || valid);
    if (text.ok()) {
      auto characters = tokenizer::makeCharacterTokenizer(text->content(), std::nullopt);
      ASSERT_TRUE(characters.ok());
      std::vector<int32_t> ids = (*characters)->encode(text->content()).value();
      ASSERT_EQ((*characters)->decode(ids).value(), text->content());
    }
    ASSERT_TRUE(base::isValidUtf8(base::quoted(bytes)));
  });
}

TEST(Robustness, JsonIsAcceptedExactlyWhenAnotherStrictReaderDoes) {
  const std::vector<std::string> samples = {R"({"a":[1,-2.5e+3,true,false,null,"x\u00e7\ud83d\ude42\n"],"b":{"c":{}}})",
                                            R"("ağaç \" \\ \/ \b")", R"([0,-0,10,1.0,1e5,[[],[[]]],{"":""}])",
                                            "  {\n\t\"k\" : [ 1 , 2 ] \r}  "};
  fuzz(samples, [](const std::string &bytes, Draws &) {
    auto ours = base::Json::parse(bytes, "f");
    if (!ours.ok())
      ASSERT_TRUE(ours.status().message().starts_with("f: byte ")) << ours.status().message();
    // The other reader skips a byte-order mark and takes a zero byte for the end of the text.
    if (bytes.starts_with("\xEF") || bytes.find('\0') != std::string::npos)
      return;
    bool theirs = nlohmann::json::accept(bytes);
    if (ours.ok() && !theirs) // and refuses numbers that no double can hold
      ASSERT_NE(bytes.find_first_of("eE"), std::string::npos);
    if (!ours.ok() && theirs)
      ASSERT_NE(ours.status().message().find("occurs twice"), std::string::npos) << ours.status().message();
    if (ours.ok() && theirs && ours->isString()) {
      ASSERT_EQ(ours->text(), nlohmann::json::parse(bytes).get<std::string>());
      ASSERT_EQ(base::Json::parse(base::jsonString(ours->text()), "f")->text(), ours->text());
    }
  });
}

TEST(Robustness, SafetensorsAreRefusedOrWriteBackToTheSameTensors) {
  TemporaryFolder folder;
  fuzz(hexSamples("tests/oracles/safetensors_files.json"), [&](const std::string &bytes, Draws &draws) {
    auto file = checkpoint::Safetensors::parse(bytes, "f");
    if (!file.ok()) {
      ASSERT_TRUE(file.status().message().starts_with("f: byte ")) << file.status().message();
      return;
    }
    uint64_t total = 0;
    std::vector<checkpoint::TensorView> views;
    for (const auto &entry : file->tensors()) {
      total += entry.data.size();
      views.push_back({entry.name, entry.type, entry.shape, entry.data});
    }
    ASSERT_LE(total, bytes.size());
    auto header = checkpoint::safetensorsHeader(views, file->metadata());
    ASSERT_TRUE(header.ok()) << header.status().message();
    std::string written = *header;
    for (const auto &view : views)
      written.append(reinterpret_cast<const char *>(view.data.data()), view.data.size());
    auto again = checkpoint::Safetensors::parse(written, "g");
    ASSERT_TRUE(again.ok()) << again.status().message();
    ASSERT_EQ(again->metadata(), file->metadata());
    ASSERT_EQ(again->tensors().size(), file->tensors().size());
  });
}

TEST(Robustness, TokenizersAreRefusedOrReadBackTheSame) {
  std::vector<std::string> samples;
  samples.push_back(tokenizer::makeCharacterTokenizer("damlaya damlaya göl olur\n\"\\🙂", ".").value()->toJson());
  samples.push_back(tokenizer::makeCharacterTokenizer("ab", std::nullopt).value()->toJson());
  samples.push_back(tokenizer::makeByteTokenizer(true)->toJson());
  samples.push_back(tokenizer::makeByteTokenizer(false)->toJson());
  samples.push_back(R"({"kind":"bpe","base":{"kind":"bytes","end":"\n"},"merges":[[97,98],[256,99],[256,257]]})");
  fuzz(samples, [](const std::string &bytes, Draws &) {
    auto made = tokenizer::tokenizerFromJson(bytes, "f");
    if (!made.ok()) {
      ASSERT_TRUE(made.status().message().starts_with("f: tokenizer")) << made.status().message();
      return;
    }
    ASSERT_GE((*made)->size(), 1);
    ASSERT_LT((*made)->defaultStart(), (*made)->size());
    auto again = tokenizer::tokenizerFromJson((*made)->toJson(), "g");
    ASSERT_TRUE(again.ok()) << again.status().message();
    ASSERT_EQ((*again)->hash(), (*made)->hash());
  });
}

TEST(Robustness, CheckpointsAreRefusedOrSaveAgain) {
  TemporaryFolder folder;
  std::vector<float> weights = {1, 2, 3, 4};
  checkpoint::CheckpointInfo info;
  info.configuration = R"({"vocab":5})";
  info.tokenizer = tokenizer::makeCharacterTokenizer("abcd", ".").value()->toJson();
  info.bestLoss = 2.5;
  info.bestStep = 7;
  info.extra["train.rate"] = "0.003";
  std::vector<checkpoint::TensorView> views = {
      {"w", checkpoint::DataType::F32, {2, 2}, checkpoint::bytesOf(std::span<const float>(weights))}};
  ASSERT_TRUE(checkpoint::saveCheckpoint(folder / "c", info, views).ok());
  std::string good = readBytes(folder / "c");
  fuzz({good, good, good, good}, [&](const std::string &bytes, Draws &) {
    auto loaded = checkpoint::parseCheckpoint(bytes, "f");
    if (!loaded.ok()) {
      ASSERT_TRUE(loaded.status().message().starts_with("f: ")) << loaded.status().message();
      return;
    }
    ASSERT_GE(loaded->info.step, 0);
    if (!loaded->info.tokenizer.empty())
      ASSERT_TRUE(tokenizer::tokenizerFromJson(loaded->info.tokenizer, "f").ok());
  });
}

TEST(Robustness, NumbersAreReadExactlyOrRefused) {
  fuzz({"0", "-12", "18446744073709551615", "3.25e-7", ".5", "1.", "9223372036854775807"},
       [](const std::string &bytes, Draws &) {
         auto integer = base::parseInteger("n", bytes);
         if (integer.ok() && bytes != "-0" && bytes.find_first_not_of("-0") == bytes.find_first_not_of("-"))
           ASSERT_EQ(std::to_string(*integer), bytes);
         auto number = base::parseNumber("n", bytes);
         if (number.ok())
           ASSERT_EQ(base::parseFormattedNumber("n", base::formatNumber(*number)).value(), *number);
         (void)base::parseSeed("n", bytes).ok();
       });
}

} // namespace
} // namespace mekik::test
