// See KernelEmitter.h. Masked-off lanes hold arbitrary values in registers; they are never stored and never folded.
#include "compiler/lowering/KernelEmitter.h"
#include "compiler/graph/Build.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::lowering;
using graph::Index;
using numerics::ElementType;
using numerics::Number;

MemRefType lowering::memoryType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  Type element = type.getElementType();
  if (element.isInteger(1))
    element = IntegerType::get(type.getContext(), 8);
  return MemRefType::get(type.getShape(), element);
}

namespace mekik::lowering {

/// Reads operands of one op: from buffers, or by computing their definition at the position asked for.
class LaneReader final : public graph::ElementReader {
public:
  LaneReader(KernelEmitter &emitter, Operation *op) : emitter(emitter), op(op), ir(emitter.builder, op->getLoc()) {}

  numerics::Arithmetic &arithmetic() override { return ir; }
  Number read(unsigned operand, ArrayRef<Index> index) override {
    return emitter.valueAt(op->getOperand(operand), index);
  }
  Number readIf(Number condition, unsigned operand, ArrayRef<Index> index, Number otherwise) override {
    Value source = op->getOperand(operand);
    auto buffer = emitter.bufferOf.find(source);
    // A value computed here exists everywhere its own reads do; only memory can be out of reach.
    if (buffer == emitter.bufferOf.end())
      return ir.select(condition, emitter.valueAt(source, index), otherwise);
    return emitter.load(buffer->second, index, graph::elementType(source), numerics::toValue(condition), otherwise);
  }
  Index constantIndex(int64_t value) override { return emitter.at(emitter.constant(value)); }
  Index addToIndex(Index index, int64_t amount) override {
    if (index.perLane) {
      Value position = KernelEmitter::positionOf(index);
      Value step = arith::ConstantOp::create(
          emitter.builder, op->getLoc(),
          DenseElementsAttr::get(cast<VectorType>(position.getType()), emitter.builder.getIndexAttr(amount)));
      index.bits = emitter.at(arith::AddIOp::create(emitter.builder, op->getLoc(), position, step)).bits;
      return index;
    }
    index.bits = emitter.at(emitter.add(KernelEmitter::positionOf(index), amount)).bits;
    return index;
  }
  Index combineIndices(Index a, int64_t factor, Index b) override {
    if (a.perLane || b.perLane) {
      Value step =
          arith::ConstantOp::create(emitter.builder, op->getLoc(),
                                    DenseElementsAttr::get(VectorType::get(kLanes, emitter.builder.getIndexType()),
                                                           emitter.builder.getIndexAttr(factor)));
      Value scaled = arith::MulIOp::create(emitter.builder, op->getLoc(), emitter.perLane(a), step);
      Index result = emitter.at(arith::AddIOp::create(emitter.builder, op->getLoc(), scaled, emitter.perLane(b)));
      result.perLane = true;
      return result;
    }
    Value scaled = KernelEmitter::positionOf(a);
    if (factor != 1)
      scaled = arith::MulIOp::create(emitter.builder, op->getLoc(), scaled, emitter.constant(factor));
    Index result = emitter.at(emitter.add(scaled, KernelEmitter::positionOf(b)));
    result.laneStep = a.laneStep * factor + b.laneStep;
    return result;
  }
  Number indexToNumber(Index index) override {
    OpBuilder &builder = emitter.builder;
    if (index.laneStep == 0 && !index.perLane)
      return numerics::toNumber(
          arith::IndexCastOp::create(builder, op->getLoc(), builder.getI32Type(), KernelEmitter::positionOf(index)));
    auto type = VectorType::get(kLanes, builder.getI32Type());
    return numerics::toNumber(arith::IndexCastOp::create(builder, op->getLoc(), type, emitter.perLane(index)));
  }
  Index numberToIndex(Number number) override {
    Value value = numerics::toValue(number);
    Type index = emitter.builder.getIndexType();
    bool perLane = isa<VectorType>(value.getType());
    Type type = perLane ? Type(VectorType::get(kLanes, index)) : index;
    Index result = emitter.at(arith::IndexCastOp::create(emitter.builder, op->getLoc(), type, value));
    result.perLane = perLane;
    return result;
  }

private:
  KernelEmitter &emitter;
  Operation *op;
  numerics::IrArithmetic ir;
};

} // namespace mekik::lowering

KernelEmitter::KernelEmitter(OpBuilder &builder, func::FuncOp kernel, ValueRange buffers)
    : builder(builder), location(kernel.getLoc()), kernel(kernel) {
  for (auto [argument, buffer] : llvm::zip(kernel.getArguments(), buffers))
    bufferOf[argument] = buffer;
  scopes.emplace_back();
}

Number KernelEmitter::valueAt(Value value, ArrayRef<Index> index) {
  while (Value other = equal.lookup(value))
    value = other;
  if (auto fold = folds.find({value, row}); fold != folds.end())
    return fold->second;
  Key key{reinterpret_cast<uint64_t>(value.getAsOpaquePointer())};
  for (const Index &each : index) {
    key.push_back(each.bits);
    key.push_back(each.laneStep);
  }
  for (const Memory &scope : scopes)
    if (auto known = scope.find(key); known != scope.end())
      return known->second;
  Number number;
  if (auto buffer = bufferOf.find(value); buffer != bufferOf.end()) {
    number = load(buffer->second, index, graph::elementType(value));
  } else {
    auto op = cast<graph::ElementOpInterface>(value.getDefiningOp());
    LaneReader reader(*this, op);
    number = op.element(reader, index);
  }
  scopes.back()[key] = number;
  return number;
}

Value KernelEmitter::constant(int64_t value) {
  Value &known = constants[value];
  if (!known) {
    // Constants live in the entry block, where they are visible from every scope.
    OpBuilder::InsertionGuard guard(builder);
    Operation *function = builder.getInsertionBlock()->getParentOp();
    while (!isa<func::FuncOp>(function))
      function = function->getParentOp();
    builder.setInsertionPointToStart(&function->getRegion(0).front());
    known = arith::ConstantIndexOp::create(builder, location, value);
  }
  return known;
}

Index KernelEmitter::lanesFrom(Value position) {
  Index index = at(position);
  index.laneStep = 1;
  return index;
}

Value KernelEmitter::add(Value position, int64_t amount) {
  return amount == 0 ? position : add(position, constant(amount));
}

Value KernelEmitter::add(Value a, Value b) { return arith::AddIOp::create(builder, location, a, b); }

SmallVector<Index> KernelEmitter::delinearize(Value flat, ArrayRef<int64_t> shape) {
  SmallVector<Index> index(shape.size());
  for (int64_t axis = shape.size() - 1; axis >= 0; --axis) {
    if (axis == 0) {
      index[0] = at(flat);
    } else {
      index[axis] = at(arith::RemUIOp::create(builder, location, flat, constant(shape[axis])));
      flat = arith::DivUIOp::create(builder, location, flat, constant(shape[axis]));
    }
  }
  return index;
}

Value KernelEmitter::splat(Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(builder, location, VectorType::get(kLanes, value.getType()), value);
}

Value KernelEmitter::allLanes() {
  auto type = VectorType::get(kLanes, builder.getI1Type());
  return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(type, true));
}

Value KernelEmitter::perLane(const Index &index) {
  Value position = positionOf(index);
  if (index.perLane)
    return position;
  auto type = VectorType::get(kLanes, builder.getIndexType());
  SmallVector<int64_t> steps;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    steps.push_back(lane * index.laneStep);
  SmallVector<Attribute> attributes;
  for (int64_t step : steps)
    attributes.push_back(builder.getIndexAttr(step));
  Value offsets = arith::ConstantOp::create(builder, location, DenseElementsAttr::get(type, attributes));
  Value base = vector::BroadcastOp::create(builder, location, type, position);
  return arith::AddIOp::create(builder, location, base, offsets);
}

Number KernelEmitter::load(Value buffer, ArrayRef<Index> index, ElementType type, Value condition, Number otherwise) {
  auto memref = cast<MemRefType>(buffer.getType());
  bool anyLane = llvm::any_of(index, [](const Index &each) { return each.laneStep != 0 || each.perLane; });
  bool contiguous =
      anyLane && index.back().laneStep == 1 && !index.back().perLane &&
      llvm::none_of(index.drop_back(), [](const Index &each) { return each.laneStep != 0 || each.perLane; });
  SmallVector<Value> positions;
  for (const Index &each : index)
    positions.push_back(positionOf(each));

  Type element = memref.getElementType();
  Value result;
  if (!anyLane) {
    if (condition && isa<VectorType>(condition.getType()))
      return gather(buffer, index, condition, otherwise);
    if (condition) // Out of reach: read element 0 instead and drop it.
      for (Value &position : positions)
        position = arith::SelectOp::create(builder, location, condition, position, constant(0));
    result = memref::LoadOp::create(builder, location, buffer, positions);
  } else if (contiguous && !condition) {
    auto vector = VectorType::get(kLanes, element);
    if (!laneMask) {
      result = vector::LoadOp::create(builder, location, vector, buffer, positions);
    } else {
      Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(vector));
      result = vector::MaskedLoadOp::create(builder, location, vector, buffer, positions, laneMask, zeros);
    }
  } else if (contiguous && !isa<VectorType>(condition.getType())) {
    // All lanes or none. Out of reach: element 0 with every lane masked off.
    auto vector = VectorType::get(kLanes, element);
    for (Value &position : positions)
      position = arith::SelectOp::create(builder, location, condition, position, constant(0));
    Value mask = splat(condition);
    if (laneMask)
      mask = arith::AndIOp::create(builder, location, mask, laneMask);
    Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(vector));
    result = vector::MaskedLoadOp::create(builder, location, vector, buffer, positions, mask, zeros);
  } else {
    // Also where a condition keeps lanes inside: the position of lane 0 alone may lie outside of the buffer, and an
    // address outside may not even be formed.
    return gather(buffer, index, condition, otherwise);
  }

  if (type == ElementType::Bool) {
    Value zero = arith::ConstantOp::create(builder, location, builder.getZeroAttr(result.getType()));
    result = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, result, zero);
  }
  Number number = numerics::toNumber(result);
  if (condition)
    number = numerics::IrArithmetic(builder, location).select(numerics::toNumber(condition), number, otherwise);
  return number;
}

Number KernelEmitter::gather(Value buffer, ArrayRef<Index> index, Value condition, Number otherwise) {
  auto memref = cast<MemRefType>(buffer.getType());
  auto positionsType = VectorType::get(kLanes, builder.getIndexType());
  SmallVector<int64_t> strides(memref.getRank(), 1);
  for (int64_t axis = memref.getRank() - 2; axis >= 0; --axis)
    strides[axis] = strides[axis + 1] * memref.getDimSize(axis + 1);
  Value flat;
  for (auto [each, stride] : llvm::zip(index, strides)) {
    Value scaled = perLane(each);
    if (stride != 1) {
      Value factor = arith::ConstantOp::create(builder, location,
                                               DenseElementsAttr::get(positionsType, builder.getIndexAttr(stride)));
      scaled = arith::MulIOp::create(builder, location, scaled, factor);
    }
    flat = flat ? Value(arith::AddIOp::create(builder, location, flat, scaled)) : scaled;
  }
  Value mask = laneMask ? laneMask : allLanes();
  if (condition) {
    mask = arith::AndIOp::create(builder, location, mask, splat(condition));
  }
  auto vector = VectorType::get(kLanes, memref.getElementType());
  Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(vector));
  SmallVector<Value> origin(memref.getRank(), constant(0));
  Value result = vector::GatherOp::create(builder, location, vector, buffer, origin, flat, mask, zeros);
  if (memref.getElementType().isInteger(8)) {
    Value zero = arith::ConstantOp::create(builder, location, builder.getZeroAttr(vector));
    result = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, result, zero);
  }
  Number number = numerics::toNumber(result);
  if (condition)
    number = numerics::IrArithmetic(builder, location).select(numerics::toNumber(condition), number, otherwise);
  return number;
}

Number KernelEmitter::loadLanes(Value buffer, Index lanes) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  return load(buffer, lanes, graph::elementType(element));
}

void KernelEmitter::store(Number number, Value buffer, ArrayRef<Index> index) {
  auto memref = cast<MemRefType>(buffer.getType());
  Type element = memref.getElementType();
  Value value = numerics::toValue(number);
  if (number.type == ElementType::Bool) {
    Type byte = element;
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      byte = VectorType::get(vector.getShape(), element);
    value = arith::ExtUIOp::create(builder, location, byte, value);
  }
  SmallVector<Value> positions;
  for (const Index &each : index)
    positions.push_back(positionOf(each));
  if (index.empty() || index.back().laneStep == 0) {
    memref::StoreOp::create(builder, location, value, buffer, positions);
    return;
  }
  value = splat(value);
  if (laneMask)
    vector::MaskedStoreOp::create(builder, location, buffer, positions, laneMask, value);
  else
    vector::StoreOp::create(builder, location, value, buffer, positions);
}
