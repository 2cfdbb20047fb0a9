// Rows turned into probabilities. The maximum is taken off first, so no exponential overflows; where a whole row is
// -inf, 0 is taken off instead and the sum 0 is replaced by 1, which gives zeros and zero gradients.
#include "compiler/graph/Axis.h"
#include "compiler/graph/Build.h"
#include <limits>

using namespace mlir;
using namespace mekik::graph;

namespace {

/// The row maximum along `axis`, 0 for rows of -inf only, repeated to the shape of x and taken off x.
Value withoutMaximum(Build &build, Value x, int64_t axis) {
  Value maximum = build.peak(x, {axis}); // NaN is met again in the sum
  Value masked = build.compare("eq", maximum, build.constantLike(maximum, -std::numeric_limits<double>::infinity()));
  maximum = build.select(masked, build.constantLike(maximum, 0), maximum);
  return build.sub(x, build.broadcastAlong(maximum, {axis}, shapeOf(x)));
}

} // namespace

LogicalResult SoftmaxOp::verify() { return verifyAxis(*this, getAxis(), shapeOf(getOperand())); }

Value SoftmaxOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  int64_t axis = positiveAxis(getAxis(), shapeOf(getOperand()).size());
  Value powers = build.unary<ExpNonPositiveOp>(withoutMaximum(build, getOperand(), axis));
  Value sum = build.sum(powers, {axis});
  Value empty = build.compare("eq", sum, build.constantLike(sum, 0));
  sum = build.select(empty, build.constantLike(sum, 1), sum);
  return build.div(powers, build.broadcastAlong(sum, {axis}, shapeOf(powers)));
}

SmallVector<Value> SoftmaxOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  int64_t axis = positiveAxis(getAxis(), shapeOf(getOperand()).size());
  Value y = getResult();
  Value common = build.sum(build.mul(upstream, y), {axis});
  return {build.mul(y, build.sub(upstream, build.broadcastAlong(common, {axis}, shapeOf(y))))};
}

LogicalResult LogSoftmaxOp::verify() { return verifyAxis(*this, getAxis(), shapeOf(getOperand())); }

Value LogSoftmaxOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  int64_t axis = positiveAxis(getAxis(), shapeOf(getOperand()).size());
  Value rest = withoutMaximum(build, getOperand(), axis);
  Value sum = build.sum(build.unary<ExpNonPositiveOp>(rest), {axis});
  Value empty = build.compare("eq", sum, build.constantLike(sum, 0));
  sum = build.select(empty, build.constantLike(sum, 1), sum);
  return build.sub(rest, build.broadcastAlong(build.unary<LogOp>(sum), {axis}, shapeOf(rest)));
}

SmallVector<Value> LogSoftmaxOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  int64_t axis = positiveAxis(getAxis(), shapeOf(getOperand()).size());
  Value probabilities = build.unary<ExpOp>(getResult());
  Value total = build.broadcastAlong(build.sum(upstream, {axis}), {axis}, shapeOf(upstream));
  return {build.sub(upstream, build.mul(probabilities, total))};
}
