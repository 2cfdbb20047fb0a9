// The tree of a model as written: plain data, every node with its place. Nothing is evaluated or checked here beyond
// what the grammar demands.
#ifndef MEKIK_SYNTAX_AST_H
#define MEKIK_SYNTAX_AST_H

#include "compiler/syntax/Source.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mekik::syntax {

struct Identifier {
  std::string text;
  SourceRange range;
};

enum class Operator : uint8_t {
  Or,
  And,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Remainder,
  MatMul,
  Power,
  Not,
  Negate, ///< these two have one operand
};
/// "+", "and", ...
absl::string_view spelling(Operator op);
/// Binding strength: a larger number binds tighter.
int precedence(Operator op);

enum class ExprKind : uint8_t { Integer, Float, String, Bool, Name, List, Unary, Binary, Call, Index, Member };

struct Expr {
  Expr(ExprKind kind, SourceRange range) : kind(kind), range(range) {}
  virtual ~Expr() = default;
  ExprKind kind;
  SourceRange range;
  int depth = 1; ///< nodes on the longest way down; at most the parser's limit
};
using ExprPtr = std::unique_ptr<Expr>;

struct IntegerExpr : Expr {
  IntegerExpr(SourceRange range, int64_t value) : Expr(ExprKind::Integer, range), value(value) {}
  int64_t value;
};
struct FloatExpr : Expr {
  FloatExpr(SourceRange range, double value, std::string text)
      : Expr(ExprKind::Float, range), value(value), text(std::move(text)) {}
  double value;
  std::string text; ///< as written
};
struct StringExpr : Expr {
  StringExpr(SourceRange range, std::string value) : Expr(ExprKind::String, range), value(std::move(value)) {}
  std::string value; ///< escapes resolved
};
struct BoolExpr : Expr {
  BoolExpr(SourceRange range, bool value) : Expr(ExprKind::Bool, range), value(value) {}
  bool value;
};
struct NameExpr : Expr {
  NameExpr(SourceRange range, std::string name) : Expr(ExprKind::Name, range), name(std::move(name)) {}
  std::string name;
};
struct ListExpr : Expr {
  explicit ListExpr(SourceRange range) : Expr(ExprKind::List, range) {}
  std::vector<ExprPtr> items;
};
struct UnaryExpr : Expr {
  UnaryExpr(SourceRange range, Operator op, ExprPtr operand)
      : Expr(ExprKind::Unary, range), op(op), operand(std::move(operand)) {}
  Operator op;
  ExprPtr operand;
};
struct BinaryExpr : Expr {
  BinaryExpr(SourceRange range, Operator op, SourceRange opRange, ExprPtr left, ExprPtr right)
      : Expr(ExprKind::Binary, range), op(op), opRange(opRange), left(std::move(left)), right(std::move(right)) {}
  Operator op;
  SourceRange opRange;
  ExprPtr left, right;
};
struct Argument {
  std::optional<Identifier> keyword;
  ExprPtr value;
};
/// `callee(arguments) as label`
struct CallExpr : Expr {
  explicit CallExpr(SourceRange range) : Expr(ExprKind::Call, range) {}
  Identifier callee;
  std::vector<Argument> arguments;
  std::optional<Identifier> label;
};
/// One entry of `x[...]`: a position, or `begin:end` with either end left out at will.
struct Subscript {
  SourceRange range;
  bool isRange = false;
  ExprPtr begin; ///< the position itself if not a range
  ExprPtr end;
};
struct IndexExpr : Expr {
  explicit IndexExpr(SourceRange range) : Expr(ExprKind::Index, range) {}
  ExprPtr operand;
  std::vector<Subscript> subscripts;
};
/// `operand.member`
struct MemberExpr : Expr {
  explicit MemberExpr(SourceRange range) : Expr(ExprKind::Member, range) {}
  ExprPtr operand;
  Identifier member;
};

enum class StmtKind : uint8_t {
  Model,
  Precision,
  Config,
  Input,
  Target,
  Param,
  Let,
  Assign,
  Block,
  Return,
  Repeat,
  If,
  Probe,
  Output,
  Loss,
  Train
};

struct Stmt {
  Stmt(StmtKind kind, SourceRange range) : kind(kind), range(range) {}
  virtual ~Stmt() = default;
  StmtKind kind;
  SourceRange range; ///< for statements with a body: the heading
};
using StmtPtr = std::unique_ptr<Stmt>;
using Body = std::vector<StmtPtr>;

/// `model name` and `precision = name`
struct NameStmt : Stmt {
  using Stmt::Stmt;
  Identifier name;
};
/// `config name: type = default in low..high` or `... in choice, choice`
struct ConfigStmt : Stmt {
  using Stmt::Stmt;
  Identifier name;
  Identifier type;
  ExprPtr value; ///< null: the value is required
  bool hasRange = false;
  ExprPtr low, high; ///< of the range; null where open
  std::vector<ExprPtr> choices;
};
/// `input name: type[dims] below classes`, and the same for `target`
struct InputStmt : Stmt {
  using Stmt::Stmt;
  Identifier name;
  Identifier type;
  std::vector<ExprPtr> dims;
  ExprPtr classes; ///< may be null
};
/// `param name: [dims] = initializer as "path"`
struct ParamStmt : Stmt {
  using Stmt::Stmt;
  Identifier name;
  std::vector<ExprPtr> dims;
  ExprPtr initializer;
  std::optional<Identifier> path; ///< text: the string's value
};
/// `let name = value`, `name = value`, `probe name = value`, `output name = value`
struct BindStmt : Stmt {
  using Stmt::Stmt;
  Identifier name;
  ExprPtr value;
};
/// `return value`, `loss value`, `train value`
struct ValueStmt : Stmt {
  using Stmt::Stmt;
  ExprPtr value;
};
struct BlockParameter {
  Identifier name;
  ExprPtr defaultValue; ///< may be null
};
struct BlockStmt : Stmt {
  using Stmt::Stmt;
  Identifier name;
  std::vector<BlockParameter> parameters;
  Body body;
};
/// `repeat variable in count { }` or `repeat variable in begin:end { }`
struct RepeatStmt : Stmt {
  using Stmt::Stmt;
  Identifier variable;
  ExprPtr begin; ///< null: from 0
  ExprPtr end;   ///< one past the last
  Body body;
};
struct IfStmt : Stmt {
  using Stmt::Stmt;
  ExprPtr condition;
  Body thenBody;
  Body elseBody; ///< a single IfStmt for `else if`
};

struct Model {
  Body body;
};

/// True if the trees are equal in everything but places and the spelling of numbers.
bool sameTree(const Model &a, const Model &b);

} // namespace mekik::syntax

#endif
