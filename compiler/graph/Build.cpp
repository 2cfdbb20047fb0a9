// Result types and broadcasting for ops built by gradients, expansions and the optimizer.
#include "compiler/graph/Build.h"
#include "compiler/numerics/NumberArithmetic.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mekik;
using namespace mekik::graph;

ArrayRef<int64_t> graph::shapeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); }

RankedTensorType graph::withShape(Value tensor, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, cast<RankedTensorType>(tensor.getType()).getElementType());
}

RankedTensorType graph::withElement(Value tensor, Type elementType) {
  return RankedTensorType::get(shapeOf(tensor), elementType);
}

std::optional<SmallVector<int64_t>> graph::broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> shape(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= shape.size(); ++i) {
    int64_t sizeA = i <= a.size() ? a[a.size() - i] : 1;
    int64_t sizeB = i <= b.size() ? b[b.size() - i] : 1;
    if (sizeA != sizeB && sizeA != 1 && sizeB != 1)
      return std::nullopt;
    shape[shape.size() - i] = sizeA == 1 ? sizeB : sizeA;
  }
  return shape;
}

namespace {

/// Both operands under their common shape.
std::pair<Value, Value> matched(Build &build, Value x, Value y) {
  if (shapeOf(x) == shapeOf(y))
    return {x, y};
  std::optional<SmallVector<int64_t>> shape = broadcastShapes(shapeOf(x), shapeOf(y));
  assert(shape && "shapes that are broadcast against each other must fit");
  return {build.broadcastTo(x, *shape), build.broadcastTo(y, *shape)};
}

template <typename BinaryOp> Value binary(Build &build, Value x, Value y) {
  auto [lhs, rhs] = matched(build, x, y);
  return BinaryOp::create(build.builder, build.loc, lhs.getType(), lhs, rhs);
}

/// Splits ascending axes into the longest run of trailing ones and the rest.
std::pair<SmallVector<int64_t>, SmallVector<int64_t>> splitTrailing(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> others(axes), trailing;
  while (!others.empty() && others.back() == rank - 1) {
    trailing.insert(trailing.begin(), others.pop_back_val());
    --rank;
  }
  return {trailing, others};
}

template <typename ReductionOp> Value reduce(Build &build, Value x, ArrayRef<int64_t> axes) {
  auto [trailing, others] = splitTrailing(axes, shapeOf(x).size());
  if (!trailing.empty())
    x = ReductionOp::create(build.builder, build.loc, x, trailing);
  if (!others.empty())
    x = ReductionOp::create(build.builder, build.loc, x, others);
  return x;
}

} // namespace

Value Build::constant(Type type, double value) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  TypedAttr number;
  if (isa<FloatType>(element))
    number = FloatAttr::get(element, value);
  else
    number = IntegerAttr::get(element, static_cast<int64_t>(value));
  return ConstantOp::create(builder, loc, type, number);
}

Value Build::add(Value x, Value y) { return binary<AddOp>(*this, x, y); }
Value Build::sub(Value x, Value y) { return binary<SubOp>(*this, x, y); }
Value Build::mul(Value x, Value y) { return binary<MulOp>(*this, x, y); }
Value Build::div(Value x, Value y) { return binary<DivOp>(*this, x, y); }
Value Build::pow(Value x, Value y) { return binary<PowOp>(*this, x, y); }
Value Build::normalDensity(Value x) {
  return mul(unary<ExpNonPositiveOp>(mul(mul(x, x), -0.5)), 1 / std::sqrt(2 * std::numbers::pi));
}

Value Build::maximum(Value x, Value y) { return binary<MaximumOp>(*this, x, y); }
Value Build::minimum(Value x, Value y) { return binary<MinimumOp>(*this, x, y); }

Value Build::compare(StringRef how, Value x, Value y) {
  auto [lhs, rhs] = matched(*this, x, y);
  return CompareOp::create(builder, loc, withElement(lhs, builder.getI1Type()), lhs, rhs, builder.getStringAttr(how));
}

Value Build::select(Value condition, Value ifTrue, Value ifFalse) {
  auto [x, y] = matched(*this, ifTrue, ifFalse);
  auto [c, x2] = matched(*this, condition, x);
  if (shapeOf(x2) != shapeOf(y))
    y = broadcastTo(y, shapeOf(x2));
  return SelectOp::create(builder, loc, x2.getType(), c, x2, y);
}

Value Build::notLater(Value x, double behind) {
  ArrayRef<int64_t> shape = shapeOf(x);
  auto rank = static_cast<int64_t>(shape.size());
  return select(compare("le", iota(shape, rank - 1), iota(shape, rank - 2)), x, constantLike(x, behind));
}

Value Build::cast(Value x, Type elementType) {
  RankedTensorType type = withElement(x, elementType);
  return type == x.getType() ? x : CastOp::create(builder, loc, type, x);
}

Value Build::broadcastTo(Value x, ArrayRef<int64_t> shape) {
  if (shapeOf(x) == shape)
    return x;
  size_t rank = shapeOf(x).size();
  SmallVector<int64_t> dims;
  for (size_t i = 0; i < rank; ++i)
    dims.push_back(shape.size() - rank + i);
  return BroadcastOp::create(builder, loc, withShape(x, shape), x, dims);
}

Value Build::broadcastAlong(Value x, ArrayRef<int64_t> axes, ArrayRef<int64_t> shape) {
  if (axes.empty())
    return x;
  SmallVector<int64_t> dims;
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
    if (!llvm::is_contained(axes, axis))
      dims.push_back(axis);
  return BroadcastOp::create(builder, loc, withShape(x, shape), x, dims);
}

Value Build::sumTo(Value x, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = shapeOf(x);
  int64_t leading = from.size() - shape.size();
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < static_cast<int64_t>(from.size()); ++axis)
    if (axis < leading || from[axis] != shape[axis - leading])
      axes.push_back(axis);
  SmallVector<int64_t> target(shape);
  return reshape(sum(x, axes), target);
}

Value Build::reshape(Value x, ArrayRef<int64_t> shape) {
  if (shapeOf(x) == shape)
    return x;
  return ReshapeOp::create(builder, loc, withShape(x, shape), x);
}

Value Build::transpose(Value x, ArrayRef<int64_t> permutation) {
  return TransposeOp::create(builder, loc, x, permutation);
}

Value Build::iota(ArrayRef<int64_t> shape, int64_t axis) {
  return IotaOp::create(builder, loc, RankedTensorType::get(shape, builder.getI32Type()), axis);
}

Value Build::sum(Value x, ArrayRef<int64_t> axes) { return reduce<SumOp>(*this, x, axes); }
Value Build::max(Value x, ArrayRef<int64_t> axes) { return reduce<MaxOp>(*this, x, axes); }
Value Build::peak(Value x, ArrayRef<int64_t> axes) { return reduce<PeakOp>(*this, x, axes); }

Value Build::mean(Value x, ArrayRef<int64_t> axes) {
  double count = 1;
  for (int64_t axis : axes)
    count *= shapeOf(x)[axis];
  return axes.empty() ? x : div(sum(x, axes), count);
}

Value Build::random(Type type, Value seed, Value step, int64_t stream) {
  Value number = constant(RankedTensorType::get({}, builder.getI64Type()), static_cast<double>(stream));
  return RandomOp::create(builder, loc, type, seed, step, number);
}

Value Build::randomNormal(Type type, Value seed, Value step, int64_t stream) {
  return RandomNormalOp::create(builder, loc, type, seed, step, builder.getI64IntegerAttr(stream));
}

Value Build::contract(StringRef equation, Value lhs, Value rhs, StringRef triangle) {
  auto [operands, result] = equation.split("->");
  auto [left, right] = operands.split(',');
  // A label that stands in one operand alone is summed away first.
  auto sumLonely = [&](Value x, StringRef labels, StringRef other) {
    SmallVector<int64_t> axes;
    std::string kept;
    for (auto [axis, label] : llvm::enumerate(labels)) {
      if (other.contains(label) || result.contains(label))
        kept += label;
      else
        axes.push_back(axis);
    }
    return std::pair(sum(x, axes), kept);
  };
  auto [x, leftLabels] = sumLonely(lhs, left, right);
  auto [y, rightLabels] = sumLonely(rhs, right, left);
  bool contracted = llvm::any_of(
      leftLabels, [&](char label) { return StringRef(rightLabels).contains(label) && !result.contains(label); });
  if (contracted)
    return ContractOp::create(builder, loc, x, y,
                              builder.getStringAttr(leftLabels + "," + rightLabels + "->" + result.str()),
                              triangle.empty() ? StringAttr() : builder.getStringAttr(triangle));
  // Nothing to add up: a product of single elements.
  SmallVector<int64_t> shape;
  for (char label : result) {
    size_t axis = StringRef(leftLabels).find(label);
    shape.push_back(axis != StringRef::npos ? shapeOf(x)[axis] : shapeOf(y)[StringRef(rightLabels).find(label)]);
  }
  auto aligned = [&](Value operand, StringRef labels) {
    SmallVector<int64_t> permutation, dims;
    for (auto [position, label] : llvm::enumerate(result))
      if (size_t axis = labels.find(label); axis != StringRef::npos) {
        permutation.push_back(axis);
        dims.push_back(position);
      }
    if (!llvm::is_sorted(permutation))
      operand = transpose(operand, permutation);
    if (shapeOf(operand) == ArrayRef<int64_t>(shape))
      return operand;
    return static_cast<Value>(BroadcastOp::create(builder, loc, withShape(operand, shape), operand, dims));
  };
  Value alignedX = aligned(x, leftLabels);
  Value product = mul(alignedX, aligned(y, rightLabels));
  if (triangle.empty())
    return product;
  auto position = [&](char label) { return iota(shape, static_cast<int64_t>(result.find(label))); };
  Value inside = compare("le", position(triangle[1]), position(triangle[0]));
  return select(inside, product, constantLike(product, 0));
}

Value Build::matmul(Value lhs, Value rhs) {
  ArrayRef<int64_t> left = shapeOf(lhs), right = shapeOf(rhs);
  SmallVector<int64_t> leftBatch(left.drop_back(std::min<size_t>(2, left.size())));
  SmallVector<int64_t> rightBatch(right.drop_back(std::min<size_t>(2, right.size())));
  size_t rank = std::max(leftBatch.size(), rightBatch.size());
  std::string leftLabels, rightLabels, resultLabels;
  SmallVector<int64_t> leftShape, rightShape;
  // A leading axis that one operand lacks, or has with size 1, is a label of the other alone.
  for (size_t i = 0; i < rank; ++i) {
    auto sizeAt = [&](ArrayRef<int64_t> batch) {
      return i + batch.size() >= rank ? std::optional(batch[i + batch.size() - rank]) : std::nullopt;
    };
    std::optional<int64_t> sizeLeft = sizeAt(leftBatch), sizeRight = sizeAt(rightBatch);
    int64_t size = std::max(sizeLeft.value_or(1), sizeRight.value_or(1));
    char label = 'A' + i;
    if (sizeLeft && (*sizeLeft == size)) {
      leftLabels += label;
      leftShape.push_back(size);
    }
    if (sizeRight && (*sizeRight == size)) {
      rightLabels += label;
      rightShape.push_back(size);
    }
    resultLabels += label;
  }
  if (left.size() > 1) {
    leftLabels += 'm';
    leftShape.push_back(left[left.size() - 2]);
    resultLabels += 'm';
  }
  leftLabels += 'k';
  leftShape.push_back(left.back());
  rightLabels += 'k';
  rightShape.push_back(right.size() > 1 ? right[right.size() - 2] : right.back());
  if (right.size() > 1) {
    rightLabels += 'n';
    rightShape.push_back(right.back());
    resultLabels += 'n';
  }
  return contract(leftLabels + "," + rightLabels + "->" + resultLabels, reshape(lhs, leftShape),
                  reshape(rhs, rightShape));
}
