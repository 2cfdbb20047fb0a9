// The data and starting values of the lesson on multi-head attention, drawn as its program draws them.
#ifndef MEKIK_TESTS_MODELS_LESSON_H
#define MEKIK_TESTS_MODELS_LESSON_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mekik::tests {

/// The lesson's generator: the seed is mixed once, then a linear congruence modulo 2^32 gives numbers in [0, 1).
class LessonGenerator {
public:
  explicit LessonGenerator(uint32_t seed);
  double next();
  /// Around 0: the sum of three draws, centred.
  double centred() {
    double first = next(), second = next(), third = next();
    return first + second + third - 1.5;
  }

private:
  uint32_t state;
};

constexpr uint32_t kLessonSeed = 20260218;
constexpr int kLessonLength = 12, kLessonInner = 4;

struct LessonSequence {
  std::vector<double> readings; // the first is 0
  double rises = 0;             // 1 if steps 7 to 11 lie more than 0.30 above steps 1 to 5 on average
};

/// All 720; the first 200 train, the last 180 are held out.
std::vector<LessonSequence> lessonSequences();
/// Starting values of the model's parameters, by name, for so many heads.
std::map<std::string, std::vector<double>> lessonParameters(uint32_t seed, int heads);
/// The readings in the lesson's random order.
std::vector<double> shuffled(const std::vector<double> &readings, uint32_t seed);

} // namespace mekik::tests

#endif
