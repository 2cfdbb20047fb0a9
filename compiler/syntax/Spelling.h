// Suggestions for misspelt names.
#ifndef MEKIK_SYNTAX_SPELLING_H
#define MEKIK_SYNTAX_SPELLING_H

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include <string>

namespace mekik::syntax {

/// Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`, counted in bytes.
int editDistance(absl::string_view a, absl::string_view b);

/// "; did you mean 'relu'?" for the candidate nearest to `name`, or "" when none is near enough. Of equally near ones
/// the first is taken.
std::string suggestion(absl::string_view name, absl::Span<const std::string> candidates);

} // namespace mekik::syntax

#endif
