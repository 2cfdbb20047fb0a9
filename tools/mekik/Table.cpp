#include "tools/mekik/Table.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include <algorithm>

namespace mekik::tool {

/// Code points, which is what a terminal shows one cell each for the letters models are named with.
static size_t width(const std::string &text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string Table::print() const {
  std::vector<size_t> widths(align.size());
  auto measure = [&](const std::vector<std::string> &row) {
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width(row[i]));
  };
  measure(headline);
  for (const auto &row : rows)
    measure(row);
  std::string text;
  auto line = [&](const std::vector<std::string> &row) {
    std::string out;
    for (size_t i = 0; i < row.size(); ++i) {
      std::string space(widths[i] - width(row[i]), ' ');
      out += i > 0 ? "  " : "";
      out += align[i] == Align::Right ? space + row[i] : row[i] + space;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  };
  size_t total = widths.empty() ? 0 : 2 * (widths.size() - 1);
  for (size_t each : widths)
    total += each;
  if (!headline.empty())
    line(headline);
  for (const auto &row : rows) {
    if (row.empty())
      text += std::string(total, '-') + "\n";
    else
      line(row);
  }
  return text;
}

static std::string scaled(double value, double base, const std::vector<const char *> &units) {
  size_t unit = 0;
  for (; value >= base && unit + 1 < units.size(); ++unit)
    value /= base;
  return base::concat(base::formatFixed(value, unit == 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2), " ", units[unit]);
}

std::string describeBytes(double bytes) { return scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"}); }

std::string describeCount(double count) {
  std::string text = scaled(count, 1000, {"", "thousand", "million", "billion", "trillion"});
  return text.ends_with(" ") ? text.substr(0, text.size() - 1) : text;
}

} // namespace mekik::tool
