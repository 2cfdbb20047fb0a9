// Up from every `causal` to the product of its scores, down from the softmax of one to the products of its weights.
#include "compiler/frontend/CausalAttention.h"
#include "compiler/graph/Build.h"
#include "compiler/graph/Graph.h"

using namespace mlir;
using namespace mekik;
using graph::shapeOf;

namespace {

/// Restricts `product` to positions of `labels`, the letters of a value whose last two axes are (query, key).
void restrict(graph::ContractOp product, StringRef labels) {
  StringRef triangle = labels.take_back(2);
  for (StringRef list : {product.leftLabels(), product.rightLabels(), product.resultLabels()})
    if (!list.contains(triangle[0]) && !list.contains(triangle[1]))
      return;
  product.setTriangle(triangle);
}

/// Of `user` with all of its operand: it looks at what is on and below the diagonal alone.
bool looksUpToDiagonal(Operation *user) {
  auto softmax = dyn_cast<graph::SoftmaxOp>(user);
  return isa<graph::CausalOp>(user) || (softmax && softmax.getCausal());
}

/// Whoever reads `scores` looks at them on and below the diagonal alone.
void restrictScores(Value scores) {
  Operation *op = scores.getDefiningOp();
  if (!op)
    return;
  if (auto product = dyn_cast<graph::ContractOp>(op))
    return restrict(product, product.resultLabels());
  if (auto element = dyn_cast<graph::ElementOpInterface>(op); element && element.readsInPlace())
    for (Value operand : op->getOperands())
      if (operand.hasOneUse())
        restrictScores(operand);
}

/// `weights` is 0 above the diagonal.
void restrictUsers(Value weights) {
  for (Operation *user : weights.getUsers()) {
    if (auto drop = dyn_cast<graph::DropOp>(user))
      restrictUsers(drop.getResult());
    auto product = dyn_cast<graph::ContractOp>(user);
    if (!product)
      continue;
    if (product.getLhs() == weights)
      restrict(product, product.leftLabels());
    if (product.getRhs() == weights)
      restrict(product, product.rightLabels());
  }
}

/// A softmax along the last axis of a `causal` becomes a causal one.
void mergeIntoSoftmax(graph::CausalOp mask) {
  int64_t keys = static_cast<int64_t>(shapeOf(mask.getResult()).size()) - 1;
  for (Operation *user : llvm::make_early_inc_range(mask->getUsers()))
    if (auto softmax = dyn_cast<graph::SoftmaxOp>(user))
      if (int64_t axis = softmax.getAxis(); axis == keys || axis == -1) {
        softmax.setCausal(true);
        softmax.setOperand(mask.getOperand());
      }
  if (mask.use_empty())
    mask.erase();
}

} // namespace

void frontend::restrictCausalAttention(func::FuncOp function) {
  function.walk([](graph::CausalOp mask) { mergeIntoSoftmax(mask); });
  function.walk([](Operation *op) {
    if (!looksUpToDiagonal(op))
      return;
    if (Value scores = op->getOperand(0); llvm::all_of(scores.getUsers(), looksUpToDiagonal))
      restrictScores(scores);
    if (auto softmax = dyn_cast<graph::SoftmaxOp>(op))
      restrictUsers(softmax.getResult());
  });
}
