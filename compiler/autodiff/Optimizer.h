// What a training step does with gradients: learning-rate schedule, clipping, decay and the update rules, as graph ops.
// Scalars (rate, bias corrections, norm) are computed in f64 and rounded once to the model's precision where they meet
// tensors. Elementwise, an update of one parameter is one chain of ops over parameter, gradient and state.
#ifndef MEKIK_AUTODIFF_OPTIMIZER_H
#define MEKIK_AUTODIFF_OPTIMIZER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallVector.h"

namespace mekik::autodiff {

/// The learning rate of step `it` = 0, 1, ...:
///   it < warmup   Next: peak (it + 1) / warmup; NextOpen: peak (it + 1) / (warmup + 1); Current: peak it / warmup
///   Constant      peak
///   Cosine        floor + 0.5 (1 + cos(pi (it - warmup) / (steps - warmup))) (peak - floor); floor after `steps`
///   Linear        peak + (floor - peak) (it - warmup) / (steps - warmup); floor after `steps`
struct Schedule {
  enum class Kind { Constant, Cosine, Linear };
  enum class Warmup { Next, NextOpen, Current };

  Kind kind = Kind::Constant;
  double peak = 0;
  double floor = 0;
  int64_t steps = 0; ///< unused by Constant
  int64_t warmup = 0;
  Warmup warmupRule = Warmup::Next;

  /// True if some step may have the rate 0, at which parameters must keep every bit.
  bool canBeZero() const;
};

/// t = it + 1; g is the gradient after clipping.
///   Sgd    g += weightDecay p; without momentum p -= rate g; else v = momentum v + g and p -= rate v, or with Nesterov
///          p -= rate (g + momentum v)
///   Adam   g += weightDecay p; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
///          p -= rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
///   AdamW  p *= 1 - rate weightDecay first, then Adam without decay
/// Clipping: every gradient times min(1, clip / (norm + 1e-6)), norm over all parameters together: the sum of squares
/// of each parameter in its own precision, these added in f64 in order of declaration. All state starts as zeros.
struct Optimizer {
  enum class Kind { Sgd, Adam, AdamW };

  Kind kind = Kind::Sgd;
  double momentum = 0;
  bool nesterov = false;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weightDecay = 0;
  bool decayAll = false; ///< false: only parameters of rank 2 and more decay
  double clip = 0;       ///< 0: none
  Schedule rate;

  /// Reads the module attribute kOptimizer (compiler/graph/ModelConventions.h); absent entries keep the values above.
  /// Errors name the entry, are reported at `loc`.
  static llvm::FailureOr<Optimizer> read(mlir::DictionaryAttr attribute, mlir::Location loc);

  /// State kept for each parameter, in order: {}, {"momentum"} or {"adam.m", "adam.v"}.
  llvm::ArrayRef<llvm::StringLiteral> stateKinds() const;
};

/// The rate at `step`, an i64 scalar: an f64 scalar.
mlir::Value buildRate(mlir::OpBuilder &builder, mlir::Location loc, const Schedule &schedule, mlir::Value step);

/// One parameter in training: values before the update on the way in, after it on the way out.
struct Trained {
  mlir::Value parameter;
  mlir::Value gradient;
  llvm::SmallVector<mlir::Value, 2> state; ///< as stateKinds(), each of the parameter's type
};

/// Replaces parameters and states by their updated values. `rate`: f64 scalar, `step`: i64 scalar, from 0.
void buildUpdate(mlir::OpBuilder &builder, mlir::Location loc, const Optimizer &optimizer, mlir::Value rate,
                 mlir::Value step, llvm::MutableArrayRef<Trained> parameters);

} // namespace mekik::autodiff

#endif
