#include "runtime/app/Main.h"
#include "runtime/app/Command.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"

namespace mekik::app {
namespace {

using base::concat;
using base::Status;

constexpr int exitDone = 0, exitFailed = 1, exitWrongUsage = 2;
const Command *const commands[] = {&trainCommand, &sampleCommand, &evalCommand, &attentionCommand, &infoCommand};

std::string programHelp(std::string_view program, const MekikModel &model) {
  std::string text = concat("usage: ", program, " COMMAND [OPTIONS]\n\nThe model ", model.name, ", compiled by Mekik ",
                            model.compilerVersion, ".\n\ncommands\n");
  for (const Command *command : commands) {
    std::string name(command->name);
    name.resize(11, ' ');
    base::append(text, "  ", name, command->summary, "\n");
  }
  return concat(text, "\n", program, " COMMAND --help describes a command.\n");
}

std::string commandHelp(std::string_view program, const Command &command) {
  std::string text = concat("usage: ", program, " ", command.name, " [OPTIONS]\n\n", command.summary, "\n\noptions\n",
                            describeOptions(command.options), "\nexamples\n");
  for (std::string_view rest = command.examples; !rest.empty();) {
    size_t end = rest.find('\n');
    base::append(text, "  ", program, " ", rest.substr(0, end), "\n");
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  return text;
}

int report(std::string_view program, const Status &status) {
  if (status.ok())
    return exitDone;
  printError(concat(program, ": error: ", status.message(), "\n"));
  return status.code() == base::StatusCode::WrongUsage ? exitWrongUsage : exitFailed;
}

Status runCommand(const std::string &name, const Command &command, std::span<char *const> arguments,
                  const MekikModel &model, std::string_view tokenizerJson) {
  for (const char *argument : arguments)
    if (std::string_view(argument) == "--help" || std::string_view(argument) == "-h")
      return printOut(commandHelp(name, command));
  MEKIK_ASSIGN_OPTION(Options options, Options::parse(arguments, command.options));
  Program program{name, model, nullptr};
  if (!tokenizerJson.empty()) {
    MEKIK_ASSIGN_OR_RETURN(program.tokenizer,
                           tokenizer::tokenizerFromJson(tokenizerJson, "the tokenizer in this program"));
  }
  return command.run(program, options);
}

} // namespace

int mekikMain(int argc, char **argv, const MekikModel &model, std::string_view tokenizerJson) {
  std::string name = argc > 0 && argv[0] && *argv[0] ? argv[0] : "mekik-model";
  if (model.magic != MEKIK_ABI_MAGIC || model.version != MEKIK_ABI_VERSION || model.size != sizeof(MekikModel))
    return report(name, model::checkDescriptor(model));
  if (argc < 2) {
    printError(programHelp(name, model));
    return exitWrongUsage;
  }
  std::string_view word = argv[1];
  if (word == "--help" || word == "-h" || word == "help")
    return report(name, printOut(programHelp(name, model)));
  std::vector<std::string_view> names;
  for (const Command *command : commands) {
    if (command->name == word)
      return report(concat(name, " ", word),
                    runCommand(name, *command, {argv + 2, static_cast<size_t>(argc - 2)}, model, tokenizerJson));
    names.push_back(command->name);
  }
  auto suggestion = nearest(word, names);
  return report(name, {base::StatusCode::WrongUsage,
                       concat("unknown command ", base::quoted(word),
                              suggestion ? concat("; did you mean ", *suggestion, "?")
                                         : std::string("; the commands are train, sample, eval, attention and info"))});
}

} // namespace mekik::app
