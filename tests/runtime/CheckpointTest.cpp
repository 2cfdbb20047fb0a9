// Safetensors against reference verdicts; checkpoints that keep everything exactly and refuse what does not belong.
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/base/File.h"
#include "runtime/base/Sha256.h"
#include "tests/runtime/Support.h"

#include <bit>
#include <cmath>
#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mekik::test {
namespace {

using checkpoint::bytesOf;
using checkpoint::CheckpointInfo;
using checkpoint::DataType;
using checkpoint::Safetensors;
using checkpoint::TensorView;

TEST(Safetensors, GivesTheReferenceVerdicts) {
  int count = 0;
  nlohmann::json oracle = readJson("tests/oracles/safetensors_files.json");
  for (const auto &test : oracle["cases"]) {
    SCOPED_TRACE(test["name"].get<std::string>());
    std::string verdict = test["verdict"];
    auto file = Safetensors::parse(fromHex(test["hex"].get<std::string>()), "f.safetensors");
    ++count;
    if (verdict == "either")
      continue;
    EXPECT_EQ(file.ok(), verdict == "accept") << file.status().message();
    if (!file.ok()) {
      expectFailure(file, {"f.safetensors: byte "});
      continue;
    }
    std::vector<std::string> names;
    for (const auto &entry : file->tensors()) {
      names.push_back(entry.name);
      EXPECT_EQ(file->find(entry.name), &entry);
    }
    EXPECT_EQ(names, test["tensors_by_offset"].get<std::vector<std::string>>());
  }
  EXPECT_EQ(count, static_cast<int>(oracle["cases"].size()));
  EXPECT_GT(count, 30);
}

TEST(Safetensors, SaysWhereAndWhatIsWrong) {
  nlohmann::json oracle = readJson("tests/oracles/safetensors_files.json");
  std::map<std::string, std::string> messages;
  for (const auto &test : oracle["cases"]) {
    auto file = Safetensors::parse(fromHex(test["hex"].get<std::string>()), "f");
    messages[test["name"]] = file.status().message();
  }
  EXPECT_EQ(messages["file_empty"], "f: byte 0: expected a safetensors file, found only 0 bytes");
  EXPECT_NE(messages["header_len_2_64_minus_1"].find("found 18446744073709551615"), std::string::npos);
  EXPECT_NE(messages["overlap_same_range"].find("tensor \"b\" overlaps"), std::string::npos);
  EXPECT_NE(messages["hole_front"].find("tensor \"w\" leaves a hole"), std::string::npos);
  EXPECT_NE(messages["data_cut_all"].find("it is cut off"), std::string::npos);
  EXPECT_NE(messages["duplicate_key_escaped"].find("the key \"w\" occurs twice"), std::string::npos);
  EXPECT_NE(messages["deep_nesting"].find("nested too deep"), std::string::npos);
  EXPECT_NE(messages["dtype_lowercase"].find("byte 22: tensor \"w\": \"dtype\": expected a type such as \"F32\""),
            std::string::npos)
      << messages["dtype_lowercase"];
}

TEST(Safetensors, RefusesEveryPrefixOfAGoodFile) {
  nlohmann::json oracle = readJson("tests/oracles/safetensors_files.json");
  for (const auto &test : oracle["cases"]) {
    std::string bytes = fromHex(test["hex"].get<std::string>());
    if (test["verdict"] != "accept")
      continue;
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(Safetensors::parse(bytes.substr(0, size), "f").ok()) << test["name"] << " cut to " << size;
    EXPECT_FALSE(Safetensors::parse(bytes + '\0', "f").ok()) << test["name"];
  }
}

TEST(Safetensors, ReadsBackWhatItWroteInAlwaysTheSameBytes) {
  TemporaryFolder folder;
  std::vector<float> a = {1.5f, -0.0f, NAN, INFINITY, 1e-45f, 3};
  std::vector<double> b = {M_PI};
  std::vector<int64_t> c = {INT64_MIN, INT64_MAX};
  std::vector<uint8_t> d = {1, 0, 1};
  std::vector<TensorView> tensors = {
      {"layer.0.ağırlık \"x\"\n", DataType::F32, {2, 3}, bytesOf(std::span<const float>(a))},
      {"scalar", DataType::F64, {}, bytesOf(std::span<const double>(b))},
      {"odd", DataType::Bool, {3}, bytesOf(std::span<const uint8_t>(d))},
      {"after odd", DataType::I64, {2}, bytesOf(std::span<const int64_t>(c))},
      {"nothing", DataType::F32, {0, 7}, {}}};
  std::map<std::string, std::string, std::less<>> metadata = {{"b", "2"}, {"a", "ş\t\x01"}};
  ASSERT_TRUE(checkpoint::writeSafetensors(folder / "one", tensors, metadata).ok());
  ASSERT_TRUE(checkpoint::writeSafetensors(folder / "two", tensors, metadata).ok());
  std::string bytes = readBytes(folder / "one");
  EXPECT_EQ(bytes, readBytes(folder / "two"));
  EXPECT_EQ(static_cast<uint8_t>(bytes[0]) % 8, 0);
  auto file = Safetensors::load(folder / "one");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->metadata(), metadata);
  ASSERT_EQ(file->tensors().size(), 5u);
  Safetensors moved = std::move(*file);
  for (const TensorView &wanted : tensors) {
    const checkpoint::TensorEntry *entry = moved.find(wanted.name);
    ASSERT_NE(entry, nullptr) << wanted.name;
    EXPECT_EQ(entry->type, wanted.type);
    EXPECT_EQ(entry->shape, wanted.shape);
    EXPECT_TRUE(std::equal(entry->data.begin(), entry->data.end(), wanted.data.begin(), wanted.data.end()));
  }
  uint64_t headerSize = 0;
  std::memcpy(&headerSize, bytes.data(), 8);
  nlohmann::json header = nlohmann::json::parse(bytes.substr(8, headerSize));
  EXPECT_EQ(header["odd"]["data_offsets"], nlohmann::json::parse("[32, 35]"));
}

TEST(Safetensors, PadsTheHeaderToAMultipleOfEightForEveryLengthOfName) {
  for (size_t length = 0; length < 16; ++length) {
    std::vector<TensorView> one = {{std::string(length, 'n'), DataType::F32, {0}, {}}};
    std::string header = checkpoint::safetensorsHeader(one, {}).value();
    EXPECT_EQ(header.size() % 8, 0u);
    EXPECT_EQ(static_cast<uint8_t>(header[0]) + 8u, header.size());
    EXPECT_TRUE(Safetensors::parse(header, "f").ok());
  }
}

TEST(Safetensors, RefusesToWriteWhatItCouldNotRead) {
  TemporaryFolder folder;
  std::vector<float> four(4);
  auto data = bytesOf(std::span<const float>(four));
  auto refused = [&](std::vector<TensorView> tensors, std::string_view message) {
    expectFailure(checkpoint::writeSafetensors(folder / "f", tensors, {}), {folder / "f", message});
    EXPECT_TRUE(listFolder(folder.path).empty());
  };
  refused({{"a", DataType::F32, {4}, data}, {"a", DataType::F32, {4}, data}}, "given twice");
  refused({{"__metadata__", DataType::F32, {4}, data}}, "reserved");
  refused({{"\xff", DataType::F32, {4}, data}}, "UTF-8");
  refused({{"a", DataType::F32, {5}, data}}, "F32 [5] does not fit 16 bytes");
  refused({{"a", DataType::F32, {-4}, data}}, "does not fit");
  refused({{"a", DataType::F32, {int64_t{1} << 62, 4}, {}}}, "does not fit");
  expectFailure(checkpoint::writeSafetensors(folder / "f", {}, {{"a", "\xff"}}), {"metadata \"a\"", "UTF-8"});
}

struct Weights {
  std::vector<float> values = {0.25f, -1, 3e-42f};
  std::vector<TensorView> views() const { return {{"w", DataType::F32, {3}, bytesOf(std::span<const float>(values))}}; }
};

CheckpointInfo exampleInfo() {
  CheckpointInfo info;
  info.step = 3000;
  info.seed = 18446744073709551615ull;
  info.modelName = "gpt";
  info.modelHash = "0123";
  info.compilerVersion = "0.1.0";
  info.configuration = R"({"vocab":30,"dropout":0.2})";
  info.tokenizer = (*tokenizer::makeCharacterTokenizer("abc", "."))->toJson();
  info.bestLoss = 2.2070000000000003;
  info.bestStep = 2750;
  info.extra = {{"train.rate", "0.003"}, {"note", "ağaç\n"}};
  return info;
}

TEST(Checkpoint, KeepsEverythingExactly) {
  TemporaryFolder folder;
  Weights weights;
  CheckpointInfo info = exampleInfo();
  ASSERT_TRUE(saveCheckpoint(folder / "c", info, weights.views()).ok());
  auto loaded = checkpoint::loadCheckpoint(folder / "c");
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(loaded->info.step, info.step);
  EXPECT_EQ(loaded->info.seed, info.seed);
  EXPECT_EQ(loaded->info.modelName, info.modelName);
  EXPECT_EQ(loaded->info.modelHash, info.modelHash);
  EXPECT_EQ(loaded->info.compilerVersion, info.compilerVersion);
  EXPECT_EQ(loaded->info.configuration, info.configuration);
  EXPECT_EQ(loaded->info.tokenizer, info.tokenizer);
  EXPECT_EQ(loaded->info.bestLoss, info.bestLoss);
  EXPECT_EQ(loaded->info.bestStep, info.bestStep);
  EXPECT_EQ(loaded->info.extra, info.extra);
  float back[3];
  std::vector<int64_t> shape = {3}, wrong = {4};
  ASSERT_TRUE(checkpoint::copyTensor(loaded->file, "w", DataType::F32, shape, back).ok());
  EXPECT_EQ(std::memcmp(back, weights.values.data(), sizeof back), 0);
  expectFailure(checkpoint::copyTensor(loaded->file, "w", DataType::F32, wrong, back),
                {folder / "c", "tensor \"w\": expected F32 [4], found F32 [3]"});
  expectFailure(checkpoint::copyTensor(loaded->file, "w", DataType::F64, shape, back),
                {"expected F64 [3], found F32 [3]"});
  expectFailure(checkpoint::copyTensor(loaded->file, "v", DataType::F32, shape, back), {"\"v\"", "found none"});
  // Saving what was loaded gives the same bytes.
  ASSERT_TRUE(saveCheckpoint(folder / "d", loaded->info, weights.views()).ok());
  EXPECT_EQ(readBytes(folder / "c"), readBytes(folder / "d"));
}

TEST(Checkpoint, RefusesFilesThatAreNotWholeCheckpoints) {
  TemporaryFolder folder;
  Weights weights;
  ASSERT_TRUE(saveCheckpoint(folder / "c", exampleInfo(), weights.views()).ok());
  auto good = Safetensors::load(folder / "c");
  auto refused = [&](const std::string &key, std::optional<std::string> value,
                     std::initializer_list<std::string_view> parts) {
    auto metadata = good->metadata();
    if (value)
      metadata[key] = *value;
    else
      metadata.erase(key);
    ASSERT_TRUE(checkpoint::writeSafetensors(folder / "x", weights.views(), metadata).ok());
    auto loaded = checkpoint::loadCheckpoint(folder / "x");
    expectFailure(loaded, {folder / "x"});
    expectFailure(loaded, parts);
  };
  refused("mekik.checkpoint", std::nullopt, {"not a Mekik checkpoint"});
  refused("mekik.checkpoint", "2", {"expected a checkpoint of version 1, found version \"2\""});
  for (const char *key : {"mekik.step", "mekik.seed", "mekik.model.name", "mekik.model.hash", "mekik.compiler",
                          "mekik.configuration", "mekik.tokenizer.hash"})
    refused(key, std::nullopt, {key, "found nothing"});
  refused("mekik.step", "-1", {"\"mekik.step\": expected a whole number of at least 0, got \"-1\""});
  refused("mekik.step", "1e3", {"mekik.step"});
  refused("mekik.seed", "-1", {"mekik.seed"});
  refused("mekik.best.loss", "low", {"mekik.best.loss", "expected a number"});
  refused("mekik.best.step", "", {"mekik.best.step"});
  refused("mekik.configuration", "[]", {"mekik.configuration", "expected a JSON object, found an array"});
  refused("mekik.configuration", "{", {"mekik.configuration"});
  refused("mekik.tokenizer.hash", "00", {"mekik.tokenizer.hash", "the file was changed"});
  refused("mekik.tokenizer", R"({"kind":"bytes","end":null})", {"mekik.tokenizer.hash"});
  writeBytes(folder / "t", "not a checkpoint at all");
  expectFailure(checkpoint::loadCheckpoint(folder / "t"), {folder / "t"});
  expectFailure(checkpoint::loadCheckpoint(folder / "missing"), {"no checkpoint at", "no such file", "train first"});
  expectFailure(checkpoint::loadCheckpoint(folder.path), {"found a folder"});
}

TEST(Checkpoint, RefusesATokenizerThatIsBrokenEvenIfItsHashIsRight) {
  TemporaryFolder folder;
  CheckpointInfo info = exampleInfo();
  info.tokenizer = R"({"kind":"characters","end":null,"characters":"ba"})";
  ASSERT_TRUE(saveCheckpoint(folder / "c", info, {}).ok());
  expectFailure(checkpoint::loadCheckpoint(folder / "c"), {"tokenizer", "ascending"});
}

TEST(Checkpoint, KeepsTheOldOneWhenTheNewCannotBeWritten) {
  TemporaryFolder folder;
  Weights weights;
  ASSERT_TRUE(saveCheckpoint(folder / "c", exampleInfo(), weights.views()).ok());
  std::string before = readBytes(folder / "c");
  pid_t child = ::fork();
  if (child == 0) {
    struct rlimit limit = {4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::vector<float> many(5000);
    std::vector<TensorView> large = {{"w", DataType::F32, {5000}, bytesOf(std::span<const float>(many))}};
    base::Status status = saveCheckpoint(folder / "c", exampleInfo(), large);
    ::_exit(status.code() == base::StatusCode::ResourceExhausted ? 0 : 1);
  }
  int result = 0;
  ::waitpid(child, &result, 0);
  EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << result;
  EXPECT_EQ(readBytes(folder / "c"), before);
  EXPECT_EQ(listFolder(folder.path), std::vector<std::string>{"c"});
  expectFailure(saveCheckpoint("/dev/full", exampleInfo(), weights.views()), {"/dev/full", "found a device"});
}

TEST(Checkpoint, LoadsWholeAfterAKillAtAnyMoment) {
  TemporaryFolder folder;
  std::vector<float> values(20000);
  std::vector<TensorView> views = {{"w", DataType::F32, {20000}, bytesOf(std::span<const float>(values))}};
  CheckpointInfo info = exampleInfo();
  ASSERT_TRUE(saveCheckpoint(folder / "c", info, views).ok());
  for (int round = 0; round < 200; ++round) {
    pid_t child = ::fork();
    if (child == 0)
      for (info.step = 0;; ++info.step) {
        values.assign(values.size(), static_cast<float>(info.step));
        if (!saveCheckpoint(folder / "c", info, views).ok())
          ::_exit(1);
      }
    ::usleep(static_cast<useconds_t>(200 + round * 53 % 3000));
    ::kill(child, SIGKILL);
    int result = 0;
    ::waitpid(child, &result, 0);
    ASSERT_TRUE(WIFSIGNALED(result));
    auto loaded = checkpoint::loadCheckpoint(folder / "c");
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    float last;
    std::memcpy(&last, loaded->file.tensors()[0].data.data() + 19999 * sizeof last, sizeof last);
    ASSERT_TRUE(last == static_cast<float>(loaded->info.step) || loaded->info.step == 3000);
  }
}

} // namespace
} // namespace mekik::test
