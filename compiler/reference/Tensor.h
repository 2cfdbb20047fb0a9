// A tensor of plain numbers, for the reference evaluator and for tests: dense, row-major, any element type.
#ifndef MEKIK_REFERENCE_TENSOR_H
#define MEKIK_REFERENCE_TENSOR_H

#include "compiler/numerics/Arithmetic.h"
#include <cstdint>
#include <cstring>
#include <vector>

namespace mekik::reference {

class Tensor {
public:
  using ElementType = numerics::ElementType;

  Tensor() = default;
  /// All elements are zero.
  Tensor(ElementType type, std::vector<int64_t> shape);

  ElementType type() const { return elementType; }
  const std::vector<int64_t> &shape() const { return dimensions; }
  int64_t rank() const { return static_cast<int64_t>(dimensions.size()); }
  int64_t size() const { return count; }
  /// Bytes of one element: 4 (F32, I32), 8 (F64, I64), 1 (Bool).
  static int64_t elementBytes(ElementType type);

  /// Element at a flat row-major position.
  numerics::Number get(int64_t flat) const;
  void set(int64_t flat, numerics::Number value);
  /// The same as a double; integers and Bool are converted.
  double getDouble(int64_t flat) const;
  /// Rounds to the element type.
  void setDouble(int64_t flat, double value);
  int64_t flatIndex(const int64_t *index) const;

  uint8_t *data() { return bytes.data(); }
  const uint8_t *data() const { return bytes.data(); }
  size_t byteSize() const { return bytes.size(); }
  template <typename T> T *as() { return reinterpret_cast<T *>(bytes.data()); }
  template <typename T> const T *as() const { return reinterpret_cast<const T *>(bytes.data()); }

private:
  ElementType elementType = ElementType::F32;
  std::vector<int64_t> dimensions;
  int64_t count = 0;
  std::vector<uint8_t> bytes;
};

} // namespace mekik::reference

#endif
