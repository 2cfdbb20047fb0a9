// The reference evaluator: a slow, obvious interpreter of functions made of graph ops, which defines what compiled code
// must give in every bit.
#ifndef MEKIK_REFERENCE_EVALUATOR_H
#define MEKIK_REFERENCE_EVALUATOR_H

#include "absl/status/statusor.h"
#include "compiler/numerics/Arithmetic.h"
#include "compiler/reference/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <vector>

namespace mekik::reference {

/// The results of `function` for `arguments`, one tensor for each argument, of its element type and shape. The function
/// may call others of its module; abbreviations (softmax, ...) are evaluated as what they expand into. Neither function
/// nor module is changed.
///
/// InvalidArgument: number, element type or shape of the arguments; OutOfRange: an id outside its table; Unimplemented:
/// an op that is not of the graph dialect (its name and location).
absl::StatusOr<std::vector<Tensor>> evaluate(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> arguments,
                                             numerics::FmaClass fmaClass = numerics::FmaClass::Fused);

/// Turns every f32 in the module into f64: types, signatures and constants (each keeps its f32 value). The same model
/// can then be judged in double precision; uniform random numbers are the same in both.
void promoteToF64(mlir::ModuleOp module);

/// A tensor of zeros of `type`, which has static shape.
Tensor zeros(mlir::RankedTensorType type);

} // namespace mekik::reference

#endif
