// The parser's inside, shared by its two halves: ParserExpressions.cpp and Parser.cpp (statements).
#ifndef MEKIK_SYNTAX_PARSER_STATE_H
#define MEKIK_SYNTAX_PARSER_STATE_H

#include "compiler/syntax/Lexer.h"
#include "compiler/syntax/Parser.h"

namespace mekik::syntax {

class ParserState {
public:
  ParserState(const Source &source, Diagnostics &diagnostics)
      : source(source), diagnostics(diagnostics), tokens(lex(source, diagnostics)) {
    for (const Diagnostic &diagnostic : diagnostics.all())
      if (diagnostic.range)
        badLines.push_back(source.position(diagnostic.range->begin).line);
  }

  /// Expressions. Null after an error, which has been reported.
  ExprPtr expression(int weakest = 1);

protected:
  /// The next token; line ends are invisible inside parentheses and brackets.
  const Token &peek();
  /// The token behind the next one, line ends included.
  const Token &peekSecond();
  Token take();
  bool at(TokenKind kind) { return peek().kind == kind; }
  bool accept(TokenKind kind);
  /// Takes a token of this kind or reports "expected <what>, found ...".
  bool expect(TokenKind kind, const std::string &what);
  bool expectName(Identifier &name, const std::string &what);
  /// Says nothing on a line whose characters are already complained about: what is missing may be just those.
  Diagnostic &expected(const std::string &what);
  bool tainted(SourceRange range) const;
  void skipNewlines();
  /// From the first token `begin` to the last token taken.
  SourceRange since(SourceRange begin) const { return {begin.begin, lastEnd}; }

  /// Comma-separated expressions up to `close`, which is taken; the opening sign has been taken at `open`.
  bool expressionList(std::vector<ExprPtr> &items, TokenKind close, SourceRange open, const std::string &what);
  /// Takes `close`; otherwise reports what was expected with a note at `open`.
  bool closeBracket(TokenKind close, SourceRange open, const std::string &what);
  /// Opening and closing must pair: these count how many brackets are open.
  void openBracket() { ++bracketDepth; }

  const Source &source;
  Diagnostics &diagnostics;
  std::vector<Token> tokens;
  size_t next = 0;
  uint32_t lastEnd = 0;
  int bracketDepth = 0;

private:
  ExprPtr unary();
  ExprPtr power();
  ExprPtr postfix();
  ExprPtr primary();
  ExprPtr number(const Token &token);
  ExprPtr stringLiteral(const Token &token);
  ExprPtr call(ExprPtr callee);
  ExprPtr index(ExprPtr operand);
  bool subscript(Subscript &result);
  ExprPtr checkDepth(ExprPtr expr, int childDepth);
  ExprPtr tooDeep(SourceRange range);

  int recursion = 0;
  std::vector<uint32_t> badLines;
  Diagnostic unsaid{Severity::Error, {}, "", {}};
};

/// The value of a string token: quotes removed, escapes resolved.
std::string stringValue(absl::string_view text);

} // namespace mekik::syntax

#endif
