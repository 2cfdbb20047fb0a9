// Which names of an object the world may see.
#ifndef MEKIK_EMIT_SYMBOLS_H
#define MEKIK_EMIT_SYMBOLS_H

#include "absl/status/statusor.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mekik::emit {

/// The relocatable ELF object `object` with `symbol`, called `name` from now on, as its only global definition: kernels
/// of two models must not meet in one program. Internal if the bytes are no such object.
absl::StatusOr<std::string> exportOnly(llvm::StringRef object, llvm::StringRef symbol, llvm::StringRef name);

} // namespace mekik::emit

#endif
