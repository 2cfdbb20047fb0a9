// Replacing a file as a whole: readers see the old content or the new one, never a part, whatever kills the writer.
// The new content goes to a temporary in the same folder, is synced, renamed over the target, and the folder is synced.
#ifndef MEKIK_RUNTIME_BASE_ATOMICFILE_H
#define MEKIK_RUNTIME_BASE_ATOMICFILE_H

#include "runtime/base/Status.h"
#include <string>
#include <string_view>

namespace mekik::base {

class AtomicFile {
public:
  /// Opens the temporary "<path>.tmp-<process>-<number>" (a very long file name is shortened in it) after removing
  /// those that killed writers of `path` left. A symbolic link is followed: the file it names is replaced. Errors name
  /// `path`: a missing or read-only folder, a folder or a device as target (a rename would destroy it).
  static StatusOr<AtomicFile> create(const std::string &path);
  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  /// Removes the temporary unless committed.
  ~AtomicFile();

  /// Appends. After an error every later call returns that error and commit fails.
  Status write(std::string_view bytes);
  /// Syncs, closes, renames, syncs the folder. Only after OK is the target replaced.
  Status commit();

private:
  AtomicFile(std::string path, std::string temporary, int descriptor)
      : target(std::move(path)), temporary(std::move(temporary)), descriptor(descriptor) {}
  void discard();
  std::string target, temporary;
  std::string pending; // small writes are gathered
  int descriptor = -1; // written to, and locked as long as it or a duplicate is open
  Status failure;
};

/// create, write, commit.
Status writeFileAtomically(const std::string &path, std::string_view bytes);

/// Proves that files can be made in `folder` by making and removing one; for refusing a run before its first step.
Status checkFolderWritable(const std::string &folder);

/// Removes temporaries that killed writers of `path` left behind. A living writer holds a lock on its temporary, by
/// which it is told apart and kept.
void removeStaleTemporaries(const std::string &path);

} // namespace mekik::base

#endif
