// Finds library files: first where the build found them, then where Linux distributions put them.
#include "compiler/emit/SystemLibraries.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>

namespace mekik::emit {
namespace {

bool exists(const std::string &path) { return llvm::sys::fs::exists(path); }

/// GCC's own folders, newest version first.
std::vector<std::string> gccFolders() {
  std::vector<std::pair<int, std::string>> found;
  for (const char *base :
       {"/usr/lib/gcc/x86_64-linux-gnu", "/usr/lib/gcc/x86_64-redhat-linux", "/usr/lib/gcc/x86_64-pc-linux-gnu"}) {
    std::error_code error;
    for (llvm::sys::fs::directory_iterator entry(base, error), end; entry != end && !error; entry.increment(error)) {
      int version = 0;
      llvm::sys::path::filename(entry->path()).split('.').first.getAsInteger(10, version);
      found.emplace_back(-version, entry->path());
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> folders;
  for (auto &[version, folder] : found)
    folders.push_back(folder);
  return folders;
}

const std::vector<std::string> &folders() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list;
    llvm::SmallVector<llvm::StringRef> built;
    llvm::StringRef(MEKIK_LIBRARY_FOLDERS).split(built, '|', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef folder : built)
      list.push_back(folder.str());
    for (const char *folder : {"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"})
      list.push_back(folder);
    for (std::string &folder : gccFolders())
      list.push_back(std::move(folder));
    return list;
  }();
  return all;
}

/// Appends the path of `file`, or says which package has it.
absl::Status append(std::vector<std::string> &paths, llvm::StringRef file, llvm::StringRef package) {
  for (const std::string &folder : folders())
    if (std::string path = folder + "/" + file.str(); exists(path)) {
      paths.push_back(path);
      return absl::OkStatus();
    }
  return absl::NotFoundError(absl::StrCat("linking a program needs ", file.str(), ", which was not found in ",
                                          folders()[0], " and the other library folders; on Debian it is in ",
                                          package.str(), " (apt-get install ", package.str(), ")"));
}

} // namespace

absl::StatusOr<SystemLibraries> SystemLibraries::find(bool fullyStatic) {
  SystemLibraries result;
  constexpr const char *libc = "libc6-dev", *gcc = "libgcc-12-dev", *cxx = "libstdc++-12-dev";
  absl::Status status;
  auto need = [&](std::vector<std::string> &paths, llvm::StringRef file, const char *package) {
    if (status.ok())
      status = append(paths, file, package);
  };
  need(result.before, fullyStatic ? "crt1.o" : "Scrt1.o", libc);
  need(result.before, "crti.o", libc);
  need(result.before, fullyStatic ? "crtbeginT.o" : "crtbeginS.o", gcc);
  need(result.after, "libstdc++.a", cxx);
  if (fullyStatic) {
    need(result.after, "libm.a", libc);
    result.after.push_back("--start-group");
    need(result.after, "libgcc.a", gcc);
    need(result.after, "libgcc_eh.a", gcc);
    need(result.after, "libc.a", libc);
    result.after.push_back("--end-group");
  } else {
    need(result.after, "libm.so.6", libc);
    need(result.after, "libgcc.a", gcc);
    need(result.after, "libgcc_eh.a", gcc);
    need(result.after, "libc.so", libc);
    need(result.after, "libgcc.a", gcc);
  }
  need(result.after, fullyStatic ? "crtend.o" : "crtendS.o", gcc);
  need(result.after, "crtn.o", libc);
  if (!status.ok())
    return status;
  return result;
}

absl::StatusOr<std::string> findRuntimeArchive() {
  std::string program = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&findRuntimeArchive));
  std::string bin = llvm::sys::path::parent_path(program).str();
  std::string installed = bin + "/../lib/mekik/libmekik_runtime.a", built = MEKIK_RUNTIME_FOLDER "/libmekik_runtime.a";
  for (const std::string &path : {installed, built})
    if (exists(path))
      return path;
  return absl::NotFoundError(absl::StrCat("linking a trainer needs the runtime, expected as ", installed, " or ", built,
                                          ", found neither; build the target mekik_runtime_archive"));
}

} // namespace mekik::emit
