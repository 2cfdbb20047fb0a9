// Contraction: checks of the equation, its gradient, which is a contraction with two of the three label lists
// exchanged, and transpositions before and after it, which are other labels.
#include "compiler/graph/Build.h"
#include "compiler/graph/Graph.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::graph;

namespace {

struct Labels {
  StringRef left, right, result;
};

Labels labelsOf(StringRef equation) {
  auto [operands, result] = equation.split("->");
  auto [left, right] = operands.split(',');
  return {left, right, result};
}

/// The letter that stands twice in `labels`.
std::optional<char> repeated(StringRef labels) {
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels.drop_front(i + 1).contains(labels[i]))
      return labels[i];
  return std::nullopt;
}

} // namespace

StringRef ContractOp::leftLabels() { return labelsOf(getEquation()).left; }
StringRef ContractOp::rightLabels() { return labelsOf(getEquation()).right; }
StringRef ContractOp::resultLabels() { return labelsOf(getEquation()).result; }
StringRef ContractOp::triangle() { return getTriangle().value_or(""); }

LogicalResult ContractOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                           DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                           SmallVectorImpl<Type> &types) {
  ContractOp::Adaptor adaptor(operands, attributes, properties, regions);
  StringRef equation = adaptor.getEquation();
  auto error = [&](const Twine &message) {
    return emitOptionalError(location, "contraction \"", equation, "\": ", message);
  };
  Labels labels = labelsOf(equation);
  if (!equation.contains("->") || !equation.split("->").first.contains(','))
    return error("expected the labels of the left operand, a comma, those of the right, \"->\" and those of the "
                 "result, as in \"ik,kj->ij\"");
  for (StringRef list : {labels.left, labels.right, labels.result}) {
    for (char label : list)
      if (!llvm::isAlpha(label))
        return error("'" + Twine(label) + "' is not a letter; every axis is one letter");
    if (std::optional<char> label = repeated(list))
      return error("'" + Twine(*label) + "' stands twice in \"" + list + "\"");
  }
  auto left = dyn_cast<RankedTensorType>(adaptor.getLhs().getType());
  auto right = dyn_cast<RankedTensorType>(adaptor.getRhs().getType());
  if (!left || !right || !left.hasStaticShape() || !right.hasStaticShape())
    return error("operands must be tensors of static shape");
  if (left.getElementType() != right.getElementType())
    return emitOptionalError(location, "contraction \"", equation, "\": the left operand has elements of type ",
                             left.getElementType(), ", the right one of type ", right.getElementType());
  auto rankError = [&](StringRef side, StringRef list, RankedTensorType type) {
    return error("\"" + list + "\" names " + Twine(list.size()) + " axes, but the " + side + " operand has shape " +
                 shapeText(type.getShape()));
  };
  if (static_cast<int64_t>(labels.left.size()) != left.getRank())
    return rankError("left", labels.left, left);
  if (static_cast<int64_t>(labels.right.size()) != right.getRank())
    return rankError("right", labels.right, right);
  bool contracted = false;
  for (auto [axis, label] : llvm::enumerate(labels.left)) {
    size_t other = labels.right.find(label);
    bool kept = labels.result.contains(label);
    if (other == StringRef::npos) {
      if (!kept)
        return error("'" + Twine(label) + "' stands in the left operand alone; sum that axis before");
      continue;
    }
    if (left.getDimSize(axis) != right.getDimSize(other))
      return error("'" + Twine(label) + "' has size " + Twine(left.getDimSize(axis)) +
                   " in the left operand of shape " + shapeText(left.getShape()) + " and size " +
                   Twine(right.getDimSize(other)) + " in the right one of shape " + shapeText(right.getShape()));
    contracted |= !kept;
  }
  for (char label : labels.right)
    if (!labels.left.contains(label) && !labels.result.contains(label))
      return error("'" + Twine(label) + "' stands in the right operand alone; sum that axis before");
  SmallVector<int64_t> shape;
  for (char label : labels.result) {
    size_t inLeft = labels.left.find(label), inRight = labels.right.find(label);
    if (inLeft == StringRef::npos && inRight == StringRef::npos)
      return error("'" + Twine(label) + "' of the result stands in neither operand");
    shape.push_back(inLeft != StringRef::npos ? left.getDimSize(inLeft) : right.getDimSize(inRight));
  }
  if (!contracted)
    return error("no axis is summed; multiply the operands instead");
  if (StringRef triangle = adaptor.getTriangle().value_or(""); adaptor.getTriangleAttr()) {
    if (triangle.size() != 2 || triangle[0] == triangle[1])
      return error("the triangle \"" + triangle + "\" is not two letters of it");
    for (char label : triangle)
      if (!llvm::isAlpha(label) || !equation.contains(label))
        return error("'" + Twine(label) + "' of the triangle \"" + triangle + "\" does not stand in it");
    for (StringRef list : {labels.left, labels.right, labels.result})
      if (!list.contains(triangle[0]) && !list.contains(triangle[1]))
        return error("neither letter of the triangle \"" + triangle + "\" stands in \"" + list + "\"");
  }
  types.push_back(left.clone(shape));
  return success();
}

SmallVector<Value> ContractOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  Labels labels = labelsOf(getEquation());
  std::string ofLeft = (labels.result + "," + labels.right + "->" + labels.left).str();
  std::string ofRight = (labels.left + "," + labels.result + "->" + labels.right).str();
  return {build.contract(ofLeft, upstream, getRhs(), triangle()),
          build.contract(ofRight, getLhs(), upstream, triangle())};
}

namespace {

/// The labels of what was transposed, given those of the result.
std::string beforeTranspose(StringRef labels, ArrayRef<int64_t> permutation) {
  std::string before(labels.size(), ' ');
  for (auto [axis, label] : llvm::zip(permutation, labels))
    before[axis] = label;
  return before;
}

/// The contracted labels in the order of their chain: that of the left operand.
std::string contractedIn(StringRef left, StringRef result) {
  std::string contracted;
  for (char label : left)
    if (!result.contains(label))
      contracted += label;
  return contracted;
}

/// A transposed operand is read where it lies. Not on the left if that would change the order of a chain.
LogicalResult readThroughTranspose(ContractOp op, PatternRewriter &rewriter) {
  Labels labels = labelsOf(op.getEquation());
  if (auto transpose = op.getRhs().getDefiningOp<TransposeOp>()) {
    std::string right = beforeTranspose(labels.right, transpose.getPermutation());
    rewriter.replaceOpWithNewOp<ContractOp>(
        op, op.getLhs(), transpose.getOperand(),
        rewriter.getStringAttr(labels.left + "," + right + "->" + labels.result), op.getTriangleAttr());
    return success();
  }
  if (auto transpose = op.getLhs().getDefiningOp<TransposeOp>()) {
    std::string left = beforeTranspose(labels.left, transpose.getPermutation());
    if (contractedIn(left, labels.result) != contractedIn(labels.left, labels.result))
      return failure();
    rewriter.replaceOpWithNewOp<ContractOp>(
        op, transpose.getOperand(), op.getRhs(),
        rewriter.getStringAttr(left + "," + labels.right + "->" + labels.result), op.getTriangleAttr());
    return success();
  }
  return failure();
}

/// A result that is only transposed is computed so.
LogicalResult writeTransposed(TransposeOp transpose, PatternRewriter &rewriter) {
  auto op = transpose.getOperand().getDefiningOp<ContractOp>();
  if (!op || !op->hasOneUse())
    return failure();
  Labels labels = labelsOf(op.getEquation());
  std::string result;
  for (int64_t axis : transpose.getPermutation())
    result += labels.result[axis];
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<ContractOp>(
      transpose, op.getLhs(), op.getRhs(), rewriter.getStringAttr(labels.left + "," + labels.right + "->" + result),
      op.getTriangleAttr());
  rewriter.eraseOp(op);
  return success();
}

} // namespace

void ContractOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(readThroughTranspose);
  patterns.add(writeTransposed);
}
