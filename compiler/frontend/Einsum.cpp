// Einstein sums of any number of operands, as a chain of two-operand contractions from left to right.
#include "compiler/frontend/Elaborator.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include <algorithm>

namespace mekik::frontend {

using namespace syntax;

namespace {

using Labels = std::vector<std::string>;

bool contains(const Labels &labels, const std::string &label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// An operand with the label of every axis.
struct Labelled {
  mlir::Value value;
  Labels labels;
};

Labels words(absl::string_view text) { return absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty()); }

/// One letter a label, as graph.contract wants them.
class Letters {
public:
  std::string of(const Labels &labels) {
    std::string text;
    for (const std::string &label : labels) {
      auto found = std::find(known.begin(), known.end(), label);
      size_t index = found - known.begin();
      if (found == known.end())
        known.push_back(label);
      text += static_cast<char>(index < 26 ? 'a' + index : 'A' + (index - 26));
    }
    return text;
  }

private:
  Labels known;
};

/// Axes transposed into the order of `order`, then axes of size 1 for the labels of `order` that are missing.
mlir::Value align(graph::Build &build, const Labelled &operand, const Labels &order) {
  llvm::SmallVector<int64_t> permutation, shape;
  auto sizes = graph::shapeOf(operand.value);
  for (const std::string &label : order) {
    auto found = std::find(operand.labels.begin(), operand.labels.end(), label);
    if (found == operand.labels.end()) {
      shape.push_back(1);
      continue;
    }
    permutation.push_back(found - operand.labels.begin());
    shape.push_back(sizes[permutation.back()]);
  }
  mlir::Value value = operand.value;
  if (!std::is_sorted(permutation.begin(), permutation.end()))
    value = build.transpose(value, permutation);
  if (shape.size() != permutation.size())
    value = build.reshape(value, shape);
  return value;
}

/// Sums away the axes whose labels are not in `kept`.
void sumAway(graph::Build &build, Labelled &operand, const Labels &kept) {
  llvm::SmallVector<int64_t> axes;
  Labels rest;
  for (size_t i = 0; i < operand.labels.size(); ++i) {
    if (contains(kept, operand.labels[i]))
      rest.push_back(operand.labels[i]);
    else
      axes.push_back(static_cast<int64_t>(i));
  }
  if (!axes.empty())
    operand = {build.sum(operand.value, axes), rest};
}

} // namespace

Term Elaborator::einsum(const std::string &equation, SourceRange equationRange, llvm::ArrayRef<mlir::Value> operands,
                        llvm::ArrayRef<SourceRange> operandRanges, SourceRange range) {
  std::vector<std::string> sides = absl::StrSplit(equation, "->");
  if (sides.size() != 2)
    return fail(
        equationRange,
        "an einsum equation has the form \"a b, b c -> a c\": the axes of each operand, '->', the axes of the result");
  std::vector<std::string> terms = absl::StrSplit(sides[0], ',');
  if (terms.size() != operands.size())
    return fail(equationRange, absl::StrCat("the equation describes ", terms.size(),
                                            terms.size() == 1 ? " operand, but " : " operands, but ", operands.size(),
                                            operands.size() == 1 ? " is given" : " are given"));
  Labels target = words(sides[1]);
  struct Size {
    int64_t size;
    std::string name;
    size_t operand;
  };
  std::map<std::string, Size> sizes;
  std::vector<Labelled> all;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!isFloatTensor(operands[i]))
      return fail(operandRanges[i], "einsum works on tensors of floats; cast(x, float) converts");
    Labels labels = words(terms[i]);
    auto shape = graph::shapeOf(operands[i]);
    if (labels.size() != shape.size()) {
      Diagnostic &diagnostic =
          error(equationRange, absl::StrCat("\"", absl::StrJoin(labels, " "), "\" names ", labels.size(),
                                            labels.size() == 1 ? " axis" : " axes", ", but operand ", i + 1, " has ",
                                            shape.size(), ": ", describe(operands[i])));
      diagnostic.note(operandRanges[i], absl::StrCat("operand ", i + 1, " is here"));
      if (labels.size() == 1 && labels[0].size() == shape.size())
        diagnostic.note("labels are words with blanks between them: write \"a b c\" for \"abc\"");
      return {};
    }
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      const std::string &label = labels[axis];
      bool isWord = std::all_of(label.begin(), label.end(),
                                [](unsigned char c) { return std::isalnum(c) || c == '_' || c >= 0x80; });
      if (!isWord)
        return fail(equationRange,
                    absl::StrCat("'", label, "' is no label; labels are letters or words with blanks between them"));
      if (std::count(labels.begin(), labels.end(), label) > 1)
        return fail(equationRange,
                    absl::StrCat("label '", label, "' stands twice in one operand; diagonals cannot be taken"));
      auto [known, isNew] = sizes.emplace(label, Size{shape[axis], dimensions.of(operands[i])[axis], i});
      if (!isNew && known->second.size != shape[axis]) {
        error(equationRange,
              absl::StrCat("label '", label, "' is ", known->second.size, " in operand ", known->second.operand + 1,
                           " and ", dimensions.describeAxis(operands[i], axis), " in operand ", i + 1))
            .note(operandRanges[known->second.operand], absl::StrCat("operand ", known->second.operand + 1, " is ",
                                                                     describe(operands[known->second.operand])))
            .note(operandRanges[i], absl::StrCat("operand ", i + 1, " is ", describe(operands[i])));
        return {};
      }
    }
    all.push_back({operands[i], labels});
  }
  Names names;
  for (const std::string &label : target) {
    if (!sizes.count(label))
      return fail(equationRange, absl::StrCat("label '", label, "' of the result stands in no operand"));
    if (std::count(target.begin(), target.end(), label) > 1)
      return fail(equationRange, absl::StrCat("label '", label, "' stands twice in the result"));
    names.push_back(sizes.at(label).name);
  }
  if (sizes.size() > 52)
    return fail(equationRange, "an einsum has at most 52 labels");

  graph::Build build = at(range);
  Letters letters;
  Labelled left = all[0];
  for (size_t i = 1; i < all.size(); ++i) {
    Labelled right = all[i];
    Labels later = target;
    for (size_t j = i + 1; j < all.size(); ++j)
      later.insert(later.end(), all[j].labels.begin(), all[j].labels.end());
    Labels keptLeft = later, keptRight = later;
    keptLeft.insert(keptLeft.end(), right.labels.begin(), right.labels.end());
    keptRight.insert(keptRight.end(), left.labels.begin(), left.labels.end());
    sumAway(build, left, keptLeft);
    sumAway(build, right, keptRight);
    Labels out;
    bool contracts = false;
    if (i + 1 == all.size()) {
      out = target;
    } else {
      for (const Labels *labels : {&left.labels, &right.labels})
        for (const std::string &label : *labels)
          if (contains(later, label) && !contains(out, label))
            out.push_back(label);
    }
    for (const std::string &label : left.labels)
      contracts |= contains(right.labels, label) && !contains(out, label);
    llvm::SmallVector<int64_t> shape;
    Names outNames;
    for (const std::string &label : out) {
      shape.push_back(sizes.at(label).size);
      outNames.push_back(sizes.at(label).name);
    }
    if (!checkSize(shape, outNames, range))
      return {};
    mlir::Value value =
        contracts ? build.contract(letters.of(left.labels) + "," + letters.of(right.labels) + "->" + letters.of(out),
                                   left.value, right.value)
                  : build.mul(align(build, left, out), align(build, right, out));
    left = {value, out};
  }
  sumAway(build, left, target);
  return result(align(build, left, target), names, range);
}

} // namespace mekik::frontend
