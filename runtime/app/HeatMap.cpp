#include "runtime/app/HeatMap.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include <algorithm>

namespace mekik::app {

using base::append;
using base::concat;

namespace {

constexpr int64_t perRow = 6, margin = 24, top = 56, labelWidth = 30, labelHeight = 44, gap = 26;

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

/// From white (0) to a dark blue (1).
std::string colorOf(double weight) {
  double share = std::clamp(weight, 0.0, 1.0);
  auto mix = [&](int dark) { return static_cast<int64_t>(255 + share * (dark - 255) + 0.5); };
  return concat("rgb(", mix(8), ",", mix(48), ",", mix(107), ")");
}

void text(std::string &svg, int64_t x, int64_t y, std::string_view attributes, std::string_view words) {
  append(svg, "<text x=\"", x, "\" y=\"", y, "\"", attributes, ">", escaped(words), "</text>\n");
}

void drawHead(std::string &svg, const sample::Attention &attention, const sample::AttentionHead &head, int64_t left,
              int64_t upper, int64_t cell) {
  int64_t count = static_cast<int64_t>(attention.symbols.size());
  int64_t x0 = left + labelWidth, y0 = upper + labelHeight;
  if (head.heads > 1)
    text(svg, x0, upper + 16, "", concat("head ", head.head + 1));
  for (int64_t i = 0; i < count; ++i) {
    const std::string &symbol = attention.symbols[static_cast<size_t>(i)];
    text(svg, x0 + i * cell + cell / 2, y0 - 7, " text-anchor=\"middle\"", symbol);
    text(svg, x0 - 8, y0 + i * cell + cell / 2 + 4, " text-anchor=\"end\"", symbol);
    for (int64_t j = 0; j < count; ++j) {
      double weight = head.weights[static_cast<size_t>(i * count + j)];
      std::string number = base::formatFixed(weight, 2);
      append(svg, "<rect x=\"", x0 + j * cell, "\" y=\"", y0 + i * cell, "\" width=\"", cell, "\" height=\"", cell,
             "\" fill=\"", colorOf(weight), "\"><title>", escaped(symbol), " to ",
             escaped(attention.symbols[static_cast<size_t>(j)]), ": ", number, "</title></rect>\n");
      if (cell >= 26 && j <= i)
        text(svg, x0 + j * cell + cell / 2, y0 + i * cell + cell / 2 + 3,
             weight > 0.5 ? " class=\"n\" fill=\"#fff\"" : " class=\"n\"", number);
    }
  }
  append(svg, "<rect x=\"", x0, "\" y=\"", y0, "\" width=\"", count * cell, "\" height=\"", count * cell,
         "\" fill=\"none\" stroke=\"#888\"/>\n");
}

} // namespace

std::string headTitle(const sample::AttentionHead &head) {
  return head.heads == 1 ? head.probe : concat(head.probe, ", head ", head.head + 1);
}

std::string heatMapSvg(const sample::Attention &attention, std::string_view title) {
  int64_t count = static_cast<int64_t>(attention.symbols.size()), most = 1;
  int64_t cell = std::clamp<int64_t>(360 / std::max<int64_t>(count, 1), 14, 34), side = count * cell;
  std::string body;
  int64_t y = top;
  for (size_t first = 0; first < attention.heads.size();) {
    int64_t heads = attention.heads[first].heads;
    most = std::max(most, std::min(heads, perRow));
    text(body, margin, y + 12, " font-weight=\"bold\"", attention.heads[first].probe);
    y += 16;
    for (int64_t head = 0; head < heads; ++head) {
      int64_t left = margin + head % perRow * (labelWidth + side + gap);
      drawHead(body, attention, attention.heads[first + static_cast<size_t>(head)], left, y, cell);
      if (head % perRow == perRow - 1 || head == heads - 1)
        y += labelHeight + side + gap;
    }
    first += static_cast<size_t>(heads);
  }
  int64_t width = std::max<int64_t>(420, 2 * margin + most * (labelWidth + side + gap)), height = y + margin;
  std::string svg =
      concat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", width, " ", height, "\" width=\"", width,
             "\" height=\"", height, "\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n",
             "<style>.n{font-size:10px;text-anchor:middle}</style>\n<rect width=\"100%\" height=\"100%\" "
             "fill=\"#fff\"/>\n");
  text(svg, margin, 28, " font-size=\"15\" font-weight=\"bold\"", title);
  text(svg, margin, 46, "", "row: the symbol that looks, column: the symbol looked at; white 0, dark 1");
  return concat(svg, body, "</svg>\n");
}

} // namespace mekik::app
