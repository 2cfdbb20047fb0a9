// The Arithmetic that emits MLIR: each operation becomes one arith, math or vector op without fast-math flags, inserted
// at the builder's insertion point. Nothing it emits lowers to a call of a math library on a target with fma.
//
// Operands are scalars or one-dimensional vectors, mixed freely: a scalar beside a vector is splat to its shape.
#ifndef MEKIK_NUMERICS_IRARITHMETIC_H
#define MEKIK_NUMERICS_IRARITHMETIC_H

#include "compiler/numerics/Arithmetic.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace mekik::numerics {

/// f32, f64, i32, i64, i1 and no other type.
bool isElementType(mlir::Type type);
ElementType elementTypeOf(mlir::Type scalar);
mlir::Type scalarTypeOf(ElementType type, mlir::MLIRContext *context);

/// `value` is a scalar or vector of one of the five element types.
Number toNumber(mlir::Value value);
/// The value of a Number that an IrArithmetic made, or that `toNumber` wrapped.
mlir::Value toValue(Number number);

class IrArithmetic final : public Arithmetic {
public:
  /// The builder is kept by reference and must outlive this object; ops go where it points at the time of each call.
  IrArithmetic(mlir::OpBuilder &builder, mlir::Location loc, FmaClass fmaClass = FmaClass::Fused)
      : builder(builder), loc(loc), fmaClass(fmaClass) {}

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
  template <typename FloatOp, typename IntOp> Number binary(Number a, Number b);
  template <typename IntOp> Number integerBinary(Number a, Number b);
  template <typename ShiftOp> Number shift(Number a, unsigned amount);
  mlir::Value splat(mlir::Value value, mlir::VectorType shape);
  void sameShape(mlir::Value &a, mlir::Value &b);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  FmaClass fmaClass;
};

} // namespace mekik::numerics

#endif
