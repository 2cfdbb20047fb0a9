// What a file of parameters brings to a new run or a resumed one: how its model was configured, which symbols it knows.
#ifndef MEKIK_TOOLS_MEKIK_STARTING_POINT_H
#define MEKIK_TOOLS_MEKIK_STARTING_POINT_H

#include "runtime/data/TextData.h"
#include "runtime/tokenizer/Tokenizer.h"
#include <map>
#include <memory>
#include <string>

namespace mekik::tool {

/// Both are empty for a plain safetensors file and for none; `tokenizer` also for models that are not about text.
struct StartingPoint {
  std::map<std::string, std::string> configuration; // as -D would give it
  std::unique_ptr<tokenizer::Tokenizer> tokenizer;
};

/// Errors: those of reading a safetensors file, and a checkpoint if it claims to be one.
base::StatusOr<StartingPoint> readStartingPoint(const std::string &path);

/// The values of a configuration, a JSON object, as -D would give them.
base::StatusOr<std::map<std::string, std::string>> readConfiguration(const std::string &json);

/// A tokenizer of characters that also knows those of the text; others stay as they are. WrongUsage for a layout that is
/// not that of `known`, which comes from `knownFrom`.
base::StatusOr<std::unique_ptr<tokenizer::Tokenizer>> extendTokenizer(const tokenizer::Tokenizer &known,
                                                                      const std::string &knownFrom,
                                                                      const std::string &textPath,
                                                                      data::Layout layout);

} // namespace mekik::tool

#endif
