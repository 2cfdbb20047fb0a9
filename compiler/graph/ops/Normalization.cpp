// Rows brought to a common scale. The gradients rebuild 1 / sqrt(...) with the very ops of the expansion, so that
// common-subexpression elimination merges the two once both are expanded.
#include "compiler/graph/Axis.h"
#include "compiler/graph/Build.h"
#include <cmath>

using namespace mlir;
using namespace mekik::graph;

namespace {

/// One row operation of a normalization: everything along one axis of one shape.
struct Row {
  Build &build;
  int64_t axis;
  SmallVector<int64_t> shape;

  Row(Build &build, Value x, int64_t axis)
      : build(build), axis(positiveAxis(axis, shapeOf(x).size())), shape(shapeOf(x)) {}

  Value mean(Value x) { return build.div(build.sum(x, {axis}), static_cast<double>(shape[axis])); }
  Value repeat(Value x) { return build.broadcastAlong(x, {axis}, shape); }
  Value centered(Value x) { return build.sub(x, repeat(mean(x))); }
  /// 1 / sqrt(mean(x^2) + eps), repeated.
  Value inverseScale(Value x, double eps) {
    return repeat(build.unary<RsqrtOp>(build.add(mean(build.mul(x, x)), eps)));
  }
};

template <typename NormalizationOp> LogicalResult verifyNormalization(NormalizationOp op) {
  double eps = op.getEps().convertToDouble();
  if (!(eps >= 0) || std::isinf(eps))
    return op.emitOpError() << "expects eps of 0 or more, got " << eps;
  return verifyAxis(op, op.getAxis(), shapeOf(op.getOperand()));
}

} // namespace

LogicalResult NormalizeOp::verify() { return verifyNormalization(*this); }

Value NormalizeOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  Row row(build, getOperand(), getAxis());
  Value centered = row.centered(getOperand());
  return build.mul(centered, row.inverseScale(centered, getEps().convertToDouble()));
}

SmallVector<Value> NormalizeOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  Row row(build, getOperand(), getAxis());
  Value scale = row.inverseScale(row.centered(getOperand()), getEps().convertToDouble());
  Value along = row.repeat(row.mean(build.mul(upstream, getResult())));
  Value rest = build.sub(row.centered(upstream), build.mul(getResult(), along));
  return {build.mul(rest, scale)};
}

LogicalResult RmsNormalizeOp::verify() { return verifyNormalization(*this); }

Value RmsNormalizeOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  Row row(build, getOperand(), getAxis());
  return build.mul(getOperand(), row.inverseScale(getOperand(), getEps().convertToDouble()));
}

SmallVector<Value> RmsNormalizeOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  Row row(build, getOperand(), getAxis());
  Value scale = row.inverseScale(getOperand(), getEps().convertToDouble());
  Value along = row.repeat(row.mean(build.mul(upstream, getResult())));
  return {build.mul(build.sub(upstream, build.mul(getResult(), along)), scale)};
}
