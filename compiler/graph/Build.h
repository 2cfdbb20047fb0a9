// Short names for building graph ops inside gradients, expansions and the optimizer: broadcasting and result types are
// worked out here, once. Every function folds nothing; canonicalization does.
#ifndef MEKIK_GRAPH_BUILD_H
#define MEKIK_GRAPH_BUILD_H

#include "compiler/graph/Graph.h"
#include "mlir/IR/Builders.h"

namespace mekik::graph {

/// Builds at `builder`'s insertion point, with location `loc`.
class Build {
public:
  Build(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// A splat of `value`, rounded to the element type of `type`.
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value constantLike(mlir::Value like, double value) { return constant(like.getType(), value); }

  // Elementwise; two operands of different shape are broadcast against each other (numpy rules).
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, double y) { return mul(x, constantLike(x, y)); }
  mlir::Value add(mlir::Value x, double y) { return add(x, constantLike(x, y)); }
  mlir::Value sub(double x, mlir::Value y) { return sub(constantLike(y, x), y); }
  mlir::Value div(mlir::Value x, double y) { return div(x, constantLike(x, y)); }
  mlir::Value pow(mlir::Value x, mlir::Value y);
  mlir::Value maximum(mlir::Value x, mlir::Value y);
  mlir::Value minimum(mlir::Value x, mlir::Value y);
  template <typename UnaryOp> mlir::Value unary(mlir::Value x) { return UnaryOp::create(builder, loc, x.getType(), x); }
  /// exp(-x^2 / 2) / sqrt(2 pi), by the operations that NormalCdfOp begins with.
  mlir::Value normalDensity(mlir::Value x);
  mlir::Value sqrt(mlir::Value x) { return unary<SqrtOp>(x); }
  mlir::Value cos(mlir::Value x) { return unary<CosOp>(x); }
  /// how: "eq", "ne", "lt", "le", "gt", "ge".
  mlir::Value compare(llvm::StringRef how, mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value ifTrue, mlir::Value ifFalse);
  /// x where the position along its last axis is at most that along the one before, `behind` elsewhere.
  mlir::Value notLater(mlir::Value x, double behind);
  mlir::Value cast(mlir::Value x, mlir::Type elementType);

  /// x repeated to `shape`: trailing axes are matched, sizes 1 repeated.
  mlir::Value broadcastTo(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// x, whose axes are those of `shape` without `axes`, repeated along `axes`: the inverse of a reduction over them.
  mlir::Value broadcastAlong(mlir::Value x, llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> shape);
  /// x summed down to `shape`, from which it could have been repeated by broadcastTo.
  mlir::Value sumTo(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value iota(llvm::ArrayRef<int64_t> shape, int64_t axis);

  /// Reductions over any axes (ascending, non-negative): trailing axes first, then the others (docs/numerics.md).
  mlir::Value sum(mlir::Value x, llvm::ArrayRef<int64_t> axes);
  mlir::Value max(mlir::Value x, llvm::ArrayRef<int64_t> axes);
  mlir::Value peak(mlir::Value x, llvm::ArrayRef<int64_t> axes);
  mlir::Value mean(mlir::Value x, llvm::ArrayRef<int64_t> axes);
  /// Uniform in [0, 1), and standard normal (which also uses `stream` + 1); seed and step are i64 scalars.
  mlir::Value random(mlir::Type type, mlir::Value seed, mlir::Value step, int64_t stream);
  mlir::Value randomNormal(mlir::Type type, mlir::Value seed, mlir::Value step, int64_t stream);
  /// "bij,bjk->bik". A triangle restricts it as that of graph.contract; its letters stand in two of the three lists.
  mlir::Value contract(llvm::StringRef equation, mlir::Value lhs, mlir::Value rhs, llvm::StringRef triangle = "");
  /// Last two axes multiplied as matrices, leading axes broadcast; a rank-1 operand is a row or column.
  mlir::Value matmul(mlir::Value lhs, mlir::Value rhs);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// The static shape of a tensor value.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor);
/// A tensor type of another shape or element type.
mlir::RankedTensorType withShape(mlir::Value tensor, llvm::ArrayRef<int64_t> shape);
mlir::RankedTensorType withElement(mlir::Value tensor, mlir::Type elementType);
/// numpy's broadcast of two shapes; nullopt if they do not fit.
std::optional<llvm::SmallVector<int64_t>> broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

} // namespace mekik::graph

#endif
