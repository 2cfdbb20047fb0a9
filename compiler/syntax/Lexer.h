// Text -> tokens. Whatever the bytes are, the result ends with one End token and all complaints are diagnostics.
#ifndef MEKIK_SYNTAX_LEXER_H
#define MEKIK_SYNTAX_LEXER_H

#include "compiler/syntax/Diagnostics.h"
#include "compiler/syntax/Token.h"

namespace mekik::syntax {

/// All tokens of the source. A line end is one Newline token, also inside brackets (the parser knows which count);
/// several in a row are one. Comments and blanks vanish. Unreadable characters are reported and left out.
std::vector<Token> lex(const Source &source, Diagnostics &diagnostics);

} // namespace mekik::syntax

#endif
