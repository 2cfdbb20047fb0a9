// What all tokenizers share: decoding, hash, comparison, decoding of a stream.
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include "runtime/base/Sha256.h"
#include "runtime/base/Utf8.h"

namespace mekik::tokenizer {

using base::concat;

base::StatusOr<std::string> Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string bytes;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= size())
      return base::outOfRangeError(
          concat("id ", ids[i], " at position ", i, " is outside the vocabulary: expected 0 to ", size() - 1));
    bytes.append(bytesOf(ids[i]));
  }
  return bytes;
}

std::string Tokenizer::hash() const { return base::sha256Hex(toJson()); }

int32_t Tokenizer::defaultStart() const {
  if (std::optional<int32_t> end = endId())
    return *end;
  for (std::string_view wanted : {"\n", " "})
    for (int32_t id = 0; id < size(); ++id)
      if (bytesOf(id) == wanted)
        return id;
  return 0;
}

base::Status checkSameTokenizer(const Tokenizer &model, std::string_view modelName, const Tokenizer &other,
                                std::string_view otherName) {
  if (model.toJson() == other.toJson())
    return base::okStatus();
  auto fail = [&](std::string difference) {
    return base::failedPreconditionError(concat("the vocabularies do not match: ", difference));
  };
  if (model.size() != other.size())
    return fail(concat(modelName, " has ", model.describe(), ", ", otherName, " has ", other.describe()));
  for (int32_t id = 0; id < model.size(); ++id)
    if (model.bytesOf(id) != other.bytesOf(id))
      return fail(concat("both have ", model.size(), " ids, but id ", id, " is ", base::quoted(model.bytesOf(id)),
                         " in ", modelName, " and ", base::quoted(other.bytesOf(id)), " in ", otherName));
  if (model.kind() == "bpe" && other.kind() == "bpe" && model.endId() == other.endId())
    return fail(concat(modelName, " and ", otherName, " have the same symbols, but merge them in another way"));
  return fail(concat(modelName, " and ", otherName, " differ in their kind or in the symbol between examples: ",
                     model.toJson().substr(0, 60), " and ", other.toJson().substr(0, 60)));
}

std::string StreamDecoder::append(int32_t id) {
  carry.append(tokenizer.bytesOf(id));
  std::string out;
  size_t at = 0;
  while (at < carry.size()) {
    base::Utf8Step step = base::decodeUtf8(carry, at);
    if (step.incomplete)
      break;
    base::appendUtf8(out, step.codePoint);
    at += step.length;
  }
  carry.erase(0, at);
  return out;
}

std::string StreamDecoder::finish() {
  std::string out = base::replaceInvalidUtf8(carry);
  carry.clear();
  return out;
}

} // namespace mekik::tokenizer
