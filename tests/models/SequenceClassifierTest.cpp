// The lesson on multi-head attention: its model trained by Mekik's gradient from the lesson's own data and starting
// values must give every number that the lesson prints, digit for digit.
#include "runtime/base/File.h"
#include "runtime/checkpoint/Safetensors.h"
#include "tests/models/CompiledModel.h"
#include "tests/models/Lesson.h"
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace mekik;
using namespace mekik::tests;
using nlohmann::json;

namespace {

constexpr const char *kModel = "../../models/sequence_classifier/sequence_classifier.mekik";

std::string sourcePath(const std::string &name) {
  const char *source = std::getenv("MEKIK_SOURCE_DIR");
  return std::string(source ? source : ".") + "/" + name;
}

json lesson() { return json::parse(std::ifstream(sourcePath("tests/oracles/sequence_classifier.json"))); }

std::string digits(double value, int count) {
  char text[40];
  snprintf(text, sizeof text, "%.*f", count, value);
  return text;
}

void expectPrinted(double found, const json &printed, int count, const std::string &what) {
  EXPECT_EQ(digits(found, count), digits(printed.get<double>(), count)) << what << ": " << found;
}

double probability(double logit) { return 1 / (1 + std::exp(-std::clamp(logit, -30.0, 30.0))); }

/// A model of so many heads, compiled once and trained as often as asked.
class Classifier {
public:
  Classifier(int heads, bool placed)
      : heads(heads), model(CompiledModel::fromFile(
                          kModel, {{"heads", std::to_string(heads)}, {"placed", placed ? "true" : "false"}})) {}

  bool good() const { return model.good(); }

  /// One run of the lesson: 150 rounds over all training examples. Runs are numbered 1 and 2.
  void train(uint32_t run) {
    for (const auto &[name, values] : lessonParameters(kLessonSeed + run, heads))
      model.setParameter(name, values);
    model.clearState();
    std::vector<double> readings, rises;
    for (size_t i = 0; i < 200; ++i) {
      readings.insert(readings.end(), all[i].readings.begin(), all[i].readings.end());
      rises.push_back(all[i].rises);
    }
    model.set("readings", readings);
    model.set("rises", rises);
    for (int step = 0; step < 150; ++step)
      model.call("train_step", step);
  }

  double logit(const std::vector<double> &readings) {
    model.set("readings", readings);
    model.call("forward");
    return model.output("logit").at(0);
  }

  struct Findings {
    double accuracy = 0, separation = 0, meanChange = 0, largestChange = 0;
    std::vector<double> centres;
  };

  /// Everything the lesson measures on the 180 sequences held out.
  Findings measure() {
    Findings found;
    found.centres.resize(static_cast<size_t>(heads));
    size_t first = all.size() - 180, length = kLessonLength;
    for (size_t i = first; i < all.size(); ++i) {
      double guess = logit(all[i].readings);
      found.accuracy += (guess > 0) == (all[i].rises == 1) ? 1 : 0;
      std::vector<double> weights = model.probe("weights");
      for (size_t h = 0; h < found.centres.size(); ++h)
        for (size_t t = 0; t < length; ++t)
          found.centres[h] += static_cast<double>(t) * weights[h * length + t];
      for (size_t a = 0; a < found.centres.size(); ++a)
        for (size_t b = a + 1; b < found.centres.size(); ++b)
          for (size_t t = 0; t < length; ++t)
            found.separation += std::abs(weights[a * length + t] - weights[b * length + t]) / 2;
      std::vector<double> mixed = shuffled(all[i].readings, kLessonSeed + 4000 + static_cast<uint32_t>(i - first));
      double change = std::abs(probability(logit(mixed)) - probability(guess));
      found.meanChange += change;
      found.largestChange = std::max(found.largestChange, change);
    }
    found.accuracy /= 180;
    found.meanChange /= 180;
    for (double &centre : found.centres)
      centre /= 180;
    found.separation /= heads > 1 ? 180.0 * heads * (heads - 1) / 2 : 1;
    return found;
  }

  int64_t parameterCount() {
    int64_t count = 0;
    for (const std::string &name : model.parameterNames())
      count += static_cast<int64_t>(model.parameter(name).size());
    return count;
  }

private:
  const std::vector<LessonSequence> all = lessonSequences();
  int heads;
  CompiledModel model;
};

TEST(SequenceClassifier, DataAreThoseOfTheLesson) {
  json data = lesson()["data"];
  std::vector<LessonSequence> all = lessonSequences();
  EXPECT_EQ(all.size(), data["sequences"].get<size_t>());
  EXPECT_EQ(all[0].readings, data["example_seq"].get<std::vector<double>>());
  double train = 0, heldOut = 0;
  for (size_t i = 0; i < 200; ++i)
    train += all[i].rises;
  for (size_t i = all.size() - 180; i < all.size(); ++i)
    heldOut += all[i].rises;
  expectPrinted(train / 200, data["label_rate_train"], 4, "share that rises, training");
  expectPrinted(heldOut / 180, data["label_rate_heldout"], 4, "share that rises, held out");
  expectPrinted(1 - heldOut / 180, data["baseline"], 4, "baseline");
}

/// Two tables of the lesson: accuracy by number of heads, and where the heads look.
TEST(SequenceClassifier, HeadsGiveTheTablesOfTheLesson) {
  json tables = lesson();
  ASSERT_EQ(tables["heads_table"]["rows"].size(), 3u);
  size_t focusRow = 0;
  for (const json &row : tables["heads_table"]["rows"]) {
    int heads = row[0];
    Classifier classifier(heads, true);
    ASSERT_TRUE(classifier.good());
    EXPECT_EQ(classifier.parameterCount(), row[2].get<int64_t>());
    double accuracy[2];
    for (uint32_t run : {1u, 2u}) {
      classifier.train(run);
      Classifier::Findings found = classifier.measure();
      std::string what = std::to_string(heads) + " heads, run " + std::to_string(run);
      accuracy[run - 1] = found.accuracy;
      const json &focus = tables["focus_table"]["rows"][focusRow++];
      ASSERT_EQ(focus[0], heads);
      ASSERT_EQ(focus[1], run);
      ASSERT_EQ(focus[2].size(), found.centres.size());
      std::string centres;
      for (size_t h = 0; h < found.centres.size(); ++h) {
        expectPrinted(found.centres[h], focus[2][h], 2, what + ", centre of head " + std::to_string(h + 1));
        centres += (h > 0 ? ", " : "") + digits(found.centres[h], 2);
      }
      expectPrinted(found.separation, focus[3], 4, what + ", separation");
      expectPrinted(found.accuracy, focus[4], 4, what + ", accuracy");
      printf("%s: centres %s, separation %.4f, accuracy %.4f\n", what.c_str(), centres.c_str(), found.separation,
             found.accuracy);
    }
    std::string what = std::to_string(heads) + " heads";
    expectPrinted(accuracy[0], row[3], 4, what + ", run 1");
    expectPrinted(accuracy[1], row[4], 4, what + ", run 2");
    expectPrinted((accuracy[0] + accuracy[1]) / 2, row[5], 4, what + ", mean");
    expectPrinted(std::abs(accuracy[0] - accuracy[1]), row[6], 4, what + ", difference of the runs");
  }
}

TEST(SequenceClassifier, WithoutPlacesItSeesNoOrder) {
  json rows = lesson()["position_table"]["rows"];
  ASSERT_EQ(rows.size(), 2u);
  for (const json &row : rows) {
    bool placed = row[0];
    Classifier classifier(2, placed);
    ASSERT_TRUE(classifier.good());
    std::string what = placed ? "with places" : "without places";
    classifier.train(1);
    expectPrinted(classifier.measure().accuracy, row[1], 4, what + ", run 1");
    classifier.train(2); // the lesson shuffles for the second run
    Classifier::Findings found = classifier.measure();
    expectPrinted(found.accuracy, row[2], 4, what + ", run 2");
    expectPrinted(found.meanChange, row[3], 4, what + ", mean change");
    expectPrinted(found.largestChange, row[4], 4, what + ", largest change");
    printf("%s: accuracy %.4f, mean change %.4f, largest %.4f\n", what.c_str(), found.accuracy, found.meanChange,
           found.largestChange);
  }
}

/// The file beside the model is what the generator draws: the 200 training sequences, then the 180 held out.
TEST(SequenceClassifier, DataFileBesideTheModelHoldsTheLessonsSequences) {
  std::vector<double> readings, rises;
  std::vector<LessonSequence> all = lessonSequences();
  for (size_t i = 0; i < all.size(); ++i)
    if (i < 200 || i >= 540) {
      readings.insert(readings.end(), all[i].readings.begin(), all[i].readings.end());
      rises.push_back(all[i].rises);
    }
  std::string made = testing::TempDir() + "/sequences.safetensors";
  using checkpoint::DataType;
  base::Status written = checkpoint::writeSafetensors(
      made,
      std::vector<checkpoint::TensorView>{
          {"readings", DataType::F64, {380, kLessonLength}, checkpoint::bytesOf(std::span<const double>(readings))},
          {"rises", DataType::F64, {380}, checkpoint::bytesOf(std::span<const double>(rises))}},
      {});
  ASSERT_TRUE(written.ok()) << written.message();
  auto found = base::readFile(sourcePath("models/sequence_classifier/sequences.safetensors"));
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_TRUE(*found == *base::readFile(made)) << "the file differs from " << made;
}

} // namespace
