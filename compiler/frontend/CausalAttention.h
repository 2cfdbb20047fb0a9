// Attention that looks at nothing later, told to the ops around its mask.
#ifndef MEKIK_FRONTEND_CAUSAL_ATTENTION_H
#define MEKIK_FRONTEND_CAUSAL_ATTENTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mekik::frontend {

/// Gives a triangle to the products of `function` that need one half only: those whose result reaches nothing but a
/// `causal`, and those of weights that are 0 behind it, the softmax of a `causal`, dropped or not. Their gradients have
/// it from them. A `causal` and the softmax of it become one op.
void restrictCausalAttention(mlir::func::FuncOp function);

} // namespace mekik::frontend

#endif
