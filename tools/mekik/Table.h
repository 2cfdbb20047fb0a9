// Columns for people: text to the left, numbers to the right.
#ifndef MEKIK_TOOLS_MEKIK_TABLE_H
#define MEKIK_TOOLS_MEKIK_TABLE_H

#include <cstdint>
#include <string>
#include <vector>

namespace mekik::tool {

class Table {
public:
  enum class Align { Left, Right };
  /// One entry a column. An empty headline is not printed.
  Table(std::vector<std::string> headline, std::vector<Align> align)
      : headline(std::move(headline)), align(std::move(align)) {}

  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  /// A line across the table.
  void rule() { rows.emplace_back(); }
  std::string print() const;

private:
  std::vector<std::string> headline;
  std::vector<Align> align;
  std::vector<std::vector<std::string>> rows; // an empty row is a rule
};

/// "12 KiB", "3.4 MiB": three digits are enough.
std::string describeBytes(double bytes);
/// "12.3 M" of a large count.
std::string describeCount(double count);
/// "6.4 × 10^10"; small numbers as they are.
std::string describeMagnitude(double value);
/// From nanoseconds to millions of years.
std::string describeSeconds(double seconds);

} // namespace mekik::tool

#endif
