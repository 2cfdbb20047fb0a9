// train, sample, eval, attention: compile the model, or find it compiled, and become its program. The program's own
// options are taken from its tables, so that both command lines are one.
#include "runtime/app/Command.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/train/Trainer.h"
#include "tools/mekik/Cache.h"
#include "tools/mekik/Command.h"
#include <cerrno>
#include <cstring>
#include <deque>
#include <unistd.h>

namespace mekik::tool {
namespace {

using base::concat;
using base::Status;
using base::StatusOr;

/// Options of the program, to be handed on as they were given.
class Forwarded {
public:
  Forwarded(CLI::App &command, std::span<const app::OptionSpec> specs) {
    for (const app::OptionSpec &spec : specs) {
      std::string name(spec.name), help(spec.help);
      if (name == "--help" || name == "--data" || name == "--cpu") // mekik has these itself
        continue;
      Entry &entry = entries.emplace_back();
      entry.name = name;
      entry.isFlag = spec.value.empty();
      // A second argument of add_flag would be taken as a variable to bind.
      entry.option = entry.isFlag ? command.add_flag(name) : command.add_option(name, entry.value);
      entry.option->description(help);
      if (!entry.isFlag)
        entry.option->type_name(std::string(spec.value));
    }
  }

  void appendTo(std::vector<std::string> &arguments) const {
    for (const Entry &entry : entries) {
      if (entry.option->count() == 0)
        continue;
      arguments.push_back(entry.isFlag ? entry.name : concat(entry.name, "=", entry.value));
    }
  }

  bool has(std::string_view name) const {
    for (const Entry &entry : entries)
      if (entry.name == name)
        return entry.option->count() > 0;
    return false;
  }

  std::string text(std::string_view name, std::string fallback) const {
    for (const Entry &entry : entries)
      if (entry.name == name && entry.option->count() > 0)
        return entry.value;
    return fallback;
  }

private:
  struct Entry {
    std::string name, value;
    CLI::Option *option = nullptr;
    bool isFlag = false;
  };
  std::deque<Entry> entries; // addresses must stay
};

/// Replaces this process by the program; returns only to tell why it could not.
Status become(const std::string &program, const std::vector<std::string> &arguments) {
  std::vector<char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(const_cast<char *>(argument.c_str()));
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  return base::internalError(concat(program, ": cannot be run: ", strerror(errno)));
}

struct ProgramCommand {
  ModelInput input;
  std::optional<Forwarded> forwarded;
};

Status train(const ProgramCommand &command) {
  // What a run starts from, or goes on with, says which symbols it knows; the latter also how it is configured.
  ModelInput input = command.input;
  input.from = command.forwarded->text("--from", "");
  if (base::pathKind(input.from) == base::PathKind::Directory)
    input.from = train::bestPath(input.from);
  if (command.forwarded->has("--resume"))
    if (std::string last = train::lastPath(command.forwarded->text("--out", "run"));
        base::pathKind(last) == base::PathKind::RegularFile) {
      input.from = last;
      input.sameAsFrom = true;
    }
  MEKIK_ASSIGN_OR_RETURN(LoadedModel model, load(input, Need::Program));
  if (model.dataPath.empty())
    return app::noData(concat("mekik train ", command.input.path), model.tokenizer != nullptr);
  MEKIK_ASSIGN_OR_RETURN(std::string program, cachedProgram(model));
  std::vector<std::string> arguments = {"mekik", "train", "--data=" + model.dataPath};
  command.forwarded->appendTo(arguments);
  return become(program, arguments);
}

/// sample and eval use a checkpoint, which says with which configuration and tokenizer its model was compiled.
Status useCheckpoint(const ProgramCommand &command, const std::string &name) {
  std::string path = command.forwarded->text("--checkpoint", "run");
  if (base::pathKind(path) == base::PathKind::Directory)
    path = train::bestPath(path);
  MEKIK_ASSIGN_OR_RETURN(checkpoint::Checkpoint checkpoint, checkpoint::loadCheckpoint(path));
  std::unique_ptr<tokenizer::Tokenizer> tokenizer;
  if (!checkpoint.info.tokenizer.empty()) {
    MEKIK_ASSIGN_OR_RETURN(tokenizer, tokenizer::tokenizerFromJson(checkpoint.info.tokenizer, path));
  }
  MEKIK_ASSIGN_OR_RETURN(LoadedModel model, loadAs(command.input, checkpoint.info.configuration, std::move(tokenizer)));
  MEKIK_ASSIGN_OR_RETURN(std::string program, cachedProgram(model));
  std::vector<std::string> arguments = {"mekik", name};
  if (!command.input.data.empty())
    arguments.push_back("--data=" + command.input.data);
  command.forwarded->appendTo(arguments);
  return become(program, arguments);
}

} // namespace

Action addTrain(CLI::App &app) {
  auto command = std::make_shared<ProgramCommand>();
  CLI::App *sub = app.add_subcommand("train", "Compile a model, unless it is compiled already, and train it.");
  addModelOptions(*sub, command->input);
  addCpuOption(*sub, command->input);
  addTextOptions(*sub, command->input);
  command->forwarded.emplace(*sub, app::trainCommand.options);
  addExamples(*sub, "mekik train models/gpt/gpt.mekik --data proverbs.txt --out run\n"
                    "mekik train models/gpt/gpt.mekik --data proverbs.txt -D width=64 --seed 2 --log log.jsonl\n"
                    "mekik train models/gpt/gpt.mekik --data proverbs.txt --out run --steps 5000 --resume\n"
                    "mekik train models/chat/chat.mekik --from run --out chat");
  return [command] { return train(*command); };
}

Action addSample(CLI::App &app) {
  auto command = std::make_shared<ProgramCommand>();
  CLI::App *sub = app.add_subcommand("sample", "Write text with a trained model.");
  sub->add_option("MODEL", command->input.path, "The model (.mekik) that was trained.")->required();
  addCpuOption(*sub, command->input);
  command->forwarded.emplace(*sub, app::sampleCommand.options);
  addExamples(*sub, "mekik sample models/gpt/gpt.mekik --count 12 --mark-new proverbs.txt\n"
                    "mekik sample models/gpt/gpt.mekik --checkpoint run --prompt \"su \" --temperature 0.7");
  return [command] { return useCheckpoint(*command, "sample"); };
}

Action addAttention(CLI::App &app) {
  auto command = std::make_shared<ProgramCommand>();
  CLI::App *sub = app.add_subcommand("attention", "Show where each head of a trained model looks.");
  sub->add_option("MODEL", command->input.path, "The model (.mekik) that was trained.")->required();
  addCpuOption(*sub, command->input);
  command->forwarded.emplace(*sub, app::attentionCommand.options);
  addExamples(*sub, "mekik attention models/gpt/gpt.mekik --checkpoint run --prompt gönül\n"
                    "mekik attention models/gpt/gpt.mekik --prompt gönül --svg gönül.svg --digits 3");
  return [command] { return useCheckpoint(*command, "attention"); };
}

Action addEval(CLI::App &app) {
  auto command = std::make_shared<ProgramCommand>();
  CLI::App *sub = app.add_subcommand("eval", "Measure the loss of a trained model on data.");
  sub->add_option("MODEL", command->input.path, "The model (.mekik) that was trained.")->required();
  addCpuOption(*sub, command->input);
  sub->add_option("--data", command->input.data, "Text or tensors, as for train.")->type_name("FILE")->required();
  command->forwarded.emplace(*sub, app::evalCommand.options);
  addExamples(*sub, "mekik eval models/gpt/gpt.mekik --data proverbs.txt --checkpoint run\n"
                    "mekik eval models/gpt/gpt.mekik --data proverbs.txt --json");
  return [command] { return useCheckpoint(*command, "eval"); };
}

} // namespace mekik::tool
