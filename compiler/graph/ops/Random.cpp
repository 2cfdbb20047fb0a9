// Random numbers and what is made of them. The numbers of a tensor are dealt in groups of 64 elements: sixteen Philox
// blocks, one a lane, whose four words are four vectors of sixteen neighbouring elements (runtime/abi/MekikPhilox.h).
#include "compiler/graph/Build.h"
#include "compiler/numerics/Contract.h"
#include "compiler/graph/Graph.h"
#include "compiler/numerics/IrArithmetic.h"
#include "compiler/numerics/Philox.h"
#include "compiler/reference/Tensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "runtime/abi/MekikPhilox.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::graph;
using numerics::ElementType;
using numerics::Number;

namespace {

using numerics::kLanes;
constexpr int64_t kGroup = 64;
constexpr int64_t kGroupsPerTile = 32;

int64_t elementsOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getNumElements(); }

/// An error if the `count` streams from `stream` on are not numbers of 32 bits.
LogicalResult verifyStream(Operation *op, int64_t stream, int64_t count) {
  if (stream >= 0 && stream + count - 1 <= 0xFFFFFFFFll)
    return success();
  return op->emitOpError() << "draws from stream " << stream << "; streams are numbers from 0 to "
                           << 0xFFFFFFFFll - (count - 1);
}

} // namespace

LogicalResult RandomOp::verify() {
  auto stream = getStream().getDefiningOp<ConstantOp>();
  return stream ? verifyStream(*this, cast<IntegerAttr>(stream.getValue()).getInt(), 1) : success();
}

void RandomOp::evaluate(ArrayRef<const reference::Tensor *> operands, reference::Tensor &result) {
  uint64_t seed = operands[0]->as<uint64_t>()[0], step = operands[1]->as<uint64_t>()[0];
  auto stream = static_cast<uint32_t>(operands[2]->as<uint64_t>()[0]);
  for (int64_t i = 0; i < result.size(); ++i)
    result.setDouble(i, mekikUniform(mekikRandomBits(seed, stream, step, i)));
}

int64_t RandomOp::kernelTiles() {
  int64_t groups = (elementsOf(getResult()) + kGroup - 1) / kGroup;
  return (groups + kGroupsPerTile - 1) / kGroupsPerTile;
}

bool RandomOp::tilesAreEqualParts() { return elementsOf(getResult()) % (kGroup * kGroupsPerTile) == 0; }

void RandomOp::emitKernel(OpBuilder &builder, ValueRange operands, Value result, Value firstTile, Value lastTile) {
  Location loc = getLoc();
  int64_t elements = elementsOf(getResult()), wholeGroups = elements / kGroup;
  ElementType type = elementType(getResult());
  Type scalar = cast<RankedTensorType>(getResult().getType()).getElementType();
  auto flatType = MemRefType::get({elements}, scalar);
  Value flat = memref::ReinterpretCastOp::create(builder, loc, flatType, result, /*offset=*/0,
                                                 ArrayRef<int64_t>{elements}, ArrayRef<int64_t>{1});
  numerics::IrArithmetic arithmetic(builder, loc);
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  auto low = [&](Value wide) { return arithmetic.convert(numerics::toNumber(wide), ElementType::I32); };
  auto high = [&](Value wide) {
    return arithmetic.convert(arithmetic.shiftRightUnsigned(numerics::toNumber(wide), 32), ElementType::I32);
  };
  Value seed = memref::LoadOp::create(builder, loc, operands[0], ValueRange{});
  Value step = memref::LoadOp::create(builder, loc, operands[1], ValueRange{});
  Number key0 = low(seed), key1 = high(seed), stepLow = low(step);
  Number stream = low(memref::LoadOp::create(builder, loc, operands[2], ValueRange{}));
  SmallVector<int32_t> laneNumbers;
  for (int32_t lane = 0; lane < kLanes; ++lane)
    laneNumbers.push_back(lane);
  Number lanes = numerics::toNumber(arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(VectorType::get({kLanes}, builder.getI32Type()), ArrayRef<int32_t>(laneNumbers))));

  // Blocks of a group begin at a multiple of sixteen, so the lane number never carries into the upper word.
  auto emitGroup = [&](Value group, int64_t valid) {
    Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), group);
    Value block = numerics::toValue(arithmetic.shiftLeft(numerics::toNumber(wide), 4));
    std::array<Number, 4> bits =
        numerics::philox(arithmetic, {arithmetic.add(low(block), lanes), high(block), stepLow, stream}, key0, key1);
    Value start = arith::MulIOp::create(builder, loc, group, index(kGroup));
    for (int64_t word = 0; word < kGroup / kLanes; ++word) {
      int64_t count = std::min(kLanes, valid - word * kLanes);
      if (count <= 0)
        break;
      Number number = numerics::uniform(arithmetic, bits[word], type);
      Value position = arith::AddIOp::create(builder, loc, start, index(word * kLanes));
      if (count == kLanes) {
        vector::StoreOp::create(builder, loc, numerics::toValue(number), flat, ValueRange{position});
        continue;
      }
      Value mask = vector::ConstantMaskOp::create(builder, loc, VectorType::get({kLanes}, builder.getI1Type()),
                                                  ArrayRef<int64_t>{count});
      vector::MaskedStoreOp::create(builder, loc, flat, ValueRange{position}, mask, numerics::toValue(number));
    }
  };

  Value groupsPerTile = index(kGroupsPerTile), whole = index(wholeGroups);
  Value begin = arith::MulIOp::create(builder, loc, firstTile, groupsPerTile);
  Value end = arith::MulIOp::create(builder, loc, lastTile, groupsPerTile);
  Value wholeEnd = arith::MinUIOp::create(builder, loc, end, whole);
  auto loop = scf::ForOp::create(builder, loc, begin, wholeEnd, index(1));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    emitGroup(loop.getInductionVar(), kGroup);
  }
  if (elements % kGroup == 0)
    return;
  Value hasTail = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, end, whole);
  auto tail = scf::IfOp::create(builder, loc, hasTail);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(tail.thenBlock());
  emitGroup(whole, elements % kGroup);
}

SmallVector<Value> RandomOp::gradient(OpBuilder &, Value) { return {Value(), Value(), Value()}; }

LogicalResult RandomNormalOp::verify() { return verifyStream(*this, getStream(), 2); }
Value RandomNormalOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  Value u = build.random(getResult().getType(), getSeed(), getStep(), getStream());
  Value v = build.random(getResult().getType(), getSeed(), getStep(), getStream() + 1);
  Value radius = build.unary<SqrtOp>(build.mul(build.unary<LogOp>(build.sub(1.0, u)), -2.0));
  return build.mul(radius, build.unary<CosOp>(build.mul(v, 6.283185307179586)));
}
SmallVector<Value> RandomNormalOp::gradient(OpBuilder &, Value) { return {Value(), Value()}; }

LogicalResult DropOp::verify() {
  double rate = getRate().convertToDouble();
  if (!(rate >= 0 && rate <= 1))
    return emitOpError() << "drops with probability " << rate << "; expected a number from 0 to 1";
  return verifyStream(*this, getStream(), 1);
}
Value DropOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  double rate = getRate().convertToDouble();
  Value zero = build.constantLike(getOperand(), 0);
  if (rate == 0)
    return getOperand();
  if (rate == 1)
    return zero;
  Value uniform = build.random(getOperand().getType(), getSeed(), getStep(), getStream());
  Value keep = build.compare("ge", uniform, build.constantLike(uniform, rate));
  return build.select(keep, build.div(getOperand(), 1 - rate), zero);
}
SmallVector<Value> DropOp::gradient(OpBuilder &builder, Value upstream) {
  Value dropped = DropOp::create(builder, getLoc(), upstream.getType(), upstream, getSeed(), getStep(), getRateAttr(),
                                 getStreamAttr());
  return {dropped, Value(), Value()};
}
