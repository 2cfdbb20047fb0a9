// A compiled object brought into this process: for tests, for checking gradients, for running a model once.
#ifndef MEKIK_EMIT_LOADED_MODEL_H
#define MEKIK_EMIT_LOADED_MODEL_H

#include "absl/status/statusor.h"
#include "runtime/abi/MekikAbi.h"
#include "llvm/ADT/StringRef.h"
#include <memory>

namespace mekik::emit {

/// Owns the code. Pointers out of it are good as long as it lives.
class LoadedModel {
public:
  /// Links the object as a shared object in a temporary folder and opens it.
  static absl::StatusOr<std::unique_ptr<LoadedModel>> load(llvm::StringRef object);
  ~LoadedModel();
  LoadedModel(const LoadedModel &) = delete;
  LoadedModel &operator=(const LoadedModel &) = delete;

  /// The descriptor; null if the object has none.
  const MekikModel *model() const { return descriptor; }
  /// A kernel by name, if the object exports its kernels; else null.
  MekikKernel kernel(llvm::StringRef name) const;

private:
  explicit LoadedModel(void *handle) : handle(handle) {}

  void *handle;
  const MekikModel *descriptor = nullptr;
};

} // namespace mekik::emit

#endif
