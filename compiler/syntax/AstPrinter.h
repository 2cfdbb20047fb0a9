// The tree as source text again: comments are gone, one statement a line, parentheses only where needed.
#ifndef MEKIK_SYNTAX_AST_PRINTER_H
#define MEKIK_SYNTAX_AST_PRINTER_H

#include "compiler/syntax/Ast.h"

namespace mekik::syntax {

/// Parsing the result gives the same tree (sameTree), if `model` came from a parse without errors.
std::string print(const Model &model);
std::string print(const Expr &expr);

} // namespace mekik::syntax

#endif
