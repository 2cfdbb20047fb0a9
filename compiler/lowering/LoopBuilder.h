// Loops and index arithmetic that fold while they are built: a loop known to run once leaves no loop, a sum with zero
// no sum. What an emitter writes stays readable, and what it leaves for LLVM stays small.
#ifndef MEKIK_LOWERING_LOOP_BUILDER_H
#define MEKIK_LOWERING_LOOP_BUILDER_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace mekik::lowering {

class LoopBuilder {
public:
  LoopBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b);
  /// Of values that are not negative.
  mlir::Value div(mlir::Value a, int64_t b);
  mlir::Value rem(mlir::Value a, int64_t b);
  mlir::Value min(mlir::Value a, int64_t b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  /// a in [0, limit]; a may be negative.
  mlir::Value clamp(mlir::Value a, mlir::Value limit);
  mlir::Value equal(mlir::Value a, int64_t b);
  mlir::Value equal(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no);

  static std::optional<int64_t> constant(mlir::Value value);

  using Values = llvm::SmallVector<mlir::Value>;
  /// for (i = from; i < to; i += step) body(i).
  void loop(mlir::Value from, mlir::Value to, int64_t step, llvm::function_ref<void(mlir::Value)> body);
  /// The same with values carried from one turn to the next.
  Values loop(mlir::Value from, mlir::Value to, int64_t step, Values carried,
              llvm::function_ref<Values(mlir::Value, Values)> body);
  /// for (i = from; i < to; i = body(i)).
  void loopBySteps(mlir::Value from, mlir::Value to, llvm::function_ref<mlir::Value(mlir::Value)> body);
  /// if (condition) body(), else otherwise().
  void when(mlir::Value condition, llvm::function_ref<void()> body, llvm::function_ref<void()> otherwise = nullptr);

  /// The position of element number `linear` of a row-major box, one value an axis.
  Values delinearize(mlir::Value linear, llvm::ArrayRef<int64_t> sizes);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace mekik::lowering

#endif
