// Typed access to arguments.
#include "compiler/frontend/Arguments.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include <algorithm>

namespace mekik::frontend {

std::optional<int64_t> normalizedAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

std::nullopt_t Arguments::fail(size_t i, const std::string &message) {
  elaborator.error(rangeOf(i), absl::StrCat(call.callee.text, ": ", message));
  return std::nullopt;
}

mlir::Value Arguments::tensor(size_t i) {
  if (term(i).isTensor())
    return term(i).tensor();
  fail(i, absl::StrCat("'", parameters[i].name, "' must be a tensor, found ", kindOf(term(i)),
                       term(i).isNumber() ? "; full([], c) makes a tensor of a number" : ""));
  return {};
}

mlir::Value Arguments::floatTensor(size_t i) {
  mlir::Value value = tensor(i);
  if (!value || elaborator.isFloatTensor(value))
    return value;
  fail(i, absl::StrCat("'", parameters[i].name, "' must hold floats; cast(x, float) makes floats of integers"));
  return {};
}

mlir::Value Arguments::intTensor(size_t i) {
  mlir::Value value = tensor(i);
  if (!value || llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType().isInteger(32))
    return value;
  fail(i, absl::StrCat("'", parameters[i].name, "' must hold integers (an input or target of type i32), found ",
                       elaborator.describe(value), elaborator.isFloatTensor(value) ? " of floats" : " of bools"));
  return {};
}

std::optional<int64_t> Arguments::integer(size_t i, std::optional<int64_t> otherwise) {
  if (!has(i))
    return otherwise;
  if (term(i).isInteger())
    return term(i).integer();
  return fail(i,
              absl::StrCat("'", parameters[i].name, "' must be an int known at compile time, found ", kindOf(term(i))));
}

std::optional<double> Arguments::number(size_t i, std::optional<double> otherwise) {
  if (!has(i))
    return otherwise;
  if (term(i).isNumber())
    return term(i).number();
  return fail(
      i, absl::StrCat("'", parameters[i].name, "' must be a number known at compile time, found ", kindOf(term(i))));
}

std::optional<bool> Arguments::boolean(size_t i, bool otherwise) {
  if (!has(i))
    return otherwise;
  if (term(i).isBool())
    return term(i).boolean();
  return fail(i, absl::StrCat("'", parameters[i].name, "' must be true or false, found ", kindOf(term(i))));
}

std::optional<std::string> Arguments::choice(size_t i, const std::string &otherwise,
                                             const std::vector<std::string> &known) {
  if (!has(i))
    return otherwise;
  if (term(i).isText() && std::find(known.begin(), known.end(), term(i).text()) != known.end())
    return term(i).text();
  return fail(i, absl::StrCat("'", parameters[i].name, "' must be one of \"", absl::StrJoin(known, "\", \""),
                              "\", found ", term(i).isText() ? show(term(i)) : kindOf(term(i))));
}

std::optional<std::vector<int64_t>> Arguments::integers(size_t i) {
  bool good = term(i).isList();
  std::vector<int64_t> result;
  if (good)
    for (const Term &item : term(i).list()) {
      good &= item.isInteger();
      if (good)
        result.push_back(item.integer());
    }
  if (good)
    return result;
  return fail(i, absl::StrCat("'", parameters[i].name, "' must be a list of ints, such as [2, 3], found ",
                              term(i).isList() ? show(term(i)) : kindOf(term(i))));
}

std::optional<int64_t> Arguments::checkedAxis(size_t i, int64_t axis, int64_t rank) {
  auto result = normalizedAxis(axis, rank);
  if (!result)
    fail(i, rank == 0 ? absl::StrCat("there is no axis ", axis, "; this is a single number")
                      : absl::StrCat("there is no axis ", axis, "; the tensor's axes are 0 to ", rank - 1,
                                     ", or from the end -1 to -", rank));
  return result;
}

std::optional<int64_t> Arguments::axis(size_t i, int64_t rank, std::optional<int64_t> otherwise) {
  auto given = integer(i, otherwise);
  return given ? checkedAxis(i, *given, rank) : std::nullopt;
}

std::optional<std::vector<int64_t>> Arguments::axes(size_t i, int64_t rank) {
  std::vector<int64_t> result;
  if (!has(i)) {
    for (int64_t axis = 0; axis < rank; ++axis)
      result.push_back(axis);
    return result;
  }
  std::optional<std::vector<int64_t>> given;
  if (term(i).isInteger())
    given = std::vector<int64_t>{term(i).integer()};
  else
    given = integers(i);
  if (!given)
    return std::nullopt;
  for (int64_t axis : *given) {
    auto checked = checkedAxis(i, axis, rank);
    if (!checked)
      return std::nullopt;
    result.push_back(*checked);
  }
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    return fail(i, absl::StrCat("an axis stands twice in ", show(term(i))));
  return result;
}

} // namespace mekik::frontend
