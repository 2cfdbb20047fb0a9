// Keys, and building a program into its place.
#include "tools/mekik/Cache.h"
#include "compiler/driver/Artifact.h"
#include "compiler/emit/SystemLibraries.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/lowering/Target.h"
#include "runtime/base/CacheFolder.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Sha256.h"
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace mekik::tool {

using base::concat;
using base::Status;
using base::StatusOr;

static std::filesystem::path ownPath() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path("mekik") : path;
}

/// A build that was replaced by another has another size or time.
static std::string stamp(const std::string &path) {
  struct stat file{};
  stat(path.c_str(), &file);
  return concat(path, " ", static_cast<int64_t>(file.st_size), " ", static_cast<int64_t>(file.st_mtim.tv_sec), ".",
                static_cast<int64_t>(file.st_mtim.tv_nsec), "\n");
}

static std::string moduleText(mlir::ModuleOp module, llvm::StringRef attribute) {
  auto text = module->getAttrOfType<mlir::StringAttr>(attribute);
  return text ? text.getValue().str() : "";
}

StatusOr<std::string> cachedProgram(LoadedModel &model) {
  MEKIK_ASSIGN_OR_RETURN(std::string folder, base::cacheFolder());
  auto runtime = emit::findRuntimeArchive();
  if (!runtime.ok())
    return fromAbsl(runtime.status());
  auto target = lowering::Target::parse(model.compiler->options().cpu);
  if (!target.ok())
    return wrongUsage(concat("--cpu: ", std::string(target.status().message())));
  driver::ArtifactOptions options;
  options.tokenizerJson = model.tokenizer ? model.tokenizer->toJson() : "";

  mlir::ModuleOp module = model.compiler->module();
  base::Sha256 key;
  key.update(moduleText(module, graph::kSourceHash));
  key.update(concat("\n", options.tokenizerJson, "\n", target->triple, " ", target->cpu, " ", target->features, "\n"));
  key.update(stamp(ownPath().string()));
  key.update(stamp(*runtime));
  std::string name = module.getName() ? module.getName()->str() : "model";
  std::string path = concat(folder, "/", name, "-", key.finishHex().substr(0, 24));
  if (base::pathKind(path) == base::PathKind::RegularFile)
    return path;
  std::string messages;
  absl::Status written = driver::writeArtifact(*model.compiler, driver::Stage::Exe, path, options, messages);
  printError(messages);
  MEKIK_RETURN_IF_ERROR(fromAbsl(written));
  return path;
}

} // namespace mekik::tool
