// Scores that may not be looked at become -inf. No gradient comes back from them, whatever stands upstream.
#include "compiler/graph/Build.h"
#include <limits>

using namespace mlir;
using namespace mekik::graph;

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// True where the last index is at most the one before it.
Value notLater(Build &build, ArrayRef<int64_t> shape) {
  auto rank = static_cast<int64_t>(shape.size());
  return build.compare("le", build.iota(shape, rank - 1), build.iota(shape, rank - 2));
}

} // namespace

LogicalResult CausalOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getOperand());
  if (shape.size() < 2)
    return emitOpError() << "expects scores with at least two axes (query, key), got shape " << shapeText(shape);
  return success();
}

Value CausalOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  Value x = getOperand();
  return build.select(notLater(build, shapeOf(x)), x, build.constantLike(x, kNever));
}

SmallVector<Value> CausalOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  return {build.select(notLater(build, shapeOf(upstream)), upstream, build.constantLike(upstream, 0))};
}

Value MaskOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  return build.select(getKeep(), getOperand(), build.constantLike(getOperand(), kNever));
}

SmallVector<Value> MaskOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  return {build.select(getKeep(), upstream, build.constantLike(upstream, 0)), Value()};
}
