// What the commands of the trainer share: the program they run in, how they fail, how they load data and checkpoints.
#ifndef MEKIK_RUNTIME_APP_COMMAND_H
#define MEKIK_RUNTIME_APP_COMMAND_H

#include "runtime/abi/MekikAbi.h"
#include "runtime/app/Options.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/model/Model.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/train/Examples.h"
#include "runtime/train/RunState.h"
#include <memory>
#include <string>

namespace mekik::app {

struct Program {
  std::string name; // as it was called: "./gpt"
  const MekikModel &model;
  std::unique_ptr<tokenizer::Tokenizer> tokenizer; // null for models that are not about text
};

struct Command {
  std::string_view name, summary, examples; // each example is the rest of a command line and its explanation
  std::span<const OptionSpec> options;
  base::Status (*run)(const Program &program, const Options &options);
};

extern const Command trainCommand, sampleCommand, evalCommand, attentionCommand, infoCommand;

/// The same failure as one of the command line: exit status 2.
inline base::Status wrongUsage(const base::Status &status) {
  return status.ok() ? status : base::Status(base::StatusCode::WrongUsage, status.message());
}

/// MEKIK_ASSIGN_OR_RETURN for the value of an option.
#define MEKIK_ASSIGN_OPTION(target, expression)                                                                        \
  MEKIK_ASSIGN_OPTION_AT(target, expression, MEKIK_STATUS_CONCAT(mekikOption, __LINE__))
#define MEKIK_ASSIGN_OPTION_AT(target, expression, result)                                                             \
  auto result = (expression);                                                                                          \
  if (!result.ok())                                                                                                    \
    return ::mekik::app::wrongUsage(result.status());                                                                  \
  target = std::move(result).value()

constexpr OptionSpec threadsOption = {"--threads", "N", "threads to use (default: all cores; changes no result)"};
constexpr OptionSpec helpOption = {"--help", "", "this text"};
constexpr OptionSpec profileOption = {
    "--profile", "",
    "show the time of every kernel at the end, beside what is expected of this machine, with\nits line of the model; "
    "the machine is measured for a second, unless it was before"};

/// The model with the threads asked for. The environment variable MEKIK_FILL_WORK=1 turns on
/// ModelOptions::fillWorkWithGarbage.
base::StatusOr<model::Model> makeModel(const Program &program, const Options &options);

/// WrongUsage: `command`, as in "./gpt train", was given no --data.
base::Status noData(std::string_view command, bool isAboutText);
/// OK if the file of --data can be opened; otherwise the reason, and what the option takes.
base::Status checkDataOpens(const std::string &path);
/// Text through the program's tokenizer, or tensors for a program without one.
base::StatusOr<std::unique_ptr<train::Examples>> loadExamples(const Program &program, const std::string &path,
                                                              const train::Settings &settings);
/// The settings of a run that asks for nothing else: book-sized evaluations for lines, larger ones for a stream.
train::Settings defaultSettings(const Program &program);
/// Reads --eval-every, --eval-symbols, --patience and --validation over `settings`, as far as they are given.
base::Status readSettings(const Options &options, train::Settings &settings);

/// Loads parameters from a checkpoint file, or from best.safetensors of a run's folder, and returns the checkpoint.
base::StatusOr<checkpoint::Checkpoint> loadParameters(const Program &program, const std::string &path,
                                                      model::Model &model);

/// To standard output and standard error. Standard output that cannot be written is a failure.
base::Status printOut(std::string_view text);
void printError(std::string_view text);

/// Value of an integer setting of the model's configuration.
std::optional<int64_t> configuredInteger(const MekikModel &model, std::string_view key);

} // namespace mekik::app

#endif
