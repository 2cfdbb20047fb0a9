#include "runtime/train/RunFolder.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include <cerrno>
#include <cstdio>
#include <unistd.h>

namespace mekik::train {
namespace {

using base::concat;
using base::Status;
using base::StatusOr;

bool exists(const std::string &path) { return base::pathKind(path) != base::PathKind::Missing; }

Status moveFile(const std::string &from, const std::string &to) {
  if (rename(from.c_str(), to.c_str()) != 0)
    return base::errnoStatus(errno, from, concat("move to ", to));
  return {};
}

Status underOption(const Status &status) {
  return status.ok() ? status : Status(status.code(), concat("--out: ", status.message()));
}

} // namespace

Status RunFolder::prepare() const {
  MEKIK_RETURN_IF_ERROR(underOption(base::makeFolder(folder)));
  MEKIK_RETURN_IF_ERROR(underOption(base::checkFolderWritable(folder)));
  for (const std::string &target : {best(), last(), curve()}) {
    base::PathKind kind = base::pathKind(target);
    if (kind != base::PathKind::Missing && kind != base::PathKind::RegularFile)
      return base::invalidArgumentError(
          concat("--out: ", target, " is not a file and cannot be replaced; choose another folder"));
    base::removeStaleTemporaries(target);
  }
  return {};
}

StatusOr<bool> RunFolder::setEarlierRunAside() const {
  bool any = false;
  for (auto [file, aside] :
       {std::pair(best(), in("best.previous.safetensors")), std::pair(last(), in("last.previous.safetensors"))})
    if (exists(file)) {
      MEKIK_RETURN_IF_ERROR(moveFile(file, aside));
      any = true;
    }
  unlink(in("best.scheduled.safetensors").c_str());
  return any;
}

Status RunFolder::keepScheduledBest() const {
  std::string kept = in("best.scheduled.safetensors");
  if (!exists(best()))
    return {};
  unlink(kept.c_str());
  // A second name, so that best.safetensors is there at every moment; not all file systems have that.
  if (link(best().c_str(), kept.c_str()) == 0)
    return {};
  return moveFile(best(), kept);
}

Status RunFolder::restoreScheduledBest() const {
  std::string kept = in("best.scheduled.safetensors");
  return exists(kept) ? moveFile(kept, best()) : Status();
}

} // namespace mekik::train
