// What an expression of the model language stands for while the graph is being built: a value known at compile time, or
// a tensor of the graph.
#ifndef MEKIK_FRONTEND_TERM_H
#define MEKIK_FRONTEND_TERM_H

#include "compiler/syntax/Ast.h"
#include "mlir/IR/Value.h"
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mekik::frontend {

/// The result of something that has already been reported; whatever is made of it is quietly the same.
struct Poison {};

struct Term {
  using List = std::vector<Term>;

  Term() = default;
  Term(int64_t value) : content(value) {}
  Term(double value) : content(value) {}
  Term(bool value) : content(value) {}
  Term(std::string value) : content(std::move(value)) {}
  Term(List value) : content(std::move(value)) {}
  Term(mlir::Value value) : content(value) {}

  bool isPoison() const { return std::holds_alternative<Poison>(content); }
  bool isTensor() const { return std::holds_alternative<mlir::Value>(content); }
  bool isInteger() const { return std::holds_alternative<int64_t>(content); }
  bool isFloat() const { return std::holds_alternative<double>(content); }
  bool isNumber() const { return isInteger() || isFloat(); }
  bool isBool() const { return std::holds_alternative<bool>(content); }
  bool isText() const { return std::holds_alternative<std::string>(content); }
  bool isList() const { return std::holds_alternative<List>(content); }

  mlir::Value tensor() const { return std::get<mlir::Value>(content); }
  int64_t integer() const { return std::get<int64_t>(content); }
  bool boolean() const { return std::get<bool>(content); }
  const std::string &text() const { return std::get<std::string>(content); }
  const List &list() const { return std::get<List>(content); }
  /// Of a number of either kind.
  double number() const { return isInteger() ? static_cast<double>(integer()) : std::get<double>(content); }

private:
  std::variant<Poison, int64_t, double, bool, std::string, List, mlir::Value> content;
};

/// As messages show it: "3", "0.5", "true", "\"relu\"", "[1, 2]", "a tensor".
std::string show(const Term &term);
/// "an int", "a float", "a bool", "a string", "a list", "a tensor".
std::string kindOf(const Term &term);
/// The shortest decimal that reads back as the same double, with a point or an exponent in it.
std::string showFloat(double value);

/// Arithmetic of values known at compile time. On failure the result is empty and `problem` says why.
///   int op int    + - * ** are exact, an overflow is an error; / must come out even; // rounds down; % has the sign of
///                 the divisor; ** needs an exponent of at least 0
///   with a float  both are taken as floats; a result that is infinite or not a number is an error
///   == !=         numbers, strings, bools; < <= > >= numbers; and or not: bools
std::optional<Term> evaluate(syntax::Operator op, const Term &left, const Term &right, std::string &problem);
std::optional<Term> evaluate(syntax::Operator op, const Term &operand, std::string &problem);

} // namespace mekik::frontend

#endif
