// completion: scripts that complete commands, options and their words in bash and zsh, made from the command line itself.
#include "runtime/base/Concat.h"
#include "tools/mekik/Command.h"

namespace mekik::tool {
namespace {

std::string optionNames(const CLI::App &command) {
  std::string names;
  for (const CLI::Option *option : command.get_options())
    for (const std::string &name : option->get_lnames())
      base::append(names, names.empty() ? "" : " ", "--", name);
  return names;
}

std::string script(const CLI::App &app, bool zsh) {
  std::string commands, cases;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; })) {
    base::append(commands, commands.empty() ? "" : " ", command->get_name());
    base::append(cases, "    ", command->get_name(), ") options=\"", optionNames(*command), "\" ;;\n");
  }
  std::string stages;
  for (const std::string &name : {"ast", "graph", "gradient", "kernels", "vector", "llvm", "asm", "obj", "lib", "exe"})
    base::append(stages, stages.empty() ? "" : " ", name);
  // zsh runs the very script for bash.
  return base::concat(zsh ? "#compdef mekik\nautoload -U +X bashcompinit && bashcompinit\n" : "",
                      "_mekik() {\n"
                      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\" options=\"\"\n"
                      "  COMPREPLY=()\n"
                      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                      "    COMPREPLY=($(compgen -W \"",
                      commands, " ", optionNames(app),
                      "\" -- \"$word\"))\n"
                      "    return\n"
                      "  fi\n"
                      "  [ \"$previous\" = \"=\" ] && previous=\"${COMP_WORDS[COMP_CWORD-2]}\"\n"
                      "  [ \"$word\" = \"=\" ] && word=\"\"\n"
                      "  case \"$previous\" in\n"
                      "    --emit) COMPREPLY=($(compgen -W \"",
                      stages,
                      "\" -- \"$word\")); return ;;\n"
                      "    --cpu) COMPREPLY=($(compgen -W \"x86-64-v3 x86-64-v4 native\" -- \"$word\")); return ;;\n"
                      "    --tokenizer) COMPREPLY=($(compgen -W \"characters bytes bpe: characters+bpe:\" -- \"$word\")\n"
                      "                          $(compgen -f -- \"$word\")); return ;;\n"
                      "    --layout) COMPREPLY=($(compgen -W \"lines stream examples\" -- \"$word\")); return ;;\n"
                      "  esac\n"
                      "  case \"${COMP_WORDS[1]}\" in\n",
                      cases,
                      "  esac\n"
                      "  if [[ \"$word\" == -* ]]; then\n"
                      "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                      "  else\n"
                      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
                      "  fi\n"
                      "}\n"
                      "complete -o filenames -F _mekik mekik\n");
}

} // namespace

Action addCompletion(CLI::App &app) {
  auto shell = std::make_shared<std::string>();
  CLI::App *sub = app.add_subcommand("completion", "Print a script that completes mekik's commands in a shell.");
  sub->add_option("SHELL", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  addExamples(*sub, "source <(mekik completion bash)\nmekik completion zsh > ~/.zfunc/_mekik");
  return [shell, &app] { return printOut(script(app, *shell == "zsh")); };
}

} // namespace mekik::tool
