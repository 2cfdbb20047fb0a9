// Lets a numeric definition be written as the formula it is. An Expression is a Number together with the Arithmetic
// that made it; operators call that Arithmetic, one IEEE operation each. Plain C++ numbers beside an Expression become
// constants of its type.
#ifndef MEKIK_NUMERICS_EXPRESSION_H
#define MEKIK_NUMERICS_EXPRESSION_H

#include "compiler/numerics/Arithmetic.h"

#include <initializer_list>
#include <type_traits>

namespace mekik::numerics {

class Expression {
public:
  Expression(Arithmetic &arithmetic, Number number) : arithmetic(&arithmetic), number(number) {}
  operator Number() const { return number; }

  ElementType type() const { return number.type; }
  Arithmetic &with() const { return *arithmetic; }
  Expression make(Number result) const { return {*arithmetic, result}; }

  /// A constant of this expression's type, rounded to it.
  Expression like(double value) const { return make(arithmetic->constant(number.type, value)); }
  Expression like(int64_t value) const { return make(arithmetic->constant(number.type, value)); }
  Expression like(int value) const { return make(arithmetic->constant(number.type, value)); }

  Expression convert(ElementType to) const { return make(arithmetic->convert(number, to)); }
  Expression bitcast(ElementType to) const { return make(arithmetic->bitcast(number, to)); }
  Expression shiftRightUnsigned(unsigned amount) const { return make(arithmetic->shiftRightUnsigned(number, amount)); }

  friend Expression operator+(Expression a, Expression b) { return a.make(a.with().add(a, b)); }
  friend Expression operator-(Expression a, Expression b) { return a.make(a.with().sub(a, b)); }
  friend Expression operator*(Expression a, Expression b) { return a.make(a.with().mul(a, b)); }
  friend Expression operator/(Expression a, Expression b) { return a.make(a.with().div(a, b)); }
  friend Expression operator-(Expression a) { return a.make(a.with().neg(a)); }
  friend Expression operator&(Expression a, Expression b) { return a.make(a.with().bitAnd(a, b)); }
  friend Expression operator|(Expression a, Expression b) { return a.make(a.with().bitOr(a, b)); }
  friend Expression operator^(Expression a, Expression b) { return a.make(a.with().bitXor(a, b)); }
  friend Expression operator<<(Expression a, unsigned amount) { return a.make(a.with().shiftLeft(a, amount)); }
  /// Fills with the sign.
  friend Expression operator>>(Expression a, unsigned amount) { return a.make(a.with().shiftRight(a, amount)); }

  friend Expression operator==(Expression a, Expression b) { return compare(Comparison::Equal, a, b); }
  friend Expression operator!=(Expression a, Expression b) { return compare(Comparison::NotEqual, a, b); }
  friend Expression operator<(Expression a, Expression b) { return compare(Comparison::Less, a, b); }
  friend Expression operator<=(Expression a, Expression b) { return compare(Comparison::LessEqual, a, b); }
  friend Expression operator>(Expression a, Expression b) { return compare(Comparison::Greater, a, b); }
  friend Expression operator>=(Expression a, Expression b) { return compare(Comparison::GreaterEqual, a, b); }

private:
  static Expression compare(Comparison how, Expression a, Expression b) { return a.make(a.with().compare(how, a, b)); }

  Arithmetic *arithmetic;
  Number number;
};

#define MEKIK_NUMERICS_MIXED_OPERATOR(op)                                                                              \
  template <typename Value, typename = std::enable_if_t<std::is_arithmetic_v<Value>>>                                  \
  Expression operator op(Expression a, Value b) {                                                                      \
    return a op a.like(b);                                                                                             \
  }                                                                                                                    \
  template <typename Value, typename = std::enable_if_t<std::is_arithmetic_v<Value>>>                                  \
  Expression operator op(Value a, Expression b) {                                                                      \
    return b.like(a) op b;                                                                                             \
  }
MEKIK_NUMERICS_MIXED_OPERATOR(+)
MEKIK_NUMERICS_MIXED_OPERATOR(-)
MEKIK_NUMERICS_MIXED_OPERATOR(*)
MEKIK_NUMERICS_MIXED_OPERATOR(/)
MEKIK_NUMERICS_MIXED_OPERATOR(&)
MEKIK_NUMERICS_MIXED_OPERATOR(|)
MEKIK_NUMERICS_MIXED_OPERATOR(==)
MEKIK_NUMERICS_MIXED_OPERATOR(!=)
MEKIK_NUMERICS_MIXED_OPERATOR(<)
MEKIK_NUMERICS_MIXED_OPERATOR(<=)
MEKIK_NUMERICS_MIXED_OPERATOR(>)
MEKIK_NUMERICS_MIXED_OPERATOR(>=)
#undef MEKIK_NUMERICS_MIXED_OPERATOR

inline Expression fma(Expression a, Expression b, Expression c) { return a.make(a.with().fma(a, b, c)); }
inline Expression fma(Expression a, double b, Expression c) { return fma(a, a.like(b), c); }
inline Expression fma(Expression a, Expression b, double c) { return fma(a, b, a.like(c)); }
inline Expression fma(Expression a, double b, double c) { return fma(a, a.like(b), a.like(c)); }
inline Expression sqrt(Expression a) { return a.make(a.with().sqrt(a)); }
inline Expression abs(Expression a) { return a.make(a.with().abs(a)); }
inline Expression maximum(Expression a, Expression b) { return a.make(a.with().maximum(a, b)); }
inline Expression minimum(Expression a, Expression b) { return a.make(a.with().minimum(a, b)); }
inline Expression select(Expression condition, Expression ifTrue, Expression ifFalse) {
  return ifTrue.make(ifTrue.with().select(condition, ifTrue, ifFalse));
}
inline Expression select(Expression condition, double ifTrue, Expression ifFalse) {
  return select(condition, ifFalse.like(ifTrue), ifFalse);
}
inline Expression select(Expression condition, Expression ifTrue, double ifFalse) {
  return select(condition, ifTrue, ifTrue.like(ifFalse));
}

/// c0 + c1 x + c2 x^2 + ... by Horner's rule, one fma a coefficient after the last.
inline Expression polynomial(Expression x, std::initializer_list<double> coefficients) {
  const double *next = coefficients.end();
  Expression sum = x.like(*--next);
  while (next != coefficients.begin())
    sum = fma(sum, x, *--next);
  return sum;
}

} // namespace mekik::numerics

#endif
