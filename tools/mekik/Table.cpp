#include "tools/mekik/Table.h"
#include "runtime/train/Progress.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include <algorithm>
#include <cmath>

namespace mekik::tool {

using base::concat;
using base::formatCount;
using base::formatFixed;

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

std::string describeMagnitude(double value) {
  if (!(value >= 1e6))
    return formatCount(static_cast<uint64_t>(value + 0.5));
  int exponent = static_cast<int>(std::floor(std::log10(value)));
  std::string digits = formatFixed(value / std::pow(10.0, exponent), 1);
  if (digits == "10.0")
    return concat("1.0 × 10^", exponent + 1);
  return concat(digits, " × 10^", exponent);
}

std::string describeSeconds(double seconds) {
  constexpr double day = 86400, year = 365.25 * day;
  if (seconds < 1) {
    for (auto [unit, size] : {std::pair(" ms", 1e-3), std::pair(" µs", 1e-6)})
      if (seconds >= size)
        return concat(formatFixed(seconds / size, 1), unit);
    return concat(formatFixed(seconds * 1e9, 1), " ns");
  }
  if (seconds < 2 * day)
    return train::describeDuration(seconds);
  double count = seconds < 2 * year ? seconds / day : seconds / year;
  std::string unit = seconds < 2 * year ? " days" : " years";
  return concat(count >= 1e6 ? describeMagnitude(count) : count < 10 ? formatFixed(count, 1) : formatCount(
                                                                  static_cast<uint64_t>(count + 0.5)), unit);
}

} // namespace mekik::tool
