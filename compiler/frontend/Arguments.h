// Arguments of a built-in function, matched with its parameters, and typed access to them with messages.
#ifndef MEKIK_FRONTEND_ARGUMENTS_H
#define MEKIK_FRONTEND_ARGUMENTS_H

#include "compiler/frontend/Elaborator.h"

namespace mekik::frontend {

/// A built-in function. Its parameters are written "x, axis?, keep?": a question mark means it may be left out; "xs..."
/// as the last takes any number of arguments.
struct Signature {
  std::string name;
  std::string parameters;
  Term (Elaborator::*build)(Arguments &);
};

const std::vector<Signature> &signatures();

struct Arguments {
  struct Parameter {
    std::string name;
    bool optional = false;
    bool variadic = false;
  };
  struct Given {
    Term term;
    syntax::SourceRange range;
  };

  Elaborator &elaborator;
  const syntax::CallExpr &call;
  std::vector<Parameter> parameters;
  std::vector<std::optional<Given>> values; ///< one a parameter
  std::vector<Given> rest;                  ///< arguments of the variadic parameter

  syntax::SourceRange range() const { return call.range; }
  bool has(size_t i) const { return values[i].has_value(); }
  syntax::SourceRange rangeOf(size_t i) const { return values[i] ? values[i]->range : call.range; }
  const Term &term(size_t i) const { return values[i]->term; }

  // Each gives nothing after a message. The argument must be there unless a default is given.
  mlir::Value tensor(size_t i);
  mlir::Value floatTensor(size_t i);
  mlir::Value intTensor(size_t i);
  std::optional<int64_t> integer(size_t i, std::optional<int64_t> otherwise = std::nullopt);
  std::optional<double> number(size_t i, std::optional<double> otherwise = std::nullopt);
  std::optional<bool> boolean(size_t i, bool otherwise);
  std::optional<std::string> choice(size_t i, const std::string &otherwise, const std::vector<std::string> &known);
  std::optional<std::vector<int64_t>> integers(size_t i);
  /// One axis, from 0 to rank - 1; negative ones count from the last.
  std::optional<int64_t> axis(size_t i, int64_t rank, std::optional<int64_t> otherwise = std::nullopt);
  /// One axis or a list of different ones, ascending; all axes if the argument is not there.
  std::optional<std::vector<int64_t>> axes(size_t i, int64_t rank);

  std::nullopt_t fail(size_t i, const std::string &message);

private:
  std::optional<int64_t> checkedAxis(size_t i, int64_t axis, int64_t rank);
};

/// `axis` brought into 0 .. rank - 1, or nothing if it lies outside.
std::optional<int64_t> normalizedAxis(int64_t axis, int64_t rank);

} // namespace mekik::frontend

#endif
