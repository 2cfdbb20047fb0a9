// Statements: declarations add arguments to the function, loops and branches are unrolled here and now.
#include "compiler/frontend/Elaborator.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/syntax/AstPrinter.h"
#include "compiler/syntax/Spelling.h"
#include <algorithm>

namespace mekik::frontend {

using namespace syntax;

namespace {

const char *describeKind(NameKind kind) {
  switch (kind) {
  case NameKind::Config:
    return "a config";
  case NameKind::Input:
    return "an input";
  case NameKind::Parameter:
    return "a param";
  case NameKind::Counter:
    return "a counter of a repeat";
  case NameKind::BlockParameter:
    return "a parameter of the block";
  case NameKind::Let:
    return "a let";
  case NameKind::Probe:
    return "a probe";
  case NameKind::Output:
    return "an output";
  }
  return "";
}

} // namespace

std::string Elaborator::pathTo(const std::string &last) const {
  std::vector<std::string> parts = path;
  parts.push_back(last);
  return absl::StrJoin(parts, ".");
}

std::optional<std::string> Elaborator::writtenPath(const Identifier &written) {
  std::string text;
  for (size_t i = 0; i < written.text.size(); ++i) {
    if (written.text[i] != '{') {
      text += written.text[i];
      continue;
    }
    size_t close = written.text.find('}', i);
    if (close == std::string::npos) {
      error(written.range, "a '{' in a path has no '}'; {name} stands for the value of a name");
      return std::nullopt;
    }
    Term term = evalName(written.text.substr(i + 1, close - i - 1), written.range);
    if (term.isPoison())
      return std::nullopt;
    if (!term.isInteger() && !term.isText()) {
      error(written.range, absl::StrCat("a name in the braces of a path must be an int or a string, '",
                                        written.text.substr(i + 1, close - i - 1), "' is ", kindOf(term)));
      return std::nullopt;
    }
    text += term.isInteger() ? absl::StrCat(term.integer()) : term.text();
    i = close;
  }
  if (text.empty() || text.find('\0') != std::string::npos) {
    error(written.range, "the path of a parameter cannot be empty or hold a zero byte");
    return std::nullopt;
  }
  return text;
}

Elaborator::Flow Elaborator::execute(const Body &body) {
  frame->open();
  Flow flow = executeBody(body);
  frame->close();
  return flow;
}

Elaborator::Flow Elaborator::executeBody(const Body &body) {
  for (size_t i = 0; i < body.size(); ++i) {
    Flow flow = execute(*body[i]);
    if (flow == Flow::Returned && i + 1 < body.size())
      diagnostics.warning(body[i + 1]->range, "nothing behind a 'return' is built");
    if (flow != Flow::Next)
      return flow;
  }
  return Flow::Next;
}

Elaborator::Flow Elaborator::execute(const Stmt &statement) {
  DepthGuard guard(depth);
  if (!spend(statement.range) || !shallow(statement.range))
    return Flow::Stopped;
  switch (statement.kind) {
  case StmtKind::Model:
  case StmtKind::Precision:
  case StmtKind::Block:
    return Flow::Next;
  case StmtKind::Config:
    configure(static_cast<const ConfigStmt &>(statement));
    return Flow::Next;
  case StmtKind::Input:
  case StmtKind::Target:
    declareInput(static_cast<const InputStmt &>(statement));
    return Flow::Next;
  case StmtKind::Param:
    declareParameter(static_cast<const ParamStmt &>(statement));
    return Flow::Next;
  case StmtKind::Let:
  case StmtKind::Assign:
  case StmtKind::Probe:
  case StmtKind::Output:
    bind(static_cast<const BindStmt &>(statement));
    return Flow::Next;
  case StmtKind::Return:
    returned = eval(*static_cast<const ValueStmt &>(statement).value);
    return Flow::Returned;
  case StmtKind::Repeat:
    return repeat(static_cast<const RepeatStmt &>(statement));
  case StmtKind::If:
    return branch(static_cast<const IfStmt &>(statement));
  case StmtKind::Loss:
    setLoss(static_cast<const ValueStmt &>(statement));
    return Flow::Next;
  case StmtKind::Train:
    setOptimizer(static_cast<const ValueStmt &>(statement));
    return Flow::Next;
  }
  return Flow::Next;
}

void Elaborator::declareInput(const InputStmt &input) {
  Names names;
  auto shape = evalShape(input.dims, names);
  if (!shape) {
    frame->declare(input.name, {}, NameKind::Input);
    return;
  }
  Interface entry{input.name.text, input.name.range, {}, {}, {}, false, false};
  bool integers = input.type.text == "i32";
  if (input.classes) {
    auto classes = evalInteger(*input.classes, "the number of classes behind 'below'");
    if (classes && !integers)
      error(input.classes->range,
            absl::StrCat("'below' says how many class ids there are, so it goes with i32, not with ", input.type.text));
    else if (classes && (*classes < 1 || *classes > INT32_MAX))
      error(input.classes->range, absl::StrCat("expected a number of classes from 1 to 2147483647, found ", *classes));
    else if (classes)
      entry.classes = *classes;
    entry.classesDeclared = true;
  }
  for (const auto *list : {&inputs, &targets})
    for (const Interface &other : *list)
      if (other.name == entry.name) {
        error(input.name.range, absl::StrCat("a second input or target '", entry.name, "'"))
            .note(other.declared, "the first is here");
        return;
      }
  if (Binding *other = frame->peek(input.name.text)) {
    error(input.name.range, absl::StrCat("the name '", input.name.text, "' is taken; choose another"))
        .note(other->declared, "it is declared here");
    return;
  }
  mlir::Type element = integers                   ? mlir::Type(builder.getI32Type())
                       : input.type.text == "f32" ? mlir::Type(builder.getF32Type())
                       : input.type.text == "f64" ? mlir::Type(builder.getF64Type())
                                                  : mlir::Type(builder.getI1Type());
  auto type = mlir::RankedTensorType::get(*shape, element);
  bool isInput = input.kind == StmtKind::Input;
  size_t position = params.size() + inputs.size() + (isInput ? 0 : targets.size());
  mlir::Value value = addArgument(isInput ? inputs : targets, position, std::move(entry), type);
  if (llvm::isa<mlir::FloatType>(element) && element != floatType)
    value = at(input.name.range).cast(value, floatType);
  frame->declare(input.name, result(value, names, input.name.range), NameKind::Input);
}

void Elaborator::declareParameter(const ParamStmt &param) {
  Names names;
  auto shape = evalShape(param.dims, names);
  mlir::DictionaryAttr init = initializer(*param.initializer);
  if (Binding *other = frame->peek(param.name.text)) {
    error(param.name.range, absl::StrCat("the name '", param.name.text, "' is taken; choose another"))
        .note(other->declared, absl::StrCat("it is ", describeKind(other->kind), " declared here"));
    return;
  }
  if (!shape || !init) {
    frame->declare(param.name, {}, NameKind::Parameter);
    return;
  }
  std::optional<std::string> written = param.path ? writtenPath(*param.path) : pathTo(param.name.text);
  if (!written) {
    frame->declare(param.name, {}, NameKind::Parameter);
    return;
  }
  std::string fullName = *written;
  SourceRange place = param.path ? param.path->range : param.name.range;
  auto [entry, isNew] = parameterPaths.emplace(fullName, place);
  if (!isNew) {
    Diagnostic &diagnostic = error(place, absl::StrCat("two parameters have the path '", fullName, "'"));
    if (entry->second.begin != place.begin)
      diagnostic.note(entry->second, "the other is declared here");
    diagnostic.note(param.path ? "a path written with 'as' must differ between rounds and calls; use {name} in it, as "
                                 "in \"h.{layer}.weight\""
                               : "give the calls or counters that lead to them different names, e.g. norm(x) as first");
    frame->declare(param.name, {}, NameKind::Parameter);
    return;
  }
  auto type = mlir::RankedTensorType::get(*shape, floatType);
  std::string blockName = callStack.empty() ? "" : callStack.back().block;
  mlir::Value value =
      addArgument(params, params.size(), Interface{fullName, param.name.range, {}, init, {}, false, false, blockName}, type);
  frame->declare(param.name, result(value, names, param.name.range), NameKind::Parameter);
}

mlir::DictionaryAttr Elaborator::initializer(const Expr &expr) {
  const std::vector<std::string> known = {"zeros", "ones", "constant", "normal", "uniform"};
  std::string kind;
  std::vector<const Expr *> arguments;
  if (expr.kind == ExprKind::Name) {
    kind = static_cast<const NameExpr &>(expr).name;
  } else if (expr.kind == ExprKind::Call) {
    const auto &call = static_cast<const CallExpr &>(expr);
    kind = call.callee.text;
    for (const Argument &argument : call.arguments) {
      if (argument.keyword) {
        error(argument.keyword->range,
              "the numbers of an initializer have no names; write normal(0.1) or uniform(-1, 1)");
        return {};
      }
      arguments.push_back(argument.value.get());
    }
  }
  bool isNumber = expr.kind == ExprKind::Integer || expr.kind == ExprKind::Float;
  if (std::find(known.begin(), known.end(), kind) == known.end()) {
    error(expr.range,
          absl::StrCat("expected an initializer: zeros, ones, constant(c), normal(std) or uniform(low, high)",
                       isNumber ? "; for a fixed number write constant(...)" : suggestion(kind, known)));
    return {};
  }
  size_t expected = kind == "uniform" ? 2 : kind == "constant" || kind == "normal" ? 1 : 0;
  if (arguments.size() != expected) {
    error(expr.range, absl::StrCat("initializer '", kind, "' takes ",
                                   expected == 0   ? "no number"
                                   : expected == 1 ? "one number"
                                                   : "two numbers",
                                   ", found ", arguments.size()));
    return {};
  }
  double numbers[2] = {0, 0};
  for (size_t i = 0; i < arguments.size(); ++i) {
    Term term = eval(*arguments[i]);
    if (term.isPoison())
      return {};
    if (!term.isNumber()) {
      error(arguments[i]->range,
            absl::StrCat("an initializer takes numbers known at compile time, found ", kindOf(term)));
      return {};
    }
    numbers[i] = term.number();
  }
  if (kind == "normal" && numbers[0] < 0) {
    error(arguments[0]->range,
          absl::StrCat("the standard deviation of normal must not be negative, found ", show(eval(*arguments[0]))));
    return {};
  }
  if (kind == "uniform" && numbers[0] >= numbers[1]) {
    error(expr.range, absl::StrCat("uniform(low, high) needs low < high, found ", showFloat(numbers[0]), " and ",
                                   showFloat(numbers[1])));
    return {};
  }
  return builder.getDictionaryAttr({builder.getNamedAttr("kind", builder.getStringAttr(kind)),
                                    builder.getNamedAttr("a", builder.getF64FloatAttr(numbers[0])),
                                    builder.getNamedAttr("b", builder.getF64FloatAttr(numbers[1]))});
}

void Elaborator::bind(const BindStmt &statement) {
  const std::string &name = statement.name.text;
  Term value = eval(*statement.value);
  Binding *existing = frame->peek(name);
  if (statement.kind == StmtKind::Assign) {
    if (!existing) {
      bool outside = frame != &fileFrame && fileFrame.peek(name);
      error(statement.name.range,
            outside
                ? absl::StrCat("'", name, "' belongs to the file level; a block cannot change it, only return a value")
                : absl::StrCat("there is no '", name, "' to give a new value; write let ", name, " = ... to make one",
                               suggestion(name, frame->names())));
    } else if (existing->kind == NameKind::Config || existing->kind == NameKind::Counter ||
               existing->kind == NameKind::Parameter) {
      error(statement.name.range, absl::StrCat("'", name, "' is ", describeKind(existing->kind),
                                               " and keeps its value; use a 'let' of another name"))
          .note(existing->declared, "it is declared here");
    } else {
      existing->term = std::move(value);
    }
    return;
  }
  if (existing) {
    Diagnostic &diagnostic = error(statement.name.range, absl::StrCat("the name '", name, "' is taken"));
    diagnostic.note(existing->declared, absl::StrCat("it is ", describeKind(existing->kind), " declared here"));
    if (statement.kind == StmtKind::Let)
      diagnostic.note(absl::StrCat("to give it a new value leave out 'let': ", name, " = ..."));
    return;
  }
  NameKind kind = statement.kind == StmtKind::Let     ? NameKind::Let
                  : statement.kind == StmtKind::Probe ? NameKind::Probe
                                                      : NameKind::Output;
  if (kind != NameKind::Let && !value.isPoison()) {
    if (!value.isTensor())
      error(statement.value->range,
            absl::StrCat("'", kind == NameKind::Probe ? "probe" : "output", "' takes a tensor, found ", kindOf(value)));
    else
      addNamedResult(kind == NameKind::Probe ? probes : outputs, statement, pathTo(name), value);
  }
  frame->declare(statement.name, std::move(value), kind);
}

void Elaborator::addNamedResult(std::vector<NamedResult> &list, const BindStmt &statement, std::string fullName,
                                const Term &term) {
  for (const auto *others : {&outputs, &probes})
    for (const NamedResult &other : *others)
      if (other.name == fullName) {
        error(statement.name.range, absl::StrCat("two probes or outputs have the name '", fullName, "'"))
            .note(other.declared, "the other is here");
        return;
      }
  list.push_back({std::move(fullName), statement.name.range, term.tensor()});
}

void Elaborator::setLoss(const ValueStmt &statement) {
  Term value = eval(*statement.value);
  if (loss) {
    error(statement.range, "a second 'loss'; a model has one (add the parts: loss a + b)")
        .note(loss->declared, "the first is here");
    return;
  }
  if (value.isPoison())
    return;
  if (!value.isTensor()) {
    error(statement.value->range,
          absl::StrCat("a loss is computed from the inputs, but this is ", kindOf(value), " known at compile time"));
    return;
  }
  auto type = llvm::cast<mlir::RankedTensorType>(value.tensor().getType());
  if (type.getRank() != 0 || !isFloatTensor(value.tensor())) {
    error(statement.value->range, absl::StrCat("a loss is one float, but this has shape ", describe(value.tensor()),
                                               "; take mean(...) or sum(...) of it"));
    return;
  }
  loss = NamedResult{"loss", statement.range, value.tensor()};
}

Elaborator::Flow Elaborator::repeat(const RepeatStmt &statement) {
  auto begin =
      statement.begin ? evalInteger(*statement.begin, "the first value of the counter") : std::optional<int64_t>(0);
  auto end = evalInteger(*statement.end, statement.begin ? "the end of the counter" : "the number of rounds");
  if (!begin || !end)
    return Flow::Next;
  if (*end < *begin) {
    error(statement.end->range, statement.begin ? absl::StrCat("a repeat cannot count from ", *begin, " up to ", *end)
                                                : absl::StrCat("a repeat cannot have ", *end, " rounds"));
    return Flow::Next;
  }
  if (Binding *other = frame->peek(statement.variable.text)) {
    error(statement.variable.range, absl::StrCat("the name '", statement.variable.text, "' is taken; choose another"))
        .note(other->declared, absl::StrCat("it is ", describeKind(other->kind), " declared here"));
    return Flow::Next;
  }
  if (*begin == *end)
    markUsed(statement.body);
  Flow flow = Flow::Next;
  for (int64_t i = *begin; i < *end && flow == Flow::Next; ++i) {
    frame->open();
    // A counter that only counts rounds is used enough.
    usage.used.insert(statement.variable.range.begin);
    frame->declare(statement.variable, Term(i), NameKind::Counter);
    path.push_back(absl::StrCat(statement.variable.text, ".", i));
    naming.emplace_back();
    flow = execute(statement.body);
    naming.pop_back();
    path.pop_back();
    frame->close();
    if (!spend(statement.range))
      flow = Flow::Stopped;
  }
  return flow;
}

Elaborator::Flow Elaborator::branch(const IfStmt &statement) {
  Term condition = eval(*statement.condition);
  if (condition.isPoison())
    return Flow::Next;
  if (!condition.isBool()) {
    Diagnostic &diagnostic = error(statement.condition->range,
                                   absl::StrCat("the condition of an 'if' is a bool, found ", kindOf(condition)));
    if (condition.isTensor())
      diagnostic.note(
          "'if' chooses while the model is compiled; to choose by the values of tensors write select(condition, a, b)");
    else
      diagnostic.note("compare it, for instance with > 0");
    return Flow::Next;
  }
  markUsed(condition.boolean() ? statement.elseBody : statement.thenBody);
  return execute(condition.boolean() ? statement.thenBody : statement.elseBody);
}

void Elaborator::markUsed(const Expr *expr) {
  if (!expr)
    return;
  switch (expr->kind) {
  case ExprKind::Name:
    frame->find(static_cast<const NameExpr *>(expr)->name);
    fileFrame.find(static_cast<const NameExpr *>(expr)->name);
    return;
  case ExprKind::List:
    for (const ExprPtr &item : static_cast<const ListExpr *>(expr)->items)
      markUsed(item.get());
    return;
  case ExprKind::Unary:
    return markUsed(static_cast<const UnaryExpr *>(expr)->operand.get());
  case ExprKind::Binary:
    markUsed(static_cast<const BinaryExpr *>(expr)->left.get());
    return markUsed(static_cast<const BinaryExpr *>(expr)->right.get());
  case ExprKind::Call:
    usage.calledBlocks.insert(static_cast<const CallExpr *>(expr)->callee.text);
    for (const Argument &argument : static_cast<const CallExpr *>(expr)->arguments)
      markUsed(argument.value.get());
    return;
  case ExprKind::Index:
    markUsed(static_cast<const IndexExpr *>(expr)->operand.get());
    for (const Subscript &subscript : static_cast<const IndexExpr *>(expr)->subscripts) {
      markUsed(subscript.begin.get());
      markUsed(subscript.end.get());
    }
    return;
  case ExprKind::Member:
    return markUsed(static_cast<const MemberExpr *>(expr)->operand.get());
  default:
    return;
  }
}

void Elaborator::markUsed(const Body &body) {
  for (const StmtPtr &statement : body) {
    switch (statement->kind) {
    case StmtKind::Input:
    case StmtKind::Target: {
      const auto &s = static_cast<const InputStmt &>(*statement);
      for (const ExprPtr &dim : s.dims)
        markUsed(dim.get());
      markUsed(s.classes.get());
      break;
    }
    case StmtKind::Param: {
      const auto &s = static_cast<const ParamStmt &>(*statement);
      for (const ExprPtr &dim : s.dims)
        markUsed(dim.get());
      markUsed(s.initializer.get());
      break;
    }
    case StmtKind::Let:
    case StmtKind::Assign:
    case StmtKind::Probe:
    case StmtKind::Output:
      markUsed(static_cast<const BindStmt &>(*statement).value.get());
      break;
    case StmtKind::Return:
    case StmtKind::Loss:
    case StmtKind::Train:
      markUsed(static_cast<const ValueStmt &>(*statement).value.get());
      break;
    case StmtKind::Repeat: {
      const auto &s = static_cast<const RepeatStmt &>(*statement);
      markUsed(s.begin.get());
      markUsed(s.end.get());
      markUsed(s.body);
      break;
    }
    case StmtKind::If: {
      const auto &s = static_cast<const IfStmt &>(*statement);
      markUsed(s.condition.get());
      markUsed(s.thenBody);
      markUsed(s.elseBody);
      break;
    }
    default:
      break;
    }
  }
}

} // namespace mekik::frontend
