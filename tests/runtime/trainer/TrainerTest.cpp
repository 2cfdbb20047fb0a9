#include "runtime/ngram/Ngram.h"
#include "tests/runtime/trainer/RunFixture.h"
#include <cmath>

namespace mekik::test {
namespace {

using train::TrainEnd;

class Trainer : public RunFixture {};

TEST_F(Trainer, LearnsAndKeepsTheBestEvaluation) {
  auto result = run(options("a", 40));
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->end, TrainEnd::Finished);
  ASSERT_TRUE(result->best);
  EXPECT_LT(result->best->deciding(), 1.0);
  auto best = checkpoint::loadCheckpoint(path("a/best.safetensors")).value();
  auto last = checkpoint::loadCheckpoint(path("a/last.safetensors")).value();
  EXPECT_EQ(best.info.step, result->best->step);
  EXPECT_LT(best.info.step, 40);
  EXPECT_EQ(last.info.step, 40);
  EXPECT_EQ(last.info.bestStep, best.info.step);
  // The best file really holds the parameters that gave the best loss.
  model::Model model = model::Model::create(Bigram::model).value();
  ASSERT_TRUE(train::restoreParameters(best, model).ok());
  EXPECT_EQ(**train::evaluate(model, *examples(), train::Split::Validation), result->best->deciding());
}

TEST_F(Trainer, SplitAnyhowARunLeavesTheSameBytes) {
  ASSERT_TRUE(run(options("straight", 20)).ok());
  std::string expected = traces("straight");
  for (const std::vector<int64_t> &parts :
       std::vector<std::vector<int64_t>>{{7}, {1}, {19}, {5}, {15, 16}, {2, 4, 6, 8, 10, 12, 14, 16, 18}}) {
    std::filesystem::remove_all(path("split"));
    auto current = options("split", 0);
    current.resume = false;
    for (int64_t steps : parts) {
      current.steps = steps;
      ASSERT_TRUE(run(current).ok());
      current.resume = true;
    }
    current.steps = 20;
    auto result = run(current);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_TRUE(traces("split") == expected) << "split at " << parts.front();
  }
}

TEST_F(Trainer, TheEvaluationAtTheEndIsKeptAndAResumeUndoesIt) {
  auto atSeven = options("a", 7);
  atSeven.settings.evaluateEvery = 250;
  auto result = run(atSeven);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->best->step, 7);
  EXPECT_EQ(checkpoint::loadCheckpoint(path("a/best.safetensors"))->info.step, 7);
  EXPECT_EQ(checkpoint::loadCheckpoint(path("a/best.scheduled.safetensors"))->info.step, 1);
  atSeven.resume = true;
  atSeven.steps = 20;
  ASSERT_TRUE(run(atSeven).ok());
  auto straight = options("b", 20);
  straight.settings.evaluateEvery = 250;
  ASSERT_TRUE(run(straight).ok());
  EXPECT_TRUE(traces("a") == traces("b"));
}

TEST_F(Trainer, ThreadsAndGarbageInTheArenaChangeNothing) {
  ASSERT_TRUE(run(options("one", 20), 1).ok());
  std::string expected = traces("one");
  for (int threads : {2, 3, 5}) {
    ASSERT_TRUE(run(options("many", 20), threads).ok());
    EXPECT_TRUE(traces("many") == expected) << threads << " threads";
  }
  ASSERT_TRUE(run(options("garbage", 20), 2, Bigram::model, true).ok());
  EXPECT_TRUE(traces("garbage") == expected);
}

TEST_F(Trainer, EverySeedIsItsOwnRun) {
  std::vector<std::string> seen;
  for (uint64_t seed :
       {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32, (uint64_t{1} << 32) + 1, uint64_t{1} << 63, ~uint64_t{0}}) {
    auto current = options("a", 2);
    current.seed = seed;
    ASSERT_TRUE(run(current).ok());
    auto loaded = checkpoint::loadCheckpoint(path("a/last.safetensors")).value();
    EXPECT_EQ(loaded.info.seed, seed);
    auto bytes = loaded.file.find("table")->data;
    std::string table(bytes.begin(), bytes.end());
    EXPECT_EQ(std::count(seen.begin(), seen.end(), table), 0) << seed;
    seen.push_back(table);
  }
}

TEST_F(Trainer, StopsEarlyAndAResumedRunStopsAtTheSameStep) {
  auto patient = options("straight", 1000);
  patient.settings.patience = 3;
  auto result = run(patient);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, TrainEnd::StoppedEarly);
  EXPECT_LT(result->step, 200);
  EXPECT_EQ(result->step, result->best->step + 15);
  auto split = options("split", result->step - 8); // two evaluations without a better one are behind it
  split.settings.patience = 3;
  ASSERT_TRUE(run(split).ok());
  split.resume = true;
  split.steps = 1000;
  auto resumed = run(split);
  ASSERT_TRUE(resumed.ok());
  EXPECT_EQ(resumed->end, TrainEnd::StoppedEarly);
  EXPECT_TRUE(traces("split") == traces("straight"));
  EXPECT_EQ(run(split)->end, TrainEnd::NothingToDo);
  EXPECT_TRUE(traces("split") == traces("straight"));
}

TEST_F(Trainer, ALossThatIsNotFiniteStopsTheRunAndIsNeverTheBest) {
  for (int64_t evaluateEvery : {1, 2, 250}) {
    std::filesystem::remove_all(path("a"));
    auto current = options("a", 20);
    current.settings.evaluateEvery = evaluateEvery;
    auto result = run(current, 1, BigramModel<5, 4, 6, 2>::model);
    ASSERT_FALSE(result.ok());
    std::string message = result.status().message();
    EXPECT_NE(message.find("diverged"), std::string::npos) << message;
    // The update of step 3 is the bad one: an evaluation sees it at once, training in the loss of step 4.
    EXPECT_NE(message.find(evaluateEvery == 1 ? "after step 3" : "of step 4"), std::string::npos) << message;
    auto best = checkpoint::loadCheckpoint(path("a/best.safetensors"));
    ASSERT_TRUE(best.ok()) << best.status().message();
    EXPECT_LE(best->info.step, 2);
    auto last = checkpoint::loadCheckpoint(path("a/last.safetensors"));
    ASSERT_TRUE(last.ok()) << last.status().message();
    EXPECT_LE(last->info.step, 2);
  }
}

TEST_F(Trainer, ARunThatDivergesAtItsVeryEndDoesNotLoseTheLastGoodState) {
  auto current = options("a", 3);
  current.settings.evaluateEvery = 2;
  auto result = run(current, 1, BigramModel<5, 4, 6, 2>::model);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(checkpoint::loadCheckpoint(path("a/last.safetensors"))->info.step, 2);
  EXPECT_NE(read("a.log").find("\"validation_loss\":null"), std::string::npos) << read("a.log");
}

TEST_F(Trainer, AnInterruptSavesAndTheRestIsTheSame) {
  ASSERT_TRUE(run(options("straight", 20)).ok());
  auto current = options("a", 20);
  volatile std::sig_atomic_t stop = 1;
  current.interrupted = &stop;
  auto result = run(current);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, TrainEnd::Interrupted);
  EXPECT_EQ(result->step, 0);
  stop = 0;
  current.resume = true;
  ASSERT_TRUE(run(current).ok());
  EXPECT_TRUE(traces("a") == traces("straight"));
}

TEST_F(Trainer, AnEarlierRunIsMovedAsideAndNotOverwritten) {
  ASSERT_TRUE(run(options("a", 5)).ok());
  std::string old = read("a/last.safetensors");
  auto again = options("a", 5);
  again.seed = 2;
  ASSERT_TRUE(run(again).ok());
  EXPECT_EQ(read("a/last.previous.safetensors"), old);
  EXPECT_NE(read("a/last.safetensors"), old);
}

TEST_F(Trainer, ResumingWithOtherDataIsRefused) {
  ASSERT_TRUE(run(options("a", 5)).ok());
  std::string before = traces("a");
  write("data.txt", std::string(proverbs) + "abc\n");
  auto other = options("a", 10);
  other.resume = true;
  auto result = run(other);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("other data"), std::string::npos) << result.status().message();
  EXPECT_TRUE(traces("a") == before);
}

TEST_F(Trainer, ACheckpointOfAnotherModelTokenizerOrConfigurationIsRefusedWithBothValues) {
  ASSERT_TRUE(run(options("a", 5)).ok());
  auto checkpoint = checkpoint::loadCheckpoint(path("a/last.safetensors")).value();
  auto refusal = [&](const MekikModel &descriptor, const std::string &tokenizerJson) {
    model::Model model = model::Model::create(descriptor).value();
    auto other = tokenizer::tokenizerFromJson(tokenizerJson, "test").value();
    return train::checkOrigin(checkpoint, model, other.get()).message();
  };
  EXPECT_EQ(refusal(Bigram::model, proverbsTokenizer), "");
  MekikModel other = Bigram::model;
  other.name = "trigram";
  std::string message = refusal(other, proverbsTokenizer);
  EXPECT_NE(message.find("bigram"), std::string::npos) << message;
  EXPECT_NE(message.find("trigram"), std::string::npos) << message;
  other = Bigram::model;
  other.configuration = "{\"vocab\":5,\"batch\":8,\"context\":6,\"steps\":40}";
  message = refusal(other, proverbsTokenizer);
  EXPECT_NE(message.find("batch = 4 there and 8 here"), std::string::npos) << message;
  other = Bigram::model;
  other.sourceHash = "1111111111111111111111111111111111111111111111111111111111111111";
  message = refusal(other, proverbsTokenizer);
  EXPECT_NE(message.find("1111111111111111"), std::string::npos) << message;
  message = refusal(Bigram::model, "{\"kind\":\"characters\",\"end\":\".\",\"characters\":\"abcdş\"}");
  EXPECT_NE(message.find('6'), std::string::npos) << message;
  EXPECT_NE(message.find('5'), std::string::npos) << message;
  message = refusal(Bigram::model, "{\"kind\":\"characters\",\"end\":\".\",\"characters\":\"abcğ\"}");
  EXPECT_NE(message.find("ğ"), std::string::npos) << message;
}

TEST_F(Trainer, EvaluationAveragesWindowsThatDoNotOverlap) {
  model::Model model = model::Model::create(Bigram::model).value();
  // Parameters are zero: every symbol is equally likely and the loss is ln 5 whatever the windows hold.
  EXPECT_NEAR(**train::evaluate(model, *examples(), train::Split::Train), std::log(5.0), 1e-6);
  auto *table = static_cast<float *>(model.data(Bigram::tensors[0]));
  for (int i = 0; i < 25; ++i)
    table[i] = static_cast<float>(i % 7) * 0.25f;
  data::Text text = data::Text::load(path("data.txt")).value();
  auto data = data::TextData::create(text, *tokenizer, {data::Layout::Lines, 100000}).value();
  const std::vector<int32_t> &ids = data.train();
  double sum = 0;
  int windows = 0;
  for (size_t s = 0; s + 7 <= std::min<size_t>(ids.size(), 40); s += 6, ++windows)
    for (size_t t = s; t < s + 6; ++t)
      sum += (Bigram::logSum(table + ids[t] * 5) - table[ids[t] * 5 + ids[t + 1]]) / 6;
  EXPECT_EQ(windows, 6);
  EXPECT_NEAR(**train::evaluate(model, *examples(40), train::Split::Train), sum / windows, 1e-6);
}

TEST_F(Trainer, CountingIsMeasuredOnTheVerySymbolsThatAnEvaluationReads) {
  model::Model model = model::Model::create(Bigram::model).value();
  const MekikFunction &loss = **model.function("loss");
  data::Text text = data::Text::load(path("data.txt")).value();
  data::TextData data = data::TextData::create(text, *tokenizer, {data::Layout::Lines, 300000}).value();
  // The hand-written model is given the table of counted logarithms: its loss is the baseline's.
  ngram::Ngram counted(data.train(), tokenizer->endId(), 5, 2);
  auto *table = static_cast<float *>(model.data(Bigram::tensors[0]));
  for (int32_t id = 0; id < 5; ++id) {
    std::vector<double> chances = counted.probabilities(std::vector<int32_t>{id}, 1);
    for (size_t next = 0; next < 5; ++next)
      table[static_cast<size_t>(id) * 5 + next] = static_cast<float>(std::log(chances[next]));
  }
  for (int64_t limit : {0, 40}) {
    auto all = examples(limit, 300000);
    train::CountedLoss baseline = all->countedLoss(model, loss, 2).value();
    EXPECT_NEAR(baseline.train, *train::evaluate(model, *all, train::Split::Train).value(), 1e-5);
    EXPECT_NEAR(baseline.validation.value(), *train::evaluate(model, *all, train::Split::Validation).value(), 1e-5);
  }
}

TEST_F(Trainer, WithoutValidationDataTheTrainingLossDecides) {
  auto current = options("a", 10);
  current.settings.validation = 0;
  auto result = run(current);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_FALSE(result->best->validationLoss);
  EXPECT_NE(read("a.log").find("\"validation_loss\":null"), std::string::npos);
}

TEST_F(Trainer, ALogOfSomethingElseIsRefusedOnResume) {
  ASSERT_TRUE(run(options("a", 5)).ok());
  write("a.log", "dear diary\n");
  auto current = options("a", 10);
  current.resume = true;
  auto result = run(current);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("a.log:1"), std::string::npos) << result.status().message();
  EXPECT_EQ(read("a.log"), "dear diary\n");
}

} // namespace
} // namespace mekik::test
