// What the tests of ops share: a function of graph ops written in C++, its gradients of first and second order, and
// their evaluation in either precision.
#ifndef MEKIK_TESTS_OPS_OPHARNESS_H
#define MEKIK_TESTS_OPS_OPHARNESS_H

#include "compiler/graph/Build.h"
#include "compiler/graph/Graph.h"
#include "compiler/reference/Evaluator.h"
#include "mlir/IR/MLIRContext.h"
#include <functional>
#include <string>
#include <vector>

namespace mekik::tests {

using reference::Tensor;

/// A function of graph ops: operands in, one result out.
using Body = std::function<mlir::Value(graph::Build &, mlir::ValueRange)>;

/// A floating-point operand of the filling formula
///   r = (31 i^2 + (17 + 101 t) i + 389 t + 7) mod 1009,  value = offset + scale (r - 504) / 512,
/// of given numbers, or integers.
struct Operand {
  std::vector<int64_t> shape;
  std::vector<double> values;
  bool isInteger = false;
};
Operand filled(std::vector<int64_t> shape, int64_t t, double scale = 1, double offset = 0);
Operand numbers(std::vector<int64_t> shape, std::vector<double> values);
Operand integers(std::vector<int64_t> shape, std::vector<double> values);

/// One test case as a module of three functions:
///   @value    operands                         -> result
///   @first    operands, upstream               -> result, L, gradient of L for each floating-point operand
///   @second   operands, upstream, directions   -> G, gradient of G for each floating-point operand
/// where L = sum(result * upstream) and G = sum over operands of sum(gradient of L * direction).
class OpCase {
public:
  OpCase(std::vector<Operand> operands, const Body &body, bool isF64, bool withSecond = true);

  /// Results of a function; extra tensors (upstream, directions) follow the operands.
  std::vector<Tensor> run(const std::string &function, const std::vector<Tensor> &arguments);
  const std::vector<Tensor> &operands() const { return tensors; }
  /// Zeros of the result's type.
  Tensor resultZeros() const { return result; }
  /// Numbers of the floating-point operands.
  const std::vector<size_t> &differentiable() const { return floats; }
  mlir::ModuleOp module() { return *owned; }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> owned;
  std::vector<Tensor> tensors;
  std::vector<size_t> floats;
  Tensor result;
};

/// A tensor of the same type and shape filled by the formula.
Tensor filledLike(const Tensor &like, int64_t t, double scale = 1, double offset = 0);

} // namespace mekik::tests

#endif
