#include "runtime/train/Transfer.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include "runtime/train/DataTypes.h"
#include <algorithm>
#include <cstring>
#include <map>

namespace mekik::train {

using base::concat;
using base::Status;
using base::StatusOr;

static std::span<const int64_t> shapeOf(const MekikTensor &tensor) {
  return {tensor.shape, static_cast<size_t>(tensor.rank)};
}

Status Transfer::mapSymbols(const tokenizer::Tokenizer &theirs, const tokenizer::Tokenizer &ours) {
  if (theirs.toJson() == ours.toJson())
    return {};
  // Symbols of other kinds of tokenizers depend on each other, so those are the same as a whole or not at all.
  bool byCharacter = theirs.kind() == "characters" && ours.kind() == "characters";
  bool sameEnd = theirs.endId().has_value() == ours.endId().has_value() &&
                 (!theirs.endId() || theirs.bytesOf(*theirs.endId()) == ours.bytesOf(*ours.endId()));
  if (!byCharacter || !sameEnd)
    return tokenizer::checkSameTokenizer(ours, "this program", theirs, file.origin());
  std::map<std::string_view, int32_t> ids;
  for (int32_t id = 0; id < ours.size(); ++id)
    ids.emplace(ours.bytesOf(id), id);
  for (int32_t id = 0; id < theirs.size(); ++id) {
    auto found = ids.find(theirs.bytesOf(id));
    if (found == ids.end())
      return base::failedPreconditionError(
          concat(file.origin(), ": knows the symbol ", base::quoted(theirs.bytesOf(id)), ", which is not among the ",
                 ours.describe(), " of this program; compile it with the vocabulary of both texts (mekik train --from "
                                  "does)"));
    symbols.push_back(found->second);
  }
  added = ours.size() - theirs.size();
  return {};
}

bool Transfer::fits(std::span<const int64_t> theirs, std::span<const int64_t> ours) const {
  if (theirs.size() != ours.size())
    return false;
  int64_t before = static_cast<int64_t>(symbols.size()), now = before + added;
  for (size_t axis = 0; axis < ours.size(); ++axis)
    if (theirs[axis] != ours[axis] && (symbols.empty() || theirs[axis] != before || ours[axis] != now))
      return false;
  return true;
}

StatusOr<Transfer> Transfer::load(const std::string &path, const model::Model &model,
                                  const tokenizer::Tokenizer *tokenizer) {
  MEKIK_ASSIGN_OR_RETURN(checkpoint::Safetensors file, checkpoint::Safetensors::load(path));
  Transfer transfer(std::move(file));
  if (tokenizer)
    if (auto json = transfer.file.metadata().find("mekik.tokenizer"); json != transfer.file.metadata().end()) {
      MEKIK_ASSIGN_OR_RETURN(std::unique_ptr<tokenizer::Tokenizer> theirs,
                             tokenizer::tokenizerFromJson(json->second, path));
      MEKIK_RETURN_IF_ERROR(transfer.mapSymbols(*theirs, *tokenizer));
    }
  for (uint64_t i = 0; i < model.descriptor().tensorCount; ++i) {
    const MekikTensor &tensor = model.descriptor().tensors[i];
    if (tensor.role != MEKIK_PARAMETER)
      continue;
    std::string wanted = checkpoint::describeShape(dataTypeOf(tensor.type), shapeOf(tensor));
    const checkpoint::TensorEntry *entry = transfer.file.find(tensor.name);
    if (!entry)
      return base::notFoundError(concat(path, ": expected a tensor ", base::quoted(tensor.name), " ", wanted,
                                        ", found none of this name; it belongs to another model"));
    if (entry->type != dataTypeOf(tensor.type) || !transfer.fits(entry->shape, shapeOf(tensor)))
      return base::failedPreconditionError(concat(path, ": tensor ", base::quoted(tensor.name), ": expected ", wanted,
                                                  ", found ", checkpoint::describeShape(entry->type, entry->shape),
                                                  "; configure the model as it was when that was trained"));
  }
  return transfer;
}

/// Where `from` has the old vocabulary along an axis, position i goes to symbols[i].
void Transfer::copyBySymbol(const checkpoint::TensorEntry &from, const MekikTensor &to, unsigned char *data) const {
  size_t rank = from.shape.size(), bytes = checkpoint::dataTypeBytes(from.type);
  std::vector<int64_t> at(rank, 0);
  for (size_t element = 0; element * bytes < from.data.size(); ++element) {
    int64_t target = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      bool mapped = from.shape[axis] != to.shape[axis];
      target = target * to.shape[axis] + (mapped ? symbols[static_cast<size_t>(at[axis])] : at[axis]);
    }
    memcpy(data + static_cast<size_t>(target) * bytes, from.data.data() + element * bytes, bytes);
    for (size_t axis = rank; axis-- > 0;) {
      if (++at[axis] < from.shape[axis])
        break;
      at[axis] = 0;
    }
  }
}

void Transfer::apply(model::Model &model) const {
  for (uint64_t i = 0; i < model.descriptor().tensorCount; ++i) {
    const MekikTensor &tensor = model.descriptor().tensors[i];
    if (tensor.role != MEKIK_PARAMETER)
      continue;
    const checkpoint::TensorEntry &entry = *file.find(tensor.name);
    auto *data = static_cast<unsigned char *>(model.data(tensor));
    if (std::equal(entry.shape.begin(), entry.shape.end(), tensor.shape))
      memcpy(data, entry.data.data(), entry.data.size());
    else
      copyBySymbol(entry, tensor, data);
  }
}

} // namespace mekik::train
