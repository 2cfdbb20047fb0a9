// Reductions in the order the contract lays down.
#include "compiler/numerics/Contract.h"
#include "compiler/reference/Folds.h"
#include <array>

namespace mekik::reference {

using graph::ReductionOpInterface;
using numerics::Arithmetic;
using numerics::Number;

namespace {

constexpr size_t kLanes = numerics::kLanes;
constexpr size_t kChunk = numerics::kFoldChunk;

/// Lane i takes the elements i, i + 16, ...; then the lanes are folded in halves. Longer rows are reduced in chunks,
/// whose results are reduced as a row again.
Number foldRow(ReductionOpInterface op, Arithmetic &arithmetic, llvm::ArrayRef<Number> row) {
  if (row.size() > kChunk) {
    std::vector<Number> chunks;
    for (size_t begin = 0; begin < row.size(); begin += kChunk)
      chunks.push_back(foldRow(op, arithmetic, row.slice(begin, std::min(kChunk, row.size() - begin))));
    return foldRow(op, arithmetic, chunks);
  }
  std::array<Number, kLanes> lanes;
  lanes.fill(op.identity(arithmetic));
  for (size_t i = 0; i < row.size(); ++i)
    lanes[i % kLanes] = op.combine(arithmetic, lanes[i % kLanes], row[i]);
  for (size_t half = kLanes / 2; half > 0; half /= 2)
    for (size_t lane = 0; lane < half; ++lane)
      lanes[lane] = op.combine(arithmetic, lanes[lane], lanes[lane + half]);
  return lanes[0];
}

} // namespace

void evaluateReduction(ReductionOpInterface op, Arithmetic &arithmetic, const Tensor &operand, Tensor &result) {
  llvm::ArrayRef<int64_t> axes = op.getAxes();
  if (axes.back() == operand.rank() - 1) {
    // The trailing axes: the elements of a row lie side by side.
    int64_t length = operand.size() / result.size();
    std::vector<Number> row(length);
    for (int64_t i = 0; i < result.size(); ++i) {
      for (int64_t j = 0; j < length; ++j)
        row[j] = operand.get(i * length + j);
      result.set(i, foldRow(op, arithmetic, row));
    }
    return;
  }
  // A chain for each result element: the operand in row-major order visits every chain in ascending order.
  for (int64_t i = 0; i < result.size(); ++i)
    result.set(i, op.identity(arithmetic));
  std::vector<int64_t> step(operand.rank(), 0), index(operand.rank(), 0);
  int64_t stride = 1;
  for (int64_t axis = operand.rank() - 1; axis >= 0; --axis)
    if (!llvm::is_contained(axes, axis)) {
      step[axis] = stride;
      stride *= operand.shape()[axis];
    }
  int64_t to = 0;
  for (int64_t i = 0; i < operand.size(); ++i) {
    result.set(to, op.combine(arithmetic, result.get(to), operand.get(i)));
    for (int64_t axis = operand.rank() - 1; axis >= 0; --axis) {
      to += step[axis];
      if (++index[axis] < operand.shape()[axis])
        break;
      to -= step[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

} // namespace mekik::reference
