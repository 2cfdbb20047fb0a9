// Replacing a file as a whole: readers see the old content or the new one, never a part, whatever kills the writer.
// The new content goes to a temporary in the same folder, is synced, renamed over the target, and the folder is synced.
#ifndef MEKIK_RUNTIME_BASE_ATOMICFILE_H
#define MEKIK_RUNTIME_BASE_ATOMICFILE_H

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <string>
#include <string_view>

namespace mekik::base {

class AtomicFile {
public:
  /// Opens the temporary "<path>.tmp-<process>-<number>". Errors name `path`: a missing or read-only folder, a
  /// directory or a device as target (it could not be replaced by a rename without destroying it).
  static absl::StatusOr<AtomicFile> create(const std::string &path);
  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  /// Removes the temporary unless committed.
  ~AtomicFile();

  /// Appends. After an error every later call returns that error and commit fails.
  absl::Status write(std::string_view bytes);
  /// Syncs, closes, renames, syncs the folder. Only after OK is the target replaced.
  absl::Status commit();

private:
  AtomicFile(std::string path, std::string temporary, int descriptor)
      : target(std::move(path)), temporary(std::move(temporary)), descriptor(descriptor) {}
  void discard();
  std::string target, temporary;
  std::string pending; // small writes are gathered
  int descriptor = -1;
  absl::Status failure;
};

/// create, write, commit.
absl::Status writeFileAtomically(const std::string &path, std::string_view bytes);

/// Proves that files can be made in `folder` by making and removing one; for refusing a run before its first step.
absl::Status checkFolderWritable(const std::string &folder);

/// Removes temporaries that killed writers of `path` left behind. A temporary whose process still lives is kept.
void removeStaleTemporaries(const std::string &path);

} // namespace mekik::base

#endif
