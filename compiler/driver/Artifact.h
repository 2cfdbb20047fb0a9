// Files that a compilation ends in: any stage, written where the user wants it.
#ifndef MEKIK_DRIVER_ARTIFACT_H
#define MEKIK_DRIVER_ARTIFACT_H

#include "compiler/driver/Compiler.h"
#include <string>

namespace mekik::driver {

struct ArtifactOptions {
  /// The tokenizer's table, for Exe: one line of JSON; empty for a model that is not about text.
  std::string tokenizerJson;
  /// Exe without any shared library.
  bool isStatic = false;
};

/// Writes `stage` to `path`, replacing it as a whole; text stages accept "-" for standard output. For Lib, the C header
/// goes beside the library under the same name with .h, and the model's symbol is mekik_model_NAME for libNAME.a.
/// Advances the compilation.
absl::Status writeArtifact(Compiler &compiler, Stage stage, const std::string &path, const ArtifactOptions &options,
                           std::string &messages);

} // namespace mekik::driver

#endif
