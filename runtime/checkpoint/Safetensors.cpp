// Reading safetensors. The file may come from anywhere, so nothing in it is believed: every length is checked before it
// is used, and the data must be covered exactly once.
#include "runtime/checkpoint/Safetensors.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace mekik::checkpoint {

using base::concat;
using base::Json;

namespace {

constexpr uint64_t largestHeader = 100'000'000;

struct TypeRow {
  DataType type;
  std::string_view name;
  uint64_t bytes;
};
constexpr TypeRow typeTable[] = {
    {DataType::Bool, "BOOL", 1},      {DataType::U8, "U8", 1},          {DataType::I8, "I8", 1},
    {DataType::F8E5M2, "F8_E5M2", 1}, {DataType::F8E4M3, "F8_E4M3", 1}, {DataType::I16, "I16", 2},
    {DataType::U16, "U16", 2},        {DataType::F16, "F16", 2},        {DataType::BF16, "BF16", 2},
    {DataType::I32, "I32", 4},        {DataType::U32, "U32", 4},        {DataType::F32, "F32", 4},
    {DataType::F64, "F64", 8},        {DataType::I64, "I64", 8},        {DataType::U64, "U64", 8},
};

const TypeRow &rowOf(DataType type) { return typeTable[static_cast<size_t>(type)]; }

constexpr bool tableIsInOrder() {
  for (size_t i = 0; i < std::size(typeTable); ++i)
    if (typeTable[i].type != static_cast<DataType>(i))
      return false;
  return true;
}
static_assert(tableIsInOrder());

/// Checks one header against one file; messages carry the byte offset in the file.
class HeaderReader {
public:
  HeaderReader(std::string_view file, std::string_view origin) : file(file), origin(origin) {}

  base::Status read() {
    if (file.size() < 8)
      return fail(0, concat("expected a safetensors file, found only ", file.size(), " bytes"));
    uint64_t length = 0;
    for (int i = 7; i >= 0; --i)
      length = length << 8 | static_cast<uint8_t>(file[static_cast<size_t>(i)]);
    if (length > largestHeader)
      return fail(0, concat("expected a safetensors file, whose first 8 bytes give a header length of at most ",
                            largestHeader, ", found ", length));
    if (length > file.size() - 8)
      return fail(0, concat("the header is to have ", length, " bytes, but the file ends after ", file.size() - 8,
                            " of them; it is cut off"));
    if (length == 0 || file[8] != '{')
      return fail(8, "expected the header to begin with {");
    dataStart = 8 + length;
    dataBytes = file.size() - dataStart;
    base::StatusOr<Json> header = Json::parse(file.substr(8, length), origin, 8);
    if (!header.ok())
      return header.status();
    for (size_t i = 0; i < header->keys().size(); ++i) {
      const Json &value = header->elements()[i];
      if (header->keys()[i] == "__metadata__")
        MEKIK_RETURN_IF_ERROR(readMetadata(value));
      else
        MEKIK_RETURN_IF_ERROR(readTensor(header->keys()[i], value));
    }
    return checkCover();
  }

  std::vector<TensorEntry> entries;
  std::map<std::string, std::string, std::less<>> metadata;

private:
  base::Status fail(uint64_t at, std::string_view message) const {
    return base::invalidArgumentError(concat(origin, ": byte ", at, ": ", message));
  }

  base::Status readMetadata(const Json &value) {
    if (!value.isObject())
      return fail(value.offset(), concat("\"__metadata__\": expected an object, found ", value.kindName()));
    for (size_t i = 0; i < value.keys().size(); ++i) {
      const Json &text = value.elements()[i];
      if (!text.isString())
        return fail(text.offset(), concat("\"__metadata__\": ", base::quoted(value.keys()[i]),
                                          ": expected a string, found ", text.kindName()));
      metadata.emplace(value.keys()[i], text.text());
    }
    return base::okStatus();
  }

  base::StatusOr<std::vector<uint64_t>> readNumbers(std::string_view tensor, std::string_view field,
                                                    const Json &value) {
    auto refuse = [&](const Json &at) {
      return fail(at.offset(), concat("tensor ", base::quoted(tensor), ": \"", field,
                                      "\": expected whole numbers from 0 to 9223372036854775807 in [], found ",
                                      at.kind() == Json::Kind::Number ? at.text() : std::string(at.kindName())));
    };
    if (!value.isArray())
      return refuse(value);
    std::vector<uint64_t> numbers;
    for (const Json &element : value.elements()) {
      std::optional<uint64_t> number = element.unsignedInteger();
      if (!number || *number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        return refuse(element);
      numbers.push_back(*number);
    }
    return numbers;
  }

  base::Status readTensor(const std::string &name, const Json &value) {
    auto refuse = [&](uint64_t at, std::string_view message) {
      return fail(at, concat("tensor ", base::quoted(name), ": ", message));
    };
    const Json *typeField = value.find("dtype"), *shapeField = value.find("shape");
    const Json *offsetsField = value.find("data_offsets");
    if (!typeField || !shapeField || !offsetsField || value.keys().size() != 3)
      return refuse(value.offset(), "expected an object with \"dtype\", \"shape\" and \"data_offsets\"");
    std::optional<DataType> type = dataTypeFromName(typeField->isString() ? typeField->text() : "");
    if (!type)
      return refuse(typeField->offset(),
                    concat("\"dtype\": expected a type such as \"F32\", found ",
                           typeField->isString() ? base::quoted(typeField->text()) : typeField->kindName().data()));
    MEKIK_ASSIGN_OR_RETURN(std::vector<uint64_t> shape, readNumbers(name, "shape", *shapeField));
    MEKIK_ASSIGN_OR_RETURN(std::vector<uint64_t> offsets, readNumbers(name, "data_offsets", *offsetsField));
    if (offsets.size() != 2)
      return refuse(offsetsField->offset(), concat("\"data_offsets\": expected two numbers, found ", offsets.size()));

    uint64_t bytes = dataTypeBytes(*type);
    bool overflow = false;
    for (uint64_t size : shape)
      overflow |= __builtin_mul_overflow(bytes, size, &bytes);
    if (overflow)
      return refuse(shapeField->offset(), "\"shape\": the tensor would have more than 2^64 bytes");
    if (offsets[0] > offsets[1] || offsets[1] - offsets[0] != bytes)
      return refuse(offsetsField->offset(), concat("\"data_offsets\": the shape needs ", bytes, " bytes, found from ",
                                                   offsets[0], " to ", offsets[1]));
    if (offsets[1] > dataBytes)
      return refuse(offsetsField->offset(),
                    concat("\"data_offsets\": the data ends at ", offsets[1], ", but the file has only ", dataBytes,
                           " bytes of data; it is cut off"));
    entries.push_back({name,
                       *type,
                       std::vector<int64_t>(shape.begin(), shape.end()),
                       {reinterpret_cast<const uint8_t *>(file.data()) + dataStart + offsets[0], bytes}});
    return base::okStatus();
  }

  /// Sorted by place, the tensors must follow each other from the first byte of the data to the last.
  base::Status checkCover() {
    std::sort(entries.begin(), entries.end(), [](const TensorEntry &a, const TensorEntry &b) {
      return std::make_tuple(a.data.data(), a.data.size(), std::string_view(a.name)) <
             std::make_tuple(b.data.data(), b.data.size(), std::string_view(b.name));
    });
    uint64_t covered = 0;
    for (const TensorEntry &entry : entries) {
      uint64_t begin =
          static_cast<uint64_t>(entry.data.data() - reinterpret_cast<const uint8_t *>(file.data())) - dataStart;
      if (begin != covered)
        return fail(dataStart + begin,
                    concat("tensor ", base::quoted(entry.name), begin > covered ? " leaves a hole: " : " overlaps: ",
                           "its data starts at ", begin, ", that of the tensors before it ends at ", covered));
      covered = begin + entry.data.size();
    }
    if (covered != dataBytes)
      return fail(dataStart + covered, concat("the tensors end at ", covered, " of ", dataBytes,
                                              " bytes of data: what follows belongs to none"));
    return base::okStatus();
  }

  std::string_view file;
  std::string_view origin;
  uint64_t dataStart = 0, dataBytes = 0;
};

} // namespace

std::string_view dataTypeName(DataType type) { return rowOf(type).name; }

std::optional<DataType> dataTypeFromName(std::string_view name) {
  for (const TypeRow &row : typeTable)
    if (row.name == name)
      return row.type;
  return std::nullopt;
}

uint64_t dataTypeBytes(DataType type) { return rowOf(type).bytes; }

std::string describeShape(DataType type, std::span<const int64_t> shape) {
  std::string out = concat(dataTypeName(type), " [");
  for (size_t i = 0; i < shape.size(); ++i)
    base::append(out, i ? ", " : "", shape[i]);
  return out + "]";
}

base::StatusOr<Safetensors> Safetensors::load(const std::string &path) {
  MEKIK_ASSIGN_OR_RETURN(std::string bytes, base::readFile(path));
  return parse(std::move(bytes), path);
}

base::StatusOr<Safetensors> Safetensors::parse(std::string bytes, std::string origin) {
  Safetensors result;
  result.bytes = std::make_shared<const std::string>(std::move(bytes));
  result.name = std::move(origin);
  HeaderReader reader(*result.bytes, result.name);
  MEKIK_RETURN_IF_ERROR(reader.read());
  result.entries = std::move(reader.entries);
  result.strings = std::move(reader.metadata);
  for (size_t i = 0; i < result.entries.size(); ++i)
    result.byName.emplace(result.entries[i].name, i);
  return result;
}

const TensorEntry *Safetensors::find(std::string_view tensorName) const {
  auto found = byName.find(tensorName);
  return found == byName.end() ? nullptr : &entries[found->second];
}

} // namespace mekik::checkpoint
