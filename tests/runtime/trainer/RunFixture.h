// What tests of whole runs share: a folder of their own, a small text, and runs of the hand-written model in it.
#ifndef MEKIK_TESTS_RUNTIME_TRAINER_RUNFIXTURE_H
#define MEKIK_TESTS_RUNTIME_TRAINER_RUNFIXTURE_H

#include "runtime/base/File.h"
#include "runtime/train/Trainer.h"
#include "tests/runtime/trainer/BigramModel.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace mekik::test {

inline constexpr const char *proverbs =
    "abcab\ncabş\nbcabc\nabş\nşabc\ncab\nbca\nabca\ncabca\nabc\nbcab\nşab\nabcabcabş\n"
    "cabcab\nabşabş\nbca\ncabş\nabc\nabcab\ncabcabcab\n";
inline constexpr const char *proverbsTokenizer = "{\"kind\":\"characters\",\"end\":\".\",\"characters\":\"abcş\"}";

class RunFixture : public ::testing::Test {
protected:
  using Bigram = BigramModel<5, 4, 6>;

  RunFixture() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mekik-run-XXXXXX").string();
    folder = mkdtemp(pattern.data());
    write("data.txt", proverbs);
    tokenizer = tokenizer::tokenizerFromJson(proverbsTokenizer, "test").value();
  }
  ~RunFixture() override {
    std::error_code ignored;
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(folder, ignored);
  }

  std::string path(const std::string &name) const { return folder + "/" + name; }
  void write(const std::string &name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(const std::string &name) const {
    auto text = base::readFile(path(name));
    return text.ok() ? *text : "unreadable: " + text.status().message();
  }
  bool exists(const std::string &name) const { return std::filesystem::exists(path(name)); }

  std::unique_ptr<train::Examples> examples(int64_t limit = 512, int64_t validation = 100000) const {
    data::Text text = data::Text::load(path("data.txt")).value();
    return train::makeTextExamples(data::TextData::create(text, *tokenizer, {data::Layout::Lines, validation}).value(),
                                   text.hash(), *tokenizer, limit);
  }

  train::TrainOptions options(const std::string &out, int64_t steps) const {
    train::TrainOptions result;
    result.folder = path(out);
    result.steps = steps;
    result.settings.evaluateEvery = 5;
    result.settings.dataHash = examples()->dataHash();
    result.log = path(out + ".log");
    return result;
  }

  base::StatusOr<train::TrainResult> run(const train::TrainOptions &options, int threads = 1,
                                         const MekikModel &descriptor = Bigram::model, bool garbage = false) const {
    model::Model model = model::Model::create(descriptor, {threads, garbage}).value();
    return train::train(model, *examples(options.settings.evaluationLimit, options.settings.validation),
                        tokenizer.get(), options);
  }

  /// The log without the times, which are the last key of a line.
  std::string logWithoutTimes(const std::string &name) const {
    std::string text = read(name), out;
    for (size_t at = 0; at < text.size();) {
      size_t end = text.find('\n', at), times = text.find(",\"seconds\":", at);
      EXPECT_LT(times, end) << text;
      out += text.substr(at, times - at) + "}\n";
      at = end + 1;
    }
    return out;
  }

  /// Every file that two equal runs must share, as one text.
  std::string traces(const std::string &out) const {
    std::string all = logWithoutTimes(out + ".log");
    for (const char *name : {"/best.safetensors", "/last.safetensors", "/best.scheduled.safetensors", "/curve.svg"})
      all += std::string(name) + ":" + (exists(out + name) ? read(out + name) : "missing");
    return all;
  }

  std::string folder;
  std::unique_ptr<tokenizer::Tokenizer> tokenizer;
};

} // namespace mekik::test

#endif
