// Element types of compiled models as those of the safetensors format.
#ifndef MEKIK_RUNTIME_TRAIN_DATATYPES_H
#define MEKIK_RUNTIME_TRAIN_DATATYPES_H

#include "runtime/abi/MekikAbi.h"
#include "runtime/checkpoint/Safetensors.h"

namespace mekik::train {

/// `type` is a MekikElementType of a checked descriptor.
inline checkpoint::DataType dataTypeOf(int32_t type) {
  switch (type) {
  case MEKIK_F32:
    return checkpoint::DataType::F32;
  case MEKIK_F64:
    return checkpoint::DataType::F64;
  case MEKIK_I32:
    return checkpoint::DataType::I32;
  case MEKIK_I64:
    return checkpoint::DataType::I64;
  default:
    return checkpoint::DataType::Bool;
  }
}

} // namespace mekik::train

#endif
