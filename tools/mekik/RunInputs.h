// What `run` feeds a model: numbers on the command line or in a file, tensors by name, a text through the tokenizer.
#ifndef MEKIK_TOOLS_MEKIK_RUN_INPUTS_H
#define MEKIK_TOOLS_MEKIK_RUN_INPUTS_H

#include "runtime/checkpoint/Safetensors.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "tools/mekik/Feed.h"

namespace mekik::tool {

struct RunInputs {
  std::vector<std::string> values; // NAME=NUMBERS or NAME=@FILE
  std::string tensors, text;

  /// Sets inputs and targets in `feed`. What is not given of the inputs is zero, and said. `tokenizer` may be null.
  /// Errors name the option or file, the tensor with its type, and what was found.
  base::Status read(Feed &feed, const std::vector<Argument> &arguments, const tokenizer::Tokenizer *tokenizer) const;
};

/// Numbers as they are typed: "1, 2.5, -3", or nested lists such as "[[1, 0], [3, 2]]".
struct NumberList {
  std::vector<int64_t> shape; // of nested lists; one axis for numbers without brackets
  std::vector<double> numbers;
};
/// Errors: `origin`, and the place where lists differ in length or something is no number.
base::StatusOr<NumberList> parseNumberList(const std::string &origin, std::string_view text);

checkpoint::DataType dataTypeOf(reference::Tensor::ElementType type);

} // namespace mekik::tool

#endif
