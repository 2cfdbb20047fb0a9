// Operators between tensors: element types, broadcasting, matrix products.
#include "compiler/frontend/Elaborator.h"

#include "absl/strings/str_cat.h"
#include <cmath>

namespace mekik::frontend {

using namespace syntax;

namespace {
constexpr int64_t maxElements = int64_t(1) << 40;
constexpr size_t maxRank = 8;

mlir::Type elementOf(mlir::Value tensor) {
  return llvm::cast<mlir::RankedTensorType>(tensor.getType()).getElementType();
}

std::string typeName(mlir::Type element) {
  return element.isInteger(1) ? "bool" : llvm::isa<mlir::FloatType>(element) ? "float" : "int";
}

const char *comparison(Operator op) {
  switch (op) {
  case Operator::Equal:
    return "eq";
  case Operator::NotEqual:
    return "ne";
  case Operator::Less:
    return "lt";
  case Operator::LessEqual:
    return "le";
  case Operator::Greater:
    return "gt";
  case Operator::GreaterEqual:
    return "ge";
  default:
    return nullptr;
  }
}

} // namespace

std::string Elaborator::describe(mlir::Value tensor) { return dimensions.describe(tensor); }

bool Elaborator::isFloatTensor(mlir::Value tensor) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(tensor.getType());
  return type && llvm::isa<mlir::FloatType>(type.getElementType());
}

bool Elaborator::checkSize(llvm::ArrayRef<int64_t> shape, const Names &names, SourceRange range) {
  if (shape.size() > maxRank) {
    error(range, absl::StrCat("a tensor has at most ", maxRank, " axes, this one would have ", shape.size()));
    return false;
  }
  int64_t elements = 1;
  for (int64_t size : shape) {
    if (__builtin_mul_overflow(elements, size, &elements) || elements > maxElements) {
      error(range, absl::StrCat("a tensor of shape ", describeShape(shape, names),
                                " is too large; at most 2^40 elements are possible"));
      return false;
    }
  }
  return true;
}

Term Elaborator::result(mlir::Value tensor, Names names, SourceRange range) {
  if (!checkSize(graph::shapeOf(tensor), names, range))
    return {};
  dimensions.set(tensor, std::move(names));
  return tensor;
}

mlir::Value Elaborator::toTensor(const Term &term, mlir::Type elementType, SourceRange range) {
  if (term.isTensor())
    return term.tensor();
  bool wantsBool = elementType.isInteger(1);
  bool wantsFloat = llvm::isa<mlir::FloatType>(elementType);
  if (wantsBool ? !term.isBool() : wantsFloat ? !term.isNumber() : !term.isInteger()) {
    error(range, absl::StrCat("expected ",
                              wantsBool    ? "a bool"
                              : wantsFloat ? "a number"
                                           : "an int",
                              " beside a tensor of ", typeName(elementType), "s, found ", kindOf(term),
                              term.isNumber() ? absl::StrCat(" (", show(term), ")") : ""));
    return {};
  }
  if (elementType.isInteger(32) && (term.integer() < INT32_MIN || term.integer() > INT32_MAX)) {
    error(range, absl::StrCat(term.integer(), " does not fit into the 32 bits of the tensor beside it"));
    return {};
  }
  if (elementType.isF32() && std::isinf(static_cast<float>(term.number()))) {
    error(range, absl::StrCat(show(term), " is too large for f32 (at most about 3.4e38)"));
    return {};
  }
  if (elementType.isF32() && term.number() != 0 && static_cast<float>(term.number()) == 0) {
    error(range, absl::StrCat(show(term), " is too near to 0 for f32 and would become 0; use precision = f64"));
    return {};
  }
  double value = wantsBool ? term.boolean() : term.number();
  return at(range).constant(mlir::RankedTensorType::get({}, elementType), value);
}

std::pair<mlir::Value, mlir::Value> Elaborator::sameElements(const Term &left, const Term &right, SourceRange range,
                                                             const std::string &what) {
  mlir::Type element = left.isTensor()    ? elementOf(left.tensor())
                       : right.isTensor() ? elementOf(right.tensor())
                                          : floatType;
  mlir::Value a = toTensor(left, element, range);
  mlir::Value b = toTensor(right, element, range);
  if (!a || !b)
    return {};
  if (elementOf(a) != elementOf(b)) {
    error(range,
          absl::StrCat(what, " needs operands of one type, found ", typeName(elementOf(a)), " ", describe(a), " and ",
                       typeName(elementOf(b)), " ", describe(b), "; cast(x, ", typeName(elementOf(a)), ") converts"));
    return {};
  }
  return {a, b};
}

bool Elaborator::broadcastTogether(llvm::MutableArrayRef<mlir::Value> values, SourceRange range,
                                   const std::string &what) {
  llvm::SmallVector<int64_t> shape(graph::shapeOf(values[0]));
  Names names = dimensions.of(values[0]);
  mlir::Value widest = values[0];
  for (mlir::Value value : values.drop_front()) {
    auto fitted = graph::broadcastShapes(shape, graph::shapeOf(value));
    if (!fitted) {
      auto a = llvm::ArrayRef<int64_t>(shape), b = graph::shapeOf(value);
      int64_t back = 1; // counts axes from the last
      while (a[a.size() - back] == b[b.size() - back] || a[a.size() - back] == 1 || b[b.size() - back] == 1)
        ++back;
      error(range,
            absl::StrCat(what, " cannot bring together the shapes ", describeShape(a, names), " and ", describe(value)))
          .note(absl::StrCat(
              "axis -", back, " is ", a[a.size() - back], " on one side and ",
              dimensions.describeAxis(value, b.size() - back),
              " on the other; axes are compared from the last to the first and must be equal, or one of them 1"));
      return false;
    }
    names = dimensions.broadcast(widest, value, fitted->size());
    shape = *fitted;
    widest = value;
  }
  if (!checkSize(shape, names, range))
    return false;
  for (mlir::Value &value : values) {
    if (graph::shapeOf(value) == llvm::ArrayRef<int64_t>(shape))
      continue;
    // A constant is made in the wanted shape at once.
    if (auto constant = value.getDefiningOp<graph::ConstantOp>(); constant && constant->use_empty()) {
      if (graph::shapeOf(value).empty()) {
        value =
            graph::ConstantOp::create(builder, constant.getLoc(), graph::withShape(value, shape), constant.getValue());
        constant->erase();
        continue;
      }
    }
    value = at(range).broadcastTo(value, shape);
    dimensions.set(value, names);
  }
  for (mlir::Value value : values)
    if (dimensions.of(value) != names)
      dimensions.set(value, names);
  return true;
}

Term Elaborator::tensorBinary(const BinaryExpr &expr, const Term &left, const Term &right) {
  std::string what = absl::StrCat("'", spelling(expr.op), "'");
  auto unusable = [&](const Term &term) { return !term.isTensor() && !term.isNumber() && !term.isBool(); };
  if (unusable(left) || unusable(right))
    return fail(expr.range, absl::StrCat(what, " has no meaning between ", kindOf(left), " and ", kindOf(right)));
  if (expr.op == Operator::MatMul) {
    if (!left.isTensor() || !right.isTensor())
      return fail(expr.range, absl::StrCat("'@' multiplies two tensors, found ", kindOf(left), " and ", kindOf(right)));
    return matmul(left.tensor(), right.tensor(), expr.range);
  }
  if (expr.op == Operator::FloorDivide || expr.op == Operator::Remainder)
    return fail(expr.opRange, absl::StrCat(what, " works on compile-time ints only, not on tensors"));
  auto [a, b] = sameElements(left, right, expr.range, what);
  if (!a)
    return {};
  mlir::Type element = elementOf(a);
  bool logical = expr.op == Operator::And || expr.op == Operator::Or;
  bool onlyFloats = expr.op == Operator::Divide || expr.op == Operator::Power;
  if (logical != element.isInteger(1) || (onlyFloats && !llvm::isa<mlir::FloatType>(element)))
    return fail(expr.range, absl::StrCat(what, " does not work on tensors of ", typeName(element), "s",
                                         onlyFloats ? "; cast(x, float) makes floats of integers"
                                         : logical  ? "; compare them first"
                                                    : ""));
  graph::Build build = at(expr.range);
  // Small constant exponents are what their formulas say, not calls of the general power.
  if (expr.op == Operator::Power && right.isNumber() && left.isTensor()) {
    double exponent = right.number();
    mlir::Value value;
    if (exponent == 1)
      return left;
    if (exponent == 2)
      value = build.mul(a, a);
    else if (exponent == 3)
      value = build.mul(build.mul(a, a), a);
    else if (exponent == 0.5)
      value = build.unary<graph::SqrtOp>(a);
    else if (exponent == -0.5)
      value = build.unary<graph::RsqrtOp>(a);
    else if (exponent == -1)
      value = build.div(build.constantLike(a, 1), a);
    if (value) {
      if (b.use_empty())
        b.getDefiningOp()->erase();
      return result(value, dimensions.of(a), expr.range);
    }
  }
  mlir::Value operands[] = {a, b};
  if (!broadcastTogether(operands, expr.range, what))
    return {};
  a = operands[0];
  b = operands[1];
  mlir::Value value;
  switch (expr.op) {
  case Operator::Add:
    value = build.add(a, b);
    break;
  case Operator::Subtract:
    value = build.sub(a, b);
    break;
  case Operator::Multiply:
    value = build.mul(a, b);
    break;
  case Operator::Divide:
    value = build.div(a, b);
    break;
  case Operator::Power:
    value = build.pow(a, b);
    break;
  case Operator::And:
    value = graph::AndOp::create(builder, build.loc, a.getType(), a, b);
    break;
  case Operator::Or:
    value = graph::OrOp::create(builder, build.loc, a.getType(), a, b);
    break;
  default:
    value = build.compare(comparison(expr.op), a, b);
    break;
  }
  return result(value, dimensions.of(a), expr.range);
}

Term Elaborator::matmul(mlir::Value left, mlir::Value right, SourceRange range) {
  for (mlir::Value value : {left, right})
    if (!isFloatTensor(value))
      return fail(range, absl::StrCat("'@' multiplies tensors of floats, found ", describe(value), " of ",
                                      typeName(elementOf(value)), "s"));
  auto a = graph::shapeOf(left), b = graph::shapeOf(right);
  if (a.empty() || b.empty())
    return fail(range, "'@' needs tensors with at least one axis; to multiply by a number write '*'");
  int64_t rowAxis = b.size() == 1 ? 0 : static_cast<int64_t>(b.size()) - 2;
  if (a.back() != b[rowAxis])
    return fail(range, absl::StrCat("'@' joins the last axis on the left with axis ", b.size() == 1 ? "-1" : "-2",
                                    " on the right, but they differ: ", describe(left), " @ ", describe(right)));
  auto leadA = a.size() > 2 ? a.drop_back(2) : llvm::ArrayRef<int64_t>();
  auto leadB = b.size() > 2 ? b.drop_back(2) : llvm::ArrayRef<int64_t>();
  auto lead = graph::broadcastShapes(leadA, leadB);
  if (!lead)
    return fail(range, absl::StrCat("the leading axes of the operands of '@' do not fit together: ", describe(left),
                                    " @ ", describe(right)));
  // Axis names: the broadcast leading axes, then rows of the left, then columns of the right.
  Names namesA = dimensions.of(left), namesB = dimensions.of(right), names(lead->size());
  for (size_t i = 0; i < leadB.size(); ++i)
    names[lead->size() - leadB.size() + i] = namesB[i];
  for (size_t i = 0; i < leadA.size(); ++i)
    if (leadA[i] != 1)
      names[lead->size() - leadA.size() + i] = namesA[i];
  std::vector<int64_t> shape(lead->begin(), lead->end());
  if (a.size() > 1) {
    names.push_back(namesA[a.size() - 2]);
    shape.push_back(a[a.size() - 2]);
  }
  if (b.size() > 1) {
    names.push_back(namesB.back());
    shape.push_back(b.back());
  }
  if (!checkSize(shape, names, range))
    return {};
  return result(at(range).matmul(left, right), names, range);
}

} // namespace mekik::frontend
