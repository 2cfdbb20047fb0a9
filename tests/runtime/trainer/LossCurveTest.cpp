#include "runtime/train/LossCurve.h"
#include <cmath>
#include <gtest/gtest.h>

namespace mekik::train {
namespace {

size_t count(const std::string &text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(LossCurve, DrawsBothCurvesWithTicksLabelsAndTheBestPoint) {
  std::vector<Evaluation> history = {{1, 3.318, 3.413}, {250, 2.327, 2.410}, {500, 2.210, 2.393}};
  std::string svg = lossCurveSvg(history, history[2], "a <b> & \"c\"");
  EXPECT_EQ(count(svg, "<polyline"), 2u);
  EXPECT_EQ(count(svg, "<circle"), 7u);
  EXPECT_EQ(count(svg, ">step<"), 1u);
  EXPECT_EQ(count(svg, ">loss<"), 1u);
  EXPECT_EQ(count(svg, ">500<"), 1u);
  EXPECT_EQ(count(svg, ">2.4<"), 1u);
  EXPECT_EQ(count(svg, "best 2.393 at step 500"), 1u);
  EXPECT_EQ(count(svg, "a &lt;b&gt; &amp; &quot;c&quot;"), 1u);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(LossCurve, StaysInsideThePictureWhateverTheLosses) {
  std::vector<std::vector<Evaluation>> histories = {
      {},
      {{1, 2.0, {}}},
      {{1, 2.0, 2.0}, {2, 2.0, 2.0}},
      {{1, 0.0, 0.0}},
      {{1, 1e-12, 1e8}, {1000000000, -5, 3}},
      {{1, 1.0, 1.0}, {2, std::nan(""), 1e300}, {3, -std::numeric_limits<double>::infinity(), 2.0}}};
  for (const auto &history : histories) {
    std::string svg = lossCurveSvg(history, {}, "t");
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
    EXPECT_LT(count(svg, "class=\"grid\""), 25u) << svg;
    for (size_t at = svg.find("points=\""); at != std::string::npos; at = svg.find("points=\"", at + 1))
      for (const char *point = svg.c_str() + at + 8; *point != '"';) {
        char *next;
        double x = std::strtod(point, &next), y = std::strtod(next + 1, &next);
        EXPECT_TRUE(x >= 0 && x <= 860 && y >= 0 && y <= 480) << x << "," << y;
        point = *next == ' ' ? next + 1 : next;
      }
  }
}

} // namespace
} // namespace mekik::train
