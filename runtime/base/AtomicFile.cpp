// Temporary, sync, rename, sync. A writer locks its temporary (flock), so that temporaries of dead writers can be told
// from those of living ones even across containers that share a folder.
#include "runtime/base/AtomicFile.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mekik::base {

namespace {

constexpr size_t gatherBytes = 1 << 16;
constexpr size_t longestStem = 200; // of the 255 bytes of a file name; the rest is for the suffix

std::string_view nameOf(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// "<folder>/<name, shortened>.tmp-"
std::string temporaryPrefix(const std::string &path) {
  std::string_view name = nameOf(path);
  return concat(std::string_view(path).substr(0, path.size() - name.size()), name.substr(0, longestStem), ".tmp-");
}

bool isDigitsDashDigits(std::string_view text) {
  size_t dash = text.find('-');
  return dash != std::string_view::npos && dash > 0 && dash + 1 < text.size() &&
         text.find_first_not_of("0123456789") == dash &&
         text.find_first_not_of("0123456789", dash + 1) == std::string_view::npos;
}

/// Writing past RLIMIT_FSIZE raises SIGXFSZ, whose default action kills the process before the error can be told.
/// While this object lives the signal is held back for the calling thread; one that came is consumed.
class HoldFileSizeSignal {
public:
  HoldFileSizeSignal() {
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before);
  }
  ~HoldFileSizeSignal() {
    if (::sigismember(&before, SIGXFSZ) == 0) {
      struct timespec noTime = {0, 0};
      while (::sigtimedwait(&signals, nullptr, &noTime) > 0) {
      }
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

private:
  sigset_t signals, before;
};

Status syncFolder(const std::string &folder, const std::string &path) {
  int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) // a folder may be writable without being readable; the data itself is synced already
    return errno == EACCES ? okStatus() : errnoStatus(errno, path, "open its folder for syncing");
  int result = ::fsync(descriptor);
  int errorNumber = errno;
  ::close(descriptor);
  if (result != 0 && errorNumber != EINVAL && errorNumber != ENOTSUP)
    return errnoStatus(errorNumber, path, "sync its folder");
  return okStatus();
}

/// The file that a chain of symbolic links ends at; `path` itself when it is no link.
StatusOr<std::string> followLinks(const std::string &path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode))
    return path;
  char *resolved = ::realpath(path.c_str(), nullptr);
  if (!resolved)
    return errnoStatus(errno, path, "follow the symbolic link");
  std::string target = resolved;
  std::free(resolved);
  return target;
}

} // namespace

StatusOr<AtomicFile> AtomicFile::create(const std::string &path) {
  if (path.empty())
    return invalidArgumentError("expected the path of a file to write, found an empty path");
  if (path.find('\0') != std::string::npos)
    return invalidArgumentError(concat(path.c_str(), ": the path holds a zero byte"));
  StatusOr<std::string> target = followLinks(path);
  if (!target.ok())
    return target.status();
  struct stat status;
  bool exists = ::stat(target->c_str(), &status) == 0;
  if (!exists && errno != ENOENT)
    return errnoStatus(errno, path, "write");
  if ((exists && S_ISDIR(status.st_mode)) || nameOf(*target).empty())
    return invalidArgumentError(concat(path, ": cannot write: expected a file, found a folder"));
  if (exists && !S_ISREG(status.st_mode))
    return invalidArgumentError(concat(path, ": cannot write: expected a file or a free name, found a device or pipe"));

  removeStaleTemporaries(*target);
  static std::atomic<uint64_t> counter{0};
  std::string prefix = temporaryPrefix(*target);
  while (true) {
    std::string temporary = concat(prefix, ::getpid(), "-", counter.fetch_add(1));
    int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && (errno == EEXIST || errno == EINTR))
      continue;
    if (descriptor < 0)
      return errnoStatus(errno, path, "make a temporary file beside it");
    // Where locks are not supported nothing is ever taken for stale. Between open and lock another process may have
    // taken this one for stale: then it has no name any more.
    ::flock(descriptor, LOCK_EX);
    struct stat made;
    if (::fstat(descriptor, &made) == 0 && made.st_nlink == 0) {
      ::close(descriptor);
      continue;
    }
    if (exists)
      (void)!::fchmod(descriptor, status.st_mode & 0777);
    AtomicFile file(*std::move(target), std::move(temporary), descriptor);
    return file;
  }
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : target(std::move(other.target)), temporary(std::exchange(other.temporary, {})), pending(std::move(other.pending)),
      descriptor(std::exchange(other.descriptor, -1)), failure(std::move(other.failure)) {}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (!temporary.empty())
    ::unlink(temporary.c_str());
  temporary.clear();
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor = -1;
}

Status AtomicFile::write(std::string_view bytes) {
  if (!failure.ok())
    return failure;
  HoldFileSizeSignal hold;
  if (pending.size() + bytes.size() < gatherBytes) {
    pending.append(bytes);
    return okStatus();
  }
  failure = writeAll(descriptor, pending, target);
  pending.clear();
  if (failure.ok())
    failure = writeAll(descriptor, bytes, target);
  if (!failure.ok())
    discard();
  return failure;
}

Status AtomicFile::commit() {
  if (!failure.ok())
    return failure;
  auto fail = [&](Status status) {
    discard();
    return failure = std::move(status);
  };
  {
    HoldFileSizeSignal hold;
    if (Status status = writeAll(descriptor, pending, target); !status.ok())
      return fail(std::move(status));
  }
  pending.clear();
  if (::fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP)
    return fail(errnoStatus(errno, target, "sync"));
  // Closing can report a late write error. The duplicate keeps the lock until the temporary has its final name.
  int lockHolder = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (::close(std::exchange(descriptor, lockHolder)) != 0 && errno != EINTR)
    return fail(errnoStatus(errno, target, "finish writing"));
  if (::rename(temporary.c_str(), target.c_str()) != 0)
    return fail(errnoStatus(errno, target, "replace by its new content"));
  temporary.clear();
  discard();
  failure = failedPreconditionError(concat(target, ": the new content is already in place"));
  return syncFolder(folderOf(target), target);
}

Status writeFileAtomically(const std::string &path, std::string_view bytes) {
  StatusOr<AtomicFile> file = AtomicFile::create(path);
  if (!file.ok())
    return file.status();
  if (Status status = file->write(bytes); !status.ok())
    return status;
  return file->commit();
}

Status checkFolderWritable(const std::string &folder) {
  switch (pathKind(folder)) {
  case PathKind::Directory:
    break;
  case PathKind::Missing:
    return notFoundError(concat(folder, ": expected a folder to write to, found nothing there"));
  default:
    return invalidArgumentError(concat(folder, ": expected a folder to write to, found a file"));
  }
  std::string probe = concat(folder, folder.back() == '/' ? "" : "/", ".mekik-write-test");
  StatusOr<AtomicFile> file = AtomicFile::create(probe);
  if (!file.ok())
    return Status(file.status().code(), concat(folder, ": cannot write to this folder: ", file.status().message()));
  // A full disk lets files be made but not filled.
  Status status = file->write(std::string(4096, ' '));
  if (status.ok())
    status = file->commit();
  ::unlink(probe.c_str());
  if (!status.ok())
    return Status(status.code(), concat(folder, ": cannot write to this folder: ", status.message()));
  return okStatus();
}

void removeStaleTemporaries(const std::string &path) {
  std::string prefix = temporaryPrefix(path);
  std::string folder = folderOf(path);
  std::string_view stem = nameOf(prefix);
  DIR *stream = ::opendir(folder.c_str());
  if (!stream)
    return;
  while (const struct dirent *entry = ::readdir(stream)) {
    std::string_view name = entry->d_name;
    if (name.substr(0, stem.size()) != stem || !isDigitsDashDigits(name.substr(stem.size())))
      continue;
    std::string candidate = concat(folder, "/", name);
    int descriptor = ::open(candidate.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0)
      continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      ::unlink(candidate.c_str());
    ::close(descriptor);
  }
  ::closedir(stream);
}

} // namespace mekik::base
