// Text out of a trained language model: the context window slides over what was written so far, `forward` gives the
// logits of the next symbol, the sampler takes one.
//
// A model whose output is [batch, context, vocabulary] is causal: the window is filled from the left, the rest is
// padded with id 0, which no earlier position sees. A model whose output is [batch, vocabulary] predicts from a full
// window: it is padded on the left with the start symbol. Only the first row of a batch is used.
#ifndef MEKIK_RUNTIME_SAMPLE_GENERATOR_H
#define MEKIK_RUNTIME_SAMPLE_GENERATOR_H

#include "runtime/model/Model.h"
#include "runtime/sample/Sampler.h"
#include "runtime/tokenizer/Tokenizer.h"
#include <functional>
#include <string_view>

namespace mekik::sample {

struct GeneratorOptions {
  SamplerOptions sampler = {};
  uint64_t seed = 0;
  /// Symbols generated at most, the prompt not counted.
  int64_t length = 80;
  std::string_view prompt = {};
};

class Generator {
public:
  /// Model and tokenizer must outlive the generator. FailedPrecondition if the model's `forward` is not that of a
  /// language model over this tokenizer's ids.
  static base::StatusOr<Generator> create(model::Model &model, const tokenizer::Tokenizer &tokenizer);

  /// Receives the next whole characters; an error ends the sample.
  using Output = std::function<base::Status(std::string_view)>;

  /// Writes sample number `sample`: the prompt, then what the model adds, up to the end symbol (not written) or
  /// options.length symbols. Starts from the end symbol where the tokenizer has one, otherwise from the prompt, and
  /// without a prompt from Tokenizer::defaultStart (not written). The text depends on the seed and the sample number,
  /// not on other samples. Errors: a prompt with characters outside the vocabulary, sampler errors, those of `output`.
  base::Status generate(uint32_t sample, const GeneratorOptions &options, const Output &output);

  /// The probability of every id after options.prompt, in id order. Errors as of generate.
  base::StatusOr<std::vector<double>> next(const GeneratorOptions &options);

private:
  base::StatusOr<std::vector<int32_t>> begin(std::string_view prompt) const;
  Generator(model::Model &model, const tokenizer::Tokenizer &tokenizer) : model(model), tokenizer(tokenizer) {}
  std::span<const double> nextLogits(std::span<const int32_t> ids, int32_t start);

  model::Model &model;
  const tokenizer::Tokenizer &tokenizer;
  const MekikFunction *forward = nullptr;
  const MekikTensor *input = nullptr, *output = nullptr;
  int64_t context = 0;
  bool everyPosition = false; // output is [batch, context, vocabulary]
  std::vector<double> logits;
};

} // namespace mekik::sample

#endif
