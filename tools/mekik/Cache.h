// Compiled programs by content: the same model, configuration, tokenizer, target and compiler give the same program, so
// it is compiled once, into base::cacheFolder.
#ifndef MEKIK_TOOLS_MEKIK_CACHE_H
#define MEKIK_TOOLS_MEKIK_CACHE_H

#include "tools/mekik/ModelInput.h"

namespace mekik::tool {

/// The path of the program of this model, compiled now if it was not before.
base::StatusOr<std::string> cachedProgram(LoadedModel &model);

} // namespace mekik::tool

#endif
