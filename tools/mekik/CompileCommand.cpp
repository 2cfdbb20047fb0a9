// compile: a model to any stage.
#include "compiler/driver/Artifact.h"
#include "runtime/base/Concat.h"
#include "tools/mekik/Command.h"
#include "tools/mekik/ModelInput.h"
#include <filesystem>

namespace mekik::tool {
namespace {

using base::concat;
using base::Status;
using driver::Stage;

struct CompileCommand {
  ModelInput input;
  std::string stageName = "exe";
  std::string output;
  bool isStatic = false;
};

std::string defaultOutput(const std::string &path, const driver::StageInfo &stage) {
  if (stage.isText)
    return "-";
  if (stage.stage == Stage::Lib)
    return concat("lib", stem(path), ".a");
  return stage.stage == Stage::Exe ? stem(path) : concat(stem(path), ".", stage.extension.str());
}

Status compile(const CompileCommand &command) {
  const driver::StageInfo &stage = driver::info(*driver::stageByName(command.stageName));
  if (command.isStatic && stage.stage != Stage::Exe)
    return wrongUsage(concat("--static is about executables, and --emit=", command.stageName, " asks for none"));
  std::string output = command.output.empty() ? defaultOutput(command.input.path, stage) : command.output;
  if (output == "-" && !stage.isText)
    return wrongUsage(concat("-o -: stage ", command.stageName, " is not text; name a file"));
  MEKIK_ASSIGN_OR_RETURN(LoadedModel model,
                         load(command.input, stage.stage == Stage::Exe ? Need::Program : Need::Model));
  for (const std::string &input : {command.input.path, model.dataPath})
    if (std::error_code ignored; std::filesystem::equivalent(output, input, ignored))
      return wrongUsage(concat("-o ", output, ": this is what is compiled; name another file"));
  driver::ArtifactOptions options;
  options.isStatic = command.isStatic;
  options.tokenizerJson = model.tokenizer ? model.tokenizer->toJson() : "";
  std::string messages;
  absl::Status written = driver::writeArtifact(*model.compiler, stage.stage, output, options, messages);
  printError(messages);
  (void)model.compiler.release(); // the process ends, which frees it faster than taking the modules apart would
  return fromAbsl(written);
}

} // namespace

Action addCompile(CLI::App &app) {
  auto command = std::make_shared<CompileCommand>();
  CLI::App *sub = app.add_subcommand("compile", "Compile a model: to a program, or to any stage on the way.");
  addModelOptions(*sub, command->input);
  sub->add_option("-o,--output", command->output,
                  "Where to write; - is standard output. Default: named after the model, and standard output for text.")
      ->type_name("FILE");
  std::vector<std::string> names;
  std::string help = "The stage to stop at:";
  for (const driver::StageInfo &stage : driver::allStages()) {
    names.push_back(stage.name.str());
    base::append(help, "\n  ", stage.name.str(), std::string(10 - stage.name.size(), ' '), stage.description.str());
  }
  sub->add_option("--emit", command->stageName, help)->check(CLI::IsMember(names))->type_name("STAGE")->capture_default_str();
  addCpuOption(*sub, command->input);
  addTextOptions(*sub, command->input);
  sub->add_flag("--static", command->isStatic, "A program that needs no shared library.");
  sub->add_flag("--gradient", command->input.gradientFunction, "Also compile the function `gradient`.");
  sub->add_flag("--verify-each", command->input.verifyEach, "Verify the module after every pass.");
  addExamples(*sub, "mekik compile models/gpt/gpt.mekik --data proverbs.txt -o gpt\n"
                    "mekik compile models/gpt/gpt.mekik -D vocab=30 --emit=kernels\n"
                    "mekik compile gpt.kernels.mlir --emit=asm -o gpt.s");
  return [command] { return compile(*command); };
}

} // namespace mekik::tool
