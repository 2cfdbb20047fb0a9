// The files of the C and C++ libraries that an executable is linked from, and the runtime's own archive.
#ifndef MEKIK_EMIT_SYSTEM_LIBRARIES_H
#define MEKIK_EMIT_SYSTEM_LIBRARIES_H

#include "absl/status/statusor.h"
#include <string>
#include <vector>

namespace mekik::emit {

/// Linker inputs in front of and behind a program's own objects.
struct SystemLibraries {
  std::vector<std::string> before, after;

  /// NotFound names the file that is missing and the package that brings it.
  static absl::StatusOr<SystemLibraries> find(bool fullyStatic);
};

/// The runtime with the main of a trainer: where this compiler was built, or in ../lib/mekik beside the program.
absl::StatusOr<std::string> findRuntimeArchive();

} // namespace mekik::emit

#endif
