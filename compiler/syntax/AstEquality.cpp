// Structural equality of trees, for the promise that printing and parsing again changes nothing.
#include "compiler/syntax/Ast.h"

namespace mekik::syntax {

namespace {

template <typename Node> const Node &as(const auto &node) { return static_cast<const Node &>(node); }

bool same(const Expr &a, const Expr &b);
bool same(const Stmt &a, const Stmt &b);

template <typename Node> bool same(const std::unique_ptr<Node> &a, const std::unique_ptr<Node> &b) {
  return (a == nullptr) == (b == nullptr) && (!a || same(*a, *b));
}

bool same(const Identifier &a, const Identifier &b) { return a.text == b.text; }

template <typename T> bool same(const std::optional<T> &a, const std::optional<T> &b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}

bool same(const Argument &a, const Argument &b) { return same(a.keyword, b.keyword) && same(a.value, b.value); }

bool same(const Subscript &a, const Subscript &b) {
  return a.isRange == b.isRange && same(a.begin, b.begin) && same(a.end, b.end);
}

bool same(const BlockParameter &a, const BlockParameter &b) {
  return same(a.name, b.name) && same(a.defaultValue, b.defaultValue);
}

template <typename T> bool same(const std::vector<T> &a, const std::vector<T> &b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i]))
      return false;
  return true;
}

template <typename Node> bool sameBy(const auto &a, const auto &b, const auto &compare) {
  return compare(as<Node>(a), as<Node>(b));
}

bool same(const Expr &a, const Expr &b) {
  if (a.kind != b.kind)
    return false;
  switch (a.kind) {
  case ExprKind::Integer:
    return as<IntegerExpr>(a).value == as<IntegerExpr>(b).value;
  case ExprKind::Float:
    return as<FloatExpr>(a).value == as<FloatExpr>(b).value;
  case ExprKind::String:
    return as<StringExpr>(a).value == as<StringExpr>(b).value;
  case ExprKind::Bool:
    return as<BoolExpr>(a).value == as<BoolExpr>(b).value;
  case ExprKind::Name:
    return as<NameExpr>(a).name == as<NameExpr>(b).name;
  case ExprKind::List:
    return same(as<ListExpr>(a).items, as<ListExpr>(b).items);
  case ExprKind::Unary:
    return as<UnaryExpr>(a).op == as<UnaryExpr>(b).op && same(as<UnaryExpr>(a).operand, as<UnaryExpr>(b).operand);
  case ExprKind::Binary:
    return sameBy<BinaryExpr>(a, b, [](const auto &x, const auto &y) {
      return x.op == y.op && same(x.left, y.left) && same(x.right, y.right);
    });
  case ExprKind::Call:
    return sameBy<CallExpr>(a, b, [](const auto &x, const auto &y) {
      return same(x.callee, y.callee) && same(x.arguments, y.arguments) && same(x.label, y.label);
    });
  case ExprKind::Index:
    return same(as<IndexExpr>(a).operand, as<IndexExpr>(b).operand) &&
           same(as<IndexExpr>(a).subscripts, as<IndexExpr>(b).subscripts);
  case ExprKind::Member:
    return same(as<MemberExpr>(a).operand, as<MemberExpr>(b).operand) &&
           same(as<MemberExpr>(a).member, as<MemberExpr>(b).member);
  }
  return false;
}

bool same(const Stmt &a, const Stmt &b) {
  if (a.kind != b.kind)
    return false;
  switch (a.kind) {
  case StmtKind::Model:
  case StmtKind::Precision:
    return same(as<NameStmt>(a).name, as<NameStmt>(b).name);
  case StmtKind::Config:
    return sameBy<ConfigStmt>(a, b, [](const auto &x, const auto &y) {
      return same(x.name, y.name) && same(x.type, y.type) && same(x.value, y.value) && x.hasRange == y.hasRange &&
             same(x.low, y.low) && same(x.high, y.high) && same(x.choices, y.choices);
    });
  case StmtKind::Input:
  case StmtKind::Target:
    return sameBy<InputStmt>(a, b, [](const auto &x, const auto &y) {
      return same(x.name, y.name) && same(x.type, y.type) && same(x.dims, y.dims) && same(x.classes, y.classes);
    });
  case StmtKind::Param:
    return sameBy<ParamStmt>(a, b, [](const auto &x, const auto &y) {
      return same(x.name, y.name) && same(x.dims, y.dims) && same(x.initializer, y.initializer) && same(x.path, y.path);
    });
  case StmtKind::Let:
  case StmtKind::Assign:
  case StmtKind::Probe:
  case StmtKind::Output:
    return same(as<BindStmt>(a).name, as<BindStmt>(b).name) && same(as<BindStmt>(a).value, as<BindStmt>(b).value);
  case StmtKind::Return:
  case StmtKind::Loss:
  case StmtKind::Train:
    return same(as<ValueStmt>(a).value, as<ValueStmt>(b).value);
  case StmtKind::Block:
    return sameBy<BlockStmt>(a, b, [](const auto &x, const auto &y) {
      return same(x.name, y.name) && same(x.parameters, y.parameters) && same(x.body, y.body);
    });
  case StmtKind::Repeat:
    return sameBy<RepeatStmt>(a, b, [](const auto &x, const auto &y) {
      return same(x.variable, y.variable) && same(x.begin, y.begin) && same(x.end, y.end) && same(x.body, y.body);
    });
  case StmtKind::If:
    return sameBy<IfStmt>(a, b, [](const auto &x, const auto &y) {
      return same(x.condition, y.condition) && same(x.thenBody, y.thenBody) && same(x.elseBody, y.elseBody);
    });
  }
  return false;
}

} // namespace

bool sameTree(const Model &a, const Model &b) { return same(a.body, b.body); }

} // namespace mekik::syntax
