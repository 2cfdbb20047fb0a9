// Symbolic run of element definitions: numbers are irrelevant, positions are tokens.
#include "compiler/graph/Access.h"
#include "compiler/graph/Build.h"
#include "compiler/numerics/NumberArithmetic.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::graph;
using graph::Index;
using numerics::Number;

namespace {

/// Token i < rank is the position on axis i of the result; every other position gets a token of its own.
class AccessProbe final : public graph::ElementReader {
public:
  AccessProbe(graph::ElementOpInterface op, Accesses &accesses)
      : op(op), resultShape(graph::shapeOf(op->getResult(0))), accesses(accesses), nextToken(resultShape.size()),
        seen(op->getNumOperands(), false) {
    accesses.operands.assign(op->getNumOperands(), Access::Other);
  }

  numerics::Arithmetic &arithmetic() override { return numbers; }

  Number read(unsigned operand, ArrayRef<Index> index) override {
    Access access = classify(graph::shapeOf(op->getOperand(operand)), index);
    Access &known = accesses.operands[operand];
    known = seen[operand] && known != access ? Access::Other : access;
    seen[operand] = true;
    return {graph::elementType(op->getOperand(operand)), 0};
  }
  Number readIf(Number, unsigned operand, ArrayRef<Index>, Number) override {
    accesses.operands[operand] = Access::Other;
    seen[operand] = true;
    return {graph::elementType(op->getOperand(operand)), 0};
  }
  Index constantIndex(int64_t) override { return {nextToken++}; }
  Index addToIndex(Index index, int64_t amount) override { return amount == 0 ? index : Index{nextToken++}; }
  Index combineIndices(Index, int64_t, Index) override { return {nextToken++}; }
  Number indexToNumber(Index) override {
    accesses.usesPosition = true;
    return {numerics::ElementType::I32, 0};
  }
  Index numberToIndex(Number) override {
    accesses.usesPosition = true;
    return {nextToken++};
  }

private:
  Access classify(ArrayRef<int64_t> shape, ArrayRef<Index> index) const {
    auto leading = [&](size_t count) {
      if (index.size() != count || shape != resultShape.take_front(count))
        return false;
      for (size_t axis = 0; axis < count; ++axis)
        if (shape[axis] != 1 && index[axis].bits != axis) // an axis of size 1 has one position
          return false;
      return true;
    };
    if (leading(resultShape.size()))
      return Access::Same;
    if (!resultShape.empty() && leading(resultShape.size() - 1))
      return Access::Row;
    return shape.empty() ? Access::Uniform : Access::Other;
  }

  graph::ElementOpInterface op;
  ArrayRef<int64_t> resultShape;
  Accesses &accesses;
  uint64_t nextToken;
  SmallVector<bool> seen;
  numerics::NumberArithmetic numbers;
};

} // namespace

Accesses graph::accessesOf(graph::ElementOpInterface op) {
  Accesses accesses;
  AccessProbe probe(op, accesses);
  SmallVector<Index> index;
  for (uint64_t axis = 0; axis < graph::shapeOf(op->getResult(0)).size(); ++axis)
    index.push_back({axis});
  op.element(probe, index);
  return accesses;
}

bool graph::isFree(Operation *op) { return isa<graph::ElementOpInterface>(op) && op->getNumOperands() == 0; }

bool graph::spreads(Operation *op) {
  auto element = dyn_cast<graph::ElementOpInterface>(op);
  if (!element || isFree(op) || accessesOf(element).usesPosition)
    return false;
  int64_t size = cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return (operand.getDefiningOp() && isFree(operand.getDefiningOp())) ||
           2 * cast<RankedTensorType>(operand.getType()).getNumElements() <= size;
  });
}

bool graph::reducesLastAxis(Operation *op) {
  auto reduction = dyn_cast<graph::ReductionOpInterface>(op);
  if (!reduction)
    return false;
  int64_t rank = graph::shapeOf(op->getOperand(0)).size();
  return reduction.getAxes().size() == 1 && reduction.getAxes().front() == rank - 1;
}

bool graph::reducesLeadingAxes(Operation *op) {
  auto reduction = dyn_cast<graph::ReductionOpInterface>(op);
  if (!reduction)
    return false;
  int64_t rank = graph::shapeOf(op->getOperand(0)).size();
  return !reduction.getAxes().empty() && reduction.getAxes().back() != rank - 1;
}
