// Strict reading of numbers that users typed, and exact writing of numbers that are read back. The whole text must be
// the number; nothing is rounded into range, nothing depends on the locale.
#ifndef MEKIK_RUNTIME_BASE_PARSE_H
#define MEKIK_RUNTIME_BASE_PARSE_H

#include "runtime/base/Status.h"
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace mekik::base {

/// `what` is named in the message: `parseInteger("--steps", "3k", 1)` fails with
/// "--steps: expected a whole number of at least 1, got "3k"". Errors are InvalidArgument.
StatusOr<int64_t> parseInteger(std::string_view what, std::string_view text,
                               int64_t least = std::numeric_limits<int64_t>::min(),
                               int64_t most = std::numeric_limits<int64_t>::max());

/// A seed: every whole number from 0 to 2^64-1, all of them different.
StatusOr<uint64_t> parseSeed(std::string_view what, std::string_view text);

/// A finite decimal number in [least, most]: "0.003", "3e-3", ".5". Refuses nan, inf, hexadecimal.
StatusOr<double> parseNumber(std::string_view what, std::string_view text,
                             double least = std::numeric_limits<double>::lowest(),
                             double most = std::numeric_limits<double>::max());

/// "true" or "false".
StatusOr<bool> parseBoolean(std::string_view what, std::string_view text);

/// The shortest decimal that reads back as exactly this value; "nan", "inf", "-inf" for those.
std::string formatNumber(double value);
/// Reads what formatNumber wrote, nan and inf included.
StatusOr<double> parseFormattedNumber(std::string_view what, std::string_view text);

/// `value` with a fixed number of digits after the point (0..9), rounded half away from zero; |value| < 9e15.
std::string formatFixed(double value, int digits);

/// "1,234,567".
std::string formatCount(uint64_t value);

/// Text in double quotes for a message: control characters, quotes and invalid UTF-8 escaped, cut after `limit` bytes.
std::string quoted(std::string_view text, size_t limit = 80);

} // namespace mekik::base

#endif
