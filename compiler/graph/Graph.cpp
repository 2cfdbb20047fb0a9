// Registration of the dialect, and what all op families share.
#include "compiler/graph/Graph.h"
#include "compiler/numerics/NumberArithmetic.h"
#include "mlir/IR/Builders.h"
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

ElementType graph::elementType(Value tensor) { return elementType(cast<RankedTensorType>(tensor.getType()).getElementType()); }

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
  Number indexToNumber(Index index) override {
    return numbers.constant(ElementType::I32, static_cast<int64_t>(index.bits));
  }
  Index numberToIndex(Number number) override { return {number.bits}; }

private:
  ArrayRef<Number> values;
  numerics::NumberArithmetic numbers;
};

Number numberOf(Attribute value, ElementType type) {
  if (auto real = dyn_cast<FloatAttr>(value))
    return {type, real.getValue().bitcastToAPInt().getZExtValue()};
  return {type, static_cast<uint64_t>(cast<IntegerAttr>(value).getValue().getSExtValue())};
}

Attribute attributeOf(Number number, Type type) {
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, APFloat(real.getFloatSemantics(), APInt(real.getWidth(), number.bits)));
  return IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), number.bits, /*isSigned=*/false, /*implicitTrunc=*/true));
}

} // namespace

OpFoldResult graph::foldElementwise(ElementOpInterface op, ArrayRef<Attribute> operands) {
  SmallVector<Number> values;
  for (auto [attribute, operand] : llvm::zip(operands, op->getOperands())) {
    auto splat = dyn_cast_or_null<SplatElementsAttr>(attribute);
    if (!splat)
      return {};
    values.push_back(numberOf(splat.getSplatValue<Attribute>(), elementType(operand)));
  }
  if (values.empty())
    return {};
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SplatReader reader(values);
  SmallVector<Index> origin(type.getRank());
  Number result = op.element(reader, origin);
  return SplatElementsAttr::get(type, attributeOf(result, type.getElementType()));
}
