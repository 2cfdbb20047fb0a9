// Every instruction counts as often as the loops around it turn. The outermost loop runs over a range of tiles; its
// turns for all tiles are the limit that its end is clamped to, or the number of tiles.
#include "compiler/lowering/InstructionCount.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace mekik::lowering {
namespace {

class Counter {
public:
  Counter(int64_t tiles, const Target &target) : tiles(tiles), target(target) {}

  double count(Block &block) {
    double cycles = 0;
    for (Operation &op : block) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        cycles += turns(loop) * count(*loop.getBody());
      else if (auto branch = dyn_cast<scf::IfOp>(op))
        cycles += count(branch);
      else
        cycles += cost(op);
    }
    return cycles;
  }

private:
  /// The dearer branch: the other one is for edges.
  double count(scf::IfOp branch) {
    double then = count(*branch.thenBlock());
    return branch.elseBlock() ? std::max(then, count(*branch.elseBlock())) : 0;
  }

  double turns(scf::ForOp loop) {
    if (auto known = loop->getAttrOfType<FloatAttr>(kTurns))
      return known.getValueAsDouble();
    std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound());
    std::optional<int64_t> to = getConstantIntValue(loop.getUpperBound());
    double step = double(getConstantIntValue(loop.getStep()).value_or(1));
    if (from && to)
      return double(*to - *from) / step;
    Operation *end = loop.getUpperBound().getDefiningOp();
    if (!end)
      return double(tiles);
    // Clamped to the size of what all tiles cover, or so far from where the loop begins.
    for (Value operand : end->getOperands())
      if (std::optional<int64_t> constant = getConstantIntValue(operand))
        if (isa<arith::MinUIOp, arith::MinSIOp>(end) || operand != loop.getLowerBound())
          return double(*constant) / step;
    return double(tiles);
  }

  double cost(Operation &op) {
    if (op.getNumResults() == 0 && !isa<vector::StoreOp, vector::MaskedStoreOp>(op))
      return 0;
    Type type = op.getNumResults() ? op.getResult(0).getType() : op.getOperand(0).getType();
    auto vector = dyn_cast<VectorType>(type);
    if (!vector || isa<arith::ConstantOp>(op))
      return 0; // scalars run beside vectors
    Type element = vector.getElementType();
    double bits =
        double(vector.getNumElements()) * (element.isIndex() ? 64 : std::max(8u, element.getIntOrFloatBitWidth()));
    double registers = std::max(1.0, bits / 8 / double(target.vectorBytes));
    if (isa<arith::DivFOp, math::SqrtOp>(op))
      return registers * double(target.vectorBytes) / 4;
    return registers / 2;
  }

  int64_t tiles;
  const Target &target;
};

} // namespace

double countCycles(func::FuncOp loops, int64_t tiles, const Target &target) {
  return Counter(tiles, target).count(loops.getBody().front());
}

} // namespace mekik::lowering
