// mekik-digits: draws handwritten-looking digits into a tensor file, the data of models/digits.
//
// A digit is a few strokes on a sheet of size 1; each example moves, stretches and slants the sheet, shakes every corner
// of a stroke, takes another pen and dusts the picture. The numbers come from Philox, and only + - * / and square roots
// are used, so the same seed gives the same bytes on every machine.
#include "runtime/abi/MekikPhilox.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include "runtime/checkpoint/Safetensors.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace mekik;

namespace {

constexpr int kSide = 16; ///< pixels of a picture's side

struct Point {
  float x, y; ///< y points down
};
using Stroke = std::vector<Point>;

const std::vector<Stroke> &strokesOf(int digit) {
  static const std::vector<Stroke> digits[10] = {
      {{{.5f, .1f}, {.28f, .2f}, {.2f, .5f}, {.28f, .8f}, {.5f, .9f}, {.72f, .8f}, {.8f, .5f}, {.72f, .2f}, {.5f, .1f}}},
      {{{.33f, .28f}, {.55f, .1f}, {.55f, .9f}}},
      {{{.22f, .28f}, {.35f, .12f}, {.6f, .1f}, {.76f, .25f}, {.72f, .45f}, {.22f, .9f}, {.8f, .9f}}},
      {{{.22f, .15f}, {.6f, .1f}, {.76f, .26f}, {.68f, .43f}, {.45f, .48f}, {.7f, .53f}, {.8f, .72f}, {.6f, .9f}, {.22f, .85f}}},
      {{{.62f, .9f}, {.62f, .1f}, {.18f, .65f}, {.84f, .65f}}},
      {{{.76f, .1f}, {.3f, .1f}, {.25f, .47f}, {.58f, .42f}, {.78f, .6f}, {.7f, .84f}, {.45f, .91f}, {.22f, .82f}}},
      {{{.68f, .1f}, {.4f, .25f}, {.24f, .58f}, {.32f, .85f}, {.55f, .91f}, {.75f, .76f}, {.7f, .57f}, {.48f, .5f}, {.27f, .62f}}},
      {{{.2f, .12f}, {.8f, .12f}, {.42f, .9f}}},
      {{{.5f, .48f}, {.28f, .36f}, {.3f, .17f}, {.5f, .1f}, {.7f, .17f}, {.72f, .36f}, {.5f, .48f}, {.25f, .64f},
        {.27f, .83f}, {.5f, .91f}, {.73f, .83f}, {.75f, .64f}, {.5f, .48f}}},
      {{{.73f, .38f}, {.52f, .5f}, {.3f, .43f}, {.25f, .24f}, {.45f, .1f}, {.68f, .16f}, {.73f, .38f}, {.64f, .9f}}}};
  return digits[digit];
}

/// The numbers of one example, one after the other.
class Numbers {
public:
  Numbers(uint64_t seed, uint64_t example) : seed(seed), example(example) {}
  uint32_t bits() { return mekikRandomBits(seed, MEKIK_STREAM_DATA + 0x100, example, next++); }
  /// Uniform in [low, high).
  float between(float low, float high) { return low + (high - low) * mekikUniform(bits()); }

private:
  uint64_t seed, example, next = 0;
};

float distance(Point p, Point a, Point b) {
  float dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  float along = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0f, 1.0f) : 0.0f;
  float x = p.x - (a.x + along * dx), y = p.y - (a.y + along * dy);
  return std::sqrt(x * x + y * y);
}

/// Brightness from 0 to 1 in rows from the top.
void draw(int digit, Numbers &numbers, float *picture) {
  float width = numbers.between(.72f, 1.05f), height = numbers.between(.72f, 1.05f);
  float slant = numbers.between(-.25f, .25f), tilt = numbers.between(-.12f, .12f);
  float right = numbers.between(-.09f, .09f), down = numbers.between(-.09f, .09f);
  float pen = numbers.between(.035f, .08f), ink = numbers.between(.75f, 1.0f);
  std::vector<Stroke> strokes = strokesOf(digit);
  for (Stroke &stroke : strokes)
    for (Point &point : stroke) {
      float x = point.x - .5f + numbers.between(-.03f, .03f), y = point.y - .5f + numbers.between(-.03f, .03f);
      point = {.5f + right + width * x - slant * y, .5f + down + height * y + tilt * x};
    }
  constexpr float edge = .06f; // over which ink fades
  for (int row = 0; row < kSide; ++row)
    for (int column = 0; column < kSide; ++column) {
      Point here{(column + .5f) / kSide, (row + .5f) / kSide};
      float nearest = 2;
      for (const Stroke &stroke : strokes)
        for (size_t i = 0; i + 1 < stroke.size(); ++i)
          nearest = std::min(nearest, distance(here, stroke[i], stroke[i + 1]));
      float covered = std::clamp((pen + edge - nearest) / edge, 0.0f, 1.0f);
      float dust = numbers.between(-.12f, .12f);
      picture[row * kSide + column] = std::clamp(ink * covered + dust, 0.0f, 1.0f);
    }
}

base::Status run(const std::string &path, int64_t count, uint64_t seed) {
  std::vector<float> pictures(static_cast<size_t>(count) * kSide * kSide);
  std::vector<int32_t> digits(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    Numbers numbers(seed, static_cast<uint64_t>(i));
    digits[i] = static_cast<int32_t>(numbers.bits() % 10);
    draw(digits[i], numbers, pictures.data() + i * kSide * kSide);
  }
  const checkpoint::TensorView tensors[] = {
      {"picture", checkpoint::DataType::F32, {count, kSide, kSide, 1}, checkpoint::bytesOf(std::span<const float>(pictures))},
      {"digit", checkpoint::DataType::I32, {count}, checkpoint::bytesOf(std::span<const int32_t>(digits))}};
  return checkpoint::writeSafetensors(path, tensors, {});
}

constexpr const char *kUsage = "usage: mekik-digits FILE.safetensors [COUNT [SEED]]\n"
                               "Writes COUNT drawn digits (4000), tensors 'picture' and 'digit', drawn from SEED (1).\n";

int complain(const base::Status &status, int exit) {
  std::fprintf(stderr, "mekik-digits: error: %s\n", std::string(status.message()).c_str());
  return exit;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h"))
    return std::fputs(kUsage, stdout), 0;
  if (arguments.empty() || arguments.size() > 3 || arguments[0].starts_with("-"))
    return std::fputs(kUsage, stderr), 2;
  auto count = base::parseInteger("COUNT", arguments.size() > 1 ? arguments[1] : "4000", 1, 1'000'000);
  auto seed = base::parseSeed("SEED", arguments.size() > 2 ? arguments[2] : "1");
  if (!count.ok())
    return complain(count.status(), 2);
  if (!seed.ok())
    return complain(seed.status(), 2);
  if (base::Status status = run(arguments[0], *count, *seed); !status.ok())
    return complain(status, 1);
}
