#include "runtime/sample/Generator.h"
#include "runtime/base/Concat.h"
#include <algorithm>
#include <cstring>

namespace mekik::sample {

using base::concat;
using base::Status;
using base::StatusOr;

StatusOr<Generator> Generator::create(model::Model &model, const tokenizer::Tokenizer &tokenizer) {
  Generator result(model, tokenizer);
  MEKIK_ASSIGN_OR_RETURN(result.forward, model.function("forward"));
  MEKIK_ASSIGN_OR_RETURN(result.input, model.tensor(*result.forward, MEKIK_INPUT));
  MEKIK_ASSIGN_OR_RETURN(result.output, model.tensor(*result.forward, MEKIK_OUTPUT));
  const MekikTensor &in = *result.input, &out = *result.output;
  bool isFloat = out.type == MEKIK_F32 || out.type == MEKIK_F64;
  bool isTokens = in.type == MEKIK_I32 && in.rank == 2 && in.shape[0] > 0 && in.shape[1] > 0;
  result.everyPosition = out.rank == 3;
  bool fits = isTokens && isFloat && out.shape[0] == in.shape[0] &&
              (out.rank == 2 || (out.rank == 3 && out.shape[1] == in.shape[1]));
  if (!fits)
    return base::failedPreconditionError(concat("model ", model.descriptor().name,
                                                " cannot be sampled: expected input i32[batch, context] and output "
                                                "[batch, context, vocabulary] or [batch, vocabulary], found ",
                                                in.name, ": ", model::describeTensor(in), " and ", out.name, ": ",
                                                model::describeTensor(out)));
  int64_t vocabulary = out.shape[out.rank - 1];
  if (vocabulary != tokenizer.size())
    return base::failedPreconditionError(concat("model ", model.descriptor().name, " predicts ", vocabulary,
                                                " symbols, the tokenizer has ", tokenizer.size()));
  result.context = in.shape[1];
  result.logits.resize(static_cast<size_t>(vocabulary));
  return result;
}

std::span<const double> Generator::nextLogits(std::span<const int32_t> ids, int32_t start) {
  auto *tokens = static_cast<int32_t *>(model.data(*input));
  memset(tokens, 0, input->bytes);
  int64_t used = std::min<int64_t>(context, static_cast<int64_t>(ids.size()));
  int64_t first = everyPosition ? 0 : context - used;
  std::fill(tokens, tokens + first, start);
  std::copy(ids.end() - used, ids.end(), tokens + first);
  for (uint64_t i = 0; i < forward->tensorCount; ++i) // a model may ask for the step even where it does not matter
    if (const MekikTensor &tensor = forward->tensors[i]; tensor.role == MEKIK_STEP || tensor.role == MEKIK_SEED)
      model.writeScalar(tensor, 0);
  model.call(*forward);
  size_t row = (everyPosition ? static_cast<size_t>(used - 1) : 0) * logits.size();
  if (output->type == MEKIK_F32) {
    const float *values = static_cast<const float *>(model.data(*output)) + row;
    std::copy(values, values + logits.size(), logits.begin());
  } else {
    const double *values = static_cast<const double *>(model.data(*output)) + row;
    std::copy(values, values + logits.size(), logits.begin());
  }
  return logits;
}

StatusOr<std::vector<int32_t>> Generator::begin(std::string_view text) const {
  MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> prompt, tokenizer.encode(text, "--prompt"));
  std::vector<int32_t> ids;
  if (tokenizer.endId() || prompt.empty())
    ids.push_back(tokenizer.defaultStart());
  ids.insert(ids.end(), prompt.begin(), prompt.end());
  return ids;
}

StatusOr<std::vector<double>> Generator::next(const GeneratorOptions &options) {
  MEKIK_RETURN_IF_ERROR(checkSamplerOptions(options.sampler));
  MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> ids, begin(options.prompt));
  return probabilities(nextLogits(ids, tokenizer.defaultStart()), options.sampler);
}

Status Generator::generate(uint32_t sample, const GeneratorOptions &options, const Output &write) {
  MEKIK_RETURN_IF_ERROR(checkSamplerOptions(options.sampler));
  MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> ids, begin(options.prompt));
  std::optional<int32_t> end = tokenizer.endId();
  int32_t start = tokenizer.defaultStart();
  if (!options.prompt.empty())
    MEKIK_RETURN_IF_ERROR(write(options.prompt));

  tokenizer::StreamDecoder decoder(tokenizer);
  for (int64_t position = 0; position < options.length; ++position) {
    MEKIK_ASSIGN_OR_RETURN(int32_t id, nextId(nextLogits(ids, start), options.sampler, options.seed, sample,
                                              static_cast<uint64_t>(position)));
    if (end && id == *end)
      break;
    ids.push_back(id);
    if (std::string text = decoder.append(id); !text.empty())
      MEKIK_RETURN_IF_ERROR(write(text));
  }
  if (std::string rest = decoder.finish(); !rest.empty())
    MEKIK_RETURN_IF_ERROR(write(rest));
  return {};
}

} // namespace mekik::sample
