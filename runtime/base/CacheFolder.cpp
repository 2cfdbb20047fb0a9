#include "runtime/base/CacheFolder.h"
#include "runtime/base/File.h"
#include <cstdlib>

namespace mekik::base {

StatusOr<std::string> cacheFolder() {
  auto variable = [](const char *name) { return std::string(getenv(name) ? getenv(name) : ""); };
  std::string folder = variable("MEKIK_CACHE");
  if (folder.empty() && !variable("XDG_CACHE_HOME").empty())
    folder = variable("XDG_CACHE_HOME") + "/mekik";
  if (folder.empty() && !variable("HOME").empty())
    folder = variable("HOME") + "/.cache/mekik";
  if (folder.empty())
    return failedPreconditionError("no place for compiled programs: set MEKIK_CACHE or HOME to a folder");
  MEKIK_RETURN_IF_ERROR(makeFolder(folder));
  return folder;
}

} // namespace mekik::base
