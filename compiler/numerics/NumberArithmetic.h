// The Arithmetic that computes. The reference evaluator runs every numeric definition through it, so it must give
// exactly what the compiled form gives: each operation is one IEEE operation of its type, never a wider one.
#ifndef MEKIK_NUMERICS_NUMBERARITHMETIC_H
#define MEKIK_NUMERICS_NUMBERARITHMETIC_H

#include "compiler/numerics/Arithmetic.h"

namespace mekik::numerics {

/// Bits of a Number: F32 and I32 in the low 32 bits, Bool as 0 or 1.
Number fromFloat(float value);
Number fromDouble(double value);
Number fromInt32(int32_t value);
Number fromInt64(int64_t value);
Number fromBool(bool value);
float toFloat(Number number);
double toDouble(Number number);
int32_t toInt32(Number number);
int64_t toInt64(Number number);
bool toBool(Number number);

class NumberArithmetic final : public Arithmetic {
public:
  explicit NumberArithmetic(FmaClass fmaClass = FmaClass::Fused) : fmaClass(fmaClass) {}

  using Arithmetic::constant;
  Number constant(ElementType type, double value) override;
  Number constant(ElementType type, int64_t value) override;

  Number add(Number a, Number b) override;
  Number sub(Number a, Number b) override;
  Number mul(Number a, Number b) override;
  Number div(Number a, Number b) override;
  Number fma(Number a, Number b, Number c) override;
  Number sqrt(Number a) override;
  Number neg(Number a) override;
  Number abs(Number a) override;
  Number maximum(Number a, Number b) override;
  Number minimum(Number a, Number b) override;

  Number bitAnd(Number a, Number b) override;
  Number bitOr(Number a, Number b) override;
  Number bitXor(Number a, Number b) override;
  Number shiftLeft(Number a, unsigned amount) override;
  Number shiftRight(Number a, unsigned amount) override;
  Number shiftRightUnsigned(Number a, unsigned amount) override;
  Number mulHighUnsigned(Number a, Number b) override;

  Number compare(Comparison how, Number a, Number b) override;
  Number select(Number condition, Number ifTrue, Number ifFalse) override;
  Number convert(Number a, ElementType to) override;
  Number bitcast(Number a, ElementType to) override;

private:
  FmaClass fmaClass;
};

} // namespace mekik::numerics

#endif
