#include "runtime/sample/Attention.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Utf8.h"
#include <algorithm>
#include <cstring>

namespace mekik::sample {

using base::concat;
using base::StatusOr;

namespace {

/// A symbol in one piece and visible, whatever its bytes are.
std::string visible(std::string_view bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size();) {
    base::Utf8Step step = base::decodeUtf8(bytes, at);
    std::string_view piece = bytes.substr(at, step.length);
    constexpr char digits[] = "0123456789ABCDEF";
    if (piece == " ")
      text += "␣";
    else if (piece == "\n")
      text += "↵";
    else if (step.valid && step.codePoint >= 32 && step.codePoint != 127)
      text += piece;
    else
      for (char byte : piece)
        base::append(text, "\\x", digits[static_cast<unsigned char>(byte) >> 4],
                     digits[static_cast<unsigned char>(byte) & 15]);
    at += step.length;
  }
  return text;
}

bool isSquare(const MekikTensor &tensor, int64_t context) {
  return tensor.role == MEKIK_PROBE && (tensor.type == MEKIK_F32 || tensor.type == MEKIK_F64) && tensor.rank >= 2 &&
         tensor.shape[tensor.rank - 1] == context && tensor.shape[tensor.rank - 2] == context;
}

double elementAt(const model::Model &model, const MekikTensor &tensor, int64_t index) {
  const void *data = model.data(tensor);
  return tensor.type == MEKIK_F32 ? static_cast<double>(static_cast<const float *>(data)[index])
                                  : static_cast<const double *>(data)[index];
}

} // namespace

StatusOr<Attention> attentionOf(model::Model &model, const tokenizer::Tokenizer &tokenizer, std::string_view text,
                                std::string_view probe) {
  MEKIK_ASSIGN_OR_RETURN(const MekikFunction *forward, model.function("forward"));
  MEKIK_ASSIGN_OR_RETURN(const MekikTensor *input, model.tensor(*forward, MEKIK_INPUT));
  if (input->type != MEKIK_I32 || input->rank != 2 || input->shape[0] < 1)
    return base::failedPreconditionError(concat("model ", model.descriptor().name,
                                                " does not read text: expected an "
                                                "input i32[batch, context], found ",
                                                input->name, ": ", model::describeTensor(*input)));
  int64_t context = input->shape[1];
  std::vector<const MekikTensor *> probes;
  std::string known;
  for (uint64_t i = 0; i < forward->tensorCount; ++i) {
    const MekikTensor &tensor = forward->tensors[i];
    if (!isSquare(tensor, context))
      continue;
    base::append(known, known.empty() ? "" : ", ", tensor.name);
    if (probe.empty() || probe == tensor.name)
      probes.push_back(&tensor);
  }
  if (probes.empty())
    return base::notFoundError(
        known.empty()
            ? concat("model ", model.descriptor().name, " has no probe of shape [..., ", context, ", ", context,
                     "]; name its attention weights in the model: probe weights = softmax(...)")
            : concat("model ", model.descriptor().name, " has no attention weights ", probe, "; it has ", known));

  MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> ids, tokenizer.encode(text, "--prompt"));
  if (tokenizer.endId())
    ids.insert(ids.begin(), *tokenizer.endId());
  if (ids.empty())
    return base::invalidArgumentError("--prompt: expected a text to look at, found none");
  Attention result;
  if (static_cast<int64_t>(ids.size()) > context) {
    result.dropped = ids.size() - static_cast<size_t>(context);
    ids.erase(ids.begin(), ids.end() - context);
  }
  int64_t count = static_cast<int64_t>(ids.size());
  for (int32_t id : ids)
    result.symbols.push_back(visible(tokenizer.bytesOf(id)));

  auto *tokens = static_cast<int32_t *>(model.data(*input));
  memset(tokens, 0, input->bytes);
  std::copy(ids.begin(), ids.end(), tokens);
  for (uint64_t i = 0; i < forward->tensorCount; ++i)
    if (const MekikTensor &tensor = forward->tensors[i]; tensor.role == MEKIK_STEP || tensor.role == MEKIK_SEED)
      model.writeScalar(tensor, 0);
  model.call(*forward);
  for (const MekikTensor *tensor : probes) {
    int64_t heads = model::elementCount(*tensor) / (context * context);
    for (int64_t head = 0; head < heads; ++head) {
      AttentionHead one{tensor->name, head, heads, {}};
      for (int64_t row = 0; row < count; ++row)
        for (int64_t column = 0; column < count; ++column)
          one.weights.push_back(elementAt(model, *tensor, (head * context + row) * context + column));
      result.heads.push_back(std::move(one));
    }
  }
  return result;
}

} // namespace mekik::sample
