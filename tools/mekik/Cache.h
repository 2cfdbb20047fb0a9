// Compiled programs by content: the same model, configuration, tokenizer, target and compiler give the same program, so
// it is compiled once. $MEKIK_CACHE, else $XDG_CACHE_HOME/mekik, else ~/.cache/mekik.
#ifndef MEKIK_TOOLS_MEKIK_CACHE_H
#define MEKIK_TOOLS_MEKIK_CACHE_H

#include "tools/mekik/ModelInput.h"

namespace mekik::tool {

/// The folder, made if it is not there. FailedPrecondition if none of the variables is set.
base::StatusOr<std::string> cacheFolder();

/// The path of the program of this model, compiled now if it was not before.
base::StatusOr<std::string> cachedProgram(LoadedModel &model);

} // namespace mekik::tool

#endif
