// Up from every `causal` to the product of its scores, down from the softmax of one to the products of its weights.
#include "compiler/frontend/CausalProducts.h"
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

/// `scores` is looked at on and below the diagonal alone.
void restrictScores(Value scores) {
  Operation *op = scores.getDefiningOp();
  if (!op || !scores.hasOneUse())
    return;
  if (auto product = dyn_cast<graph::ContractOp>(op))
    return restrict(product, product.resultLabels());
  if (auto element = dyn_cast<graph::ElementOpInterface>(op); element && element.readsInPlace())
    for (Value operand : op->getOperands())
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

} // namespace

void frontend::restrictCausalProducts(func::FuncOp function) {
  function.walk([](graph::CausalOp mask) {
    restrictScores(mask.getOperand());
    int64_t keys = static_cast<int64_t>(shapeOf(mask.getResult()).size()) - 1;
    for (Operation *user : mask->getUsers())
      if (auto softmax = dyn_cast<graph::SoftmaxOp>(user))
        if (int64_t axis = softmax.getAxis(); axis == keys || axis == -1)
          restrictUsers(softmax.getResult());
  });
}
