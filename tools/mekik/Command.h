// What the commands of `mekik` share. Each command is one file: it adds its options to the command line and says what to
// run. Output for people goes to standard error, results to standard output.
#ifndef MEKIK_TOOLS_MEKIK_COMMAND_H
#define MEKIK_TOOLS_MEKIK_COMMAND_H

#include "absl/status/status.h"
#include "runtime/base/Status.h"
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <string>
#include <string_view>

namespace mekik::tool {

/// What a command runs once its options are read.
using Action = std::function<base::Status()>;

/// Adds the command; the caller runs the action if the command was given. Options live in the action.
Action addCompile(CLI::App &app);
Action addTrain(CLI::App &app);
Action addSample(CLI::App &app);
Action addEval(CLI::App &app);
Action addAttention(CLI::App &app);
Action addRun(CLI::App &app);
Action addPlan(CLI::App &app);
Action addCheck(CLI::App &app);
Action addInspect(CLI::App &app);
Action addTokenize(CLI::App &app);
Action addNgram(CLI::App &app);
Action addCompletion(CLI::App &app);

/// A command line that is wrong in itself: exit status 2.
inline base::Status wrongUsage(std::string message) { return {base::StatusCode::WrongUsage, std::move(message)}; }

/// The compiler's statuses as the runtime's; ok stays ok.
base::Status fromAbsl(const absl::Status &status);

/// To standard output; one that cannot be written is a failure.
base::Status printOut(std::string_view text);
/// To standard error.
void printError(std::string_view text);
/// `text`, or a file replaced as a whole; "-" is standard output.
base::Status writeTo(const std::string &path, std::string_view text);

/// --seed: every whole number from 0 to 2^64-1, and nothing rounded into that range.
void addSeedOption(CLI::App &command, uint64_t &seed, const std::string &help);

/// The command's help ends with its examples, each a command line.
void addExamples(CLI::App &command, std::string_view examples);

} // namespace mekik::tool

#endif
