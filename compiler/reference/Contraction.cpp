// Chains of multiply-adds. Written over raw pointers, since whole training runs go through the evaluator: up to sixteen
// chains advance together, which changes none of them. Built with -ffp-contract=off; a multiply-add is std::fma, one
// instruction where the processor has it.
#include "compiler/reference/Folds.h"
#include <cmath>

namespace mekik::reference {

using graph::ContractionOpInterface;
using numerics::ElementType;
using numerics::FmaClass;

namespace {

/// For each combination of the labels' positions in row-major order, the position in a tensor with these strides.
std::vector<int64_t> offsetsOf(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides) {
  std::vector<int64_t> offsets{0};
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * size);
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < size; ++i)
        next.push_back(offset + i * stride);
    offsets = std::move(next);
  }
  return offsets;
}

/// Distance between neighbours along `label`; 0 if the tensor does not have it.
int64_t strideOf(const Tensor &tensor, llvm::StringRef labels, char label) {
  size_t axis = labels.find(label);
  if (axis == llvm::StringRef::npos)
    return 0;
  int64_t stride = 1;
  for (size_t i = axis + 1; i < labels.size(); ++i)
    stride *= tensor.shape()[i];
  return stride;
}

/// Where the chains start in either operand, and where their terms lie from there. In a triangle term i takes part in
/// chain j if chainEarlier[j] + termEarlier[i] <= chainLater[j] + termLater[i]; otherwise those are empty.
struct Chains {
  std::vector<int64_t> leftStarts, rightStarts, leftTerms, rightTerms;
  std::vector<int64_t> chainEarlier, termEarlier, chainLater, termLater;

  bool takesPart(size_t chain, size_t term) const {
    return chainEarlier.empty() || chainEarlier[chain] + termEarlier[term] <= chainLater[chain] + termLater[term];
  }
};

constexpr size_t kTogether = 16;

template <typename T>
__attribute__((always_inline)) inline void fusedChains(const Chains &chains, const T *left, const T *right, T *result) {
  size_t count = chains.leftStarts.size(), terms = chains.leftTerms.size();
  for (size_t first = 0; first < count; first += kTogether) {
    size_t together = std::min(kTogether, count - first);
    const int64_t *leftStart = &chains.leftStarts[first], *rightStart = &chains.rightStarts[first];
    // Neighbouring chains mostly share the left operand and read neighbours of the right one.
    bool neighbours = together == kTogether && chains.chainEarlier.empty();
    for (size_t i = 1; neighbours && i < kTogether; ++i)
      neighbours = leftStart[i] == leftStart[0] && rightStart[i] == rightStart[0] + static_cast<int64_t>(i);
    T sums[kTogether] = {};
    if (neighbours) {
      for (size_t term = 0; term < terms; ++term) {
        T factor = left[leftStart[0] + chains.leftTerms[term]];
        const T *row = right + rightStart[0] + chains.rightTerms[term];
        for (size_t i = 0; i < kTogether; ++i)
          sums[i] = std::fma(factor, row[i], sums[i]);
      }
    } else {
      for (size_t term = 0; term < terms; ++term)
        for (size_t i = 0; i < together; ++i)
          if (chains.takesPart(first + i, term))
            sums[i] = std::fma(left[leftStart[i] + chains.leftTerms[term]],
                               right[rightStart[i] + chains.rightTerms[term]], sums[i]);
    }
    for (size_t i = 0; i < together; ++i)
      result[first + i] = sums[i];
  }
}

template <typename T> void portableChains(const Chains &chains, const T *left, const T *right, T *result) {
  fusedChains(chains, left, right, result);
}

#if defined(__x86_64__)
template <typename T>
__attribute__((target("avx2,fma"))) void machineChains(const Chains &chains, const T *left, const T *right, T *result) {
  fusedChains(chains, left, right, result);
}
bool hasFusedInstruction() { return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"); }
#else
template <typename T> void machineChains(const Chains &chains, const T *left, const T *right, T *result) {
  fusedChains(chains, left, right, result);
}
bool hasFusedInstruction() { return false; }
#endif

template <typename T>
void evaluateChains(const Chains &chains, FmaClass fmaClass, const T *left, const T *right, T *result) {
  if (fmaClass == FmaClass::Fused)
    return hasFusedInstruction() ? machineChains(chains, left, right, result)
                                 : portableChains(chains, left, right, result);
  for (size_t i = 0; i < chains.leftStarts.size(); ++i) {
    T sum = 0;
    for (size_t term = 0; term < chains.leftTerms.size(); ++term) {
      if (!chains.takesPart(i, term))
        continue;
      T product =
          left[chains.leftStarts[i] + chains.leftTerms[term]] * right[chains.rightStarts[i] + chains.rightTerms[term]];
      sum = product + sum;
    }
    result[i] = sum;
  }
}

} // namespace

void evaluateContraction(ContractionOpInterface op, FmaClass fmaClass, const Tensor &left, const Tensor &right,
                         Tensor &result) {
  llvm::StringRef leftLabels = op.leftLabels(), rightLabels = op.rightLabels(), resultLabels = op.resultLabels();
  graph::Layout layout = op.leftLayout();
  auto leftStride = [&](char label) {
    size_t axis = leftLabels.find(label);
    return axis == llvm::StringRef::npos ? 0 : layout.strides[axis];
  };
  llvm::SmallVector<int64_t> keptSizes, keptLeft, keptRight, sizes, termLeft, termRight;
  for (auto [axis, label] : llvm::enumerate(resultLabels)) {
    keptSizes.push_back(result.shape()[axis]);
    keptLeft.push_back(leftStride(label));
    keptRight.push_back(strideOf(right, rightLabels, label));
  }
  for (auto [axis, label] : llvm::enumerate(leftLabels)) {
    if (resultLabels.contains(label))
      continue;
    sizes.push_back(layout.shape[axis]);
    termLeft.push_back(leftStride(label));
    termRight.push_back(strideOf(right, rightLabels, label));
  }
  Chains chains{offsetsOf(keptSizes, keptLeft), offsetsOf(keptSizes, keptRight), offsetsOf(sizes, termLeft),
                offsetsOf(sizes, termRight), {}, {}, {}, {}};
  if (llvm::StringRef triangle = op.triangle(); !triangle.empty()) {
    // The position of a letter is 1 for its own axis and 0 for every other.
    std::string contracted;
    for (char label : leftLabels)
      if (!resultLabels.contains(label))
        contracted += label;
    auto positions = [](llvm::StringRef labels, llvm::ArrayRef<int64_t> sizes, char label) {
      llvm::SmallVector<int64_t> strides;
      for (char each : labels)
        strides.push_back(each == label);
      return offsetsOf(sizes, strides);
    };
    chains.chainLater = positions(resultLabels, keptSizes, triangle[0]);
    chains.chainEarlier = positions(resultLabels, keptSizes, triangle[1]);
    chains.termLater = positions(contracted, sizes, triangle[0]);
    chains.termEarlier = positions(contracted, sizes, triangle[1]);
  }
  if (result.type() == ElementType::F32)
    evaluateChains(chains, fmaClass, left.as<float>(), right.as<float>(), result.as<float>());
  else
    evaluateChains(chains, fmaClass, left.as<double>(), right.as<double>(), result.as<double>());
}

} // namespace mekik::reference
