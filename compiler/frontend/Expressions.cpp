// Expressions: what is known at compile time is computed, the rest becomes ops.
#include "compiler/frontend/Elaborator.h"

#include "absl/strings/str_cat.h"
#include "compiler/syntax/AstPrinter.h"
#include "compiler/syntax/Spelling.h"

namespace mekik::frontend {

using namespace syntax;

bool Elaborator::shallow(SourceRange range) {
  if (depth <= maxDepth || stopped)
    return !stopped;
  stopped = true;
  error(range, "calls and expressions are nested too deep here; does a block call itself without end?");
  return false;
}

Term Elaborator::eval(const Expr &expr) {
  if (!spend(expr.range))
    return {};
  DepthGuard guard(depth);
  if (!shallow(expr.range))
    return {};
  switch (expr.kind) {
  case ExprKind::Integer:
    return static_cast<const IntegerExpr &>(expr).value;
  case ExprKind::Float:
    return static_cast<const FloatExpr &>(expr).value;
  case ExprKind::String:
    return static_cast<const StringExpr &>(expr).value;
  case ExprKind::Bool:
    return static_cast<const BoolExpr &>(expr).value;
  case ExprKind::Name:
    return evalName(static_cast<const NameExpr &>(expr).name, expr.range);
  case ExprKind::List:
    return evalList(static_cast<const ListExpr &>(expr));
  case ExprKind::Unary:
    return evalUnary(static_cast<const UnaryExpr &>(expr));
  case ExprKind::Binary:
    return evalBinary(static_cast<const BinaryExpr &>(expr));
  case ExprKind::Call:
    return evalCall(static_cast<const CallExpr &>(expr));
  case ExprKind::Index:
    return evalIndex(static_cast<const IndexExpr &>(expr));
  case ExprKind::Member:
    return evalMember(static_cast<const MemberExpr &>(expr));
  }
  return {};
}

Term Elaborator::evalName(const std::string &text, SourceRange range) {
  if (Binding *binding = frame->find(text))
    return binding->term;
  if (frame != &fileFrame) {
    if (Binding *outer = fileFrame.find(text)) {
      bool visible = outer->kind == NameKind::Config || (outer->kind == NameKind::Let && !outer->term.isTensor());
      if (visible)
        return outer->term;
      error(range, absl::StrCat("'", text,
                                "' belongs to the file level and cannot be seen inside a block; give the block a "
                                "parameter for it"))
          .note(outer->declared, "it is declared here");
      return {};
    }
  }
  if (blocks.count(text))
    return fail(range, absl::StrCat("'", text, "' is a block; call it: ", text, "(...)"));
  if (auto config = configStatements.find(text); config != configStatements.end()) {
    error(range, absl::StrCat("config '", text, "' is used before its line"))
        .note(config->second->name.range, "it is declared here; move it up");
    return {};
  }
  std::vector<std::string> known = frame->names();
  for (const auto &[name, statement] : configStatements)
    known.push_back(name);
  Diagnostic &diagnostic = error(range, absl::StrCat("there is no '", text, "' here", suggestion(text, known)));
  if (const SourceRange *ended = frame->ended(text))
    diagnostic.note(
        *ended,
        "this one exists only up to the closing '}'; declare it before the braces and give it its value inside");
  return {};
}

Term Elaborator::evalList(const ListExpr &expr) {
  Term::List items;
  bool poisoned = false;
  for (const ExprPtr &item : expr.items) {
    items.push_back(eval(*item));
    poisoned |= items.back().isPoison();
  }
  return poisoned ? Term() : Term(std::move(items));
}

Term Elaborator::evalUnary(const UnaryExpr &expr) {
  Term operand = eval(*expr.operand);
  if (operand.isPoison())
    return {};
  if (operand.isTensor()) {
    mlir::Value tensor = operand.tensor();
    bool isBool = llvm::cast<mlir::RankedTensorType>(tensor.getType()).getElementType().isInteger(1);
    if (isBool != (expr.op == Operator::Not))
      return fail(expr.range, absl::StrCat("'", spelling(expr.op), "' cannot be applied to a tensor of ",
                                           isBool ? "bools" : "numbers"));
    mlir::Value value =
        isBool ? at(expr.range).unary<graph::NotOp>(tensor) : at(expr.range).unary<graph::NegOp>(tensor);
    return result(value, dimensions.of(tensor), expr.range);
  }
  std::string problem;
  auto value = evaluate(expr.op, operand, problem);
  return value ? *value : fail(expr.range, problem);
}

Term Elaborator::evalBinary(const BinaryExpr &expr) {
  Term left = eval(*expr.left);
  // The second operand of a decided 'and' or 'or' is not evaluated, so that it may be guarded by the first.
  if (left.isBool() && ((expr.op == Operator::And && !left.boolean()) || (expr.op == Operator::Or && left.boolean()))) {
    markUsed(expr.right.get());
    return left;
  }
  Term right = eval(*expr.right);
  if (left.isPoison() || right.isPoison())
    return {};
  if (left.isTensor() || right.isTensor())
    return tensorBinary(expr, left, right);
  std::string problem;
  auto value = evaluate(expr.op, left, right, problem);
  return value ? *value : fail(expr.range, problem);
}

Term Elaborator::evalMember(const MemberExpr &expr) {
  Term operand = eval(*expr.operand);
  if (operand.isPoison())
    return {};
  const std::string &member = expr.member.text;
  if (!operand.isTensor() || (member != "shape" && member != "rank")) {
    std::string hint = operand.isTensor() ? suggestion(member, {"shape", "rank"}) : "";
    return fail(expr.member.range, operand.isTensor()
                                       ? absl::StrCat("a tensor has .shape and .rank, but no .", member, hint)
                                       : absl::StrCat(kindOf(operand), " has no .", member));
  }
  auto shape = graph::shapeOf(operand.tensor());
  if (member == "rank")
    return static_cast<int64_t>(shape.size());
  Term::List list;
  for (int64_t size : shape)
    list.push_back(size);
  return list;
}

std::optional<int64_t> Elaborator::evalInteger(const Expr &expr, const std::string &what) {
  Term term = eval(expr);
  if (term.isInteger())
    return term.integer();
  if (!term.isPoison()) {
    Diagnostic &diagnostic =
        error(expr.range, absl::StrCat("expected an int for ", what, ", found ", kindOf(term),
                                       term.isNumber() ? absl::StrCat(" (", show(term), ")") : ""));
    if (term.isFloat())
      diagnostic.note("floor(...) and ceil(...) make ints of floats");
  }
  return std::nullopt;
}

std::optional<std::vector<int64_t>> Elaborator::evalShape(const std::vector<ExprPtr> &dims, Names &names) {
  std::vector<int64_t> shape;
  bool good = true;
  for (const ExprPtr &dim : dims) {
    auto size = evalInteger(*dim, "the size of an axis");
    std::string name = print(*dim);
    names.push_back(name.size() <= 40 ? name : "");
    if (size && *size < 1)
      error(dim->range, absl::StrCat("the size of an axis must be at least 1, found ", *size));
    good &= size && *size >= 1;
    shape.push_back(size.value_or(1));
  }
  if (!good)
    return std::nullopt;
  SourceRange range = dims.empty() ? SourceRange{} : SourceRange{dims.front()->range.begin, dims.back()->range.end};
  if (!checkSize(shape, names, range))
    return std::nullopt;
  return shape;
}

Term Elaborator::evalIndex(const IndexExpr &expr) {
  Term operand = eval(*expr.operand);
  if (operand.isPoison())
    return {};
  if (operand.isTensor())
    return indexTensor(expr, operand.tensor());
  if (!operand.isList())
    return fail(expr.range, absl::StrCat("only tensors and lists have elements to pick, found ", kindOf(operand)));
  if (expr.subscripts.size() != 1 || expr.subscripts[0].isRange)
    return fail(expr.range, "from a list one position can be picked, as in x.shape[0]");
  auto position = evalInteger(*expr.subscripts[0].begin, "a position");
  if (!position)
    return {};
  int64_t size = static_cast<int64_t>(operand.list().size());
  if (*position < -size || *position >= size)
    return fail(expr.subscripts[0].range, absl::StrCat("position ", *position, " lies outside of ", show(operand),
                                                       ", which has ", size, " entries"));
  return operand.list()[*position < 0 ? *position + size : *position];
}

Term Elaborator::indexTensor(const IndexExpr &expr, mlir::Value tensor) {
  auto shape = graph::shapeOf(tensor);
  if (expr.subscripts.size() > shape.size())
    return fail(expr.range, absl::StrCat(expr.subscripts.size(), " subscripts for a tensor of ", shape.size(),
                                         " axes: ", describe(tensor)));
  std::vector<int64_t> offsets(shape.size(), 0), sizes(shape.begin(), shape.end()), kept;
  Names names = dimensions.of(tensor), keptNames;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis >= expr.subscripts.size()) {
      kept.push_back(shape[axis]);
      keptNames.push_back(names[axis]);
      continue;
    }
    const Subscript &subscript = expr.subscripts[axis];
    int64_t bounds[2] = {0, shape[axis]};
    bool given = false;
    for (int side = 0; side < 2; ++side) {
      const ExprPtr &bound = side == 0 ? subscript.begin : subscript.end;
      if (!bound)
        continue;
      auto position = evalInteger(*bound, "a position");
      if (!position)
        return {};
      int64_t last = subscript.isRange ? shape[axis] : shape[axis] - 1;
      if (*position < -shape[axis] || *position > last)
        return fail(bound->range, absl::StrCat("position ", *position, " lies outside of axis ", axis, " (",
                                               dimensions.describeAxis(tensor, axis), ") of ", describe(tensor)));
      bounds[side] = *position < 0 ? *position + shape[axis] : *position;
      given = true;
    }
    offsets[axis] = bounds[0];
    sizes[axis] = subscript.isRange ? bounds[1] - bounds[0] : 1;
    if (sizes[axis] < 1)
      return fail(subscript.range, absl::StrCat("the range ", bounds[0], ":", bounds[1],
                                                " is empty; a tensor has at least one element"));
    if (subscript.isRange) {
      kept.push_back(sizes[axis]);
      bool whole = !given || sizes[axis] == shape[axis];
      keptNames.push_back(whole ? names[axis] : "");
    }
  }
  graph::Build build = at(expr.range);
  mlir::Value value = tensor;
  if (sizes != std::vector<int64_t>(shape.begin(), shape.end()))
    value = graph::SliceOp::create(builder, build.loc, graph::withShape(tensor, sizes), tensor,
                                   builder.getDenseI64ArrayAttr(offsets), builder.getDenseI64ArrayAttr(sizes));
  if (kept.size() != shape.size())
    value = build.reshape(value, kept);
  return result(value, keptNames, expr.range);
}

} // namespace mekik::frontend
