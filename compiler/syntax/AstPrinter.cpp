// One function a node kind.
#include "compiler/syntax/AstPrinter.h"

#include "absl/strings/str_cat.h"

namespace mekik::syntax {

namespace {

class Printer {
public:
  std::string out;

  void body(const Body &statements) {
    for (const StmtPtr &statement : statements)
      line(*statement);
  }

  void expr(const Expr &e, int weakest = 0) {
    switch (e.kind) {
    case ExprKind::Integer:
      absl::StrAppend(&out, static_cast<const IntegerExpr &>(e).value);
      return;
    case ExprKind::Float:
      out += static_cast<const FloatExpr &>(e).text;
      return;
    case ExprKind::String:
      string(static_cast<const StringExpr &>(e).value);
      return;
    case ExprKind::Bool:
      out += static_cast<const BoolExpr &>(e).value ? "true" : "false";
      return;
    case ExprKind::Name:
      out += static_cast<const NameExpr &>(e).name;
      return;
    case ExprKind::List:
      list("[", static_cast<const ListExpr &>(e).items, "]");
      return;
    case ExprKind::Unary:
      return unary(static_cast<const UnaryExpr &>(e), weakest);
    case ExprKind::Binary:
      return binary(static_cast<const BinaryExpr &>(e), weakest);
    case ExprKind::Call:
      return call(static_cast<const CallExpr &>(e));
    case ExprKind::Index:
      return index(static_cast<const IndexExpr &>(e));
    case ExprKind::Member: {
      const auto &member = static_cast<const MemberExpr &>(e);
      expr(*member.operand, tightest);
      absl::StrAppend(&out, ".", member.member.text);
      return;
    }
    }
  }

private:
  static constexpr int tightest = 9;

  void string(absl::string_view value) {
    out += '"';
    for (char c : value) {
      if (c == '"' || c == '\\')
        out += '\\';
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
    }
    out += '"';
  }

  void list(const char *open, const std::vector<ExprPtr> &items, const char *close) {
    out += open;
    for (size_t i = 0; i < items.size(); ++i) {
      out += i ? ", " : "";
      expr(*items[i]);
    }
    out += close;
  }

  void parenthesized(bool needed, const auto &print) {
    out += needed ? "(" : "";
    print();
    out += needed ? ")" : "";
  }

  void unary(const UnaryExpr &e, int weakest) {
    int strength = precedence(e.op);
    parenthesized(strength < weakest, [&] {
      out += e.op == Operator::Not ? "not " : "-";
      expr(*e.operand, strength);
    });
  }

  void binary(const BinaryExpr &e, int weakest) {
    int strength = precedence(e.op);
    bool power = e.op == Operator::Power;
    bool comparison = strength == precedence(Operator::Equal);
    parenthesized(strength < weakest, [&] {
      expr(*e.left, power ? tightest : strength + comparison);
      absl::StrAppend(&out, " ", spelling(e.op), " ");
      // The exponent is a signed power, so it takes a sign or another power without parentheses.
      expr(*e.right, power ? precedence(Operator::Negate) : strength + 1);
    });
  }

  void call(const CallExpr &e) {
    absl::StrAppend(&out, e.callee.text, "(");
    for (size_t i = 0; i < e.arguments.size(); ++i) {
      out += i ? ", " : "";
      if (e.arguments[i].keyword)
        absl::StrAppend(&out, e.arguments[i].keyword->text, " = ");
      expr(*e.arguments[i].value);
    }
    out += ")";
    if (e.label)
      absl::StrAppend(&out, " as ", e.label->text);
  }

  void index(const IndexExpr &e) {
    expr(*e.operand, tightest);
    out += "[";
    for (size_t i = 0; i < e.subscripts.size(); ++i) {
      const Subscript &subscript = e.subscripts[i];
      out += i ? ", " : "";
      if (subscript.begin)
        expr(*subscript.begin);
      out += subscript.isRange ? ":" : "";
      if (subscript.end)
        expr(*subscript.end);
    }
    out += "]";
  }

  void braces(const Body &statements) {
    out += " {\n";
    ++indent;
    body(statements);
    --indent;
    margin();
    out += "}";
  }

  void margin() { out.append(2 * indent, ' '); }

  void line(const Stmt &statement) {
    margin();
    stmt(statement);
    out += "\n";
  }

  void bind(const char *keyword, const Stmt &statement) {
    const auto &s = static_cast<const BindStmt &>(statement);
    absl::StrAppend(&out, keyword, s.name.text, " = ");
    expr(*s.value);
  }

  void value(const char *keyword, const Stmt &statement) {
    out += keyword;
    expr(*static_cast<const ValueStmt &>(statement).value);
  }

  void stmt(const Stmt &s) {
    switch (s.kind) {
    case StmtKind::Model:
      absl::StrAppend(&out, "model ", static_cast<const NameStmt &>(s).name.text);
      return;
    case StmtKind::Precision:
      absl::StrAppend(&out, "precision = ", static_cast<const NameStmt &>(s).name.text);
      return;
    case StmtKind::Config:
      return config(static_cast<const ConfigStmt &>(s));
    case StmtKind::Input:
    case StmtKind::Target:
      return input(static_cast<const InputStmt &>(s));
    case StmtKind::Param:
      return param(static_cast<const ParamStmt &>(s));
    case StmtKind::Let:
      return bind("let ", s);
    case StmtKind::Assign:
      return bind("", s);
    case StmtKind::Probe:
      return bind("probe ", s);
    case StmtKind::Output:
      return bind("output ", s);
    case StmtKind::Return:
      return value("return ", s);
    case StmtKind::Loss:
      return value("loss ", s);
    case StmtKind::Train:
      return value("train ", s);
    case StmtKind::Block:
      return block(static_cast<const BlockStmt &>(s));
    case StmtKind::Repeat: {
      const auto &repeat = static_cast<const RepeatStmt &>(s);
      absl::StrAppend(&out, "repeat ", repeat.variable.text, " in ");
      if (repeat.begin) {
        expr(*repeat.begin);
        out += ":";
      }
      expr(*repeat.end);
      return braces(repeat.body);
    }
    case StmtKind::If:
      return ifStatement(static_cast<const IfStmt &>(s));
    }
  }

  void config(const ConfigStmt &s) {
    absl::StrAppend(&out, "config ", s.name.text, ": ", s.type.text);
    if (s.value) {
      out += " = ";
      expr(*s.value);
    }
    if (s.hasRange || !s.choices.empty())
      out += " in ";
    if (s.low)
      expr(*s.low);
    if (s.hasRange)
      out += "..";
    if (s.high)
      expr(*s.high);
    if (!s.choices.empty())
      list("", s.choices, "");
  }

  void input(const InputStmt &s) {
    absl::StrAppend(&out, s.kind == StmtKind::Input ? "input " : "target ", s.name.text, ": ", s.type.text);
    list("[", s.dims, "]");
    if (s.classes) {
      out += " below ";
      expr(*s.classes);
    }
  }

  void param(const ParamStmt &s) {
    absl::StrAppend(&out, "param ", s.name.text, ": ");
    list("[", s.dims, "] = ");
    expr(*s.initializer);
    if (s.path) {
      out += " as ";
      string(s.path->text);
    }
  }

  void block(const BlockStmt &s) {
    absl::StrAppend(&out, "block ", s.name.text, "(");
    for (size_t i = 0; i < s.parameters.size(); ++i) {
      absl::StrAppend(&out, i ? ", " : "", s.parameters[i].name.text);
      if (s.parameters[i].defaultValue) {
        out += " = ";
        expr(*s.parameters[i].defaultValue);
      }
    }
    out += ")";
    braces(s.body);
  }

  void ifStatement(const IfStmt &s) {
    out += "if ";
    expr(*s.condition);
    braces(s.thenBody);
    if (s.elseBody.empty())
      return;
    out += " else";
    if (s.elseBody.size() == 1 && s.elseBody[0]->kind == StmtKind::If) {
      out += " ";
      return ifStatement(static_cast<const IfStmt &>(*s.elseBody[0]));
    }
    braces(s.elseBody);
  }

  int indent = 0;
};

} // namespace

std::string print(const Model &model) {
  Printer printer;
  printer.body(model.body);
  return std::move(printer.out);
}

std::string print(const Expr &expr) {
  Printer printer;
  printer.expr(expr);
  return std::move(printer.out);
}

} // namespace mekik::syntax
