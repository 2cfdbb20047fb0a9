// Scores that may not be looked at become -inf. No gradient comes back from them, whatever stands upstream.
#include "compiler/graph/Build.h"
#include <limits>

using namespace mlir;
using namespace mekik::graph;

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

} // namespace

LogicalResult CausalOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getOperand());
  if (shape.size() < 2)
    return emitOpError() << "expects scores with at least two axes (query, key), got shape " << shapeText(shape);
  return success();
}

Value CausalOp::expand(OpBuilder &builder) { return Build(builder, getLoc()).notLater(getOperand(), kNever); }

SmallVector<Value> CausalOp::gradient(OpBuilder &builder, Value upstream) {
  return {Build(builder, getLoc()).notLater(upstream, 0)};
}

Value MaskOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  return build.select(getKeep(), getOperand(), build.constantLike(getOperand(), kNever));
}

SmallVector<Value> MaskOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  return {build.select(getKeep(), upstream, build.constantLike(upstream, 0)), Value()};
}
