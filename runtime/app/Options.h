// The command line of the trainer, from tables: each command lists its options once, and parsing, --help and
// suggestions for misspelt names follow from the list.
#ifndef MEKIK_RUNTIME_APP_OPTIONS_H
#define MEKIK_RUNTIME_APP_OPTIONS_H

#include "runtime/base/Status.h"
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mekik::app {

struct OptionSpec {
  std::string_view name;  // "--steps"
  std::string_view value; // "N"; empty for a flag
  std::string_view help;  // one or more lines
};

/// What was given. Options are written `--name value` or `--name=value`, each at most once.
class Options {
public:
  /// `arguments` follow the command. Errors, all InvalidArgument: an unknown option (with the nearest known one), a
  /// missing or superfluous value, an option given twice, a stray argument.
  static base::StatusOr<Options> parse(std::span<char *const> arguments, std::span<const OptionSpec> specs);

  bool has(std::string_view name) const { return values.find(name) != values.end(); }
  std::optional<std::string> text(std::string_view name) const;
  std::string textOr(std::string_view name, std::string_view fallback) const;
  /// Errors are InvalidArgument and name the option and the value.
  base::StatusOr<int64_t> integerOr(std::string_view name, int64_t fallback, int64_t least,
                                    int64_t most = std::numeric_limits<int64_t>::max()) const;
  base::StatusOr<uint64_t> seedOr(std::string_view name, uint64_t fallback) const;
  base::StatusOr<double> numberOr(std::string_view name, double fallback, double least, double most) const;

private:
  std::map<std::string, std::string, std::less<>> values;
};

/// The known name nearest to `word`, if it is near enough to be a misspelling.
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known);

/// The option list of a --help text.
std::string describeOptions(std::span<const OptionSpec> specs);

} // namespace mekik::app

#endif
