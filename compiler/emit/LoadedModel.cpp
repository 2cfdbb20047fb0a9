// dlopen of a compiled model.
#include "compiler/emit/LoadedModel.h"
#include "absl/strings/str_cat.h"
#include "compiler/emit/Link.h"
#include "compiler/emit/TemporaryFolder.h"
#include <dlfcn.h>

namespace mekik::emit {

absl::StatusOr<std::unique_ptr<LoadedModel>> LoadedModel::load(llvm::StringRef object) {
  auto folder = TemporaryFolder::create();
  if (!folder.ok())
    return folder.status();
  std::string path = folder->file("model.so");
  if (absl::Status status = linkShared(object, path); !status.ok())
    return status;
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return absl::InternalError(absl::StrCat("cannot load compiled code: ", dlerror()));
  std::unique_ptr<LoadedModel> loaded(new LoadedModel(handle)); // the mapping outlives the file
  loaded->descriptor = static_cast<const MekikModel *>(dlsym(handle, "mekik_model"));
  if (const MekikModel *model = loaded->descriptor)
    if (model->magic != MEKIK_ABI_MAGIC || model->version != MEKIK_ABI_VERSION || model->size != sizeof(MekikModel))
      return absl::InternalError("the object does not hold a model of this version");
  return loaded;
}

LoadedModel::~LoadedModel() { dlclose(handle); }

MekikKernel LoadedModel::kernel(llvm::StringRef name) const {
  return reinterpret_cast<MekikKernel>(dlsym(handle, name.str().c_str()));
}

} // namespace mekik::emit
