// Reading checkpoints before a model is compiled.
#include "tools/mekik/StartingPoint.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Json.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "tools/mekik/Command.h"

namespace mekik::tool {

using base::concat;
using base::StatusOr;

StatusOr<std::map<std::string, std::string>> readConfiguration(const std::string &json) {
  std::map<std::string, std::string> values;
  MEKIK_ASSIGN_OR_RETURN(base::Json object, base::Json::parse(json, "the configuration in the checkpoint"));
  for (size_t i = 0; i < object.keys().size(); ++i) {
    const base::Json &value = object.elements()[i];
    values[object.keys()[i]] = value.boolean() ? (*value.boolean() ? "true" : "false") : value.text();
  }
  return values;
}

StatusOr<StartingPoint> readStartingPoint(const std::string &path) {
  StartingPoint start;
  if (base::pathKind(path) == base::PathKind::Missing)
    return checkpoint::loadCheckpoint(path).status(); // for its message
  MEKIK_ASSIGN_OR_RETURN(checkpoint::Safetensors file, checkpoint::Safetensors::load(path));
  if (file.metadata().find("mekik.checkpoint") == file.metadata().end())
    return start;
  MEKIK_ASSIGN_OR_RETURN(checkpoint::Checkpoint checkpoint, checkpoint::loadCheckpoint(path));
  MEKIK_ASSIGN_OR_RETURN(start.configuration, readConfiguration(checkpoint.info.configuration));
  if (!checkpoint.info.tokenizer.empty()) {
    MEKIK_ASSIGN_OR_RETURN(start.tokenizer, tokenizer::tokenizerFromJson(checkpoint.info.tokenizer, path));
  }
  return start;
}

StatusOr<std::unique_ptr<tokenizer::Tokenizer>> extendTokenizer(const tokenizer::Tokenizer &known,
                                                                const std::string &knownFrom,
                                                                const std::string &textPath, data::Layout layout) {
  bool stream = layout == data::Layout::Stream;
  if (known.endId().has_value() == stream)
    return wrongUsage(concat("--layout: ", knownFrom, " was trained on ",
                             stream ? "lines, not on a stream" : "a stream, not on lines"));
  if (known.kind() != "characters")
    return tokenizer::tokenizerFromJson(known.toJson(), knownFrom);
  MEKIK_ASSIGN_OR_RETURN(data::Text text, data::Text::load(textPath));
  // The known characters as a further line, or the end of the stream, of the text that makes the vocabulary.
  std::string all = concat(text.content(), stream ? "" : "\n");
  for (int32_t id = 0; id < known.size(); ++id)
    if (id != known.endId())
      all += known.bytesOf(id);
  MEKIK_ASSIGN_OR_RETURN(data::Text both, data::Text::fromBytes(std::move(all), textPath));
  return data::makeTokenizer("characters", both, layout,
                             known.endId() ? known.bytesOf(*known.endId()) : std::string_view());
}

} // namespace mekik::tool
