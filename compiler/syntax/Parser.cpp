// Statements, their places, and going on after an error.
#include "compiler/syntax/Parser.h"
#include "compiler/syntax/ParserState.h"
#include "compiler/syntax/Spelling.h"

#include "absl/strings/str_cat.h"
#include <algorithm>

namespace mekik::syntax {

const Token &ParserState::peek() {
  while (bracketDepth > 0 && tokens[next].kind == TokenKind::Newline)
    ++next;
  return tokens[next];
}

const Token &ParserState::peekSecond() {
  peek();
  return tokens[std::min(next + 1, tokens.size() - 1)];
}

Token ParserState::take() {
  Token token = peek();
  if (token.kind != TokenKind::End)
    ++next;
  lastEnd = token.range.end;
  return token;
}

bool ParserState::accept(TokenKind kind) {
  if (!at(kind))
    return false;
  take();
  return true;
}

bool ParserState::tainted(SourceRange range) const {
  return !badLines.empty() &&
         std::find(badLines.begin(), badLines.end(), source.position(range.begin).line) != badLines.end();
}

Diagnostic &ParserState::expected(const std::string &what) {
  if (tainted(peek().range))
    return unsaid = Diagnostic{Severity::Error, {}, "", {}};
  return diagnostics.error(peek().range, absl::StrCat("expected ", what, ", found ", describe(peek(), source)));
}

bool ParserState::expect(TokenKind kind, const std::string &what) {
  if (accept(kind))
    return true;
  expected(what);
  return false;
}

bool ParserState::expectName(Identifier &name, const std::string &what) {
  if (at(TokenKind::Name)) {
    Token token = take();
    name = {std::string(source.slice(token.range)), token.range};
    return true;
  }
  Diagnostic &diagnostic = expected(what);
  if (isKeyword(peek().kind))
    diagnostic.note(absl::StrCat("'", spelling(peek().kind),
                                 "' is a word of the language; choose another name, such as '", spelling(peek().kind),
                                 "_'"));
  return false;
}

void ParserState::skipNewlines() {
  while (tokens[next].kind == TokenKind::Newline)
    ++next;
}

namespace {

/// Where a statement stands decides which ones may stand there.
struct Place {
  bool inBlock = false;
  bool inRepeat = false;
  bool inIf = false;
  bool unknown = false; ///< the heading could not be read: complain about nothing
};

class Parser : ParserState {
public:
  using ParserState::ParserState;

  Model run() {
    Model model;
    statements(model.body, Place{}, nullptr);
    return model;
  }

private:
  /// Reads statements up to the end of the file or, if `open` is given, the '}' that closes it, which is taken.
  void statements(Body &body, Place place, const SourceRange *open) {
    while (!diagnostics.full()) {
      skipNewlines();
      if (at(TokenKind::End)) {
        if (open)
          diagnostics.error(peek().range, "expected '}', found the end of the file").note(*open, "to close this '{'");
        return;
      }
      if (at(TokenKind::RightBrace)) {
        if (open) {
          take();
          return;
        }
        diagnostics.error(take().range, "this '}' closes nothing; delete it");
        continue;
      }
      checkPlace(place, open);
      StmtPtr statement = parseStatement(place);
      bool complete = statement != nullptr && endOfStatement();
      if (complete)
        body.push_back(std::move(statement));
      else
        recover(place);
    }
  }

  bool endOfStatement() {
    if (at(TokenKind::Newline) || at(TokenKind::End) || at(TokenKind::RightBrace))
      return true;
    if (tainted(peek().range))
      return false;
    if (at(TokenKind::LeftBrace))
      diagnostics.error(peek().range, "only 'block', 'repeat', 'if' and 'else' have a body in braces");
    else if (at(TokenKind::Assign))
      expected("the end of the line").note("to compare two values write '=='");
    else
      expected("an operator or the end of the line");
    return false;
  }

  /// Skips to where a statement can begin again. A body that follows the broken heading is read and forgotten, so that
  /// its braces stay paired and its own errors are found.
  void recover(Place place) {
    bracketDepth = 0;
    bool atLineStart = next > 0 && tokens[next - 1].kind == TokenKind::Newline;
    if (atLineStart && startsStatement(peek().kind))
      return;
    while (!at(TokenKind::Newline) && !at(TokenKind::End) && !at(TokenKind::RightBrace)) {
      Token token = take();
      if (token.kind == TokenKind::LeftBrace) {
        Body forgotten;
        place.unknown = true;
        if (enterBraces(token.range))
          statements(forgotten, place, &token.range);
        leaveBraces();
      }
    }
  }

  bool enterBraces(SourceRange open) {
    if (++braceDepth <= maxBraceDepth)
      return true;
    diagnostics.error(open, absl::StrCat("braces are nested more than ", maxBraceDepth, " levels deep"));
    skipToMatchingBrace();
    return false;
  }

  void leaveBraces() { --braceDepth; }

  void skipToMatchingBrace() {
    for (int depth = 1; depth > 0 && !at(TokenKind::End);) {
      TokenKind kind = take().kind;
      depth += kind == TokenKind::LeftBrace ? 1 : kind == TokenKind::RightBrace ? -1 : 0;
    }
  }

  bool bracedBody(Body &body, Place place, const std::string &after) {
    bracketDepth = 0;
    if (!at(TokenKind::LeftBrace)) {
      Diagnostic &diagnostic = expected(absl::StrCat("'{' after ", after));
      if (at(TokenKind::Assign))
        diagnostic.note("to compare two values write '=='");
      return false;
    }
    SourceRange open = take().range;
    if (enterBraces(open))
      statements(body, place, &open);
    leaveBraces();
    return true;
  }

  /// Complains about statements that may not stand here; they are read all the same.
  void checkPlace(const Place &place, const SourceRange *open) {
    if (place.unknown)
      return;
    TokenKind kind = peek().kind;
    std::string word = absl::StrCat("'", spelling(kind), "'");
    switch (kind) {
    case TokenKind::KwModel:
    case TokenKind::KwPrecision:
    case TokenKind::KwConfig:
    case TokenKind::KwBlock:
      if (open)
        diagnostics.error(peek().range, absl::StrCat(word, " may stand only outside of all braces"))
            .note(*open, "inside this '{'; is a '}' missing before?");
      break;
    case TokenKind::KwInput:
    case TokenKind::KwTarget:
    case TokenKind::KwOutput:
    case TokenKind::KwLoss:
    case TokenKind::KwTrain:
      if (place.inBlock || place.inRepeat)
        diagnostics.error(peek().range, absl::StrCat(word, " may not stand inside a block or a repeat"))
            .note(*open, "inside this '{'; is a '}' missing before?");
      break;
    case TokenKind::KwReturn:
      if (!place.inBlock)
        diagnostics.error(peek().range, "'return' may stand only inside a block");
      break;
    default:
      break;
    }
  }

  StmtPtr parseStatement(Place place) {
    Token token = peek();
    switch (token.kind) {
    case TokenKind::KwModel:
      return nameStatement();
    case TokenKind::KwPrecision:
      return nameStatement();
    case TokenKind::KwConfig:
      return config();
    case TokenKind::KwInput:
      return input(StmtKind::Input);
    case TokenKind::KwTarget:
      return input(StmtKind::Target);
    case TokenKind::KwParam:
      return param();
    case TokenKind::KwLet:
      return binding(StmtKind::Let);
    case TokenKind::KwProbe:
      return binding(StmtKind::Probe);
    case TokenKind::KwOutput:
      return binding(StmtKind::Output);
    case TokenKind::KwBlock:
      return block(place);
    case TokenKind::KwRepeat:
      return repeat(place);
    case TokenKind::KwIf:
      return ifStatement(place);
    case TokenKind::KwReturn:
      return valueStatement(StmtKind::Return);
    case TokenKind::KwLoss:
      return valueStatement(StmtKind::Loss);
    case TokenKind::KwTrain:
      return valueStatement(StmtKind::Train);
    case TokenKind::KwElse:
      diagnostics.error(token.range, "'else' must follow the '}' of an 'if'");
      return nullptr;
    case TokenKind::Name:
      return assignment();
    default:
      expected("a statement");
      return nullptr;
    }
  }

  StmtPtr nameStatement() {
    Token keyword = take();
    bool isModel = keyword.kind == TokenKind::KwModel;
    auto result = std::make_unique<NameStmt>(isModel ? StmtKind::Model : StmtKind::Precision, keyword.range);
    if (!isModel && !expect(TokenKind::Assign, "'=' after 'precision'"))
      return nullptr;
    if (!expectName(result->name, isModel ? "the name of the model" : "f32 or f64"))
      return nullptr;
    if (!isModel && result->name.text != "f32" && result->name.text != "f64") {
      diagnostics.error(result->name.range, absl::StrCat("expected f32 or f64, found '", result->name.text, "'"));
      return nullptr;
    }
    result->range = since(keyword.range);
    return result;
  }

  bool typeName(Identifier &type, std::vector<std::string> known, const std::string &list) {
    if (!expectName(type, absl::StrCat("a type (", list, ")")))
      return false;
    for (const std::string &name : known)
      if (type.text == name)
        return true;
    diagnostics.error(type.range, absl::StrCat("there is no type '", type.text, "' here; the types are ", list,
                                               suggestion(type.text, known)));
    return false;
  }

  StmtPtr config() {
    SourceRange begin = take().range;
    auto result = std::make_unique<ConfigStmt>(StmtKind::Config, begin);
    if (!expectName(result->name, "a name after 'config'") ||
        !expect(TokenKind::Colon, "':' and a type after the name") ||
        !typeName(result->type, {"int", "float", "bool", "string"}, "int, float, bool and string"))
      return nullptr;
    if (accept(TokenKind::Assign) && !(result->value = expression()))
      return nullptr;
    if (accept(TokenKind::KwIn) && !configRange(*result))
      return nullptr;
    if (at(TokenKind::Assign) && result->value == nullptr) {
      diagnostics.error(peek().range, "the default stands before 'in': config name: type = default in low..high");
      return nullptr;
    }
    result->range = since(begin);
    return result;
  }

  bool configRange(ConfigStmt &config) {
    if (!at(TokenKind::DotDot)) {
      ExprPtr first = expression();
      if (!first)
        return false;
      if (!at(TokenKind::DotDot)) {
        config.choices.push_back(std::move(first));
        while (accept(TokenKind::Comma)) {
          skipNewlines();
          ExprPtr choice = expression();
          if (!choice)
            return false;
          config.choices.push_back(std::move(choice));
        }
        return true;
      }
      config.low = std::move(first);
    }
    config.hasRange = true;
    take();
    bool open = at(TokenKind::Newline) || at(TokenKind::End);
    if (open && !config.low) {
      expected("a bound on at least one side of '..'");
      return false;
    }
    return open || (config.high = expression()) != nullptr;
  }

  bool shape(std::vector<ExprPtr> &dims, const std::string &example) {
    if (!at(TokenKind::LeftBracket)) {
      expected(absl::StrCat("a shape in brackets, such as ", example));
      return false;
    }
    SourceRange open = take().range;
    openBracket();
    return expressionList(dims, TokenKind::RightBracket, open, "',' or ']' in the shape");
  }

  StmtPtr input(StmtKind kind) {
    Token keyword = take();
    auto result = std::make_unique<InputStmt>(kind, keyword.range);
    std::string word(spelling(keyword.kind));
    if (!expectName(result->name, absl::StrCat("a name after '", word, "'")) ||
        !expect(TokenKind::Colon, "':' and a type after the name") ||
        !typeName(result->type, {"i32", "f32", "f64", "bool"}, "i32, f32, f64 and bool") ||
        !shape(result->dims, absl::StrCat(word, " x: f32[batch, 3]")))
      return nullptr;
    if (at(TokenKind::Name)) {
      if (source.slice(peek().range) != "below") {
        expected("the end of the line, or 'below' and the number of classes");
        return nullptr;
      }
      take();
      if (!(result->classes = expression()))
        return nullptr;
    }
    result->range = since(keyword.range);
    return result;
  }

  StmtPtr param() {
    SourceRange begin = take().range;
    auto result = std::make_unique<ParamStmt>(StmtKind::Param, begin);
    if (!expectName(result->name, "a name after 'param'") ||
        !expect(TokenKind::Colon, "':' and a shape after the name") ||
        !shape(result->dims, "param w: [width, 4] = normal(0.1)") ||
        !expect(TokenKind::Assign,
                "'=' and an initializer (zeros, ones, constant(c), normal(std) or uniform(low, high))"))
      return nullptr;
    if (!(result->initializer = expression()))
      return nullptr;
    if (result->initializer->kind == ExprKind::Call && static_cast<CallExpr &>(*result->initializer).label) {
      diagnostics.error(static_cast<CallExpr &>(*result->initializer).label->range,
                        "the path of a parameter stands in quotes: as \"transformer.wte.weight\"");
      return nullptr;
    }
    if (accept(TokenKind::KwAs)) {
      Token path = peek();
      if (!expect(TokenKind::String, "a path in quotes after 'as', such as \"transformer.wte.weight\""))
        return nullptr;
      result->path = Identifier{stringValue(source.slice(path.range)), path.range};
    }
    result->range = since(begin);
    return result;
  }

  StmtPtr binding(StmtKind kind) {
    Token keyword = take();
    auto result = std::make_unique<BindStmt>(kind, keyword.range);
    if (!expectName(result->name, absl::StrCat("a name after '", spelling(keyword.kind), "'")) ||
        !expect(TokenKind::Assign, "'=' and a value after the name"))
      return nullptr;
    if (!(result->value = expression()))
      return nullptr;
    result->range = since(keyword.range);
    return result;
  }

  StmtPtr assignment() {
    Token first = take();
    auto result = std::make_unique<BindStmt>(StmtKind::Assign, first.range);
    result->name = {std::string(source.slice(first.range)), first.range};
    if (!at(TokenKind::Assign)) {
      notAStatement(first);
      return nullptr;
    }
    take();
    if (!(result->value = expression()))
      return nullptr;
    result->range = since(first.range);
    return result;
  }

  void notAStatement(const Token &first) {
    if (tainted(first.range))
      return;
    std::string name(source.slice(first.range));
    const Token &second = peek();
    if (second.kind == TokenKind::Name || isKeyword(second.kind)) {
      std::vector<std::string> words;
      for (auto kind = static_cast<uint8_t>(TokenKind::KwModel); kind <= static_cast<uint8_t>(TokenKind::KwElse);
           ++kind)
        words.emplace_back(spelling(static_cast<TokenKind>(kind)));
      diagnostics.error(first.range, absl::StrCat("no statement begins with '", name, "'", suggestion(name, words)));
    } else if (peekSecond().kind == TokenKind::Assign && second.range.end == peekSecond().range.begin) {
      diagnostics.error(second.range, absl::StrCat("there is no '", source.slice(second.range), "='; write ", name,
                                                   " = ", name, " ", source.slice(second.range), " ..."));
    } else if (second.kind == TokenKind::Colon) {
      diagnostics.error(
          first.range, absl::StrCat("a declaration begins with config, input, target or param, not with '", name, "'"));
    } else {
      diagnostics.error(first.range,
                        absl::StrCat("a value alone is not a statement; name it (let y = ", name, "...) or return it"));
    }
  }

  StmtPtr valueStatement(StmtKind kind) {
    Token keyword = take();
    auto result = std::make_unique<ValueStmt>(kind, keyword.range);
    if (!(result->value = expression()))
      return nullptr;
    result->range = since(keyword.range);
    return result;
  }

  StmtPtr block(Place place) {
    SourceRange begin = take().range;
    auto result = std::make_unique<BlockStmt>(StmtKind::Block, begin);
    if (!expectName(result->name, "a name after 'block'"))
      return nullptr;
    SourceRange open = peek().range;
    if (!expect(TokenKind::LeftParen, "'(' and the block's parameters"))
      return nullptr;
    openBracket();
    while (!at(TokenKind::RightParen)) {
      BlockParameter parameter;
      if (!expectName(parameter.name, "the name of a parameter"))
        return nullptr;
      if (accept(TokenKind::Assign) && !(parameter.defaultValue = expression()))
        return nullptr;
      bool needsDefault =
          !result->parameters.empty() && result->parameters.back().defaultValue && !parameter.defaultValue;
      if (needsDefault)
        diagnostics.error(parameter.name.range,
                          "a parameter without a default stands behind one with a default; swap them");
      result->parameters.push_back(std::move(parameter));
      if (!accept(TokenKind::Comma))
        break;
    }
    if (!closeBracket(TokenKind::RightParen, open, "',' or ')' in the parameters of the block"))
      return nullptr;
    result->range = since(begin);
    place = Place{};
    place.inBlock = true;
    return bracedBody(result->body, place, "the heading of the block") ? std::move(result) : nullptr;
  }

  StmtPtr repeat(Place place) {
    SourceRange begin = take().range;
    auto result = std::make_unique<RepeatStmt>(StmtKind::Repeat, begin);
    if (!expectName(result->variable, "the name of the counter after 'repeat'") ||
        !expect(TokenKind::KwIn, "'in' and the number of rounds, as in: repeat layer in layers {"))
      return nullptr;
    if (!(result->end = expression()))
      return nullptr;
    if (at(TokenKind::DotDot)) {
      diagnostics.error(peek().range, "a repeat counts over begin:end, which leaves out the end; write ':' for '..'");
      return nullptr;
    }
    if (accept(TokenKind::Colon)) {
      result->begin = std::move(result->end);
      if (!(result->end = expression()))
        return nullptr;
    }
    result->range = since(begin);
    place.inRepeat = true;
    return bracedBody(result->body, place, "the heading of the repeat") ? std::move(result) : nullptr;
  }

  StmtPtr ifStatement(Place place) {
    // A chain of else-ifs nests in the tree, so it counts as nesting.
    SourceRange begin = take().range;
    auto result = std::make_unique<IfStmt>(StmtKind::If, begin);
    if (!(result->condition = expression()))
      return nullptr;
    result->range = since(begin);
    place.inIf = true;
    if (!bracedBody(result->thenBody, place, "the condition"))
      return nullptr;
    size_t rewind = next;
    skipNewlines();
    if (!accept(TokenKind::KwElse)) {
      next = rewind;
      return result;
    }
    if (!at(TokenKind::KwIf))
      return bracedBody(result->elseBody, place, "'else'") ? std::move(result) : nullptr;
    if (braceDepth >= maxBraceDepth) {
      diagnostics.error(peek().range,
                        absl::StrCat("more than ", maxBraceDepth, " 'if' and 'else if' inside each other"));
      return nullptr;
    }
    ++braceDepth;
    StmtPtr nested = ifStatement(place);
    --braceDepth;
    if (!nested)
      return nullptr;
    result->elseBody.push_back(std::move(nested));
    return result;
  }

  int braceDepth = 0;
};

} // namespace

Model parse(const Source &source, Diagnostics &diagnostics) { return Parser(source, diagnostics).run(); }

} // namespace mekik::syntax
