// Registration of the dialect, and what all op families share.
#include "compiler/graph/Build.h"
#include "compiler/numerics/NumberArithmetic.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::graph;
using numerics::ElementType;
using numerics::Number;

#include "compiler/graph/GraphDialect.cpp.inc"
#include "compiler/graph/GraphInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/graph/Graph.cpp.inc"

void GraphDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/graph/Graph.cpp.inc"
      >();
}

Operation *GraphDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    return ConstantOp::create(builder, loc, type, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
  return nullptr;
}

ElementType graph::elementType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    type = tensor.getElementType();
  if (type.isF32())
    return ElementType::F32;
  if (type.isF64())
    return ElementType::F64;
  if (type.isInteger(32))
    return ElementType::I32;
  if (type.isInteger(64))
    return ElementType::I64;
  assert(type.isInteger(1) && "the graph dialect has no other element type");
  return ElementType::Bool;
}

ElementType graph::elementType(Value tensor) { return elementType(tensor.getType()); }

Layout graph::denseLayout(Value tensor) {
  Layout layout;
  layout.shape.assign(shapeOf(tensor).begin(), shapeOf(tensor).end());
  layout.strides.assign(layout.shape.size(), 1);
  for (size_t axis = layout.shape.size(); axis-- > 1;)
    layout.strides[axis - 1] = layout.strides[axis] * layout.shape[axis];
  return layout;
}

std::string graph::shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << '[';
  llvm::interleaveComma(shape, out);
  out << ']';
  return text;
}

std::optional<Number> graph::splatNumber(Attribute attribute) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(attribute);
  if (!splat)
    return std::nullopt;
  ElementType type = elementType(splat.getElementType());
  Attribute value = splat.getSplatValue<Attribute>();
  if (auto real = dyn_cast<FloatAttr>(value))
    return Number{type, real.getValue().bitcastToAPInt().getZExtValue()};
  return Number{type, cast<IntegerAttr>(value).getValue().getZExtValue()};
}

std::optional<double> graph::splatValue(Attribute attribute) {
  std::optional<Number> number = splatNumber(attribute);
  if (!number)
    return std::nullopt;
  switch (number->type) {
  case ElementType::F32:
    return numerics::toFloat(*number);
  case ElementType::F64:
    return numerics::toDouble(*number);
  case ElementType::I32:
    return numerics::toInt32(*number);
  case ElementType::I64:
    return static_cast<double>(numerics::toInt64(*number));
  case ElementType::Bool:
    return numerics::toBool(*number);
  }
  return std::nullopt;
}

Attribute graph::splatAttribute(Type type, Number number) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  if (auto real = dyn_cast<FloatType>(element))
    return SplatElementsAttr::get(tensor, APFloat(real.getFloatSemantics(), APInt(real.getWidth(), number.bits)));
  return SplatElementsAttr::get(
      tensor, APInt(element.getIntOrFloatBitWidth(), number.bits, /*isSigned=*/false, /*implicitTrunc=*/true));
}

OpFoldResult graph::reshapeSplat(Attribute attribute, Type type) {
  std::optional<Number> number = splatNumber(attribute);
  return number ? OpFoldResult(splatAttribute(type, *number)) : OpFoldResult();
}

namespace {

/// Reads splat operands: every element of operand i is `values[i]`.
class SplatReader final : public ElementReader {
public:
  explicit SplatReader(ArrayRef<Number> values) : values(values) {}
  numerics::Arithmetic &arithmetic() override { return numbers; }
  Number read(unsigned operand, ArrayRef<Index>) override { return values[operand]; }
  Number readIf(Number condition, unsigned operand, ArrayRef<Index>, Number otherwise) override {
    return numbers.select(condition, values[operand], otherwise);
  }
  Index constantIndex(int64_t value) override { return {static_cast<uint64_t>(value)}; }
  Index addToIndex(Index index, int64_t amount) override { return {index.bits + amount}; }
  Index combineIndices(Index a, int64_t factor, Index b) override { return {a.bits * factor + b.bits}; }
  Number indexToNumber(Index index) override {
    return numbers.constant(ElementType::I32, static_cast<int64_t>(index.bits));
  }
  Index numberToIndex(Number number) override { return {number.bits}; }

private:
  ArrayRef<Number> values;
  numerics::NumberArithmetic numbers;
};

} // namespace

OpFoldResult graph::foldElementwise(ElementOpInterface op, ArrayRef<Attribute> operands) {
  SmallVector<Number> values;
  for (Attribute attribute : operands) {
    std::optional<Number> value = splatNumber(attribute);
    if (!value)
      return {};
    values.push_back(*value);
  }
  if (values.empty())
    return {};
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SplatReader reader(values);
  SmallVector<Index> origin(type.getRank());
  return splatAttribute(type, op.element(reader, origin));
}
