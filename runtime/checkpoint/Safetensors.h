// The safetensors file format, read with every check and written with the same bytes every time (docs/checkpoint.md).
#ifndef MEKIK_RUNTIME_CHECKPOINT_SAFETENSORS_H
#define MEKIK_RUNTIME_CHECKPOINT_SAFETENSORS_H

#include "runtime/base/Status.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mekik::checkpoint {

/// The element types of the format; all can be read and written as raw bytes.
enum class DataType { Bool, U8, I8, F8E5M2, F8E4M3, I16, U16, F16, BF16, I32, U32, F32, F64, I64, U64 };

/// "F32"
std::string_view dataTypeName(DataType type);
std::optional<DataType> dataTypeFromName(std::string_view name);
/// Bytes of one element.
uint64_t dataTypeBytes(DataType type);
/// "F32 [3, 4]"
std::string describeShape(DataType type, std::span<const int64_t> shape);

/// A tensor of an open file. `data` is little-endian, row-major and not aligned: copy before use as numbers.
struct TensorEntry {
  std::string name;
  DataType type;
  std::vector<int64_t> shape;
  std::span<const uint8_t> data;
};

/// A tensor to be written. `data.size()` must be the product of the shape times dataTypeBytes(type).
struct TensorView {
  std::string name;
  DataType type;
  std::vector<int64_t> shape;
  std::span<const uint8_t> data;
};

/// Numbers as bytes, for TensorView.
template <typename T> std::span<const uint8_t> bytesOf(std::span<const T> values) {
  return {reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(T)};
}

class Safetensors {
public:
  /// Errors: those of readFile; InvalidArgument "<path>: byte <offset>: ..." for whatever breaks the format.
  static base::StatusOr<Safetensors> load(const std::string &path);
  static base::StatusOr<Safetensors> parse(std::string bytes, std::string origin);

  const std::string &origin() const { return name; }
  /// In the order of their data.
  const std::vector<TensorEntry> &tensors() const { return entries; }
  /// nullptr if there is none of this name.
  const TensorEntry *find(std::string_view tensorName) const;
  const std::map<std::string, std::string, std::less<>> &metadata() const { return strings; }

private:
  std::string name;
  std::shared_ptr<const std::string> bytes; // entries point into it
  std::vector<TensorEntry> entries;
  std::map<std::string, size_t, std::less<>> byName;
  std::map<std::string, std::string, std::less<>> strings;
};

/// Writes tensors in the given order, the header padded with spaces to a multiple of 8, atomically (AtomicFile).
/// Errors: InvalidArgument for a duplicate or reserved name, invalid UTF-8, data that does not fit the shape; those of
/// AtomicFile.
base::Status writeSafetensors(const std::string &path, std::span<const TensorView> tensors,
                              const std::map<std::string, std::string, std::less<>> &metadata);

/// The bytes before the data: header length and padded header.
base::StatusOr<std::string> safetensorsHeader(std::span<const TensorView> tensors,
                                              const std::map<std::string, std::string, std::less<>> &metadata);

} // namespace mekik::checkpoint

#endif
