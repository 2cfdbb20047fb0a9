// Checking a descriptor before anything trusts it: object files of another compiler version, or damaged ones, must end
// in a message and not in a wild address.
#include "runtime/base/Concat.h"
#include "runtime/model/Model.h"
#include <set>

namespace mekik::model {
namespace {

using base::concat;
using base::Status;

uint64_t arenaBytes(const MekikModel &model, const MekikFunction *function, int32_t arena) {
  if (arena == MEKIK_PARAMETERS)
    return model.parameterBytes;
  if (arena == MEKIK_STATE)
    return model.stateBytes;
  return function ? function->workBytes : 0;
}

Status broken(std::string_view place, std::string_view problem) {
  return base::invalidArgumentError(concat("the compiled model is damaged: ", place, ": ", problem));
}

Status checkTensor(const MekikModel &model, const MekikFunction *function, const MekikTensor &tensor,
                   std::string_view owner) {
  if (!tensor.name || !*tensor.name)
    return broken(owner, "a tensor without a name");
  std::string place = concat(owner, ", tensor ", tensor.name);
  if (elementBytes(tensor.type) == 0)
    return broken(place, concat("unknown element type ", tensor.type));
  if (tensor.rank < 0 || tensor.rank > static_cast<int32_t>(MEKIK_MAX_RANK))
    return broken(place, concat("rank ", tensor.rank));
  if (tensor.arena < MEKIK_PARAMETERS || tensor.arena > MEKIK_WORK)
    return broken(place, concat("unknown arena ", tensor.arena));
  uint64_t bytes = elementBytes(tensor.type);
  for (int32_t axis = 0; axis < tensor.rank; ++axis) {
    if (tensor.shape[axis] < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(tensor.shape[axis]), &bytes))
      return broken(place, concat("axis ", axis, " of length ", tensor.shape[axis]));
  }
  if (bytes != tensor.bytes)
    return broken(place, concat("its shape takes ", bytes, " bytes, it declares ", tensor.bytes));
  uint64_t limit = arenaBytes(model, function, tensor.arena);
  if (tensor.offset % MEKIK_ALIGNMENT != 0 || tensor.offset > limit || tensor.bytes > limit - tensor.offset)
    return broken(place, concat("bytes ", tensor.offset, " to ", tensor.offset, "+", tensor.bytes, " of the ",
                                arenaName(tensor.arena), " arena, which has ", limit));
  return {};
}

Status checkFunction(const MekikModel &model, const MekikFunction &function) {
  std::string place = concat("function ", function.name);
  if (function.workBytes > model.workBytes || function.scratchBytes > model.scratchBytes)
    return broken(place, "needs more memory than the model declares");
  if ((function.tensorCount > 0 && !function.tensors) || (function.dispatchCount > 0 && !function.dispatches))
    return broken(place, "an empty table");
  for (uint64_t i = 0; i < function.tensorCount; ++i)
    MEKIK_RETURN_IF_ERROR(checkTensor(model, &function, function.tensors[i], place));
  for (uint64_t i = 0; i < function.dispatchCount; ++i) {
    const MekikDispatch &dispatch = function.dispatches[i];
    std::string where = concat(place, ", dispatch ", i);
    if (!dispatch.kernel || dispatch.tiles < 0 || dispatch.bufferCount < 0 ||
        (dispatch.bufferCount > 0 && !dispatch.buffers))
      return broken(where, "an incomplete entry");
    for (int32_t b = 0; b < dispatch.bufferCount; ++b) {
      const MekikBuffer &buffer = dispatch.buffers[b];
      if (buffer.arena == MEKIK_IMMEDIATE)
        continue;
      if (buffer.arena < MEKIK_PARAMETERS || buffer.arena > MEKIK_WORK)
        return broken(where, concat("buffer ", b, " in unknown arena ", buffer.arena));
      uint64_t limit = arenaBytes(model, &function, buffer.arena);
      if (buffer.offset > limit || buffer.bytes > limit - buffer.offset)
        return broken(where, concat("buffer ", b, " of bytes ", buffer.offset, " to ", buffer.offset, "+", buffer.bytes,
                                    " of the ", arenaName(buffer.arena), " arena, which has ", limit));
      if (buffer.parts < 1 || dispatch.tiles % buffer.parts != 0 || buffer.bytes % uint64_t(buffer.parts) != 0)
        return broken(where, concat("buffer ", b, " in ", buffer.parts, " parts, where ", dispatch.tiles,
                                    " tiles share ", buffer.bytes, " bytes"));
    }
  }
  return {};
}

} // namespace

uint64_t elementBytes(int32_t type) {
  switch (type) {
  case MEKIK_F32:
  case MEKIK_I32:
    return 4;
  case MEKIK_F64:
  case MEKIK_I64:
    return 8;
  case MEKIK_BOOL:
    return 1;
  default:
    return 0;
  }
}

std::string_view elementTypeName(int32_t type) {
  switch (type) {
  case MEKIK_F32:
    return "f32";
  case MEKIK_F64:
    return "f64";
  case MEKIK_I32:
    return "i32";
  case MEKIK_I64:
    return "i64";
  case MEKIK_BOOL:
    return "bool";
  default:
    return "unknown type";
  }
}

std::string_view arenaName(int32_t arena) {
  return arena == MEKIK_PARAMETERS ? "parameters" : arena == MEKIK_STATE ? "state" : "work";
}

std::string describeTensor(const MekikTensor &tensor) {
  std::string text(elementTypeName(tensor.type));
  text += '[';
  for (int32_t axis = 0; axis < tensor.rank; ++axis)
    base::append(text, axis > 0 ? ", " : "", tensor.shape[axis]);
  text += ']';
  return text;
}

int64_t elementCount(const MekikTensor &tensor) {
  return static_cast<int64_t>(tensor.bytes / elementBytes(tensor.type));
}

uint64_t parameterCount(const MekikModel &model) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < model.tensorCount; ++i)
    if (model.tensors[i].role == MEKIK_PARAMETER)
      count += static_cast<uint64_t>(elementCount(model.tensors[i]));
  return count;
}

Status checkDescriptor(const MekikModel &model) {
  if (model.magic != MEKIK_ABI_MAGIC)
    return base::invalidArgumentError("this is not a compiled Mekik model: the first eight bytes are another number");
  if (model.version != MEKIK_ABI_VERSION || model.size != sizeof(MekikModel))
    return base::invalidArgumentError(concat("the model was compiled for version ", model.version, " (", model.size,
                                             " bytes) of the ABI, this runtime has version ", MEKIK_ABI_VERSION, " (",
                                             sizeof(MekikModel), " bytes); compile the model again"));
  if (!model.name || !model.sourceHash || !model.compilerVersion || !model.target || !model.configuration)
    return broken("descriptor", "a missing text");
  if ((model.tensorCount > 0 && !model.tensors) || (model.functionCount > 0 && !model.functions))
    return broken("descriptor", "an empty table");
  std::set<std::pair<int32_t, std::string_view>> tensorNames;
  for (uint64_t i = 0; i < model.tensorCount; ++i) {
    const MekikTensor &tensor = model.tensors[i];
    MEKIK_RETURN_IF_ERROR(checkTensor(model, nullptr, tensor, "descriptor"));
    int32_t home = tensor.role == MEKIK_PARAMETER         ? MEKIK_PARAMETERS
                   : tensor.role == MEKIK_OPTIMIZER_STATE ? MEKIK_STATE
                                                          : -1;
    if (tensor.arena != home)
      return broken("descriptor", concat("tensor ", tensor.name, " of role ", tensor.role, " in the ",
                                         arenaName(tensor.arena), " arena"));
    if (!tensorNames.insert({tensor.role, tensor.name}).second)
      return broken("descriptor", concat("two tensors are named ", tensor.name));
  }
  std::set<std::string_view> functionNames;
  for (uint64_t i = 0; i < model.functionCount; ++i) {
    if (!model.functions[i].name)
      return broken("descriptor", concat("function ", i, " has no name"));
    MEKIK_RETURN_IF_ERROR(checkFunction(model, model.functions[i]));
    if (!functionNames.insert(model.functions[i].name).second)
      return broken("descriptor", concat("two functions are named ", model.functions[i].name));
  }
  return {};
}

} // namespace mekik::model
