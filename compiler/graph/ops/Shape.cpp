// Shape ops: constants, positions, and the same elements repeated, reordered, cut out, padded or put behind one
// another.
#include "compiler/graph/Build.h"
#include "compiler/graph/Graph.h"
#include "compiler/numerics/NumberArithmetic.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::graph;
using numerics::ElementType;
using numerics::Number;

namespace {

bool isFloat(Value tensor) { return isa<FloatType>(cast<RankedTensorType>(tensor.getType()).getElementType()); }

/// One null gradient for each of `count` operands.
SmallVector<Value> noGradients(size_t count) { return SmallVector<Value>(count); }

bool isIdentityPermutation(ArrayRef<int64_t> permutation) {
  for (auto [position, axis] : llvm::enumerate(permutation))
    if (axis != static_cast<int64_t>(position))
      return false;
  return true;
}

bool allZero(ArrayRef<int64_t> values) {
  return llvm::all_of(values, [](int64_t value) { return value == 0; });
}

/// The type of an operand, or nothing with an error if it is not a tensor of static shape.
RankedTensorType staticTensor(std::optional<Location> location, StringRef op, Value operand) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (type && type.hasStaticShape())
    return type;
  (void)emitOptionalError(location, op, " takes a tensor of static shape, got ", operand.getType());
  return {};
}

/// False with an error if a list that has one entry per axis has another length.
bool onePerAxis(std::optional<Location> location, StringRef op, StringRef list, ArrayRef<int64_t> values,
                RankedTensorType operand) {
  if (static_cast<int64_t>(values.size()) == operand.getRank())
    return true;
  (void)emitOptionalError(location, op, ": ", list, " ", shapeText(values),
                          " must have one entry per axis of the operand of shape ", shapeText(operand.getShape()),
                          ", that is ", operand.getRank(), ", but has ", values.size());
  return false;
}

} // namespace

// Constant.

LogicalResult ConstantOp::verify() {
  Type element = cast<RankedTensorType>(getResult().getType()).getElementType();
  if (getValue().getType() != element)
    return emitOpError() << "has a value of type " << getValue().getType() << " for a tensor of " << element;
  if (!isa<FloatAttr, IntegerAttr>(getValue()))
    return emitOpError() << "takes one number, got " << getValue();
  return success();
}
OpFoldResult ConstantOp::fold(FoldAdaptor) {
  return SplatElementsAttr::get(cast<RankedTensorType>(getResult().getType()), static_cast<Attribute>(getValue()));
}
Number ConstantOp::element(ElementReader &reader, ArrayRef<Index>) {
  if (auto real = dyn_cast<FloatAttr>(getValue()))
    return reader.arithmetic().constant(elementType(getResult()), real.getValueAsDouble());
  APInt value = cast<IntegerAttr>(getValue()).getValue();
  int64_t number = value.getBitWidth() == 1 ? value.getZExtValue() : value.getSExtValue();
  return reader.arithmetic().constant(elementType(getResult()), number);
}
SmallVector<Value> ConstantOp::gradient(OpBuilder &, Value) { return {}; }

// Iota.

LogicalResult IotaOp::verify() {
  int64_t rank = cast<RankedTensorType>(getResult().getType()).getRank();
  int64_t axis = getAxis();
  if (axis < 0 || axis >= rank)
    return emitOpError() << "counts along axis " << axis << ", but the result " << getResult().getType()
                         << " has the axes 0 to " << rank - 1;
  return success();
}
Number IotaOp::element(ElementReader &reader, ArrayRef<Index> index) { return reader.indexToNumber(index[getAxis()]); }
SmallVector<Value> IotaOp::gradient(OpBuilder &, Value) { return {}; }

// Broadcast.

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getOperand()), to = shapeOf(getResult()), dims = getDims();
  if (elementType(getOperand()) != elementType(getResult()))
    return emitOpError() << "turns " << getOperand().getType() << " into " << getResult().getType()
                         << "; the element types must be equal";
  if (dims.size() != from.size())
    return emitOpError() << "needs one result axis for each of the " << from.size() << " axes of the operand of shape "
                         << shapeText(from) << ", but dims " << shapeText(dims) << " has " << dims.size();
  int64_t previous = -1;
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    if (dim <= previous || dim >= static_cast<int64_t>(to.size()))
      return emitOpError() << "dims " << shapeText(dims)
                           << " must ascend and lie within the axes of the result of shape " << shapeText(to);
    if (from[axis] != 1 && from[axis] != to[dim])
      return emitOpError() << "cannot repeat shape " << shapeText(from) << " to " << shapeText(to) << ": axis " << axis
                           << " has size " << from[axis] << ", where 1 or " << to[dim] << " is expected";
    previous = dim;
  }
  return success();
}
OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getResult().getType())
    return getOperand();
  if (OpFoldResult splat = reshapeSplat(adaptor.getOperand(), getResult().getType()))
    return splat;
  if (auto inner = getOperand().getDefiningOp<BroadcastOp>()) {
    SmallVector<int64_t> dims;
    for (int64_t dim : inner.getDims())
      dims.push_back(getDims()[dim]);
    setDims(dims);
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return {};
}
Number BroadcastOp::element(ElementReader &reader, ArrayRef<Index> index) {
  SmallVector<Index> from;
  for (auto [axis, dim] : llvm::enumerate(getDims()))
    from.push_back(shapeOf(getOperand())[axis] == 1 ? reader.constantIndex(0) : index[dim]);
  return reader.read(0, from);
}
SmallVector<Value> BroadcastOp::gradient(OpBuilder &builder, Value upstream) {
  if (!isFloat(getOperand()))
    return noGradients(1);
  ArrayRef<int64_t> from = shapeOf(getOperand()), to = shapeOf(getResult()), dims = getDims();
  SmallVector<int64_t> repeated;
  for (int64_t dim = 0; dim < static_cast<int64_t>(to.size()); ++dim) {
    const int64_t *found = llvm::find(dims, dim);
    if (found == dims.end() || from[found - dims.begin()] != to[dim])
      repeated.push_back(dim);
  }
  Build build(builder, getLoc());
  return {build.reshape(build.sum(upstream, repeated), from)};
}

// Reshape.

LogicalResult ReshapeOp::verify() {
  auto from = cast<RankedTensorType>(getOperand().getType()), to = cast<RankedTensorType>(getResult().getType());
  if (from.getElementType() != to.getElementType())
    return emitOpError() << "turns " << from << " into " << to << "; the element types must be equal";
  if (from.getNumElements() != to.getNumElements())
    return emitOpError() << "cannot give shape " << shapeText(to.getShape()) << " (" << to.getNumElements()
                         << " elements) to a tensor of shape " << shapeText(from.getShape()) << " ("
                         << from.getNumElements() << " elements)";
  return success();
}
OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getResult().getType())
    return getOperand();
  if (OpFoldResult splat = reshapeSplat(adaptor.getOperand(), getResult().getType()))
    return splat;
  if (auto inner = getOperand().getDefiningOp<ReshapeOp>()) {
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return {};
}
SmallVector<Value> ReshapeOp::gradient(OpBuilder &builder, Value upstream) {
  if (!isFloat(getOperand()))
    return noGradients(1);
  return {Build(builder, getLoc()).reshape(upstream, shapeOf(getOperand()))};
}

// Transpose.

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                            DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                            SmallVectorImpl<Type> &types) {
  TransposeOp::Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType operand = staticTensor(location, "transpose", adaptor.getOperand());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (!operand || !onePerAxis(location, "transpose", "permutation", permutation, operand))
    return failure();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!isIdentityPermutation(sorted))
    return emitOptionalError(location, "transpose: permutation ", shapeText(permutation),
                             " must name every axis of the operand of shape ", shapeText(operand.getShape()),
                             " exactly once");
  SmallVector<int64_t> shape;
  for (int64_t axis : permutation)
    shape.push_back(operand.getShape()[axis]);
  types.push_back(operand.clone(shape));
  return success();
}
OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (isIdentityPermutation(getPermutation()))
    return getOperand();
  if (OpFoldResult splat = reshapeSplat(adaptor.getOperand(), getResult().getType()))
    return splat;
  if (auto inner = getOperand().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> permutation;
    for (int64_t axis : getPermutation())
      permutation.push_back(inner.getPermutation()[axis]);
    setPermutation(permutation);
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return {};
}
Number TransposeOp::element(ElementReader &reader, ArrayRef<Index> index) {
  SmallVector<Index> from(index.size());
  for (auto [position, axis] : llvm::enumerate(getPermutation()))
    from[axis] = index[position];
  return reader.read(0, from);
}
SmallVector<Value> TransposeOp::gradient(OpBuilder &builder, Value upstream) {
  if (!isFloat(getOperand()))
    return noGradients(1);
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [position, axis] : llvm::enumerate(getPermutation()))
    inverse[axis] = position;
  return {Build(builder, getLoc()).transpose(upstream, inverse)};
}

// Slice.

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                        DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                        SmallVectorImpl<Type> &types) {
  SliceOp::Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType operand = staticTensor(location, "slice", adaptor.getOperand());
  if (!operand || !onePerAxis(location, "slice", "offsets", adaptor.getOffsets(), operand) ||
      !onePerAxis(location, "slice", "sizes", adaptor.getSizes(), operand))
    return failure();
  for (auto [axis, offset, size, extent] :
       llvm::enumerate(adaptor.getOffsets(), adaptor.getSizes(), operand.getShape()))
    if (offset < 0 || size < 1 || offset > extent - size)
      return emitOptionalError(location, "slice: ", size, " elements from ", offset, " on do not lie within axis ",
                               axis, " of size ", extent, " of the operand of shape ", shapeText(operand.getShape()));
  types.push_back(operand.clone(adaptor.getSizes()));
  return success();
}
OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getResult().getType())
    return getOperand();
  if (OpFoldResult splat = reshapeSplat(adaptor.getOperand(), getResult().getType()))
    return splat;
  if (auto inner = getOperand().getDefiningOp<SliceOp>()) {
    SmallVector<int64_t> offsets;
    for (auto [outerOffset, innerOffset] : llvm::zip(getOffsets(), inner.getOffsets()))
      offsets.push_back(outerOffset + innerOffset);
    setOffsets(offsets);
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return {};
}
Number SliceOp::element(ElementReader &reader, ArrayRef<Index> index) {
  SmallVector<Index> from;
  for (auto [position, offset] : llvm::zip(index, getOffsets()))
    from.push_back(offset ? reader.addToIndex(position, offset) : position);
  return reader.read(0, from);
}
SmallVector<Value> SliceOp::gradient(OpBuilder &builder, Value upstream) {
  if (!isFloat(getOperand()))
    return noGradients(1);
  SmallVector<int64_t> high;
  for (auto [offset, size, extent] : llvm::zip(getOffsets(), getSizes(), shapeOf(getOperand())))
    high.push_back(extent - offset - size);
  return {PadOp::create(builder, getLoc(), upstream, getOffsets(), high)};
}

// Pad.

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                      DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                      SmallVectorImpl<Type> &types) {
  PadOp::Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType operand = staticTensor(location, "pad", adaptor.getOperand());
  if (!operand || !onePerAxis(location, "pad", "low", adaptor.getLow(), operand) ||
      !onePerAxis(location, "pad", "high", adaptor.getHigh(), operand))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [axis, low, high, extent] : llvm::enumerate(adaptor.getLow(), adaptor.getHigh(), operand.getShape())) {
    if (low < 0 || high < 0)
      return emitOptionalError(location, "pad: axis ", axis, " gets ", low, " zeros before and ", high,
                               " behind; neither may be negative");
    shape.push_back(low + extent + high);
  }
  types.push_back(operand.clone(shape));
  return success();
}
OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  if (allZero(getLow()) && allZero(getHigh()))
    return getOperand();
  std::optional<Number> number = splatNumber(adaptor.getOperand());
  if (number && number->bits == 0) // not -0, whose surroundings are +0
    return splatAttribute(getResult().getType(), *number);
  return {};
}
Number PadOp::element(ElementReader &reader, ArrayRef<Index> index) {
  numerics::Arithmetic &arithmetic = reader.arithmetic();
  ElementType type = elementType(getResult());
  bool real = type == ElementType::F32 || type == ElementType::F64;
  Number zero = real ? arithmetic.constant(type, 0.0) : arithmetic.constant(type, int64_t{0});
  SmallVector<Index> from;
  std::optional<Number> inside;
  auto require = [&](Number condition) { inside = inside ? arithmetic.bitAnd(*inside, condition) : condition; };
  for (auto [position, low, high, extent] : llvm::zip(index, getLow(), getHigh(), shapeOf(getOperand()))) {
    from.push_back(low ? reader.addToIndex(position, -low) : position);
    if (!low && !high)
      continue;
    Number number = reader.indexToNumber(from.back());
    if (low)
      require(arithmetic.compare(numerics::Comparison::GreaterEqual, number,
                                 arithmetic.constant(ElementType::I32, int64_t{0})));
    if (high)
      require(arithmetic.compare(numerics::Comparison::Less, number,
                                 arithmetic.constant(ElementType::I32, int64_t{extent})));
  }
  return inside ? reader.readIf(*inside, 0, from, zero) : reader.read(0, from);
}
SmallVector<Value> PadOp::gradient(OpBuilder &builder, Value upstream) {
  if (!isFloat(getOperand()))
    return noGradients(1);
  return {SliceOp::create(builder, getLoc(), upstream, getLow(), shapeOf(getOperand()))};
}

// Reverse.

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                          DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                          SmallVectorImpl<Type> &types) {
  ReverseOp::Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType operand = staticTensor(location, "reverse", adaptor.getOperand());
  if (!operand)
    return failure();
  int64_t previous = -1;
  for (int64_t axis : adaptor.getAxes()) {
    if (axis <= previous || axis >= operand.getRank())
      return emitOptionalError(location, "reverse: axes ", shapeText(adaptor.getAxes()),
                               " must ascend and lie within the operand of shape ", shapeText(operand.getShape()));
    previous = axis;
  }
  types.push_back(operand);
  return success();
}
OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) {
  if (llvm::all_of(getAxes(), [&](int64_t axis) { return shapeOf(getOperand())[axis] == 1; }))
    return getOperand();
  if (OpFoldResult splat = reshapeSplat(adaptor.getOperand(), getResult().getType()))
    return splat;
  if (auto inner = getOperand().getDefiningOp<ReverseOp>(); inner && inner.getAxes() == getAxes())
    return inner.getOperand();
  return {};
}
Number ReverseOp::element(ElementReader &reader, ArrayRef<Index> index) {
  SmallVector<Index> from(index);
  for (int64_t axis : getAxes())
    from[axis] = reader.combineIndices(index[axis], -1, reader.constantIndex(shapeOf(getOperand())[axis] - 1));
  return reader.read(0, from);
}
SmallVector<Value> ReverseOp::gradient(OpBuilder &builder, Value upstream) {
  if (!isFloat(getOperand()))
    return noGradients(1);
  return {ReverseOp::create(builder, getLoc(), upstream, getAxes())};
}

// Concat.

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                         DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                         SmallVectorImpl<Type> &types) {
  ConcatOp::Adaptor adaptor(operands, attributes, properties, regions);
  if (operands.empty())
    return emitOptionalError(location, "concat: at least one operand is needed");
  RankedTensorType first = staticTensor(location, "concat", operands[0]);
  if (!first)
    return failure();
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= first.getRank())
    return emitOptionalError(location, "concat: axis ", axis, " does not exist in a tensor of shape ",
                             shapeText(first.getShape()));
  SmallVector<int64_t> shape(first.getShape());
  for (auto [number, operand] : llvm::enumerate(operands.drop_front())) {
    RankedTensorType next = staticTensor(location, "concat", operand);
    if (!next)
      return failure();
    if (next.getElementType() != first.getElementType())
      return emitOptionalError(location, "concat: operand ", number + 1, " has elements of type ",
                               next.getElementType(), ", operand 0 of type ", first.getElementType());
    bool fits = next.getRank() == first.getRank();
    for (int64_t i = 0; fits && i < first.getRank(); ++i)
      fits = i == axis || next.getShape()[i] == first.getShape()[i];
    if (!fits)
      return emitOptionalError(location, "concat along axis ", axis, ": operand ", number + 1, " of shape ",
                               shapeText(next.getShape()), " does not fit operand 0 of shape ",
                               shapeText(first.getShape()), "; all other axes must be equal");
    shape[axis] += next.getShape()[axis];
  }
  types.push_back(first.clone(shape));
  return success();
}
OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getOperands().size() == 1)
    return getOperands()[0];
  std::optional<Number> first = splatNumber(adaptor.getOperands()[0]);
  for (Attribute operand : adaptor.getOperands()) {
    std::optional<Number> next = splatNumber(operand);
    if (!first || !next || next->bits != first->bits)
      return {};
  }
  return splatAttribute(getResult().getType(), *first);
}
Number ConcatOp::element(ElementReader &reader, ArrayRef<Index> index) {
  numerics::Arithmetic &arithmetic = reader.arithmetic();
  int64_t axis = getAxis();
  Number position = reader.indexToNumber(index[axis]);
  int64_t begin = 0;
  std::optional<Number> result;
  for (unsigned i = 0; i < getOperands().size(); ++i) {
    int64_t end = begin + shapeOf(getOperands()[i])[axis];
    SmallVector<Index> from(index);
    from[axis] = begin ? reader.addToIndex(index[axis], -begin) : index[axis];
    if (!result) {
      // The first operand stands for everything not taken by a later one; it is read only where it has elements.
      Number zero = elementType(getResult()) == ElementType::F32 || elementType(getResult()) == ElementType::F64
                        ? arithmetic.constant(elementType(getResult()), 0.0)
                        : arithmetic.constant(elementType(getResult()), int64_t{0});
      Number here =
          arithmetic.compare(numerics::Comparison::Less, position, arithmetic.constant(ElementType::I32, int64_t{end}));
      result = reader.readIf(here, i, from, zero);
    } else {
      Number here = arithmetic.compare(numerics::Comparison::GreaterEqual, position,
                                       arithmetic.constant(ElementType::I32, int64_t{begin}));
      if (i + 1 < getOperands().size())
        here = arithmetic.bitAnd(here, arithmetic.compare(numerics::Comparison::Less, position,
                                                          arithmetic.constant(ElementType::I32, int64_t{end})));
      result = reader.readIf(here, i, from, *result);
    }
    begin = end;
  }
  return *result;
}
SmallVector<Value> ConcatOp::gradient(OpBuilder &builder, Value upstream) {
  if (!isFloat(getResult()))
    return noGradients(getOperands().size());
  SmallVector<Value> gradients;
  SmallVector<int64_t> offsets(shapeOf(upstream).size(), 0);
  for (Value operand : getOperands()) {
    gradients.push_back(SliceOp::create(builder, getLoc(), upstream, offsets, shapeOf(operand)));
    offsets[getAxis()] += shapeOf(operand)[getAxis()];
  }
  return gradients;
}
