#include "runtime/train/LossCurve.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include <algorithm>
#include <limits>

namespace mekik::train {
namespace {

using base::append;
using base::concat;
using base::formatFixed;

constexpr double width = 860, height = 480, left = 72, right = 24, top = 56, bottom = 60;

bool isDrawable(double value) { return value > -1e9 && value < 1e9; }

/// A step of 1, 2 or 5 times a power of ten that divides `span` into at most `most` parts.
double tickStep(double span, int most) {
  double step = 1e-9;
  for (int i = 0; span / step > most; ++i)
    step *= i % 3 == 1 ? 2.5 : 2; // 1, 2, 5, 10, ...
  return step;
}

int digitsFor(double step) {
  int digits = 0;
  for (; digits < 6 && step < 0.999999; ++digits)
    step *= 10;
  return digits;
}

struct Axes {
  double firstStep, lastStep, lowest, highest;
  double x(double step) const { return left + (step - firstStep) / (lastStep - firstStep) * (width - left - right); }
  double y(double loss) const {
    return height - bottom - (loss - lowest) / (highest - lowest) * (height - top - bottom);
  }
};

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

std::string point(const Axes &axes, double step, double loss) {
  return concat(formatFixed(axes.x(step), 2), ",", formatFixed(axes.y(loss), 2));
}

Axes makeAxes(std::span<const Evaluation> history) {
  Axes axes{0, 1, std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()};
  auto widen = [&](double loss) {
    if (!isDrawable(loss))
      return;
    axes.lowest = std::min(axes.lowest, loss);
    axes.highest = std::max(axes.highest, loss);
  };
  for (const Evaluation &entry : history) {
    axes.lastStep = std::max(axes.lastStep, static_cast<double>(entry.step));
    widen(entry.trainLoss);
    if (entry.validationLoss)
      widen(*entry.validationLoss);
  }
  if (axes.lowest > axes.highest)
    axes.lowest = 0, axes.highest = 1;
  double margin = std::max((axes.highest - axes.lowest) * 0.08, 0.01);
  axes.lowest -= axes.lowest >= 0 ? std::min(margin, axes.lowest) : margin;
  axes.highest += margin;
  return axes;
}

void drawGrid(std::string &svg, const Axes &axes) {
  double yStep = tickStep(axes.highest - axes.lowest, 8);
  for (int64_t i = static_cast<int64_t>(axes.lowest / yStep); i * yStep <= axes.highest; ++i) {
    if (i * yStep < axes.lowest)
      continue;
    std::string y = formatFixed(axes.y(i * yStep), 2);
    append(svg, "<line class=\"grid\" x1=\"", formatFixed(left, 0), "\" x2=\"", formatFixed(width - right, 0),
           "\" y1=\"", y, "\" y2=\"", y, "\"/>\n<text x=\"", formatFixed(left - 8, 0), "\" y=\"", y,
           "\" dy=\"4\" text-anchor=\"end\">", formatFixed(i * yStep, digitsFor(yStep)), "</text>\n");
  }
  double xStep = std::max(1.0, tickStep(axes.lastStep, 8));
  for (int64_t i = 0; i * xStep <= axes.lastStep; ++i) {
    std::string x = formatFixed(axes.x(i * xStep), 2);
    append(svg, "<line class=\"grid\" y1=\"", formatFixed(top, 0), "\" y2=\"", formatFixed(height - bottom, 0),
           "\" x1=\"", x, "\" x2=\"", x, "\"/>\n<text x=\"", x, "\" y=\"", formatFixed(height - bottom + 18, 0),
           "\" text-anchor=\"middle\">", formatFixed(i * xStep, 0), "</text>\n");
  }
}

template <typename LossOf>
void drawCurve(std::string &svg, const Axes &axes, std::span<const Evaluation> history, std::string_view color,
               LossOf lossOf) {
  std::string points, dots;
  for (const Evaluation &entry : history) {
    std::optional<double> loss = lossOf(entry);
    if (!loss || !isDrawable(*loss))
      continue;
    append(points, points.empty() ? "" : " ", point(axes, static_cast<double>(entry.step), *loss));
    append(dots, "<circle cx=\"", formatFixed(axes.x(static_cast<double>(entry.step)), 2), "\" cy=\"",
           formatFixed(axes.y(*loss), 2), "\" r=\"2.5\" fill=\"", color, "\"><title>step ", entry.step, ": ",
           formatFixed(*loss, 4), "</title></circle>\n");
  }
  append(svg, "<polyline fill=\"none\" stroke=\"", color, "\" stroke-width=\"2\" points=\"", points, "\"/>\n",
         history.size() <= 200 ? dots : std::string());
}

void drawLegend(std::string &svg, double x, std::string_view color, std::string_view label) {
  append(svg, "<line x1=\"", formatFixed(x, 0), "\" x2=\"", formatFixed(x + 24, 0), "\" y1=\"40\" y2=\"40\" stroke=\"",
         color, "\" stroke-width=\"3\"/>\n<text x=\"", formatFixed(x + 30, 0), "\" y=\"44\">", label, "</text>\n");
}

} // namespace

std::string lossCurveSvg(std::span<const Evaluation> history, const std::optional<Evaluation> &best,
                         std::string_view title) {
  constexpr std::string_view trainColor = "#1f6fb2", validationColor = "#c8502a";
  Axes axes = makeAxes(history);
  std::string size = concat(formatFixed(width, 0), " ", formatFixed(height, 0));
  std::string svg =
      concat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", size, "\" width=\"", formatFixed(width, 0),
             "\" height=\"", formatFixed(height, 0), "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n",
             "<style>.grid{stroke:#ddd;stroke-width:1}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
             "<text x=\"", formatFixed(left, 0), "\" y=\"24\" font-size=\"15\" font-weight=\"bold\">", escaped(title),
             "</text>\n");
  drawGrid(svg, axes);
  append(svg, "<rect x=\"", formatFixed(left, 0), "\" y=\"", formatFixed(top, 0), "\" width=\"",
         formatFixed(width - left - right, 0), "\" height=\"", formatFixed(height - top - bottom, 0),
         "\" fill=\"none\" stroke=\"#555\"/>\n");
  append(svg, "<text x=\"", formatFixed((left + width - right) / 2, 0), "\" y=\"", formatFixed(height - 16, 0),
         "\" text-anchor=\"middle\">step</text>\n<text transform=\"translate(20 ",
         formatFixed((top + height - bottom) / 2, 0), ") rotate(-90)\" text-anchor=\"middle\">loss</text>\n");
  drawCurve(svg, axes, history, trainColor, [](const Evaluation &e) { return std::optional<double>(e.trainLoss); });
  drawCurve(svg, axes, history, validationColor, [](const Evaluation &e) { return e.validationLoss; });
  drawLegend(svg, left, trainColor, "training");
  drawLegend(svg, left + 130, validationColor, "validation");
  if (best && isDrawable(best->deciding()))
    append(svg, "<circle cx=\"", formatFixed(axes.x(static_cast<double>(best->step)), 2), "\" cy=\"",
           formatFixed(axes.y(best->deciding()), 2), "\" r=\"6\" fill=\"none\" stroke=\"", validationColor,
           "\" stroke-width=\"2\"/>\n<text x=\"", formatFixed(left + 280, 0), "\" y=\"44\">best ",
           formatFixed(best->deciding(), 3), " at step ", best->step, "</text>\n");
  return svg + "</svg>\n";
}

} // namespace mekik::train
