// Writing the end of a compilation to files.
#include "compiler/driver/Artifact.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/driver/Header.h"
#include "compiler/emit/Link.h"
#include "compiler/emit/Object.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace mekik::driver {

using absl::Status;
using absl::StatusOr;
using absl::StrCat;

static Status fileError(const std::string &path, const char *action, std::error_code error) {
  return absl::UnknownError(StrCat(path, ": cannot ", action, ": ", error.message()));
}

/// A file is replaced by a rename, which would destroy anything that is not one; and a folder that cannot be written to
/// is better known before the compilation than behind it.
static Status checkReplaceable(const std::string &path) {
  if (llvm::sys::fs::is_directory(path))
    return absl::InvalidArgumentError(StrCat(path, ": is a folder; name a file"));
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    return absl::InvalidArgumentError(StrCat(path, ": is not a file and would be lost; name a file"));
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (access(folder.empty() ? "." : folder.str().c_str(), W_OK | X_OK) != 0)
    return fileError(path, "be written", std::error_code(errno, std::generic_category()));
  return absl::OkStatus();
}

/// Calls `write` with a name beside `path`, and moves what it wrote to `path`; to the file itself if that is a symbolic
/// link.
template <typename Write> static Status replaceFile(const std::string &path, Write write) {
  if (Status status = checkReplaceable(path); !status.ok())
    return status;
  llvm::SmallString<128> target(path);
  if (llvm::sys::fs::exists(path) && llvm::sys::fs::real_path(path, target))
    target = path;
  std::string temporary = StrCat(target.str().str(), ".tmp-", getpid());
  Status status = write(temporary);
  if (status.ok())
    if (std::error_code error = llvm::sys::fs::rename(temporary, target))
      status = fileError(path, "be written", error);
  if (!status.ok())
    llvm::sys::fs::remove(temporary);
  return status;
}

static Status writeBytes(const std::string &path, llvm::StringRef bytes) {
  if (path == "-") {
    llvm::raw_fd_ostream &out = llvm::outs();
    out << bytes;
    out.flush();
    if (!out.has_error())
      return absl::OkStatus();
    std::error_code error = out.error();
    out.clear_error();
    return fileError("standard output", "be written", error);
  }
  return replaceFile(path, [&](const std::string &temporary) -> Status {
    std::error_code error;
    llvm::raw_fd_ostream out(temporary, error);
    if (error)
      return fileError(path, "be written", error);
    out << bytes;
    out.close();
    if (out.has_error()) {
      error = out.error();
      out.clear_error();
      return fileError(path, "be written", error);
    }
    return absl::OkStatus();
  });
}

/// The symbol of a library: mekik_model_NAME for libNAME.a, so that libraries of several models meet in one program.
static std::string librarySymbol(const std::string &path) {
  std::string name = llvm::sys::path::stem(path).str();
  if (absl::StartsWith(name, "lib"))
    name.erase(0, 3);
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  return StrCat(emit::kModelSymbol, "_", name);
}

static Status writeLibrary(const std::string &path, const std::string &object, const std::string &header) {
  if (!absl::EndsWith(path, ".a"))
    return absl::InvalidArgumentError(StrCat("-o ", path, ": the name of a static library ends in .a"));
  Status status = replaceFile(path, [&](const std::string &temporary) -> Status {
    auto buffer = llvm::MemoryBuffer::getMemBuffer(object, "model.o", /*RequiresNullTerminator=*/false);
    std::vector<llvm::NewArchiveMember> members;
    members.emplace_back(buffer->getMemBufferRef());
    if (llvm::Error error = llvm::writeArchive(temporary, members, llvm::SymtabWritingMode::NormalSymtab,
                                               llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false))
      return absl::UnknownError(StrCat(path, ": cannot be written: ", llvm::toString(std::move(error))));
    return absl::OkStatus();
  });
  if (!status.ok())
    return status;
  return writeBytes(path.substr(0, path.size() - 2) + ".h", header);
}

Status writeArtifact(Compiler &compiler, Stage stage, const std::string &path, const ArtifactOptions &options,
                     std::string &messages) {
  if (path != "-")
    if (Status status = checkReplaceable(path); !status.ok())
      return status;
  if (info(stage).isText) {
    StatusOr<std::string> text = compiler.text(stage, messages);
    return text.ok() ? writeBytes(path, *text) : text.status();
  }
  std::string symbol = stage == Stage::Lib ? librarySymbol(path) : emit::kModelSymbol;
  std::string header = stage == Stage::Lib ? headerOf(compiler, symbol) : "";
  StatusOr<std::string> object = compiler.object(messages, symbol);
  if (!object.ok())
    return object.status();
  if (stage == Stage::Obj)
    return writeBytes(path, *object);
  if (stage == Stage::Lib)
    return writeLibrary(path, *object, header);
  emit::ExecutableOptions executable;
  executable.fullyStatic = options.isStatic;
  return replaceFile(path, [&](const std::string &temporary) {
    return emit::linkExecutable(*object, options.tokenizerJson, temporary, executable);
  });
}

} // namespace mekik::driver
