// How one symbol is shown: to people inside a list, and to programs, who get its bytes too, since part of a character
// is no text.
#ifndef MEKIK_RUNTIME_TOKENIZER_SYMBOLTEXT_H
#define MEKIK_RUNTIME_TOKENIZER_SYMBOLTEXT_H

#include <string>
#include <string_view>

namespace mekik::tokenizer {

/// "c3b6"
std::string hexOf(std::string_view bytes);
/// The members of a JSON object: "symbol":"ö","bytes":"c3b6"; the symbol is null if it is not UTF-8.
std::string symbolJson(std::string_view bytes);

} // namespace mekik::tokenizer

#endif
