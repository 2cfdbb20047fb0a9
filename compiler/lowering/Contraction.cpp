// From letters to axes: roles, merging, and which operand plays the left part.
#include "compiler/lowering/Contraction.h"
#include <algorithm>
#include <utility>

namespace mekik::lowering {
namespace {

using Axes = llvm::SmallVector<ContractionAxis>;

/// Row-major strides of a dense shape, by position.
llvm::SmallVector<int64_t> denseStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

int64_t at(llvm::StringRef labels, llvm::ArrayRef<int64_t> values, char label, int64_t absent) {
  size_t position = labels.find(label);
  return position == llvm::StringRef::npos ? absent : values[position];
}

/// Appends `axis`, into the last one if the two are one run in every operand.
void append(Axes &axes, const ContractionAxis &axis) {
  if (axis.size == 1 && axis.side == TriangleSide::None)
    return;
  if (!axes.empty() && axis.side == TriangleSide::None && axes.back().side == TriangleSide::None) {
    ContractionAxis &last = axes.back();
    if (last.left == axis.left * axis.size && last.right == axis.right * axis.size &&
        last.result == axis.result * axis.size) {
      last = {last.size * axis.size, axis.left, axis.right, axis.result};
      return;
    }
  }
  axes.push_back(axis);
}

void exchange(Axes &axes) {
  for (ContractionAxis &axis : axes)
    std::swap(axis.left, axis.right);
}

} // namespace

Contraction Contraction::analyze(llvm::StringRef leftLabels, llvm::StringRef rightLabels, llvm::StringRef resultLabels,
                                 llvm::ArrayRef<int64_t> leftShape, llvm::ArrayRef<int64_t> rightShape,
                                 int64_t elementBytes, llvm::ArrayRef<int64_t> leftStridesGiven,
                                 llvm::StringRef triangle) {
  llvm::SmallVector<int64_t> resultShape;
  for (char label : resultLabels)
    resultShape.push_back(at(leftLabels, leftShape, label, at(rightLabels, rightShape, label, 1)));
  auto leftStrides = denseStrides(leftShape), rightStrides = denseStrides(rightShape);
  if (!leftStridesGiven.empty())
    leftStrides.assign(leftStridesGiven.begin(), leftStridesGiven.end());
  auto resultStrides = denseStrides(resultShape);
  auto axisOf = [&](char label) {
    int64_t size = at(leftLabels, leftShape, label, at(rightLabels, rightShape, label, 1));
    size_t letter = triangle.find(label);
    return ContractionAxis{size, at(leftLabels, leftStrides, label, 0), at(rightLabels, rightStrides, label, 0),
                           at(resultLabels, resultStrides, label, 0),
                           letter == 0   ? TriangleSide::Later
                           : letter == 1 ? TriangleSide::Earlier
                                         : TriangleSide::None};
  };

  Contraction result;
  result.elementBytes = elementBytes;
  result.hasTriangle = !triangle.empty();
  for (char label : resultLabels) {
    bool inLeft = leftLabels.contains(label), inRight = rightLabels.contains(label);
    append(inLeft && inRight ? result.batch : inLeft ? result.rows : result.columns, axisOf(label));
  }
  for (char label : leftLabels)
    if (!resultLabels.contains(label))
      append(result.contracted, axisOf(label));

  auto holdsLanes = [](const Axes &axes) { return !axes.empty() && axes.back().result == 1; };
  if (holdsLanes(result.rows)) {
    result.swapped = true;
    std::swap(result.rows, result.columns);
    for (Axes *axes : {&result.batch, &result.rows, &result.columns, &result.contracted})
      exchange(*axes);
  }
  if (holdsLanes(result.columns)) {
    result.lanes = result.columns.pop_back_val();
  } else if (holdsLanes(result.batch)) {
    result.lanes = result.batch.pop_back_val();
    result.lanesInBatch = true;
  }
  return result;
}

} // namespace mekik::lowering
