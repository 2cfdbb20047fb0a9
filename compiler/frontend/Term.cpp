// Printing and arithmetic of compile-time values.
#include "compiler/frontend/Term.h"

#include "absl/strings/str_cat.h"
#include <charconv>
#include <cmath>

namespace mekik::frontend {

using syntax::Operator;

std::string showFloat(double value) {
  char buffer[32];
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string show(const Term &term) {
  if (term.isInteger())
    return absl::StrCat(term.integer());
  if (term.isFloat())
    return showFloat(term.number());
  if (term.isBool())
    return term.boolean() ? "true" : "false";
  if (term.isText())
    return absl::StrCat("\"", term.text(), "\"");
  if (term.isTensor())
    return "a tensor";
  if (!term.isList())
    return "nothing";
  std::string text = "[";
  for (const Term &item : term.list())
    absl::StrAppend(&text, text.size() > 1 ? ", " : "", show(item));
  return text + "]";
}

std::string kindOf(const Term &term) {
  return term.isInteger() ? "an int"
         : term.isFloat() ? "a float"
         : term.isBool()  ? "a bool"
         : term.isText()  ? "a string"
         : term.isList()  ? "a list"
                          : "a tensor";
}

namespace {

/// Lists that double in a loop must not take all memory.
constexpr size_t kLongestList = 65536;

std::optional<Term> overflow(std::string &problem, Operator op, int64_t a, int64_t b) {
  problem = absl::StrCat("the result of ", a, " ", syntax::spelling(op), " ", b, " does not fit into 64 bits");
  return std::nullopt;
}

std::optional<Term> power(int64_t base, int64_t exponent, std::string &problem) {
  if (exponent < 0) {
    problem = absl::StrCat("an int to a negative power is no int; write ", base, ".0 ** ", exponent);
    return std::nullopt;
  }
  int64_t result = 1, square = base;
  for (int64_t rest = exponent; rest > 0; rest >>= 1) {
    if ((rest & 1) && __builtin_mul_overflow(result, square, &result))
      return overflow(problem, Operator::Power, base, exponent);
    if (rest > 1 && __builtin_mul_overflow(square, square, &square))
      return overflow(problem, Operator::Power, base, exponent);
  }
  return Term(result);
}

std::optional<Term> integerArithmetic(Operator op, int64_t a, int64_t b, std::string &problem) {
  int64_t result = 0;
  bool overflowed = false;
  switch (op) {
  case Operator::Add:
    overflowed = __builtin_add_overflow(a, b, &result);
    break;
  case Operator::Subtract:
    overflowed = __builtin_sub_overflow(a, b, &result);
    break;
  case Operator::Multiply:
    overflowed = __builtin_mul_overflow(a, b, &result);
    break;
  case Operator::Power:
    return power(a, b, problem);
  default: {
    if (b == 0) {
      problem = absl::StrCat(a, " ", syntax::spelling(op), " 0 is a division by zero");
      return std::nullopt;
    }
    if (b == -1) { // the one case in which the quotient can overflow
      overflowed = op != Operator::Remainder && __builtin_sub_overflow(int64_t(0), a, &result);
      break;
    }
    int64_t quotient = a / b, rest = a % b;
    if (op == Operator::Divide && rest != 0) {
      problem = absl::StrCat(a, " / ", b, " is not a whole number; write // to round down, or ", a, ".0 / ", b,
                             " for a float");
      return std::nullopt;
    }
    bool below = rest != 0 && (rest < 0) != (b < 0);
    result = op == Operator::Remainder ? rest + (below ? b : 0) : quotient - (op == Operator::FloorDivide && below);
    break;
  }
  }
  if (overflowed)
    return overflow(problem, op, a, b);
  return Term(result);
}

std::optional<Term> floatArithmetic(Operator op, double a, double b, std::string &problem) {
  double result = 0;
  switch (op) {
  case Operator::Add:
    result = a + b;
    break;
  case Operator::Subtract:
    result = a - b;
    break;
  case Operator::Multiply:
    result = a * b;
    break;
  case Operator::Divide:
    if (b == 0) {
      problem = absl::StrCat(showFloat(a), " / 0 is a division by zero");
      return std::nullopt;
    }
    result = a / b;
    break;
  case Operator::Power:
    result = std::pow(a, b);
    break;
  default:
    problem = absl::StrCat("'", syntax::spelling(op), "' takes two ints, found ", showFloat(a), " and ", showFloat(b));
    return std::nullopt;
  }
  if (!std::isfinite(result)) {
    problem = absl::StrCat("the result of ", showFloat(a), " ", syntax::spelling(op), " ", showFloat(b), " is ",
                           std::isnan(result) ? "not a number" : "infinite");
    return std::nullopt;
  }
  return Term(result);
}

template <typename T> bool compare(Operator op, const T &a, const T &b) {
  switch (op) {
  case Operator::Equal:
    return a == b;
  case Operator::NotEqual:
    return !(a == b);
  case Operator::Less:
    return a < b;
  case Operator::LessEqual:
    return a <= b;
  case Operator::Greater:
    return a > b;
  default:
    return a >= b;
  }
}

} // namespace

std::optional<Term> evaluate(Operator op, const Term &left, const Term &right, std::string &problem) {
  bool arithmetic = op >= Operator::Add && op <= Operator::Power && op != Operator::MatMul;
  bool comparison = op >= Operator::Equal && op <= Operator::GreaterEqual;
  bool equality = op == Operator::Equal || op == Operator::NotEqual;
  if (arithmetic && left.isInteger() && right.isInteger())
    return integerArithmetic(op, left.integer(), right.integer(), problem);
  if (arithmetic && left.isNumber() && right.isNumber())
    return floatArithmetic(op, left.number(), right.number(), problem);
  if (comparison && left.isInteger() && right.isInteger())
    return Term(compare(op, left.integer(), right.integer()));
  if (comparison && left.isNumber() && right.isNumber())
    return Term(compare(op, left.number(), right.number()));
  if (equality && left.isText() && right.isText())
    return Term(compare(op, left.text(), right.text()));
  if (equality && left.isBool() && right.isBool())
    return Term(compare(op, left.boolean(), right.boolean()));
  if (op == Operator::Add && left.isList() && right.isList()) {
    if (left.list().size() + right.list().size() > kLongestList) {
      problem = absl::StrCat("a list of more than ", kLongestList, " items");
      return std::nullopt;
    }
    Term::List both = left.list();
    both.insert(both.end(), right.list().begin(), right.list().end());
    return Term(std::move(both));
  }
  if ((op == Operator::And || op == Operator::Or) && left.isBool() && right.isBool())
    return Term(op == Operator::And ? left.boolean() && right.boolean() : left.boolean() || right.boolean());
  problem = absl::StrCat("'", syntax::spelling(op), "' has no meaning between ", kindOf(left), " and ", kindOf(right));
  return std::nullopt;
}

std::optional<Term> evaluate(Operator op, const Term &operand, std::string &problem) {
  if (op == Operator::Not && operand.isBool())
    return Term(!operand.boolean());
  if (op == Operator::Negate && operand.isInteger())
    return integerArithmetic(Operator::Subtract, 0, operand.integer(), problem);
  if (op == Operator::Negate && operand.isFloat())
    return Term(-operand.number());
  problem = absl::StrCat("'", syntax::spelling(op), "' cannot be applied to ", kindOf(operand));
  return std::nullopt;
}

} // namespace mekik::frontend
