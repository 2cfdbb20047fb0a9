// Temporary folders and whole-file reading and writing.
#include "compiler/emit/TemporaryFolder.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace mekik::emit {

absl::StatusOr<TemporaryFolder> TemporaryFolder::create() {
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("mekik", path))
    return absl::UnavailableError(
        absl::StrCat("cannot create a temporary folder: ", error.message(), "; set TMPDIR to a writable folder"));
  return TemporaryFolder(path.str().str());
}

TemporaryFolder::~TemporaryFolder() {
  if (!path.empty())
    llvm::sys::fs::remove_directories(path);
}

absl::StatusOr<std::string> TemporaryFolder::write(llvm::StringRef name, llvm::StringRef bytes) const {
  std::string whole = file(name);
  if (absl::Status status = writeFile(whole, bytes); !status.ok())
    return status;
  return whole;
}

absl::Status writeFile(const std::string &path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (!error) {
    out << bytes;
    out.close();
    error = out.error();
    out.clear_error();
  }
  if (error)
    return absl::UnavailableError(absl::StrCat(path, ": cannot write: ", error.message()));
  return absl::OkStatus();
}

absl::StatusOr<std::string> readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return absl::NotFoundError(absl::StrCat(path, ": cannot read: ", buffer.getError().message()));
  return (*buffer)->getBuffer().str();
}

} // namespace mekik::emit
