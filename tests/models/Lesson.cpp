#include "tests/models/Lesson.h"
#include <cmath>
#include <utility>

namespace mekik::tests {

LessonGenerator::LessonGenerator(uint32_t seed) {
  uint32_t x = (seed ^ (seed >> 16)) * 2246822507u;
  x = (x ^ (x >> 13)) * 3266489909u;
  state = x ^ (x >> 16);
}

double LessonGenerator::next() {
  state = state * 1664525u + 1013904223u;
  return state / 4294967296.0;
}

namespace {

/// As Python's round(x, 3): the nearest number of three decimals.
double roundedToThousandths(double x) {
  char text[32];
  snprintf(text, sizeof text, "%.3f", x);
  return strtod(text, nullptr);
}

double meanOf(const std::vector<double> &readings, size_t first, size_t last) {
  double sum = 0;
  for (size_t i = first; i <= last; ++i)
    sum += readings[i];
  return sum / static_cast<double>(last - first + 1);
}

} // namespace

std::vector<LessonSequence> lessonSequences() {
  std::vector<LessonSequence> all;
  for (uint32_t i = 0; i < 720; ++i) {
    LessonGenerator random(kLessonSeed + i);
    random.next(); // what an earlier lesson drew here
    LessonSequence sequence{{0}, 0};
    for (int t = 1; t < kLessonLength; ++t)
      sequence.readings.push_back(roundedToThousandths(random.centred() * 1.9));
    sequence.rises = meanOf(sequence.readings, 7, 11) - meanOf(sequence.readings, 1, 5) > 0.30 ? 1 : 0;
    all.push_back(std::move(sequence));
  }
  return all;
}

std::map<std::string, std::vector<double>> lessonParameters(uint32_t seed, int heads) {
  LessonGenerator random(seed);
  auto draw = [&](int count) {
    std::vector<double> values;
    for (int i = 0; i < count; ++i)
      values.push_back(random.centred() * 0.9);
    return values;
  };
  std::map<std::string, std::vector<double>> parameters;
  int size = kLessonInner / heads;
  for (const char *name : {"key", "value"}) // in this order: each draws from where the last one stopped
    parameters[name] = draw(heads * size * 3);
  for (const char *name : {"query", "weight"})
    parameters[name] = draw(kLessonInner);
  parameters["bias"] = {0};
  return parameters;
}

std::vector<double> shuffled(const std::vector<double> &readings, uint32_t seed) {
  LessonGenerator random(seed);
  std::vector<double> result = readings;
  for (size_t i = result.size() - 1; i > 0; --i)
    std::swap(result[i], result[static_cast<size_t>(random.next() * static_cast<double>(i + 1))]);
  return result;
}

} // namespace mekik::tests
