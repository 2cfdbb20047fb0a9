// What training makes small. Every loss is computed per row or element in a form that neither overflows nor cancels,
// then reduced; its gradient is written directly instead of through the chain of the expansion.
#include "compiler/graph/Build.h"
#include <limits>

using namespace mlir;
using namespace mekik::graph;

namespace {

SmallVector<int64_t> allAxes(Value x) {
  return llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(shapeOf(x).size())));
}

int64_t elementsOf(Value x) { return cast<RankedTensorType>(x.getType()).getNumElements(); }

/// An attribute as inference sees it: while an op is being parsed it stands in the dictionary, not yet among the
/// properties, and defaults are not filled in. Null if it is in neither.
template <typename Attr> Attr given(DictionaryAttr dictionary, StringRef name, Attr property) {
  if (auto parsed = dictionary ? dictionary.getAs<Attr>(name) : Attr())
    return parsed;
  return property;
}

FailureOr<StringRef> readReduction(std::optional<Location> loc, StringRef op, DictionaryAttr dictionary,
                                   StringAttr property) {
  StringAttr attribute = given(dictionary, "reduction", property);
  StringRef reduction = attribute ? attribute.getValue() : "mean";
  if (reduction == "mean" || reduction == "sum" || reduction == "none")
    return reduction;
  return emitOptionalError(loc, op, " expects reduction \"mean\", \"sum\" or \"none\", got \"", reduction, "\"");
}

/// Both operand types, which inference sees before anything else has checked them.
FailureOr<std::pair<RankedTensorType, RankedTensorType>> tensorTypes(std::optional<Location> loc, StringRef op,
                                                                     Value first, Value second) {
  auto a = dyn_cast<RankedTensorType>(first.getType());
  auto b = dyn_cast<RankedTensorType>(second.getType());
  if (a && b && a.hasStaticShape() && b.hasStaticShape())
    return std::make_pair(a, b);
  return emitOptionalError(loc, op, " expects two tensors of static shape, got ", first.getType(), " and ",
                           second.getType());
}

/// The type of a loss whose unreduced form has `shape`.
Type reducedType(StringRef reduction, ArrayRef<int64_t> shape, Type elementType) {
  return RankedTensorType::get(reduction == "none" ? shape : ArrayRef<int64_t>(), elementType);
}

/// `losses` reduced; `count` is what a mean divides by (scalar; null: the number of losses).
Value reduce(Build &build, StringRef reduction, Value losses, Value count) {
  if (reduction == "none")
    return losses;
  Value total = build.sum(losses, allAxes(losses));
  if (reduction == "sum")
    return total;
  return count ? build.div(total, count) : build.div(total, static_cast<double>(elementsOf(losses)));
}

/// The gradient of the losses before reduction, of shape `shape`.
Value spread(Build &build, StringRef reduction, Value upstream, Value count, ArrayRef<int64_t> shape) {
  if (reduction == "none")
    return upstream;
  if (reduction == "mean") {
    int64_t elements = ShapedType::getNumElements(shape);
    upstream = count ? build.div(upstream, count) : build.div(upstream, static_cast<double>(elements));
  }
  return build.broadcastTo(upstream, shape);
}

/// What expansion and gradient of cross_entropy have in common, built by the same ops in the same order.
struct ClassRows {
  Build &build;
  CrossEntropyOp op;
  SmallVector<int64_t> shape; ///< of the logits
  SmallVector<int64_t> rows;  ///< without the classes
  int64_t classes;
  Value rest;   ///< logits without the row maximum
  Value powers; ///< exp(rest)
  Value sum;    ///< of powers, by row; 1 for rows of -inf
  Value hit;    ///< true at the target
  Value kept;   ///< by row; null if no target is ignored
  Value count;  ///< scalar, number of rows kept and at least 1; null if no target is ignored

  ClassRows(Build &build, CrossEntropyOp op) : build(build), op(op), shape(shapeOf(op.getLogits())) {
    rows.assign(shape.begin(), shape.end() - 1);
    classes = shape.back();
    Value logits = op.getLogits();
    Value maximum = build.peak(logits, {lastAxis()}); // NaN is met again in the sum
    Value masked = build.compare("eq", maximum, build.constantLike(maximum, -std::numeric_limits<double>::infinity()));
    rest = build.sub(logits, repeat(build.select(masked, build.constantLike(maximum, 0), maximum)));
    powers = build.unary<ExpNonPositiveOp>(rest);
    sum = build.sum(powers, {lastAxis()});
    sum = build.select(build.compare("eq", sum, build.constantLike(sum, 0)), build.constantLike(sum, 1), sum);

    Value targets = op.getTargets();
    Value position = build.iota(shape, lastAxis());
    hit = build.compare("eq", build.cast(position, elementOf(targets)), repeat(targets));
    if (!op.getIgnore())
      return;
    auto ignore = static_cast<double>(static_cast<int64_t>(*op.getIgnore()));
    kept = build.compare("ne", targets, build.constantLike(targets, ignore));
    Value ones = build.cast(kept, elementOf(logits));
    Value total = build.sum(ones, allAxes(ones));
    count = build.maximum(total, build.constantLike(total, 1));
  }

  static Type elementOf(Value x) { return cast<RankedTensorType>(x.getType()).getElementType(); }
  int64_t lastAxis() const { return static_cast<int64_t>(shape.size()) - 1; }
  Value repeat(Value x) { return build.broadcastAlong(x, {lastAxis()}, shape); }
  Value dropIgnored(Value byRow) { return kept ? build.select(kept, byRow, build.constantLike(byRow, 0)) : byRow; }
  double smoothing() { return op.getSmoothing().convertToDouble(); }
};

} // namespace

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                               SmallVectorImpl<Type> &results) {
  auto types = tensorTypes(loc, "cross_entropy", adaptor.getLogits(), adaptor.getTargets());
  if (failed(types))
    return failure();
  auto [logits, targets] = *types;
  if (logits.getRank() == 0)
    return emitOptionalError(loc, "cross_entropy expects logits whose last axis holds the classes, got a scalar");
  ArrayRef<int64_t> rows = logits.getShape().drop_back();
  if (targets.getShape() != rows)
    return emitOptionalError(loc, "cross_entropy expects targets of shape ", shapeText(rows),
                             ", the shape of the logits ", shapeText(logits.getShape()), " without its last axis, got ",
                             shapeText(targets.getShape()));
  auto reduction = readReduction(loc, "cross_entropy", adaptor.getAttributes(), adaptor.getReductionAttr());
  if (failed(reduction))
    return failure();
  FloatAttr smoothingAttribute = given(adaptor.getAttributes(), "smoothing", adaptor.getSmoothingAttr());
  double smoothing = smoothingAttribute ? smoothingAttribute.getValueAsDouble() : 0;
  if (!(smoothing >= 0 && smoothing <= 1))
    return emitOptionalError(loc, "cross_entropy expects smoothing from 0 to 1, got ", smoothing);
  results.push_back(reducedType(*reduction, rows, logits.getElementType()));
  return success();
}

Value CrossEntropyOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  ClassRows rows(build, *this);
  Value picked = build.sum(build.select(rows.hit, rows.rest, build.constantLike(rows.rest, 0)), {rows.lastAxis()});
  if (double smoothing = rows.smoothing(); smoothing != 0) {
    Value uniform = build.mul(build.sum(rows.rest, {rows.lastAxis()}), smoothing / static_cast<double>(rows.classes));
    picked = build.add(build.mul(picked, 1 - smoothing), uniform);
  }
  Value losses = build.sub(build.unary<LogOp>(rows.sum), picked);
  return reduce(build, getReduction(), rows.dropIgnored(losses), rows.count);
}

SmallVector<Value> CrossEntropyOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  ClassRows rows(build, *this);
  Value byRow = rows.dropIgnored(spread(build, getReduction(), upstream, rows.count, rows.rows));
  Value probabilities = build.div(rows.powers, rows.repeat(rows.sum));
  double uniform = rows.smoothing() / static_cast<double>(rows.classes);
  Value wanted = build.select(rows.hit, build.constantLike(probabilities, 1 - rows.smoothing() + uniform),
                              build.constantLike(probabilities, uniform));
  return {build.mul(build.sub(probabilities, wanted), rows.repeat(byRow)), Value()};
}

LogicalResult BinaryCrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                     SmallVectorImpl<Type> &results) {
  auto types = tensorTypes(loc, "binary_cross_entropy", adaptor.getLogits(), adaptor.getTargets());
  if (failed(types))
    return failure();
  auto [logits, targets] = *types;
  if (logits.getShape() != targets.getShape())
    return emitOptionalError(loc, "binary_cross_entropy expects targets of the shape of the logits ",
                             shapeText(logits.getShape()), ", got ", shapeText(targets.getShape()));
  auto reduction = readReduction(loc, "binary_cross_entropy", adaptor.getAttributes(), adaptor.getReductionAttr());
  if (failed(reduction))
    return failure();
  results.push_back(reducedType(*reduction, logits.getShape(), logits.getElementType()));
  return success();
}

Value BinaryCrossEntropyOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  // softplus(x) = max(x, 0) + softplus(-|x|): for a target of 1 the first part cancels exactly.
  Value x = getLogits();
  Value linear = build.sub(build.unary<ReluOp>(x), build.mul(x, getTargets()));
  Value tail = build.unary<SoftplusOp>(build.unary<NegOp>(build.unary<AbsOp>(x)));
  return reduce(build, getReduction(), build.add(linear, tail), Value());
}

SmallVector<Value> BinaryCrossEntropyOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  Value x = getLogits();
  Value each = spread(build, getReduction(), upstream, Value(), shapeOf(x));
  Value slope = build.sub(build.unary<SigmoidOp>(x), getTargets());
  return {build.mul(slope, each), build.unary<NegOp>(build.mul(x, each))};
}

LogicalResult MseOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  auto types = tensorTypes(loc, "mse", adaptor.getLhs(), adaptor.getRhs());
  if (failed(types))
    return failure();
  auto [lhs, rhs] = *types;
  if (lhs.getShape() != rhs.getShape())
    return emitOptionalError(loc, "mse expects two tensors of the same shape, got ", shapeText(lhs.getShape()), " and ",
                             shapeText(rhs.getShape()));
  auto reduction = readReduction(loc, "mse", adaptor.getAttributes(), adaptor.getReductionAttr());
  if (failed(reduction))
    return failure();
  results.push_back(reducedType(*reduction, lhs.getShape(), lhs.getElementType()));
  return success();
}

Value MseOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  Value difference = build.sub(getLhs(), getRhs());
  return reduce(build, getReduction(), build.mul(difference, difference), Value());
}

SmallVector<Value> MseOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  Value each = spread(build, getReduction(), upstream, Value(), shapeOf(getLhs()));
  Value left = build.mul(build.mul(build.sub(getLhs(), getRhs()), 2), each);
  return {left, build.unary<NegOp>(left)};
}
