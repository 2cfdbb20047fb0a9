// The hand-written model as a program, for tests that kill it, starve it or look at its exit status.
#include "tests/runtime/trainer/BigramModel.h"

using Bigram = mekik::test::BigramModel<5, 4, 6>;
extern "C" const MekikModel mekik_model;
extern "C" const char mekik_tokenizer[];
const MekikModel mekik_model = Bigram::model;
const char mekik_tokenizer[] = "{\"kind\":\"characters\",\"end\":\".\",\"characters\":\"abcş\"}";
