// Expressions: operators by precedence climbing, calls, subscripts, literals.
#include "compiler/syntax/ParserState.h"

#include "absl/strings/charconv.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include <cmath>
#include <system_error>

namespace mekik::syntax {

namespace {

std::optional<Operator> binaryOperator(TokenKind kind) {
  switch (kind) {
  case TokenKind::KwOr:
    return Operator::Or;
  case TokenKind::KwAnd:
    return Operator::And;
  case TokenKind::EqualEqual:
    return Operator::Equal;
  case TokenKind::NotEqual:
    return Operator::NotEqual;
  case TokenKind::Less:
    return Operator::Less;
  case TokenKind::LessEqual:
    return Operator::LessEqual;
  case TokenKind::Greater:
    return Operator::Greater;
  case TokenKind::GreaterEqual:
    return Operator::GreaterEqual;
  case TokenKind::Plus:
    return Operator::Add;
  case TokenKind::Minus:
    return Operator::Subtract;
  case TokenKind::Star:
    return Operator::Multiply;
  case TokenKind::Slash:
    return Operator::Divide;
  case TokenKind::SlashSlash:
    return Operator::FloorDivide;
  case TokenKind::Percent:
    return Operator::Remainder;
  case TokenKind::At:
    return Operator::MatMul;
  default:
    return std::nullopt; // `**` binds tighter than a sign and is read by power()
  }
}

bool isComparison(Operator op) { return precedence(op) == precedence(Operator::Equal); }

} // namespace

absl::string_view spelling(Operator op) {
  constexpr const char *spellings[] = {"or", "and", "==", "!=", "<", "<=", ">",  ">=",  "+",
                                       "-",  "*",   "/",  "//", "%", "@",  "**", "not", "-"};
  return spellings[static_cast<size_t>(op)];
}

int precedence(Operator op) {
  constexpr int strengths[] = {1, 2, 4, 4, 4, 4, 4, 4, 5, 5, 6, 6, 6, 6, 6, 8, 3, 7};
  return strengths[static_cast<size_t>(op)];
}

std::string stringValue(absl::string_view text) {
  std::string value;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"')
      break;
    if (text[i] != '\\' || i + 1 >= text.size()) {
      value += text[i];
      continue;
    }
    char escaped = text[++i];
    value += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
  }
  return value;
}

ExprPtr ParserState::tooDeep(SourceRange range) {
  diagnostics.error(range, absl::StrCat("this expression is nested more than ", maxExpressionDepth,
                                        " levels deep; name its parts with 'let'"));
  return nullptr;
}

ExprPtr ParserState::checkDepth(ExprPtr expr, int childDepth) {
  expr->depth = childDepth + 1;
  return expr->depth > maxExpressionDepth ? tooDeep(expr->range) : std::move(expr);
}

ExprPtr ParserState::expression(int weakest) {
  if (recursion >= maxExpressionDepth)
    return tooDeep(peek().range);
  ++recursion;
  SourceRange begin = peek().range;
  ExprPtr left;
  if (at(TokenKind::KwNot) && weakest <= precedence(Operator::Not)) {
    take();
    if (ExprPtr operand = expression(precedence(Operator::Not))) {
      int depth = operand->depth;
      left = checkDepth(std::make_unique<UnaryExpr>(since(begin), Operator::Not, std::move(operand)), depth);
    }
  } else {
    left = unary();
  }
  bool compared = false;
  while (left) {
    std::optional<Operator> op = binaryOperator(peek().kind);
    if (!op || precedence(*op) < weakest)
      break;
    if (isComparison(*op) && compared) {
      diagnostics.error(peek().range, "comparisons cannot be chained; write a < b and b < c");
      left = nullptr;
      break;
    }
    compared = isComparison(*op);
    SourceRange opRange = take().range;
    skipNewlines();
    ExprPtr right = expression(precedence(*op) + 1);
    if (!right) {
      left = nullptr;
      break;
    }
    int depth = std::max(left->depth, right->depth);
    left =
        checkDepth(std::make_unique<BinaryExpr>(since(begin), *op, opRange, std::move(left), std::move(right)), depth);
  }
  --recursion;
  return left;
}

ExprPtr ParserState::unary() {
  SourceRange begin = peek().range;
  if (at(TokenKind::Plus)) {
    diagnostics.error(begin, "a sign '+' in front of a value has no meaning; leave it out");
    return nullptr;
  }
  if (!at(TokenKind::Minus))
    return power();
  take();
  if (recursion >= maxExpressionDepth)
    return tooDeep(begin);
  ++recursion;
  ExprPtr operand = unary();
  --recursion;
  if (!operand)
    return nullptr;
  int depth = operand->depth;
  return checkDepth(std::make_unique<UnaryExpr>(since(begin), Operator::Negate, std::move(operand)), depth);
}

ExprPtr ParserState::power() {
  SourceRange begin = peek().range;
  ExprPtr base = postfix();
  if (!base || !at(TokenKind::StarStar))
    return base;
  SourceRange opRange = take().range;
  skipNewlines();
  if (recursion >= maxExpressionDepth)
    return tooDeep(begin);
  ++recursion;
  ExprPtr exponent = unary();
  --recursion;
  if (!exponent)
    return nullptr;
  int depth = std::max(base->depth, exponent->depth);
  return checkDepth(
      std::make_unique<BinaryExpr>(since(begin), Operator::Power, opRange, std::move(base), std::move(exponent)),
      depth);
}

ExprPtr ParserState::postfix() {
  SourceRange begin = peek().range;
  ExprPtr expr = primary();
  while (expr) {
    int depth = expr->depth;
    if (at(TokenKind::LeftParen)) {
      expr = call(std::move(expr));
    } else if (at(TokenKind::LeftBracket)) {
      expr = index(std::move(expr));
    } else if (accept(TokenKind::Dot)) {
      auto member = std::make_unique<MemberExpr>(begin);
      if (!expectName(member->member, "'shape' or 'rank' after '.'"))
        return nullptr;
      member->operand = std::move(expr);
      member->range = since(begin);
      expr = checkDepth(std::move(member), depth);
    } else {
      break;
    }
  }
  return expr;
}

ExprPtr ParserState::call(ExprPtr callee) {
  SourceRange open = peek().range;
  if (callee->kind != ExprKind::Name) {
    diagnostics.error(callee->range, "only a function or a block can be called, by its name");
    return nullptr;
  }
  auto result = std::make_unique<CallExpr>(callee->range);
  result->callee = {static_cast<NameExpr &>(*callee).name, callee->range};
  take();
  openBracket();
  int depth = 0;
  while (!at(TokenKind::RightParen)) {
    Argument argument;
    if (at(TokenKind::Name) || isKeyword(peek().kind)) {
      size_t rewind = next;
      Token name = take();
      if (at(TokenKind::Assign)) {
        take();
        argument.keyword = Identifier{std::string(source.slice(name.range)), name.range};
      } else {
        next = rewind;
      }
    }
    argument.value = expression();
    if (!argument.value)
      return nullptr;
    if (!argument.keyword && !result->arguments.empty() && result->arguments.back().keyword) {
      diagnostics.error(argument.value->range, "an argument without a name stands behind one with a name; name it too");
      return nullptr;
    }
    depth = std::max(depth, argument.value->depth);
    result->arguments.push_back(std::move(argument));
    if (!accept(TokenKind::Comma))
      break;
  }
  if (!closeBracket(TokenKind::RightParen, open, "',' or ')' in the arguments of the call"))
    return nullptr;
  if (at(TokenKind::KwAs) && peekSecond().kind == TokenKind::Name) {
    take();
    Token label = take();
    result->label = Identifier{std::string(source.slice(label.range)), label.range};
  }
  result->range = since(result->range);
  return checkDepth(std::move(result), depth);
}

ExprPtr ParserState::index(ExprPtr operand) {
  auto result = std::make_unique<IndexExpr>(operand->range);
  int depth = operand->depth;
  SourceRange open = take().range;
  openBracket();
  result->operand = std::move(operand);
  while (!at(TokenKind::RightBracket)) {
    Subscript entry;
    if (!subscript(entry))
      return nullptr;
    for (const ExprPtr *part : {&entry.begin, &entry.end})
      depth = std::max(depth, *part ? (*part)->depth : 0);
    result->subscripts.push_back(std::move(entry));
    if (!accept(TokenKind::Comma))
      break;
  }
  if (result->subscripts.empty()) {
    expected("a position or a range such as 2:5 between '[' and ']'");
    return nullptr;
  }
  if (!closeBracket(TokenKind::RightBracket, open, "',' or ']' in the subscript"))
    return nullptr;
  result->range = since(result->range);
  return checkDepth(std::move(result), depth);
}

bool ParserState::subscript(Subscript &result) {
  SourceRange begin = peek().range;
  if (!at(TokenKind::Colon) && !(result.begin = expression()))
    return false;
  if (accept(TokenKind::Colon)) {
    result.isRange = true;
    bool open = at(TokenKind::Comma) || at(TokenKind::RightBracket) || at(TokenKind::Colon);
    if (!open && !(result.end = expression()))
      return false;
    if (at(TokenKind::Colon)) {
      diagnostics.error(peek().range, "a slice has no step; only begin:end");
      return false;
    }
  }
  result.range = since(begin);
  return true;
}

ExprPtr ParserState::primary() {
  Token token = peek();
  switch (token.kind) {
  case TokenKind::Integer:
  case TokenKind::Float:
    take();
    return number(token);
  case TokenKind::String:
    take();
    return std::make_unique<StringExpr>(token.range, stringValue(source.slice(token.range)));
  case TokenKind::KwTrue:
  case TokenKind::KwFalse:
    take();
    return std::make_unique<BoolExpr>(token.range, token.kind == TokenKind::KwTrue);
  case TokenKind::Name:
    take();
    return std::make_unique<NameExpr>(token.range, std::string(source.slice(token.range)));
  case TokenKind::LeftParen: {
    take();
    openBracket();
    ExprPtr inner = expression();
    if (!inner || !closeBracket(TokenKind::RightParen, token.range, "')'"))
      return nullptr;
    return inner;
  }
  case TokenKind::LeftBracket: {
    take();
    openBracket();
    auto list = std::make_unique<ListExpr>(token.range);
    if (!expressionList(list->items, TokenKind::RightBracket, token.range, "',' or ']' in the list"))
      return nullptr;
    int depth = 0;
    for (const ExprPtr &item : list->items)
      depth = std::max(depth, item->depth);
    list->range = since(token.range);
    return checkDepth(std::move(list), depth);
  }
  default: {
    Diagnostic &diagnostic = expected("a value");
    if (isKeyword(token.kind) && token.kind != TokenKind::KwElse)
      diagnostic.note(
          absl::StrCat("'", spelling(token.kind), "' is a word of the language and cannot be the name of a value"));
    return nullptr;
  }
  }
}

ExprPtr ParserState::number(const Token &token) {
  std::string text(source.slice(token.range));
  std::string digits = absl::StrReplaceAll(text, {{"_", ""}});
  const char *begin = digits.data(), *end = begin + digits.size();
  if (token.kind == TokenKind::Integer) {
    int64_t value = 0;
    for (char c : digits) {
      if (c < '0' || c > '9')
        break; // already reported by the lexer
      if (__builtin_mul_overflow(value, int64_t(10), &value) ||
          __builtin_add_overflow(value, int64_t(c - '0'), &value)) {
        diagnostics.error(token.range, "this integer does not fit into 64 bits (at most 9223372036854775807); "
                                       "write it with a decimal point if a float is meant");
        return nullptr;
      }
    }
    return std::make_unique<IntegerExpr>(token.range, value);
  }
  double value = 0;
  bool outOfRange = absl::from_chars(begin, end, value).ec != std::errc();
  bool anyDigit = false;
  for (char c : digits.substr(0, digits.find_first_of("eE")))
    anyDigit |= c >= '1' && c <= '9';
  if ((outOfRange && anyDigit) || std::isinf(value) || (value == 0 && anyDigit)) {
    diagnostics.error(token.range, value < 1 ? "this number is too near to 0 for a 64-bit float and would become 0"
                                             : "this number is too large for a 64-bit float (at most about 1.8e308)");
    return nullptr;
  }
  return std::make_unique<FloatExpr>(token.range, value, std::move(text));
}

bool ParserState::expressionList(std::vector<ExprPtr> &items, TokenKind close, SourceRange open,
                                 const std::string &what) {
  while (!at(close)) {
    ExprPtr item = expression();
    if (!item)
      return false;
    items.push_back(std::move(item));
    if (!accept(TokenKind::Comma))
      break;
  }
  return closeBracket(close, open, what);
}

bool ParserState::closeBracket(TokenKind close, SourceRange open, const std::string &what) {
  if (at(close)) {
    take();
    --bracketDepth;
    return true;
  }
  if (tainted(open))
    return false;
  if (at(TokenKind::Assign))
    expected(what).note("to compare two values write '=='");
  else
    expected(what).note(open, absl::StrCat("to close this '", source.slice(open), "'"));
  return false;
}

} // namespace mekik::syntax
