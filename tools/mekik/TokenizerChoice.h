// The tokenizer that a command line asks for: made from a text, or read from a file.
#ifndef MEKIK_TOOLS_MEKIK_TOKENIZER_CHOICE_H
#define MEKIK_TOOLS_MEKIK_TOKENIZER_CHOICE_H

#include "runtime/data/LearnedTokenizer.h"
#include "tools/mekik/ModelInput.h"

namespace mekik::tool {

/// --tokenizer, --layout and --end.
void addTokenizerOptions(CLI::App &command, ModelInput &input);

/// WrongUsage for what --tokenizer cannot be: no kind and no file.
base::Status checkTokenizerChoice(const ModelInput &input);

/// False if the tokenizer is the same for every text: bytes, or a file.
bool needsText(const ModelInput &input);

/// `textPath` is read if the tokenizer is made from a text. Errors: those of checkTokenizerChoice, WrongUsage for a
/// --layout that contradicts a tokenizer's file; those of reading a file and of data::learnTokenizer.
base::StatusOr<data::LearnedTokenizer> chooseTokenizer(const ModelInput &input, const std::string &textPath);

/// The layout that a tokenizer stands for: lines if it has a symbol to end them.
data::Layout layoutOf(const tokenizer::Tokenizer &tokenizer);

} // namespace mekik::tool

#endif
