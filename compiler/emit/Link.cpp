// lld, told what to do.
#include "compiler/emit/Link.h"
#include "absl/strings/str_cat.h"
#include "compiler/emit/CodeGenerator.h"
#include "compiler/emit/SystemLibraries.h"
#include "compiler/emit/TemporaryFolder.h"
#include "lld/Common/Driver.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>
#include <vector>

LLD_HAS_DRIVER(elf)

namespace mekik::emit {
namespace {

using Arguments = std::vector<std::string>;

absl::Status link(const Arguments &arguments) {
  static std::mutex mutex; // the linker keeps its state in globals
  std::lock_guard lock(mutex);
  std::vector<const char *> list = {"ld.lld"};
  for (const std::string &argument : arguments)
    list.push_back(argument.c_str());
  std::string messages;
  llvm::raw_string_ostream out(messages);
  lld::Result result = lld::lldMain(list, out, out, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return absl::InternalError(absl::StrCat("linking failed: ", messages));
  return absl::OkStatus();
}

/// An object that defines `symbol` as the bytes of `text` and a zero byte.
absl::StatusOr<std::string> makeTextObject(llvm::StringRef symbol, llvm::StringRef text) {
  auto target = lowering::Target::parse("x86-64-v3");
  if (!target.ok())
    return target.status();
  auto generator = CodeGenerator::create(*target);
  if (!generator.ok())
    return generator.status();
  llvm::Module module("text", (*generator)->llvmContext());
  (*generator)->setLayout(module);
  llvm::Constant *bytes = llvm::ConstantDataArray::getString(module.getContext(), text, /*AddNull=*/true);
  new llvm::GlobalVariable(module, bytes->getType(), /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage, bytes,
                           symbol);
  return (*generator)->generate(module, llvm::CodeGenFileType::ObjectFile);
}

} // namespace

absl::StatusOr<std::string> linkRelocatable(llvm::ArrayRef<std::string> objects) {
  auto folder = TemporaryFolder::create();
  if (!folder.ok())
    return folder.status();
  std::string path = folder->file("whole.o");
  Arguments arguments = {"-r", "-o", path};
  for (size_t number = 0; number < objects.size(); ++number) {
    auto part = folder->write(absl::StrCat(number, ".o"), objects[number]);
    if (!part.ok())
      return part.status();
    arguments.push_back(*part);
  }
  if (absl::Status status = link(arguments); !status.ok())
    return status;
  return readFile(path);
}

absl::Status linkShared(llvm::StringRef object, const std::string &path) {
  auto folder = TemporaryFolder::create();
  if (!folder.ok())
    return folder.status();
  auto input = folder->write("model.o", object);
  if (!input.ok())
    return input.status();
  return link({"-shared", "-z", "noexecstack", "--build-id=none", "--hash-style=gnu", "-o", path, *input});
}

absl::Status linkExecutable(llvm::StringRef object, llvm::StringRef tokenizer, const std::string &path,
                            const ExecutableOptions &options) {
  auto system = SystemLibraries::find(options.fullyStatic);
  if (!system.ok())
    return system.status();
  absl::StatusOr<std::string> runtime = options.runtime.empty() ? findRuntimeArchive() : options.runtime;
  if (!runtime.ok())
    return runtime.status();
  auto text = makeTextObject("mekik_tokenizer", tokenizer);
  if (!text.ok())
    return text.status();
  auto folder = TemporaryFolder::create();
  if (!folder.ok())
    return folder.status();
  auto model = folder->write("model.o", object);
  auto table = folder->write("tokenizer.o", *text);
  for (const auto *part : {&model, &table})
    if (!part->ok())
      return part->status();

  Arguments arguments = {"-m",
                         "elf_x86_64",
                         "--hash-style=gnu",
                         "--build-id=none",
                         "--eh-frame-hdr",
                         "--gc-sections",
                         "--icf=safe",
                         "--strip-all",
                         "-z",
                         "noexecstack",
                         "-o",
                         path};
  if (options.fullyStatic)
    arguments.push_back("-static");
  else
    arguments.insert(arguments.end(), {"-pie", "-dynamic-linker", "/lib64/ld-linux-x86-64.so.2", "--as-needed"});
  arguments.insert(arguments.end(), system->before.begin(), system->before.end());
  arguments.insert(arguments.end(), {*model, *table, *runtime});
  arguments.insert(arguments.end(), system->after.begin(), system->after.end());
  return link(arguments);
}

} // namespace mekik::emit
