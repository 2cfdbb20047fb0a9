// Examples out of a safetensors file.
#include "runtime/data/TensorData.h"
#include "runtime/abi/MekikPhilox.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include "runtime/base/Random.h"

#include <cstring>

namespace mekik::data {

using base::concat;
using checkpoint::DataType;
using checkpoint::TensorEntry;

namespace {

template <typename T> T loadAt(std::span<const uint8_t> bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// Index of the first element for which `bad` holds, or the number of elements.
template <typename T, typename Bad> size_t findBad(std::span<const uint8_t> bytes, Bad bad) {
  size_t count = bytes.size() / sizeof(T), i = 0;
  while (i < count && !bad(loadAt<T>(bytes, i)))
    ++i;
  return i;
}

/// x - x is 0 for finite x and NaN for the others.
template <typename T> bool isNotFinite(T x) { return !(x - x == 0); }

/// The first class id outside [0, classes), as text with its position; empty if all are inside.
template <typename T> std::string findForeignClass(std::span<const uint8_t> bytes, int64_t classes) {
  size_t at = findBad<T>(bytes, [&](T id) { return id < 0 || static_cast<int64_t>(id) >= classes; });
  return at * sizeof(T) == bytes.size() ? "" : concat(loadAt<T>(bytes, at), " at element ", at);
}

} // namespace

base::StatusOr<TensorData> TensorData::load(const std::string &path, int64_t validation) {
  if (validation < 0 || validation >= 1'000'000)
    return base::invalidArgumentError(
        concat("--validation: expected a share from 0 to below 1, got ", validation, " millionths"));
  MEKIK_ASSIGN_OR_RETURN(checkpoint::Safetensors file, checkpoint::Safetensors::load(path));
  if (file.tensors().empty())
    return base::invalidArgumentError(concat(path, ": expected tensors to train on, found none"));
  int64_t count = -1;
  for (const TensorEntry &entry : file.tensors()) {
    if (entry.shape.empty())
      return base::invalidArgumentError(concat(path, ": tensor ", base::quoted(entry.name),
                                               ": expected a first axis that counts examples, found a "
                                               "scalar"));
    if (count < 0)
      count = entry.shape[0];
    if (entry.shape[0] != count)
      return base::invalidArgumentError(concat(path, ": tensor ", base::quoted(entry.name), ": expected ", count,
                                               " examples, as ", base::quoted(file.tensors()[0].name), " has, found ",
                                               entry.shape[0]));
  }
  int64_t train = static_cast<int64_t>(static_cast<__int128>(count) * (1'000'000 - validation) / 1'000'000);
  if (train == 0)
    return base::invalidArgumentError(concat(path, ": expected examples to train on, found ", count,
                                             ", of which the share for validation takes all"));
  return TensorData(std::move(file), count, train);
}

base::Status TensorData::check(const TensorWanted &wanted) const {
  std::vector<int64_t> shape{count};
  shape.insert(shape.end(), wanted.exampleShape.begin(), wanted.exampleShape.end());
  std::string expected = checkpoint::describeShape(wanted.type, shape);
  const TensorEntry *entry = tensors.find(wanted.name);
  std::string what = concat(tensors.origin(), ": tensor ", base::quoted(wanted.name), ": ");
  if (!entry)
    return base::notFoundError(concat(what, "expected ", expected, ", found none of this name"));
  if (entry->type != wanted.type || entry->shape != shape)
    return base::invalidArgumentError(
        concat(what, "expected ", expected, ", found ", checkpoint::describeShape(entry->type, entry->shape)));
  if (wanted.classes > 0) {
    std::string foreign;
    if (wanted.type == DataType::I32)
      foreign = findForeignClass<int32_t>(entry->data, wanted.classes);
    else if (wanted.type == DataType::I64)
      foreign = findForeignClass<int64_t>(entry->data, wanted.classes);
    if (!foreign.empty())
      return base::outOfRangeError(
          concat(what, "expected class ids from 0 to ", wanted.classes - 1, ", found ", foreign));
  }
  size_t bad = 0, size = entry->data.size() / checkpoint::dataTypeBytes(wanted.type);
  if (wanted.type == DataType::F32)
    bad = findBad<float>(entry->data, isNotFinite<float>);
  else if (wanted.type == DataType::F64)
    bad = findBad<double>(entry->data, isNotFinite<double>);
  else if (wanted.type == DataType::Bool)
    bad = findBad<uint8_t>(entry->data, [](uint8_t value) { return value > 1; });
  else
    bad = size;
  if (bad != size)
    return base::invalidArgumentError(concat(what,
                                             wanted.type == DataType::Bool
                                                 ? "expected 0 or 1, found another value"
                                                 : "expected finite numbers, found nan or inf",
                                             " at element ", bad));
  return base::okStatus();
}

std::span<const uint8_t> TensorData::example(std::string_view name, int64_t index) const {
  std::span<const uint8_t> data = tensors.find(name)->data;
  size_t bytes = data.size() / static_cast<size_t>(count);
  return data.subspan(static_cast<size_t>(index) * bytes, bytes);
}

int64_t TensorData::exampleAt(uint64_t seed, uint64_t step, uint64_t row) const {
  return static_cast<int64_t>(
      base::uniformIndex(seed, MEKIK_STREAM_DATA, step, row, static_cast<uint64_t>(trainCount)));
}

} // namespace mekik::data
