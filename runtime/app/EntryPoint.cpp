// main of a trainer: the model and its tokenizer are linked beside it.
#include "runtime/app/Main.h"

extern "C" const MekikModel mekik_model;
/// Tokenizer::toJson(), ended by a zero byte; empty for a model that is not about text.
extern "C" const char mekik_tokenizer[];

extern "C" __attribute__((used, retain)) const char mekik_program_mark[] = MEKIK_PROGRAM_MARK;

int main(int argc, char **argv) { return mekik::app::mekikMain(argc, argv, mekik_model, mekik_tokenizer); }
