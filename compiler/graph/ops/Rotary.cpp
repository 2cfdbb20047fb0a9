// Positions as angles. The tables of cosines and sines are values of the graph like any other: built once for all heads
// and layers of one shape, and shared with the gradient, which is the rotation back.
#include "compiler/graph/Build.h"
#include <cmath>

using namespace mlir;
using namespace mekik::graph;

LogicalResult RotaryOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getOperand());
  double base = getBase().convertToDouble();
  if (shape.size() < 2)
    return emitOpError() << "expects rows along the last axis and positions along the one before it, got shape "
                         << shapeText(shape);
  if (shape.back() % 2 != 0)
    return emitOpError() << "turns pairs of elements, so the last axis must be even, got shape " << shapeText(shape);
  if (!(base > 0) || std::isinf(base))
    return emitOpError() << "expects base above 0, got " << base;
  if (getPairs() != "halves" && getPairs() != "neighbours")
    return emitOpError() << "expects pairs \"halves\" or \"neighbours\", got \"" << getPairs() << "\"";
  return success();
}

Value RotaryOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  SmallVector<int64_t> shape(shapeOf(getOperand()));
  int64_t rank = shape.size(), rows = shape[rank - 2], half = shape.back() / 2;
  Type real = cast<RankedTensorType>(getOperand().getType()).getElementType();
  bool neighbours = getPairs() == "neighbours";

  // x as [..., t, member of the pair, pair]: vectors run over pairs, and the other member is one step away.
  SmallVector<int64_t> paired(shape);
  paired.back() = half;
  paired.insert(paired.end() - 1, 2);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank + 1));
  std::swap(order[rank], order[rank - 1]);
  Value x = getOperand();
  if (neighbours) {
    SmallVector<int64_t> apart(shape);
    apart.back() = 2;
    apart.insert(apart.end() - 1, half);
    x = build.transpose(build.reshape(x, apart), order);
  } else {
    x = build.reshape(x, paired);
  }

  // angle = t base^(-2 i / n), in the arithmetic of the elements.
  SmallVector<int64_t> table{rows, half};
  Value exponent = build.mul(build.cast(build.iota({half}, 0), real), -2.0 / static_cast<double>(shape.back()));
  Value frequency = build.pow(build.constantLike(exponent, getBase().convertToDouble()), exponent);
  Value angle = build.mul(build.cast(build.iota(table, 0), real), build.broadcastTo(frequency, table));
  Value cosine = build.cos(angle), sine = build.unary<SinOp>(angle);
  // The first member loses what the second one gains.
  SmallVector<int64_t> both{rows, 2, half};
  Value negative = build.broadcastAlong(build.unary<NegOp>(sine), {1}, both);
  Value positive = build.broadcastAlong(sine, {1}, both);
  if (getBack())
    std::swap(negative, positive);
  Value member = build.iota(both, 1);
  Value signedSine = build.select(build.compare("eq", member, build.constantLike(member, 0)), negative, positive);
  Value cosines = build.broadcastAlong(cosine, {1}, both);

  Value other = ReverseOp::create(builder, getLoc(), x, ArrayRef<int64_t>{rank - 1});
  Value turned = build.add(build.mul(x, cosines), build.mul(other, signedSine));
  return build.reshape(neighbours ? build.transpose(turned, order) : turned, shape);
}

SmallVector<Value> RotaryOp::gradient(OpBuilder &builder, Value upstream) {
  return {RotaryOp::create(builder, getLoc(), upstream.getType(), upstream, getBaseAttr(), getPairsAttr(),
                           builder.getBoolAttr(!getBack()))};
}
