// Where the programs of Mekik keep for a user what they can make again at any time: compiled programs, and what was
// measured of the machine.
#ifndef MEKIK_RUNTIME_BASE_CACHEFOLDER_H
#define MEKIK_RUNTIME_BASE_CACHEFOLDER_H

#include "runtime/base/Status.h"
#include <string>

namespace mekik::base {

/// $MEKIK_CACHE, else $XDG_CACHE_HOME/mekik, else ~/.cache/mekik; made if it is not there. FailedPrecondition if none
/// of the variables is set.
StatusOr<std::string> cacheFolder();

} // namespace mekik::base

#endif
