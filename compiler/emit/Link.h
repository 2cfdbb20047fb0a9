// The linker, as a library: from object files to one object, a shared object, or the trainer.
#ifndef MEKIK_EMIT_LINK_H
#define MEKIK_EMIT_LINK_H

#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mekik::emit {

/// One relocatable object out of several; bytes in, bytes out.
absl::StatusOr<std::string> linkRelocatable(llvm::ArrayRef<std::string> objects);

/// Writes a shared object for dlopen to `path`. The object needs nothing but memcpy, memset and memmove.
absl::Status linkShared(llvm::StringRef object, const std::string &path);

struct ExecutableOptions {
  /// Needs no library at all, not even libc.
  bool fullyStatic = false;
  /// The runtime as an archive; empty: the one this compiler was built or installed with.
  std::string runtime;
};

/// Writes the trainer to `path`: the object with `mekik_model`, `tokenizer` (Tokenizer::toJson(), empty for none) as
/// `mekik_tokenizer`, and the runtime. NotFound names a missing system file and the package it is in.
absl::Status linkExecutable(llvm::StringRef object, llvm::StringRef tokenizer, const std::string &path,
                            const ExecutableOptions &options = {});

} // namespace mekik::emit

#endif
