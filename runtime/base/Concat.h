// Building messages: concat("step ", 12, " of ", path). Integers, text and single characters; floating-point numbers
// are formatted by their own functions (Parse.h), so that how many digits are shown is always a decision.
#ifndef MEKIK_RUNTIME_BASE_CONCAT_H
#define MEKIK_RUNTIME_BASE_CONCAT_H

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace mekik::base {

inline void appendPiece(std::string &out, std::string_view text) { out.append(text); }
inline void appendPiece(std::string &out, char character) { out.push_back(character); }
template <std::integral T>
  requires(!std::same_as<T, char> && !std::same_as<T, bool>)
inline void appendPiece(std::string &out, T number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

/// Appends all pieces to `out`.
template <typename... Pieces> void append(std::string &out, const Pieces &...pieces) {
  (appendPiece(out, pieces), ...);
}

/// All pieces as one string.
template <typename... Pieces> std::string concat(const Pieces &...pieces) {
  std::string out;
  append(out, pieces...);
  return out;
}

} // namespace mekik::base

#endif
