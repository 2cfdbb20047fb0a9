// A folder that is gone, with all in it, at the end of its scope: the linker reads and writes files only.
#ifndef MEKIK_EMIT_TEMPORARY_FOLDER_H
#define MEKIK_EMIT_TEMPORARY_FOLDER_H

#include "absl/status/statusor.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mekik::emit {

class TemporaryFolder {
public:
  /// Below TMPDIR or /tmp, readable by this user alone.
  static absl::StatusOr<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder &&other) : path(std::move(other.path)) { other.path.clear(); }
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();

  /// The path of a file of that name in the folder.
  std::string file(llvm::StringRef name) const { return path + "/" + name.str(); }
  /// Writes a file and returns its path.
  absl::StatusOr<std::string> write(llvm::StringRef name, llvm::StringRef bytes) const;

private:
  explicit TemporaryFolder(std::string path) : path(std::move(path)) {}

  std::string path;
};

absl::Status writeFile(const std::string &path, llvm::StringRef bytes);
absl::StatusOr<std::string> readFile(const std::string &path);

} // namespace mekik::emit

#endif
