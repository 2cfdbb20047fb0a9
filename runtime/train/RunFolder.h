// The folder of a run: proving it usable before the first step, and the moves between its files.
#ifndef MEKIK_RUNTIME_TRAIN_RUNFOLDER_H
#define MEKIK_RUNTIME_TRAIN_RUNFOLDER_H

#include "runtime/base/Status.h"
#include <string>

namespace mekik::train {

class RunFolder {
public:
  explicit RunFolder(std::string folder) : folder(std::move(folder)) {}

  std::string best() const { return in("best.safetensors"); }
  std::string last() const { return in("last.safetensors"); }
  std::string curve() const { return in("curve.svg"); }
  const std::string &path() const { return folder; }

  /// Makes the folder if needed and proves that files can be made and replaced in it. Errors name --out.
  base::Status prepare() const;
  /// Moves the checkpoints of an earlier run aside. True if there were any.
  base::StatusOr<bool> setEarlierRunAside() const;
  /// Keeps the best of the rhythm before a best at the end of the run replaces it.
  base::Status keepScheduledBest() const;
  /// Undoes that.
  base::Status restoreScheduledBest() const;

private:
  std::string in(const char *name) const { return folder.back() == '/' ? folder + name : folder + "/" + name; }
  std::string folder;
};

} // namespace mekik::train

#endif
