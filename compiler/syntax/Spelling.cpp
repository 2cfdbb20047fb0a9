// Edit distance by the usual three-row table.
#include "compiler/syntax/Spelling.h"

#include "absl/strings/str_cat.h"
#include <algorithm>
#include <vector>

namespace mekik::syntax {

int editDistance(absl::string_view a, absl::string_view b) {
  std::vector<int> beforeLast(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    beforeLast.swap(last);
    last.swap(row);
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string suggestion(absl::string_view name, absl::Span<const std::string> candidates) {
  if (name.size() > 64)
    return "";
  int allowed = name.size() < 3 ? 1 : std::max<int>(1, static_cast<int>(name.size()) / 3);
  const std::string *best = nullptr;
  for (const std::string &candidate : candidates) {
    int difference = static_cast<int>(candidate.size()) - static_cast<int>(name.size());
    if (candidate.empty() || candidate == name || std::abs(difference) > allowed)
      continue;
    int distance = editDistance(name, candidate);
    if (distance >= static_cast<int>(std::max(name.size(), candidate.size())))
      continue;
    if (distance <= allowed - (best != nullptr)) {
      best = &candidate;
      allowed = distance;
    }
  }
  return best ? absl::StrCat("; did you mean '", *best, "'?") : "";
}

} // namespace mekik::syntax
