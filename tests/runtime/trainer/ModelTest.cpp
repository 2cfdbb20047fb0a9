#include "runtime/model/Model.h"
#include "tests/runtime/trainer/BigramModel.h"
#include <gtest/gtest.h>

namespace mekik::model {
namespace {

using Bigram = test::BigramModel<5, 4, 6>;

/// A copy of the descriptor that a test may damage.
struct Copy {
  MekikModel model = Bigram::model;
  std::vector<MekikTensor> tensors{std::begin(Bigram::tensors), std::end(Bigram::tensors)};
  std::vector<MekikFunction> functions{std::begin(Bigram::functions), std::end(Bigram::functions)};
  std::vector<MekikDispatch> dispatches{std::begin(Bigram::stepDispatches), std::end(Bigram::stepDispatches)};
  std::vector<MekikBuffer> buffers{std::begin(Bigram::gradientBuffers), std::end(Bigram::gradientBuffers)};
  Copy() {
    model.tensors = tensors.data();
    model.functions = functions.data();
    functions[3].dispatches = dispatches.data();
    dispatches[0].buffers = buffers.data();
  }
  std::string problem() const { return checkDescriptor(model).message(); }
};

TEST(Model, AcceptsASoundDescriptor) { EXPECT_EQ(Copy().problem(), ""); }

TEST(Model, RefusesADescriptorOfAnotherAbi) {
  Copy copy;
  copy.model.magic = 1;
  EXPECT_NE(copy.problem().find("not a compiled Mekik model"), std::string::npos);
  copy = {};
  copy.model.version = MEKIK_ABI_VERSION + 1;
  EXPECT_NE(copy.problem().find(std::to_string(MEKIK_ABI_VERSION + 1)), std::string::npos) << copy.problem();
  Copy other;
  other.model.size = 112;
  EXPECT_NE(other.problem().find("112 bytes"), std::string::npos) << other.problem();
}

TEST(Model, RefusesTensorsOutsideTheirArena) {
  for (int damage = 0; damage < 8; ++damage) {
    Copy copy;
    MekikTensor &tensor = copy.tensors[0];
    switch (damage) {
    case 0:
      tensor.offset = 64;
      break;
    case 1:
      tensor.offset = 1;
      break;
    case 2:
      tensor.bytes = 96;
      break;
    case 3:
      tensor.shape[0] = -1;
      break;
    case 4:
      tensor.shape[0] = int64_t{1} << 62;
      break;
    case 5:
      tensor.rank = 9;
      break;
    case 6:
      tensor.type = 17;
      break;
    case 7:
      tensor.arena = MEKIK_STATE;
      break;
    }
    EXPECT_NE(copy.problem(), "") << damage;
    EXPECT_NE(copy.problem().find("table"), std::string::npos) << copy.problem();
  }
}

TEST(Model, RefusesBuffersAndFunctionsThatDoNotFit) {
  Copy far;
  far.buffers[3].offset = Bigram::workBytes + 1;
  EXPECT_NE(far.problem().find("train_step, dispatch 0: buffer 3"), std::string::npos) << far.problem();
  Copy large;
  large.buffers[3].bytes = Bigram::workBytes;
  EXPECT_NE(large.problem().find("train_step, dispatch 0: buffer 3"), std::string::npos) << large.problem();
  for (int64_t parts : {0, -1, 3}) {
    Copy odd;
    odd.buffers[3].parts = parts;
    EXPECT_NE(odd.problem().find("buffer 3 in " + std::to_string(parts) + " parts"), std::string::npos) << odd.problem();
  }
  Copy arena;
  arena.buffers[0].arena = 4;
  EXPECT_NE(arena.problem(), "");
  Copy tiles;
  tiles.dispatches[1].tiles = -1;
  EXPECT_NE(tiles.problem(), "");
  Copy work;
  work.functions[0].workBytes += 64;
  EXPECT_NE(work.problem(), "");
  Copy twice;
  twice.functions[1].name = "init";
  EXPECT_NE(twice.problem().find("two functions are named init"), std::string::npos) << twice.problem();
  Copy names;
  names.tensors[1] = names.tensors[0];
  EXPECT_NE(names.problem().find("two tensors"), std::string::npos) << names.problem();
}

TEST(Model, AMissingFunctionIsNamedAlongWithThoseThereAre) {
  Model model = Model::create(Bigram::model).value();
  base::Status status = model.call("decode");
  EXPECT_EQ(status.code(), base::StatusCode::NotFound);
  EXPECT_NE(status.message().find("'decode'"), std::string::npos);
  EXPECT_NE(status.message().find("init, forward, loss, train_step"), std::string::npos) << status.message();
}

TEST(Model, ArenasAreAlignedAndStateStartsAsZero) {
  Model model = Model::create(Bigram::model).value();
  for (const MekikTensor &tensor : Bigram::tensors) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(model.data(tensor)) % MEKIK_ALIGNMENT, 0u);
    const auto *bytes = static_cast<const unsigned char *>(model.data(tensor));
    EXPECT_EQ(std::count(bytes, bytes + tensor.bytes, 0), static_cast<std::ptrdiff_t>(tensor.bytes));
  }
}

TEST(Model, ThreadsAreNeverMoreThanTheLargestDispatchHasTiles) {
  EXPECT_EQ(Model::create(Bigram::model, {.threads = 64}).value().threads(), 6);
  EXPECT_EQ(Model::create(Bigram::model, {.threads = 2}).value().threads(), 2);
}

TEST(Model, AFunctionOfLittleWorkIsOnePhaseWhateverTheThreads) {
  Copy copy;
  Model large = Model::create(copy.model, {.threads = 2}).value();
  EXPECT_EQ(large.phaseCount(copy.functions[3]), 2u);
  for (MekikDispatch &dispatch : copy.dispatches)
    dispatch.operations = 1e5;
  Model little = Model::create(copy.model, {.threads = 2}).value();
  EXPECT_EQ(little.phaseCount(copy.functions[3]), 1u);
  Model all = Model::create(copy.model, {.threads = 2, .phaseOperations = 0}).value();
  EXPECT_EQ(all.phaseCount(copy.functions[3]), 2u);
}

TEST(Model, GarbageFillsAllOfTheWorkArenaButTheInputs) {
  Model model = Model::create(Bigram::model, {.threads = 1, .fillWorkWithGarbage = true}).value();
  const MekikFunction *forward = *model.function("forward");
  auto *tokens = static_cast<int32_t *>(model.data(**model.tensor(*forward, MEKIK_INPUT)));
  for (int i = 0; i < 6; ++i)
    tokens[i] = i % 5;
  auto *work = reinterpret_cast<unsigned char *>(tokens);
  model.call(*forward);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(tokens[i], i % 5);
  EXPECT_EQ(work[Bigram::workBytes - 1], 0xFF);
  auto *logits = static_cast<float *>(model.data(**model.tensor(*forward, MEKIK_OUTPUT)));
  EXPECT_EQ(logits[0], 0.0f); // the table is zero, and forward writes all of its output
  EXPECT_EQ(logits[29], 0.0f);
}

TEST(Model, TooMuchMemoryIsAMessage) {
  Copy copy;
  copy.model.stateBytes = uint64_t{1} << 62;
  auto model = Model::create(copy.model);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), base::StatusCode::ResourceExhausted);
  EXPECT_NE(model.status().message().find("4611686018427387904"), std::string::npos) << model.status().message();
}

} // namespace
} // namespace mekik::model
