// Whole numbers through std::from_chars; decimals through the C library in the "C" locale, whatever the program around
// us has set.
#include "runtime/base/Parse.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Utf8.h"

#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <locale.h>

namespace mekik::base {

namespace {

Status refuse(std::string_view what, std::string_view expected, std::string_view text) {
  return invalidArgumentError(concat(what, ": expected ", expected, ", got ", quoted(text)));
}

std::string integerRange(int64_t least, int64_t most) {
  bool below = least != std::numeric_limits<int64_t>::min(), above = most != std::numeric_limits<int64_t>::max();
  if (below && above)
    return concat("a whole number from ", least, " to ", most);
  if (below)
    return concat("a whole number of at least ", least);
  if (above)
    return concat("a whole number of at most ", most);
  return "a whole number";
}

std::string numberRange(double least, double most) {
  bool below = least != std::numeric_limits<double>::lowest(), above = most != std::numeric_limits<double>::max();
  if (below && above)
    return concat("a number from ", formatNumber(least), " to ", formatNumber(most));
  if (below)
    return concat("a number of at least ", formatNumber(least));
  if (above)
    return concat("a number of at most ", formatNumber(most));
  return "a finite number";
}

bool isNan(double value) { return (std::bit_cast<uint64_t>(value) & ~(1ull << 63)) > 0x7FFull << 52; }
bool isInfinite(double value) { return (std::bit_cast<uint64_t>(value) & ~(1ull << 63)) == 0x7FFull << 52; }

/// Whether `text` is digits with at most one point, at least one digit, and perhaps an exponent.
bool isDecimal(std::string_view text) {
  size_t at = 0;
  auto digits = [&] {
    size_t start = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9')
      ++at;
    return at - start;
  };
  auto skip = [&](std::string_view any) {
    bool found = at < text.size() && any.find(text[at]) != std::string_view::npos;
    at += found;
    return found;
  };
  skip("-");
  size_t mantissa = digits();
  if (skip("."))
    mantissa += digits();
  if (mantissa == 0)
    return false;
  if (skip("eE")) {
    skip("+-");
    if (digits() == 0)
      return false;
  }
  return at == text.size();
}

/// A decimal number that is all of `text`; false for anything else, and for what overflows or underflows to zero.
bool readDecimal(std::string_view text, double &value) {
  if (!isDecimal(text))
    return false;
  static const locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
  value = ::strtod_l(std::string(text).c_str(), nullptr, plain);
  if (isInfinite(value))
    return false;
  return value != 0 || text.substr(0, text.find_first_of("eE")).find_first_of("123456789") == std::string_view::npos;
}

} // namespace

StatusOr<int64_t> parseInteger(std::string_view what, std::string_view text, int64_t least, int64_t most) {
  int64_t value = 0;
  std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || value < least || value > most)
    return refuse(what, integerRange(least, most), text);
  return value;
}

StatusOr<uint64_t> parseSeed(std::string_view what, std::string_view text) {
  uint64_t value = 0;
  std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size())
    return refuse(what, "a whole number from 0 to 18446744073709551615", text);
  return value;
}

StatusOr<double> parseNumber(std::string_view what, std::string_view text, double least, double most) {
  double value = 0;
  if (!readDecimal(text, value) || value < least || value > most)
    return refuse(what, numberRange(least, most), text);
  return value;
}

StatusOr<bool> parseBoolean(std::string_view what, std::string_view text) {
  if (text == "true")
    return true;
  if (text == "false")
    return false;
  return refuse(what, "true or false", text);
}

std::string formatNumber(double value) {
  if (isNan(value))
    return "nan";
  if (isInfinite(value))
    return value < 0 ? "-inf" : "inf";
  for (int digits = 15;; ++digits) {
    char buffer[40];
    int length = std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    // A program around us may have set a locale with another decimal separator, of one or several bytes.
    std::string text;
    for (int i = 0; i < length; ++i) {
      char c = buffer[i];
      if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == 'e')
        text += c;
      else if (text.find('.') == std::string::npos)
        text += '.';
    }
    double back;
    if (digits >= 17 || (readDecimal(text, back) && std::bit_cast<uint64_t>(back) == std::bit_cast<uint64_t>(value)))
      return text;
  }
}

StatusOr<double> parseFormattedNumber(std::string_view what, std::string_view text) {
  double value;
  if (text == "nan")
    return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf" || text == "-inf")
    return text == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  if (!readDecimal(text, value))
    return refuse(what, "a number", text);
  return value;
}

std::string formatFixed(double value, int digits) {
  if (isNan(value) || isInfinite(value))
    return formatNumber(value);
  uint64_t scale = 1;
  for (int i = 0; i < digits; ++i)
    scale *= 10;
  double magnitude = value < 0 ? -value : value;
  if (magnitude >= 9e18 / static_cast<double>(scale))
    return formatNumber(value);
  uint64_t scaled = static_cast<uint64_t>(magnitude * static_cast<double>(scale) + 0.5);
  std::string fraction = concat(scaled % scale);
  std::string text = concat(value < 0 && scaled != 0 ? "-" : "", scaled / scale);
  if (digits > 0)
    append(text, ".", std::string(static_cast<size_t>(digits) - fraction.size(), '0'), fraction);
  return text;
}

std::string formatCount(uint64_t value) {
  std::string text = concat(value);
  for (size_t i = text.size(); i > 3; i -= 3)
    text.insert(i - 3, 1, ',');
  return text;
}

std::string quoted(std::string_view text, size_t limit) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    Utf8Step step = decodeUtf8(text, at);
    if (at + step.length > limit)
      return out + "...\"";
    std::string_view piece = text.substr(at, step.length);
    char escaped[8];
    if (!step.valid || step.codePoint < 0x20 || step.codePoint == 0x7F) {
      if (piece == "\n" || piece == "\t" || piece == "\r") {
        out += piece == "\n" ? "\\n" : piece == "\t" ? "\\t" : "\\r";
      } else {
        for (char byte : piece) {
          std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(byte));
          out += escaped;
        }
      }
    } else {
      if (piece == "\"" || piece == "\\")
        out += '\\';
      out += piece;
    }
    at += step.length;
  }
  return out + "\"";
}

} // namespace mekik::base
