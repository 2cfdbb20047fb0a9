// The words and signs of the model language.
#ifndef MEKIK_SYNTAX_TOKEN_H
#define MEKIK_SYNTAX_TOKEN_H

#include "compiler/syntax/Source.h"

namespace mekik::syntax {

enum class TokenKind : uint8_t {
  End,
  Newline,
  Name,
  Integer,
  Float,
  String,
  // Words that cannot be names. The first group starts statements.
  KwModel,
  KwPrecision,
  KwConfig,
  KwInput,
  KwTarget,
  KwParam,
  KwLet,
  KwBlock,
  KwReturn,
  KwRepeat,
  KwIf,
  KwProbe,
  KwOutput,
  KwLoss,
  KwTrain,
  KwElse,
  KwIn,
  KwAs,
  KwAnd,
  KwOr,
  KwNot,
  KwTrue,
  KwFalse,
  // Signs.
  LeftParen,
  RightParen,
  LeftBracket,
  RightBracket,
  LeftBrace,
  RightBrace,
  Comma,
  Colon,
  Dot,
  DotDot,
  Assign,
  Plus,
  Minus,
  Star,
  Slash,
  SlashSlash,
  Percent,
  StarStar,
  At,
  EqualEqual,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
};

struct Token {
  TokenKind kind = TokenKind::End;
  SourceRange range;
};

/// The spelling of a keyword or sign ("let", "**"); "" for kinds with many spellings.
absl::string_view spelling(TokenKind kind);
inline bool isKeyword(TokenKind kind) { return kind >= TokenKind::KwModel && kind <= TokenKind::KwFalse; }
inline bool startsStatement(TokenKind kind) { return kind >= TokenKind::KwModel && kind <= TokenKind::KwTrain; }
/// The keyword that is spelt `word`, or Name.
TokenKind keywordOrName(absl::string_view word);
/// How messages speak of a token: "'let'", "the name 'x'", "the end of the line".
std::string describe(const Token &token, const Source &source);

} // namespace mekik::syntax

#endif
