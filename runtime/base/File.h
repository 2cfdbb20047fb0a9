// Reading files with 64-bit sizes and errors that name the path, what was expected and what was found. The runtime uses
// the system calls directly: C++ streams would bring a megabyte of locale code into every trainer.
#ifndef MEKIK_RUNTIME_BASE_FILE_H
#define MEKIK_RUNTIME_BASE_FILE_H

#include "runtime/base/Status.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace mekik::base {

enum class PathKind { Missing, RegularFile, Directory, Other /* device, pipe, socket */ };

/// What is at `path`, following symbolic links; Missing also when a folder on the way is missing.
PathKind pathKind(const std::string &path);

/// A Status for a failed system call: "<path>: cannot <action>: <reason of errno>". NotFound for ENOENT,
/// ResourceExhausted for ENOSPC, EDQUOT and EFBIG, PermissionDenied for EACCES, EPERM and EROFS, otherwise Unknown.
Status errnoStatus(int errorNumber, std::string_view path, std::string_view action);

/// An open file for reading at 64-bit offsets. Regular files and everything else `open` and `pread` accept.
class File {
public:
  /// Errors: NotFound, PermissionDenied, InvalidArgument for a directory.
  static StatusOr<File> open(const std::string &path);
  File(File &&other) noexcept;
  File &operator=(File &&other) noexcept;
  ~File();

  const std::string &path() const { return filePath; }
  /// Bytes in the file when it was opened; 0 for devices and pipes.
  uint64_t size() const { return fileSize; }
  /// Fills `buffer` with exactly `count` bytes from `offset`. Errors: OutOfRange when the file ends before.
  Status readAt(uint64_t offset, void *buffer, uint64_t count) const;
  /// Reads up to `count` bytes from `offset`; fewer only at the end of the file.
  StatusOr<uint64_t> readSomeAt(uint64_t offset, void *buffer, uint64_t count) const;

private:
  File(std::string path, int descriptor, uint64_t size)
      : filePath(std::move(path)), descriptor(descriptor), fileSize(size) {}
  std::string filePath;
  int descriptor = -1;
  uint64_t fileSize = 0;
};

/// All bytes of a regular file. Errors: NotFound, PermissionDenied; InvalidArgument for a directory, a device, a pipe.
/// An empty file is an empty string, not an error.
StatusOr<std::string> readFile(const std::string &path);

/// Writes all of `bytes` to the descriptor; `path` only for the message.
Status writeAll(int descriptor, std::string_view bytes, std::string_view path);

/// Makes the folder and its missing parents. Errors: a file of that name, no permission.
Status makeFolder(const std::string &path);

/// The folder a path lies in: "." for a bare name, "/" for "/a".
std::string folderOf(const std::string &path);

} // namespace mekik::base

#endif
