// The command line `mekik`: finds the command, shows its messages, turns its status into an exit status.
// 0: done. 1: failed, with one message. 2: wrong usage, with one message.
#include "compiler/driver/Version.h"
#include "runtime/app/Options.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Parse.h"
#include "tools/mekik/Command.h"
#include "llvm/Support/ErrorHandling.h"
#include <csignal>
#include <new>
#include <unistd.h>

namespace mekik::tool {

base::Status fromAbsl(const absl::Status &status) {
  if (status.ok())
    return {};
  std::string message(status.message());
  switch (status.code()) {
  case absl::StatusCode::kNotFound:
    return base::notFoundError(std::move(message));
  case absl::StatusCode::kInvalidArgument:
    return base::invalidArgumentError(std::move(message));
  default:
    return base::internalError(std::move(message));
  }
}

base::Status printOut(std::string_view text) { return base::writeAll(STDOUT_FILENO, text, "standard output"); }

void printError(std::string_view text) {
  // With standard error gone there is nobody left to tell.
  (void)base::writeAll(STDERR_FILENO, text, "standard error").ok();
}

base::Status writeTo(const std::string &path, std::string_view text) {
  return path == "-" ? printOut(text) : base::writeFileAtomically(path, text);
}

void addSeedOption(CLI::App &command, uint64_t &seed, const std::string &help) {
  command.add_option("--seed", seed, help)->type_name("N")->capture_default_str()->check([](const std::string &text) {
    auto parsed = base::parseSeed("", text);
    return parsed.ok() ? std::string() : parsed.status().message().substr(2); // the parser puts the option in front
  });
}

void addExamples(CLI::App &command, std::string_view examples) {
  std::string footer = "Examples:";
  for (std::string_view rest = examples; !rest.empty();) {
    size_t end = rest.find('\n');
    base::append(footer, "\n  ", rest.substr(0, end));
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  command.footer(footer);
}

static int report(const std::string &command, const base::Status &status) {
  if (status.ok())
    return 0;
  printError(base::concat(command, ": error: ", status.message(), "\n"));
  return status.code() == base::StatusCode::WrongUsage ? 2 : 1;
}

/// The text that --help, --help-all or --version asks for.
static std::string answer(const CLI::App &app, const CLI::ParseError &request) {
  if (dynamic_cast<const CLI::CallForAllHelp *>(&request))
    return app.help("", CLI::AppFormatMode::All);
  if (dynamic_cast<const CLI::CallForHelp *>(&request))
    return app.help();
  return std::string(request.what()) + "\n"; // the version
}

/// "; did you mean --steps?" if a word that nobody expected is near to one that is known.
static std::string suggestion(const CLI::App &program) {
  std::vector<std::string_view> known;
  const CLI::App *command = &program;
  if (std::vector<CLI::App *> chosen = program.get_subcommands(); !chosen.empty())
    command = chosen.front();
  std::vector<std::string> names;
  for (const CLI::Option *option : command->get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  for (const CLI::App *other : command->get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(other->get_name());
  known.assign(names.begin(), names.end());
  for (const std::string &word : command->remaining()) {
    std::string_view name = std::string_view(word).substr(0, word.find('='));
    if (auto near = app::nearest(name, known))
      return base::concat("; did you mean ", *near, "?");
  }
  return "";
}

/// What is wrong with a command line that names no command.
static std::string noCommand(const CLI::App &app) {
  std::string names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    base::append(names, names.empty() ? "" : ", ", command->get_name());
  std::vector<std::string> words = app.remaining();
  std::string problem = words.empty()               ? std::string("a command is missing")
                        : words.front().starts_with("-") ? base::concat("there is no option ", words.front(), " in front of a command")
                                                         : base::concat("there is no command ", words.front());
  return base::concat(problem, "; the commands are ", names);
}

static int run(int argc, char **argv) {
  CLI::App app("Compiles models written as text into programs that train and sample them.", "mekik");
  app.set_version_flag("--version", base::concat("mekik ", driver::kVersion));
  app.set_help_flag("-h,--help", "This text.");
  app.set_help_all_flag("--help-all", "The help of every command.");
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  addExamples(app, "mekik compile models/gpt/gpt.mekik --data proverbs.txt -o gpt\n"
                   "mekik train models/gpt/gpt.mekik --data proverbs.txt --out run\n"
                   "mekik COMMAND --help");
  std::vector<std::pair<std::string, Action>> actions = {
      {"compile", addCompile(app)}, {"train", addTrain(app)},     {"sample", addSample(app)},
      {"eval", addEval(app)},       {"attention", addAttention(app)}, {"run", addRun(app)},
      {"plan", addPlan(app)},       {"check", addCheck(app)},     {"inspect", addInspect(app)},
      {"tokenize", addTokenize(app)}, {"ngram", addNgram(app)},   {"completion", addCompletion(app)},
  };
  // CLI11 reports by exceptions; they end here.
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return report("mekik", printOut(answer(app, error)));
    std::string place = "mekik";
    for (const CLI::App *command : app.get_subcommands())
      place += " " + command->get_name();
    std::string problem = app.get_subcommands().empty() ? noCommand(app) : std::string(error.what());
    return report(place, wrongUsage(base::concat(problem, suggestion(app), " (", place, " --help tells more)")));
  }
  for (auto &[name, action] : actions)
    if (app.got_subcommand(name))
      return report("mekik " + name, action());
  return 2;
}

} // namespace mekik::tool

/// There is no memory left to unwind with: one message, written without any.
[[noreturn]] static void outOfMemory() {
  static constexpr std::string_view message =
      "mekik: error: not enough memory; give the model a smaller configuration (mekik plan shows what it needs)\n";
  (void)!write(STDERR_FILENO, message.data(), message.size());
  _exit(1);
}

int main(int argc, char **argv) {
  std::signal(SIGPIPE, SIG_DFL);
  std::set_new_handler(outOfMemory);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { outOfMemory(); });
  return mekik::tool::run(argc, argv);
}
