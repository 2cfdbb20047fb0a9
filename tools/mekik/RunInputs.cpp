#include "tools/mekik/RunInputs.h"
#include "compiler/reference/Evaluator.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Parse.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "tools/mekik/Command.h"
#include <cmath>

namespace mekik::tool {

using base::concat;
using base::Status;
using base::StatusOr;
using reference::Tensor;

checkpoint::DataType dataTypeOf(Tensor::ElementType type) {
  switch (type) {
  case Tensor::ElementType::F32:
    return checkpoint::DataType::F32;
  case Tensor::ElementType::F64:
    return checkpoint::DataType::F64;
  case Tensor::ElementType::I32:
    return checkpoint::DataType::I32;
  case Tensor::ElementType::I64:
    return checkpoint::DataType::I64;
  default:
    return checkpoint::DataType::Bool;
  }
}

namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string shapeText(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    base::append(text, i > 0 ? ", " : "", shape[i]);
  return text + "]";
}

/// One value of nested lists after the other. Depth is that of the first number; lists of one level are equally long.
class NumberListReader {
public:
  NumberListReader(const std::string &origin, std::string_view text) : origin(origin), text(text) {}

  StatusOr<NumberList> read() {
    MEKIK_RETURN_IF_ERROR(readLists());
    if (!open.empty())
      return wrong("a closing ]");
    for (int64_t size : sizes)
      list.shape.push_back(size);
    return std::move(list);
  }

private:
  Status wrong(std::string_view expected) const {
    std::string_view rest = text.substr(std::min(at, text.size()));
    return base::invalidArgumentError(
        concat(origin, ": expected ", expected, ", found ", rest.empty() ? "the end" : base::quoted(rest, 20)));
  }

  bool skipBlanks() {
    at = std::min(text.find_first_not_of(blanks, at), text.size());
    return at < text.size();
  }

  Status readLists() {
    do {
      if (!skipBlanks())
        return wrong("a number or [");
      if (text[at] == '[') {
        if (depth > 0 && open.size() == depth)
          return wrong("a number");
        open.push_back(0);
        ++at;
        continue;
      }
      MEKIK_RETURN_IF_ERROR(readNumber());
      MEKIK_RETURN_IF_ERROR(closeLists());
      if (open.empty())
        return skipBlanks() ? wrong("nothing behind the list") : Status();
      if (!skipBlanks() || text[at] != ',')
        return wrong(", or ]");
      ++at;
    } while (true);
  }

  Status readNumber() {
    if (depth == 0)
      depth = open.size(), sizes.assign(depth, -1);
    if (open.size() != depth)
      return wrong("[");
    size_t end = std::min(text.find_first_of(",[]", at), text.size()), last = text.find_last_not_of(blanks, end - 1);
    std::string_view number = text.substr(at, end > at ? last + 1 - at : 0);
    MEKIK_ASSIGN_OR_RETURN(double value, base::parseNumber(origin, number));
    list.numbers.push_back(value);
    ++open.back();
    at = end;
    return {};
  }

  Status closeLists() {
    for (; !open.empty() && skipBlanks() && text[at] == ']'; ++at) {
      int64_t &size = sizes[open.size() - 1];
      if (size >= 0 && size != open.back())
        return base::invalidArgumentError(concat(origin, ": expected lists of equal length, found one of ", size,
                                                 " and one of ", open.back(), " elements"));
      size = open.back();
      open.pop_back();
      if (!open.empty())
        ++open.back();
    }
    return {};
  }

  const std::string &origin;
  std::string_view text;
  size_t at = 0, depth = 0;
  std::vector<int64_t> open, sizes; // elements so far of the lists that are open; length of the lists of each level
  NumberList list;
};

Status checkClasses(const Argument &argument, const Tensor &tensor, const std::string &origin) {
  for (int64_t i = 0; argument.classes > 0 && i < tensor.size(); ++i)
    if (double id = tensor.getDouble(i); id < 0 || id >= static_cast<double>(argument.classes))
      return base::invalidArgumentError(concat(origin, ": element ", i, " of ", argument.name, " is ",
                                               base::formatNumber(id), ", expected an id from 0 to ",
                                               argument.classes - 1));
  return {};
}

StatusOr<Tensor> fromNumbers(const Argument &argument, std::string_view text, const std::string &origin) {
  MEKIK_ASSIGN_OR_RETURN(NumberList list, parseNumberList(origin, text));
  Tensor tensor = reference::zeros(argument.type);
  int64_t count = static_cast<int64_t>(list.numbers.size());
  if (count != tensor.size())
    return base::invalidArgumentError(concat(origin, ": ", argument.name, " is ", describe(argument.type),
                                             ", which takes ", tensor.size(), " numbers, got ", count));
  if (list.shape.size() > 1 && list.shape != tensor.shape())
    return base::invalidArgumentError(concat(origin, ": ", argument.name, " is ", describe(argument.type),
                                             ", got lists of shape ", shapeText(list.shape)));
  bool isFloat = tensor.type() == Tensor::ElementType::F32 || tensor.type() == Tensor::ElementType::F64;
  for (int64_t i = 0; i < count; ++i) {
    double value = list.numbers[static_cast<size_t>(i)];
    if (!isFloat && (value != std::floor(value) || std::abs(value) > 2147483647.0))
      return base::invalidArgumentError(concat(origin, ": ", argument.name, " is ", describe(argument.type),
                                               ", expected a whole number as element ", i, ", got ",
                                               base::formatNumber(value)));
    tensor.setDouble(i, value);
  }
  MEKIK_RETURN_IF_ERROR(checkClasses(argument, tensor, origin));
  return tensor;
}

std::string namesOf(const std::vector<Argument> &arguments) {
  std::string text;
  for (const Argument &argument : arguments)
    base::append(text, text.empty() ? "" : ", ", argument.name, " (", describe(argument.type), ")");
  return text.empty() ? "none, the model has no inputs" : text;
}

Status readTensors(Feed &feed, const std::vector<Argument> &arguments, const std::string &path) {
  MEKIK_ASSIGN_OR_RETURN(checkpoint::Safetensors file, checkpoint::Safetensors::load(path));
  for (const Argument &argument : arguments) {
    if (!file.find(argument.name))
      continue;
    Tensor tensor = reference::zeros(argument.type);
    MEKIK_RETURN_IF_ERROR(
        checkpoint::copyTensor(file, argument.name, dataTypeOf(tensor.type()), tensor.shape(), tensor.data()));
    MEKIK_RETURN_IF_ERROR(checkClasses(argument, tensor, path));
    feed.set(argument.role, argument.name, std::move(tensor));
  }
  return {};
}

Status readText(Feed &feed, const std::vector<Argument> &arguments, const tokenizer::Tokenizer *tokenizer,
                const std::string &text) {
  if (!tokenizer)
    return wrongUsage("--text needs a tokenizer: give --checkpoint, or --data with the text of the model");
  for (const Argument &argument : arguments) {
    if (argument.role != "input" || !argument.type.getElementType().isInteger(32))
      continue;
    MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> ids, tokenizer->encode(text, "--text"));
    Tensor tensor = reference::zeros(argument.type);
    if (static_cast<int64_t>(ids.size()) > tensor.size())
      return base::invalidArgumentError(concat("--text: ", argument.name, " holds ", tensor.size(),
                                               " symbols, the text has ", ids.size(), "; shorten it"));
    // What follows a text that is shorter is filled with the start of a next one.
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.setDouble(i,
                       i < static_cast<int64_t>(ids.size()) ? ids[static_cast<size_t>(i)] : tokenizer->defaultStart());
    MEKIK_RETURN_IF_ERROR(checkClasses(argument, tensor, "--text"));
    feed.set("input", argument.name, std::move(tensor));
    return {};
  }
  return wrongUsage("--text: the model has no input of ids");
}

} // namespace

StatusOr<NumberList> parseNumberList(const std::string &origin, std::string_view text) {
  size_t first = text.find_first_not_of(blanks);
  if (first != std::string_view::npos && text[first] == '[')
    return NumberListReader(origin, text).read();
  return NumberListReader(origin, concat("[", text, "]")).read();
}

Status RunInputs::read(Feed &feed, const std::vector<Argument> &arguments,
                       const tokenizer::Tokenizer *tokenizer) const {
  if (!tensors.empty())
    MEKIK_RETURN_IF_ERROR(readTensors(feed, arguments, tensors));
  if (!text.empty())
    MEKIK_RETURN_IF_ERROR(readText(feed, arguments, tokenizer, text));
  for (const std::string &value : values) {
    size_t equals = value.find('=');
    std::string name = value.substr(0, equals);
    auto argument =
        std::find_if(arguments.begin(), arguments.end(), [&](const Argument &one) { return one.name == name; });
    if (equals == std::string::npos || argument == arguments.end())
      return wrongUsage(concat("--set ", value, ": expected NAME=NUMBERS, where NAME is one of ", namesOf(arguments)));
    std::string numbers = value.substr(equals + 1), origin = concat("--set ", name);
    bool isFile = numbers.starts_with('@');
    if (isFile) {
      origin = numbers.substr(1);
      MEKIK_ASSIGN_OR_RETURN(numbers, base::readFile(origin));
    }
    StatusOr<Tensor> tensor = fromNumbers(*argument, numbers, origin);
    if (!tensor.ok())
      return isFile ? tensor.status() : wrongUsage(tensor.status().message());
    feed.set(argument->role, name, std::move(*tensor));
  }
  for (const Argument &argument : arguments)
    if (argument.role == "input" && !feed.find("input", argument.name)) {
      printError(concat("input ", argument.name, " is not given and stays zero\n"));
      feed.set("input", argument.name, reference::zeros(argument.type));
    }
  return {};
}

} // namespace mekik::tool
