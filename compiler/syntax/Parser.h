// Tokens -> tree. Recursive descent with one token of look-ahead (two where `as` stands); after an error it goes on
// with the next statement, so that one run reports several.
#ifndef MEKIK_SYNTAX_PARSER_H
#define MEKIK_SYNTAX_PARSER_H

#include "compiler/syntax/Ast.h"
#include "compiler/syntax/Diagnostics.h"

namespace mekik::syntax {

/// Deepest nesting of an expression, counted in nodes, and of braces. Every recursion over the tree is bounded by
/// these.
constexpr int maxExpressionDepth = 200;
constexpr int maxBraceDepth = 64;

/// Never fails and never crashes: statements that could not be read are left out, with diagnostics saying why. Whoever
/// uses the tree asks `diagnostics.hasErrors()` first.
Model parse(const Source &source, Diagnostics &diagnostics);

} // namespace mekik::syntax

#endif
