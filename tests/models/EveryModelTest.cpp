// Every model in models/, large ones with the small settings of small.json, gives the bits of the evaluator. A new folder
// is tested without being named here.
#include "compiler/driver/Compiler.h"
#include "tests/fuzz/CompareBits.h"
#include "absl/strings/match.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace mekik;

namespace {

std::filesystem::path sources() {
  const char *folder = std::getenv("MEKIK_SOURCE_DIR");
  return folder ? folder : ".";
}

std::string contents(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> models() {
  std::vector<std::filesystem::path> paths;
  for (const auto &folder : std::filesystem::directory_iterator(sources() / "models"))
    if (folder.is_directory())
      for (const auto &file : std::filesystem::directory_iterator(folder))
        if (file.path().extension() == ".mekik")
          paths.push_back(file.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

class EveryModel : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(EveryModel, GivesTheEvaluatorsBitsOnEveryTargetAndNumberOfThreads) {
  driver::CompilerOptions options;
  nlohmann::json table = nlohmann::json::parse(contents(sources() / "tests/models/small.json"));
  const nlohmann::json settings = table.value(GetParam().stem().string(), nlohmann::json::object())
                                      .value("settings", nlohmann::json::object());
  for (const auto &[name, value] : settings.items())
    options.frontend.overrides[name] = value.get<std::string>();
  if (absl::StrContains(contents(GetParam()), "\nconfig vocab")) // otherwise set by the tokenizer of a text
    options.frontend.overrides.try_emplace("vocab", "30");
  std::string messages;
  auto compiler = driver::Compiler::fromFile(GetParam().string(), options, messages);
  ASSERT_TRUE(compiler.ok()) << messages << compiler.status();
  absl::Status status = fuzz::compareBits((*compiler)->module());
  EXPECT_TRUE(status.ok()) << status.message();
  // And as a model is compiled whose tensors are large and have many tiles.
  fuzz::CompareOptions large;
  large.largeBytes = 0;
  large.tileElements = 64;
  large.targets = {"x86-64-v3"};
  large.threads = {2};
  status = fuzz::compareBits((*compiler)->module(), large);
  EXPECT_TRUE(status.ok()) << "all tensors large and in many tiles: " << status.message();
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::ValuesIn(models()),
                         [](const auto &info) { return info.param.stem().string(); });

} // namespace
