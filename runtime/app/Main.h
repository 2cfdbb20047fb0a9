// The program around a compiled model: train, sample, eval, attention, info.
#ifndef MEKIK_RUNTIME_APP_MAIN_H
#define MEKIK_RUNTIME_APP_MAIN_H

#include "runtime/abi/MekikAbi.h"
#include <string_view>

namespace mekik::app {

/// Runs the command line. `tokenizerJson` is Tokenizer::toJson() of the model's tokenizer, or empty for a model that is
/// not about text. Output for people goes to standard error, for programs to standard output. Returns the exit status:
/// 0 done, 1 failed with one message, 2 wrong usage with one message.
int mekikMain(int argc, char **argv, const MekikModel &model, std::string_view tokenizerJson);

} // namespace mekik::app

#endif
