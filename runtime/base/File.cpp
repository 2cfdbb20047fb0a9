// System calls for reading and their errors as messages.
#include "runtime/base/File.h"
#include "runtime/base/Concat.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mekik::base {

namespace {

StatusCode codeOf(int errorNumber) {
  switch (errorNumber) {
  case ENOENT:
  case ENOTDIR:
    return StatusCode::NotFound;
  case EACCES:
  case EPERM:
  case EROFS:
    return StatusCode::PermissionDenied;
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
  case ENOMEM:
    return StatusCode::ResourceExhausted;
  case ENAMETOOLONG:
  case ELOOP:
  case EISDIR:
    return StatusCode::InvalidArgument;
  default:
    return StatusCode::Unknown;
  }
}

std::string reasonOf(int errorNumber) {
  switch (errorNumber) {
  case ENOENT:
    return "no such file or folder";
  case ENOTDIR:
    return "a part of the path is a file, not a folder";
  case EACCES:
  case EPERM:
    return "no permission";
  case EROFS:
    return "the file system is read-only";
  case ENOSPC:
    return "no space left on the device";
  case EDQUOT:
    return "the disk quota is used up";
  case EFBIG:
    return "the file would be larger than the limit allows";
  case ENAMETOOLONG:
    return "the path is too long";
  case ELOOP:
    return "too many symbolic links";
  default:
    return std::strerror(errorNumber);
  }
}

PathKind kindOf(const struct stat &status) {
  if (S_ISREG(status.st_mode))
    return PathKind::RegularFile;
  return S_ISDIR(status.st_mode) ? PathKind::Directory : PathKind::Other;
}

} // namespace

PathKind pathKind(const std::string &path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0)
    return PathKind::Missing;
  return kindOf(status);
}

Status errnoStatus(int errorNumber, std::string_view path, std::string_view action) {
  return Status(codeOf(errorNumber), concat(path, ": cannot ", action, ": ", reasonOf(errorNumber)));
}

StatusOr<File> File::open(const std::string &path) {
  if (path.empty())
    return invalidArgumentError("expected the path of a file, found an empty path");
  if (path.find('\0') != std::string::npos)
    return invalidArgumentError(concat(path.c_str(), ": the path holds a zero byte"));
  int descriptor;
  do // O_NONBLOCK: a pipe without a writer must not hang; it changes nothing for regular files.
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0)
    return errnoStatus(errno, path, "open for reading");
  struct stat status;
  if (::fstat(descriptor, &status) != 0) {
    int errorNumber = errno;
    ::close(descriptor);
    return errnoStatus(errorNumber, path, "examine");
  }
  if (S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    return invalidArgumentError(concat(path, ": expected a file, found a folder"));
  }
  return File(path, descriptor, S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0);
}

File::File(File &&other) noexcept
    : filePath(std::move(other.filePath)), descriptor(std::exchange(other.descriptor, -1)), fileSize(other.fileSize) {}

File &File::operator=(File &&other) noexcept {
  std::swap(filePath, other.filePath);
  std::swap(descriptor, other.descriptor);
  std::swap(fileSize, other.fileSize);
  return *this;
}

File::~File() {
  if (descriptor >= 0)
    ::close(descriptor);
}

StatusOr<uint64_t> File::readSomeAt(uint64_t offset, void *buffer, uint64_t count) const {
  uint64_t done = 0;
  while (done < count) {
    // One call transfers less than 2 GiB, so longer reads go in pieces.
    size_t piece = static_cast<size_t>(count - done < (1u << 30) ? count - done : (1u << 30));
    ssize_t got = ::pread(descriptor, static_cast<char *>(buffer) + done, piece, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return errnoStatus(errno, filePath, concat("read at byte ", offset + done));
    if (got == 0)
      break;
    done += static_cast<uint64_t>(got);
  }
  return done;
}

Status File::readAt(uint64_t offset, void *buffer, uint64_t count) const {
  StatusOr<uint64_t> got = readSomeAt(offset, buffer, count);
  if (!got.ok())
    return got.status();
  if (*got < count)
    return outOfRangeError(concat(filePath, ": expected ", count, " bytes at byte ", offset,
                                  ", but the file ends after ", *got, " of them"));
  return okStatus();
}

StatusOr<std::string> readFile(const std::string &path) {
  StatusOr<File> file = File::open(path);
  if (!file.ok())
    return file.status();
  if (pathKind(path) != PathKind::RegularFile)
    return invalidArgumentError(concat(path, ": expected a file, found a device or pipe"));
  std::string bytes(file->size(), '\0');
  StatusOr<uint64_t> got = file->readSomeAt(0, bytes.data(), bytes.size());
  if (!got.ok())
    return got.status();
  if (*got < bytes.size())
    return outOfRangeError(
        concat(path, ": the file became shorter while it was read: expected ", bytes.size(), " bytes, found ", *got));
  return bytes;
}

Status writeAll(int descriptor, std::string_view bytes, std::string_view path) {
  while (!bytes.empty()) {
    ssize_t wrote = ::write(descriptor, bytes.data(), bytes.size() < (1u << 30) ? bytes.size() : (1u << 30));
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote < 0)
      return errnoStatus(errno, path, "write");
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return okStatus();
}

Status makeFolder(const std::string &path) {
  if (path.empty())
    return invalidArgumentError("expected the path of a folder, found an empty path");
  // Every prefix that ends before a slash, then the whole.
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    std::string prefix = path.substr(0, slash);
    if (::mkdir(prefix.c_str(), 0777) != 0 && errno != EEXIST) {
      int errorNumber = errno;
      // A parent may exist and yet not be writable or be a read-only mount: only a missing folder is a failure.
      if (pathKind(prefix) != PathKind::Directory)
        return errnoStatus(errorNumber, prefix, "make the folder");
    }
    if (slash == std::string::npos || slash + 1 == path.size())
      break;
  }
  if (pathKind(path) != PathKind::Directory)
    return invalidArgumentError(concat(path, ": expected a folder, found a file"));
  return okStatus();
}

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

} // namespace mekik::base
