// The C header beside a static library: the model's symbol, its configuration, and the ABI it speaks.
#ifndef MEKIK_DRIVER_HEADER_H
#define MEKIK_DRIVER_HEADER_H

#include "compiler/driver/Compiler.h"
#include <string>

namespace mekik::driver {

/// Self-contained: the text of runtime/abi/MekikAbi.h with the declaration of the model, `symbol`, behind it.
std::string headerOf(const Compiler &compiler, const std::string &symbol);

} // namespace mekik::driver

#endif
