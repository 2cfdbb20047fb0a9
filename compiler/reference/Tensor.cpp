// Storage and element access of reference tensors.
#include "compiler/reference/Tensor.h"
#include "compiler/numerics/NumberArithmetic.h"

namespace mekik::reference {

using numerics::ElementType;
using numerics::Number;

int64_t Tensor::elementBytes(ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  case ElementType::Bool:
    return 1;
  }
  return 0;
}

Tensor::Tensor(ElementType type, std::vector<int64_t> shape)
    : elementType(type), dimensions(std::move(shape)), count(1) {
  for (int64_t size : dimensions)
    count *= size;
  bytes.resize(static_cast<size_t>(count * elementBytes(type)));
}

Number Tensor::get(int64_t flat) const {
  switch (elementType) {
  case ElementType::F32:
  case ElementType::I32:
    return {elementType, as<uint32_t>()[flat]};
  case ElementType::F64:
  case ElementType::I64:
    return {elementType, as<uint64_t>()[flat]};
  case ElementType::Bool:
    return {elementType, as<uint8_t>()[flat]};
  }
  return {};
}

void Tensor::set(int64_t flat, Number value) {
  switch (elementType) {
  case ElementType::F32:
  case ElementType::I32:
    as<uint32_t>()[flat] = static_cast<uint32_t>(value.bits);
    break;
  case ElementType::F64:
  case ElementType::I64:
    as<uint64_t>()[flat] = value.bits;
    break;
  case ElementType::Bool:
    as<uint8_t>()[flat] = static_cast<uint8_t>(value.bits & 1);
    break;
  }
}

double Tensor::getDouble(int64_t flat) const {
  switch (elementType) {
  case ElementType::F32:
    return as<float>()[flat];
  case ElementType::F64:
    return as<double>()[flat];
  case ElementType::I32:
    return as<int32_t>()[flat];
  case ElementType::I64:
    return static_cast<double>(as<int64_t>()[flat]);
  case ElementType::Bool:
    return as<uint8_t>()[flat];
  }
  return 0;
}

void Tensor::setDouble(int64_t flat, double value) {
  switch (elementType) {
  case ElementType::F32:
    as<float>()[flat] = static_cast<float>(value);
    break;
  case ElementType::F64:
    as<double>()[flat] = value;
    break;
  case ElementType::I32:
    as<int32_t>()[flat] = static_cast<int32_t>(value);
    break;
  case ElementType::I64:
    as<int64_t>()[flat] = static_cast<int64_t>(value);
    break;
  case ElementType::Bool:
    as<uint8_t>()[flat] = value != 0;
    break;
  }
}

int64_t Tensor::flatIndex(const int64_t *index) const {
  int64_t flat = 0;
  for (size_t axis = 0; axis < dimensions.size(); ++axis)
    flat = flat * dimensions[axis] + index[axis];
  return flat;
}

} // namespace mekik::reference
