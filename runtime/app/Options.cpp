#include "runtime/app/Options.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include <algorithm>

namespace mekik::app {
namespace {

using base::concat;
using base::StatusOr;

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other, in bytes.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    rows[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j)
    rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t best = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = std::min(best, rows[i - 2][j - 2] + 1);
      rows[i][j] = best;
    }
  return rows[a.size()][b.size()];
}

} // namespace

std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known) {
  std::optional<std::string_view> found;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  if (word.size() > 100)
    return found;
  for (std::string_view candidate : known)
    if (size_t distance = editDistance(word, candidate); distance < least) {
      least = distance;
      found = candidate;
    }
  return found;
}

StatusOr<Options> Options::parse(std::span<char *const> arguments, std::span<const OptionSpec> specs) {
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    if (!argument.starts_with("-") || argument == "-")
      return base::invalidArgumentError(
          concat("unexpected argument ", base::quoted(argument), "; options are written --name value (see --help)"));
    size_t equals = argument.find('=');
    std::string_view name = argument.substr(0, equals);
    auto spec = std::find_if(specs.begin(), specs.end(), [&](const OptionSpec &s) { return s.name == name; });
    if (spec == specs.end()) {
      std::vector<std::string_view> known;
      for (const OptionSpec &s : specs)
        known.push_back(s.name);
      auto suggestion = nearest(name, known);
      return base::invalidArgumentError(
          concat("unknown option ", base::quoted(name),
                 suggestion ? concat("; did you mean ", *suggestion, "?") : std::string("; --help lists the options")));
    }
    std::string value;
    if (spec->value.empty()) {
      if (equals != std::string_view::npos)
        return base::invalidArgumentError(
            concat(name, ": takes no value, got ", base::quoted(argument.substr(equals + 1))));
    } else if (equals != std::string_view::npos) {
      value = argument.substr(equals + 1);
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    } else {
      return base::invalidArgumentError(concat(name, ": expected ", spec->value, " after it"));
    }
    if (!options.values.emplace(std::string(name), std::move(value)).second)
      return base::invalidArgumentError(concat(name, ": given twice"));
  }
  return options;
}

std::optional<std::string> Options::text(std::string_view name) const {
  auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

std::string Options::textOr(std::string_view name, std::string_view fallback) const {
  return text(name).value_or(std::string(fallback));
}

StatusOr<int64_t> Options::integerOr(std::string_view name, int64_t fallback, int64_t least, int64_t most) const {
  auto value = text(name);
  return value ? base::parseInteger(name, *value, least, most) : StatusOr<int64_t>(fallback);
}

StatusOr<uint64_t> Options::seedOr(std::string_view name, uint64_t fallback) const {
  auto value = text(name);
  return value ? base::parseSeed(name, *value) : StatusOr<uint64_t>(fallback);
}

StatusOr<double> Options::numberOr(std::string_view name, double fallback, double least, double most) const {
  auto value = text(name);
  return value ? base::parseNumber(name, *value, least, most) : StatusOr<double>(fallback);
}

std::string describeOptions(std::span<const OptionSpec> specs) {
  constexpr size_t column = 24;
  std::string text;
  for (const OptionSpec &spec : specs) {
    std::string head = concat("  ", spec.name, spec.value.empty() ? "" : " ", spec.value);
    head.resize(std::max(head.size() + 1, column), ' ');
    text += head;
    for (char c : spec.help) {
      text += c;
      if (c == '\n')
        text.append(column, ' ');
    }
    text += '\n';
  }
  return text;
}

} // namespace mekik::app
