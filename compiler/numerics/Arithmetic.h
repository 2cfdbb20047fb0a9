// The one vocabulary in which every numeric definition of Mekik is written. A definition is a function over Arithmetic
// and Number; run with NumberArithmetic it computes a value (reference evaluator), run with IrArithmetic it emits MLIR
// for a scalar or for sixteen lanes at once. Both mean the same IEEE operations in the same order, which is what makes
// compiled code equal the evaluator bit for bit.
//
// Every operation is one correctly rounded IEEE operation of the element type, or an exact integer operation that
// wraps.
#ifndef MEKIK_NUMERICS_ARITHMETIC_H
#define MEKIK_NUMERICS_ARITHMETIC_H

#include <cstdint>

namespace mekik::numerics {

enum class ElementType : uint8_t { F32, F64, I32, I64, Bool };

constexpr bool isFloat(ElementType type) { return type == ElementType::F32 || type == ElementType::F64; }

/// What `fma` means. A machine with a fused multiply-add rounds once; one without it (WebAssembly) is a class of its
/// own in which the product is rounded, then the sum.
enum class FmaClass : uint8_t { Fused, ProductThenSum };

/// An operand or result. What `bits` holds is known only to the Arithmetic that made it: the IEEE or two's complement
/// bits of a number, or the opaque pointer of an SSA value.
struct Number {
  ElementType type;
  uint64_t bits;
};

enum class Comparison : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

/// Operands of one operation have the same type unless said otherwise. Comparisons with NaN are false, except NotEqual,
/// which is true. Integers are signed.
class Arithmetic {
public:
  virtual ~Arithmetic() = default;

  virtual Number constant(ElementType type, double value) = 0;  ///< floats: value must be exact or intended rounded
  virtual Number constant(ElementType type, int64_t value) = 0; ///< integers and Bool
  Number constant(ElementType type, int value) { return constant(type, static_cast<int64_t>(value)); }

  // Floating point.
  virtual Number add(Number a, Number b) = 0; ///< also integers
  virtual Number sub(Number a, Number b) = 0; ///< also integers
  virtual Number mul(Number a, Number b) = 0; ///< also integers
  virtual Number div(Number a, Number b) = 0;
  virtual Number fma(Number a, Number b, Number c) = 0; ///< a * b + c, rounded once
  virtual Number sqrt(Number a) = 0;
  virtual Number neg(Number a) = 0;               ///< flips the sign bit; also integers
  virtual Number abs(Number a) = 0;               ///< clears the sign bit; also integers, two's complement
  virtual Number maximum(Number a, Number b) = 0; ///< IEEE 754-2019 maximum: NaN if either is NaN, +0 > -0;
                                                  ///< also integers
  virtual Number minimum(Number a, Number b) = 0; ///< likewise, -0 < +0

  // Integers and Bool.
  virtual Number bitAnd(Number a, Number b) = 0;
  virtual Number bitOr(Number a, Number b) = 0;
  virtual Number bitXor(Number a, Number b) = 0;
  virtual Number shiftLeft(Number a, unsigned amount) = 0;
  virtual Number shiftRight(Number a, unsigned amount) = 0;         ///< fills with the sign
  virtual Number shiftRightUnsigned(Number a, unsigned amount) = 0; ///< fills with zeros
  virtual Number mulHighUnsigned(Number a, Number b) = 0; ///< I32 only: upper half of the unsigned 64-bit product

  virtual Number compare(Comparison how, Number a, Number b) = 0;             ///< Bool
  virtual Number select(Number condition, Number ifTrue, Number ifFalse) = 0; ///< condition is Bool

  /// Value-preserving where possible: float <-> float rounds to nearest even; integer -> float rounds to nearest even;
  /// float -> integer truncates (the value must fit); Bool -> number gives 0 or 1; I64 -> I32 keeps the low bits;
  /// number -> Bool is a != 0 (true for NaN).
  virtual Number convert(Number a, ElementType to) = 0;
  /// F32 <-> I32 and F64 <-> I64, bits unchanged.
  virtual Number bitcast(Number a, ElementType to) = 0;
};

} // namespace mekik::numerics

#endif
