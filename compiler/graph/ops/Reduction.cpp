// Reductions: sum and max as primitive folds, mean as what it abbreviates.
#include "compiler/graph/Build.h"
#include "compiler/graph/Graph.h"
#include <limits>

using namespace mlir;
using namespace mekik;
using namespace mekik::graph;
using numerics::Arithmetic;
using numerics::Number;

namespace {

/// The operand type without `axes`, or an error about the operand or the axes.
FailureOr<RankedTensorType> withoutAxes(std::optional<Location> location, StringRef op, Value operand,
                                        ArrayRef<int64_t> axes) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!type || !type.hasStaticShape())
    return emitOptionalError(location, op, " takes a tensor of static shape, got ", operand.getType());
  if (axes.empty())
    return emitOptionalError(location, op, " needs at least one axis to fold");
  int64_t previous = -1;
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= type.getRank())
      return emitOptionalError(location, op, ": axis ", axis, " does not exist in a tensor of shape ",
                               shapeText(type.getShape()), ", whose axes are 0 to ", type.getRank() - 1);
    if (axis <= previous)
      return emitOptionalError(location, op, ": axes ", shapeText(axes), " must ascend, each named once");
    previous = axis;
  }
  SmallVector<int64_t> shape;
  for (auto [axis, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      shape.push_back(size);
  return type.clone(shape);
}

/// The same for one fold, whose axes are all trailing (a row) or leave out the last one (a chain).
LogicalResult inferFold(std::optional<Location> location, StringRef op, Value operand, ArrayRef<int64_t> axes,
                        SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type = withoutAxes(location, op, operand, axes);
  if (failed(type))
    return failure();
  int64_t rank = shapeOf(operand).size();
  bool trailing = axes.front() == rank - static_cast<int64_t>(axes.size());
  if (axes.back() == rank - 1 && !trailing)
    return emitOptionalError(location, op, ": axes ", shapeText(axes), " of a tensor of shape ",
                             shapeText(shapeOf(operand)),
                             " take the last axis and leave a gap before it; fold the trailing "
                             "axes first and the others after");
  types.push_back(*type);
  return success();
}

/// What comes upstream, shared evenly by the elements that equal the largest one.
template <typename ReductionOp> SmallVector<Value> toLargest(ReductionOp op, OpBuilder &builder, Value upstream) {
  Build build(builder, op.getLoc());
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  Value largest = build.compare("eq", op.getOperand(), build.broadcastAlong(op.getResult(), op.getAxes(), shape));
  Type element = cast<RankedTensorType>(upstream.getType()).getElementType();
  Value share = build.div(upstream, build.sum(build.cast(largest, element), op.getAxes()));
  Value everywhere = build.broadcastAlong(share, op.getAxes(), shape);
  return {build.select(largest, everywhere, build.constantLike(everywhere, 0))};
}

} // namespace

LogicalResult SumOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                      DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                      SmallVectorImpl<Type> &types) {
  SumOp::Adaptor adaptor(operands, attributes, properties, regions);
  return inferFold(location, "sum", adaptor.getOperand(), adaptor.getAxes(), types);
}
// -0: the one number that changes no sum, so that a row of -0 sums to -0 in whatever lanes it is dealt.
Number SumOp::identity(Arithmetic &arithmetic) { return arithmetic.constant(elementType(getResult()), -0.0); }
Number SumOp::combine(Arithmetic &arithmetic, Number accumulator, Number element) {
  return arithmetic.add(accumulator, element);
}
SmallVector<Value> SumOp::gradient(OpBuilder &builder, Value upstream) {
  return {Build(builder, getLoc()).broadcastAlong(upstream, getAxes(), shapeOf(getOperand()))};
}

LogicalResult MaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                      DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                      SmallVectorImpl<Type> &types) {
  MaxOp::Adaptor adaptor(operands, attributes, properties, regions);
  return inferFold(location, "max", adaptor.getOperand(), adaptor.getAxes(), types);
}
Number MaxOp::identity(Arithmetic &arithmetic) {
  return arithmetic.constant(elementType(getResult()), -std::numeric_limits<double>::infinity());
}
Number MaxOp::combine(Arithmetic &arithmetic, Number accumulator, Number element) {
  return arithmetic.maximum(accumulator, element);
}
SmallVector<Value> MaxOp::gradient(OpBuilder &builder, Value upstream) { return toLargest(*this, builder, upstream); }

LogicalResult PeakOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                       DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                       SmallVectorImpl<Type> &types) {
  PeakOp::Adaptor adaptor(operands, attributes, properties, regions);
  return inferFold(location, "peak", adaptor.getOperand(), adaptor.getAxes(), types);
}
Number PeakOp::identity(Arithmetic &arithmetic) {
  return arithmetic.constant(elementType(getResult()), -std::numeric_limits<double>::infinity());
}
Number PeakOp::combine(Arithmetic &arithmetic, Number accumulator, Number element) {
  Number isAbove = arithmetic.compare(numerics::Comparison::Greater, accumulator, element);
  return arithmetic.select(isAbove, accumulator, element);
}
SmallVector<Value> PeakOp::gradient(OpBuilder &builder, Value upstream) { return toLargest(*this, builder, upstream); }

LogicalResult MeanOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                       DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                       SmallVectorImpl<Type> &types) {
  MeanOp::Adaptor adaptor(operands, attributes, properties, regions);
  FailureOr<RankedTensorType> type = withoutAxes(location, "mean", adaptor.getOperand(), adaptor.getAxes());
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}
Value MeanOp::expand(OpBuilder &builder) { return Build(builder, getLoc()).mean(getOperand(), getAxes()); }
SmallVector<Value> MeanOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  double count = 1;
  for (int64_t axis : getAxes())
    count *= shapeOf(getOperand())[axis];
  return {build.broadcastAlong(build.div(upstream, count), getAxes(), shapeOf(getOperand()))};
}
