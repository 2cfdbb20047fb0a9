// The attention weights of a model for one text: what its probes of shape [..., context, context] hold after `forward`.
#ifndef MEKIK_RUNTIME_SAMPLE_ATTENTION_H
#define MEKIK_RUNTIME_SAMPLE_ATTENTION_H

#include "runtime/model/Model.h"
#include "runtime/tokenizer/Tokenizer.h"
#include <string>
#include <string_view>
#include <vector>

namespace mekik::sample {

/// The weights of one head. Row i is the symbol that looks, column j the symbol looked at.
struct AttentionHead {
  std::string probe; // "layer.0.attention.weights"
  int64_t head = 0, heads = 1;
  std::vector<double> weights; // row-major, symbols x symbols
};

struct Attention {
  std::vector<std::string> symbols; // of the window, as text for people: a blank is "␣"
  std::vector<AttentionHead> heads; // in the order of the model
  uint64_t dropped = 0;             // symbols before the window, which the model does not see
};

/// Runs `forward` on the text as sampling begins with it: behind the end symbol where the tokenizer has one, the last
/// `context` symbols of it. `probe` names one probe; empty is all of them. Errors: a character outside the vocabulary,
/// no text, a model that is not about text, no probe of that shape (NotFound, naming those there are).
base::StatusOr<Attention> attentionOf(model::Model &model, const tokenizer::Tokenizer &tokenizer, std::string_view text,
                                      std::string_view probe);

} // namespace mekik::sample

#endif
