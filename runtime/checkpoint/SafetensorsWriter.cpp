// Writing safetensors: the same tensors and metadata give the same bytes, always.
#include "runtime/base/AtomicFile.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "runtime/base/Utf8.h"
#include "runtime/checkpoint/Safetensors.h"

#include <set>

namespace mekik::checkpoint {

using base::concat;

static base::Status checkTensor(const TensorView &tensor) {
  auto refuse = [&](std::string_view message) {
    return base::invalidArgumentError(concat("tensor ", base::quoted(tensor.name), ": ", message));
  };
  if (tensor.name == "__metadata__")
    return refuse("this name is reserved");
  if (!base::isValidUtf8(tensor.name))
    return refuse("the name is not valid UTF-8");
  uint64_t bytes = dataTypeBytes(tensor.type);
  bool overflow = false;
  for (int64_t size : tensor.shape)
    overflow |= size < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes);
  if (overflow || bytes != tensor.data.size())
    return refuse(
        concat(describeShape(tensor.type, tensor.shape), " does not fit ", tensor.data.size(), " bytes of data"));
  return base::okStatus();
}

base::StatusOr<std::string> safetensorsHeader(std::span<const TensorView> tensors,
                                              const std::map<std::string, std::string, std::less<>> &metadata) {
  std::string json = "{";
  std::set<std::string_view> names;
  std::string_view separator = "";
  if (!metadata.empty()) {
    json += "\"__metadata__\":{";
    for (const auto &[key, value] : metadata) {
      if (!base::isValidUtf8(key) || !base::isValidUtf8(value))
        return base::invalidArgumentError(concat("metadata ", base::quoted(key), ": not valid UTF-8"));
      base::append(json, separator, base::jsonString(key), ":", base::jsonString(value));
      separator = ",";
    }
    json += "}";
  }
  uint64_t offset = 0;
  for (const TensorView &tensor : tensors) {
    MEKIK_RETURN_IF_ERROR(checkTensor(tensor));
    if (!names.insert(tensor.name).second)
      return base::invalidArgumentError(concat("tensor ", base::quoted(tensor.name), ": given twice"));
    base::append(json, separator, base::jsonString(tensor.name), ":{\"dtype\":\"", dataTypeName(tensor.type),
                 "\",\"shape\":[");
    for (size_t i = 0; i < tensor.shape.size(); ++i)
      base::append(json, i ? "," : "", tensor.shape[i]);
    base::append(json, "],\"data_offsets\":[", offset, ",", offset + tensor.data.size(), "]}");
    offset += tensor.data.size();
    separator = ",";
  }
  json += "}";
  while (json.size() % 8 != 0)
    json += ' ';
  std::string header;
  for (int i = 0; i < 8; ++i)
    header += static_cast<char>(static_cast<uint64_t>(json.size()) >> (8 * i));
  return header + json;
}

base::Status writeSafetensors(const std::string &path, std::span<const TensorView> tensors,
                              const std::map<std::string, std::string, std::less<>> &metadata) {
  base::StatusOr<std::string> header = safetensorsHeader(tensors, metadata);
  if (!header.ok())
    return base::Status(header.status().code(), concat(path, ": cannot write: ", header.status().message()));
  MEKIK_ASSIGN_OR_RETURN(base::AtomicFile file, base::AtomicFile::create(path));
  MEKIK_RETURN_IF_ERROR(file.write(*header));
  for (const TensorView &tensor : tensors)
    MEKIK_RETURN_IF_ERROR(file.write({reinterpret_cast<const char *>(tensor.data.data()), tensor.data.size()}));
  return file.commit();
}

} // namespace mekik::checkpoint
