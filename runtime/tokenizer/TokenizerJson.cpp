// Reading a tokenizer's JSON. It comes out of checkpoints, which are files from anywhere: every field is checked.
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "runtime/base/Utf8.h"
#include "runtime/tokenizer/ByteTokenizer.h"
#include "runtime/tokenizer/CharacterTokenizer.h"

namespace mekik::tokenizer {

using base::concat;
using base::Json;

namespace {

base::Status refuse(std::string_view origin, std::string_view message) {
  return base::invalidArgumentError(concat(origin, ": tokenizer: ", message));
}

std::string found(const Json *value) {
  if (!value)
    return "nothing";
  return value->isString() ? base::quoted(value->text()) : std::string(value->kindName());
}

base::StatusOr<std::unique_ptr<Tokenizer>> readCharacters(const Json &json, std::string_view origin) {
  const Json *endField = json.find("end"), *table = json.find("characters");
  std::optional<char32_t> end;
  if (endField && endField->isString()) {
    std::string_view symbol = endField->text();
    base::Utf8Step step = symbol.empty() ? base::Utf8Step{} : base::decodeUtf8(symbol, 0);
    if (!step.valid || step.length != symbol.size())
      return refuse(origin, concat("\"end\": expected one character or null, found ", base::quoted(symbol)));
    end = step.codePoint;
  } else if (!endField || endField->kind() != Json::Kind::Null) {
    return refuse(origin, concat("\"end\": expected one character or null, found ", found(endField)));
  }
  if (!table || !table->isString())
    return refuse(origin, concat("\"characters\": expected a string, found ", found(table)));
  std::vector<char32_t> characters;
  for (char32_t character : base::CodePoints(table->text())) {
    if (!characters.empty() && character <= characters.back())
      return refuse(origin,
                    concat("\"characters\": expected every character once and ascending, found ",
                           base::describeCodePoint(character), " after ", base::describeCodePoint(characters.back())));
    if (end == character)
      return refuse(origin, concat("\"characters\": holds ", base::describeCodePoint(character),
                                   ", which is the symbol between examples"));
    characters.push_back(character);
  }
  if (characters.empty() && !end)
    return refuse(origin, "\"characters\": expected at least one character, found none");
  return std::unique_ptr<Tokenizer>(std::make_unique<CharacterTokenizer>(std::move(characters), end));
}

base::StatusOr<std::unique_ptr<Tokenizer>> readBytes(const Json &json, std::string_view origin) {
  const Json *end = json.find("end");
  bool lines = end && end->isString() && end->text() == "\n";
  if (!end || (!lines && end->kind() != Json::Kind::Null))
    return refuse(origin, concat("\"end\": expected \"\\n\" or null, found ", found(end)));
  return makeByteTokenizer(lines);
}

base::StatusOr<std::unique_ptr<Tokenizer>> readSimple(const Json &json, std::string_view origin,
                                                      std::string_view kinds) {
  const Json *kind = json.find("kind");
  if (kind && kind->isString() && kind->text() == "characters")
    return readCharacters(json, origin);
  if (kind && kind->isString() && kind->text() == "bytes")
    return readBytes(json, origin);
  return refuse(
      origin, concat("\"kind\": expected ", kinds, ", found ", found(kind), kind ? "; a newer Mekik may know it" : ""));
}

base::StatusOr<std::unique_ptr<Tokenizer>> readBpe(const Json &json, std::string_view origin) {
  const Json *base = json.find("base"), *list = json.find("merges");
  if (!base || !base->isObject())
    return refuse(origin, concat("\"base\": expected an object, found ", found(base)));
  if (!list || !list->isArray())
    return refuse(origin, concat("\"merges\": expected an array, found ", found(list)));
  MEKIK_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> made, readSimple(*base, origin, "\"characters\" or \"bytes\""));
  std::vector<Merge> merges;
  auto idOf = [](const Json &value) -> int32_t {
    std::optional<int64_t> id = value.integer();
    return id && *id >= 0 && *id < largestVocabulary ? static_cast<int32_t>(*id) : -1;
  };
  for (const Json &pair : list->elements()) {
    Merge merge{-1, -1};
    if (pair.elements().size() == 2)
      merge = {idOf(pair.elements()[0]), idOf(pair.elements()[1])};
    if (!pair.isArray() || merge.left < 0 || merge.right < 0)
      return refuse(origin, concat("\"merges\": merge ", merges.size() + 1, ": expected two ids in brackets"));
    merges.push_back(merge);
  }
  return makeBpeTokenizer(std::move(made), std::move(merges), concat(origin, ": tokenizer"));
}

} // namespace

base::StatusOr<std::unique_ptr<Tokenizer>> tokenizerFromJson(std::string_view json, std::string_view origin) {
  base::StatusOr<Json> value = Json::parse(json, concat(origin, ": tokenizer"));
  if (!value.ok())
    return value.status();
  if (!value->isObject())
    return refuse(origin, concat("expected an object, found ", value->kindName()));
  if (const Json *kind = value->find("kind"); kind && kind->isString() && kind->text() == "bpe")
    return readBpe(*value, origin);
  return readSimple(*value, origin, "\"characters\", \"bytes\" or \"bpe\"");
}

} // namespace mekik::tokenizer
