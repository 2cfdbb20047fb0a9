// Rows turned into probabilities. The maximum is taken off first, so no exponential overflows; where a whole row is
// -inf, 0 is taken off instead and the sum 0 is replaced by 1, which gives zeros and zero gradients.
#include "compiler/graph/Axis.h"
#include "compiler/graph/Build.h"
#include <limits>

using namespace mlir;
using namespace mekik::graph;

namespace {

/// The row maximum of `folded` along `axis`, 0 for rows of -inf only, repeated to the shape of x and taken off x.
Value withoutMaximum(Build &build, Value x, int64_t axis, Value folded) {
  Value maximum = build.peak(folded, {axis}); // NaN is met again in the sum
  Value masked = build.compare("eq", maximum, build.constantLike(maximum, -std::numeric_limits<double>::infinity()));
  maximum = build.select(masked, build.constantLike(maximum, 0), maximum);
  return build.sub(x, build.broadcastAlong(maximum, {axis}, shapeOf(x)));
}

} // namespace

LogicalResult SoftmaxOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getOperand());
  if (failed(verifyAxis(*this, getAxis(), shape)))
    return failure();
  auto rank = static_cast<int64_t>(shape.size());
  if (getCausal() && (rank < 2 || positiveAxis(getAxis(), rank) != rank - 1))
    return emitOpError() << "is causal along the last of at least two axes, got axis "
                         << static_cast<int64_t>(getAxis()) << " of shape " << shapeText(shape);
  return success();
}

// What a fold of a causal one meets behind the diagonal changes nothing, so that a row may as well end there.
Value SoftmaxOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  Value x = getOperand();
  int64_t axis = positiveAxis(getAxis(), shapeOf(x).size());
  auto before = [&](Value value, double behind) { return getCausal() ? build.notLater(value, behind) : value; };
  Value powers = build.unary<ExpNonPositiveOp>(
      withoutMaximum(build, x, axis, before(x, -std::numeric_limits<double>::infinity())));
  Value sum = build.sum(before(powers, -0.0), {axis});
  Value empty = build.compare("eq", sum, build.constantLike(sum, 0));
  sum = build.select(empty, build.constantLike(sum, 1), sum);
  return before(build.div(powers, build.broadcastAlong(sum, {axis}, shapeOf(powers))), 0);
}

SmallVector<Value> SoftmaxOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  int64_t axis = positiveAxis(getAxis(), shapeOf(getOperand()).size());
  auto before = [&](Value value, double behind) { return getCausal() ? build.notLater(value, behind) : value; };
  Value y = getResult();
  Value common = build.sum(before(build.mul(upstream, y), -0.0), {axis});
  return {before(build.mul(y, build.sub(upstream, build.broadcastAlong(common, {axis}, shapeOf(y)))), 0)};
}

LogicalResult LogSoftmaxOp::verify() { return verifyAxis(*this, getAxis(), shapeOf(getOperand())); }

Value LogSoftmaxOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  int64_t axis = positiveAxis(getAxis(), shapeOf(getOperand()).size());
  Value rest = withoutMaximum(build, getOperand(), axis, getOperand());
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
