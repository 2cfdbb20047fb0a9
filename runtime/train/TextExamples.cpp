// Windows of ids into the inputs of a language model.
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include "runtime/ngram/Ngram.h"
#include "runtime/train/Examples.h"
#include <algorithm>

namespace mekik::train {
namespace {

using base::concat;
using base::Status;

// What a target is where a window has no symbol: no id, so a loss can leave it out.
constexpr int32_t nothing = -1;

class TextExamples final : public Examples {
public:
  TextExamples(data::TextData data, std::string hash, const tokenizer::Tokenizer &tokenizer, int64_t evaluationSymbols)
      : data(std::move(data)), hash(std::move(hash)), tokenizer(tokenizer), evaluationSymbols(evaluationSymbols) {}

  const std::string &dataHash() const override { return hash; }

  std::string describe() const override {
    return concat(base::formatCount(data.train().size()), " training and ", base::formatCount(data.validation().size()),
                  " validation symbols");
  }

  Status check(const model::Model &model, const MekikFunction &function) const override {
    MEKIK_ASSIGN_OR_RETURN(const MekikTensor *input, model.tensor(function, MEKIK_INPUT));
    MEKIK_ASSIGN_OR_RETURN(const MekikTensor *target, model.tensor(function, MEKIK_TARGET));
    bool fits = input->type == MEKIK_I32 && target->type == MEKIK_I32 && input->rank == 2 && input->shape[0] > 0 &&
                input->shape[1] > 0 && (target->rank == 1 || target->rank == 2) &&
                target->shape[0] == input->shape[0] && (target->rank == 1 || target->shape[1] == input->shape[1]);
    if (!fits)
      return base::failedPreconditionError(
          concat("text cannot feed function ", function.name, " of model ", model.descriptor().name,
                 ": expected input i32[batch, context] and target i32[batch, context] or i32[batch], found ",
                 input->name, ": ", model::describeTensor(*input), " and ", target->name, ": ",
                 model::describeTensor(*target), "; give the data as tensors in a .safetensors file"));
    for (const MekikTensor *tensor : {input, target})
      if (tensor->classes > 0 && tensor->classes < tokenizer.size())
        return base::failedPreconditionError(concat("model ", model.descriptor().name, " takes ids below ",
                                                    tensor->classes, " as ", tensor->name, ", the tokenizer has ",
                                                    tokenizer.size(), " symbols (", tokenizer.describe(), ")"));
    if (data.layoutUsed() == data::Layout::Examples && (target->rank != 2 || target->classes > 0))
      return base::failedPreconditionError(
          concat("lines as examples of their own leave the rest of a window empty, and model ", model.descriptor().name,
                 target->rank != 2 ? concat(" has the target ", target->name, ": ", model::describeTensor(*target),
                                            ", where i32[batch, context] is expected")
                                   : concat(" counts all of it: its loss must leave out targets of -1, as "
                                            "cross_entropy(..., ignore = -1) does, and ",
                                            target->name, " must not be declared `below`")));
    return target->rank == 1 ? data.checkTargets(input->shape[1]) : data.checkContext(input->shape[1]);
  }

  int64_t evaluationCount(const model::Model &model, const MekikFunction &function, Split split) const override {
    int64_t length = context(model, function);
    return isSingle(model, function) ? data.targetCount(part(split), length, evaluationSymbols)
                                     : static_cast<int64_t>(windows(split, length).size());
  }

  bool takesAll(const model::Model &model, const MekikFunction &trainStep) const override {
    int64_t length = context(model, trainStep);
    return data.layoutUsed() != data::Layout::Examples &&
           batchSize(trainStep) ==
               (isSingle(model, trainStep) ? data.targetCount(data.train(), length) : data.startCount(length));
  }

  void writeTraining(model::Model &model, const MekikFunction &function, uint64_t seed, int64_t step) const override {
    int64_t batch = batchSize(function), length = context(model, function);
    bool all = takesAll(model, function), single = isSingle(model, function);
    auto number = static_cast<uint64_t>(step);
    for (int64_t row = 0; row < batch; ++row) {
      auto example = static_cast<uint64_t>(row);
      if (single)
        writeTarget(model, function, row, data.train(), all ? row : data.targetIndexAt(seed, number, example, length));
      else
        writeRow(model, function, row,
                 all ? data.windowFrom(row, length) : data.windowAt(seed, number, example, length));
    }
  }

  double writeEvaluation(model::Model &model, const MekikFunction &function, Split split, int64_t first) const override {
    int64_t batch = batchSize(function), length = context(model, function);
    if (isSingle(model, function)) {
      for (int64_t row = 0; row < batch; ++row)
        writeTarget(model, function, row, part(split), first + row);
      return 1;
    }
    size_t targets = 0;
    for (int64_t row = 0; row < batch; ++row) {
      const data::Window &window = windows(split, length)[static_cast<size_t>(first + row)];
      writeRow(model, function, row, window);
      targets += window.target.size();
    }
    return static_cast<double>(targets) / static_cast<double>(batch * length);
  }

  base::StatusOr<CountedLoss> countedLoss(const model::Model &model, const MekikFunction &function,
                                          int64_t order) const override {
    ngram::Ngram counted(data.train(), tokenizer.endId(), tokenizer.size(), order);
    auto lossOf = [&](Split split) {
      int64_t length = context(model, function), batch = batchSize(function);
      auto count = static_cast<size_t>(evaluationCount(model, function, split) / batch * batch);
      // A window has one target, the symbol behind it, or each of its symbols has one.
      if (isSingle(model, function))
        return counted.loss(part(split), 1, ngram::Places{static_cast<size_t>(data.firstTarget(length)), 1, count}).mean;
      size_t symbols = 0;
      for (size_t i = 0; i < count; ++i) // windows follow each other without a gap, whatever their length
        symbols += windows(split, length)[i].input.size();
      return counted.loss(part(split), 1, ngram::Places{1, 1, symbols}).mean;
    };
    CountedLoss result{.train = lossOf(Split::Train), .validation = {}};
    if (!data.validation().empty())
      result.validation = lossOf(Split::Validation);
    return result;
  }

private:
  std::span<const int32_t> part(Split split) const { return split == Split::Train ? data.train() : data.validation(); }

  /// Made once for a context, which is the same in every function.
  const std::vector<data::Window> &windows(Split split, int64_t context) const {
    if (windowContext != context) {
      windowContext = context;
      trainWindows = data.evaluationWindows(false, context, evaluationSymbols);
      validationWindows = data.evaluationWindows(true, context, evaluationSymbols);
    }
    return split == Split::Train ? trainWindows : validationWindows;
  }

  static int64_t context(const model::Model &model, const MekikFunction &function) {
    return (*model.tensor(function, MEKIK_INPUT))->shape[1];
  }

  /// True for models that predict the symbol behind the window and no other.
  static bool isSingle(const model::Model &model, const MekikFunction &function) {
    return (*model.tensor(function, MEKIK_TARGET))->rank == 1;
  }

  static std::span<int32_t> rowOf(model::Model &model, const MekikTensor &tensor, int64_t row) {
    int64_t length = tensor.rank == 1 ? 1 : tensor.shape[1];
    return {static_cast<int32_t *>(model.data(tensor)) + row * length, static_cast<size_t>(length)};
  }

  /// Writes a window and, if it is shorter than the model's, what stands for nothing behind it.
  void writeRow(model::Model &model, const MekikFunction &function, int64_t row, const data::Window &window) const {
    std::span<int32_t> input = rowOf(model, **model.tensor(function, MEKIK_INPUT), row);
    std::span<int32_t> target = rowOf(model, **model.tensor(function, MEKIK_TARGET), row);
    std::fill(std::copy(window.input.begin(), window.input.end(), input.begin()), input.end(), tokenizer.defaultStart());
    std::fill(std::copy(window.target.begin(), window.target.end(), target.begin()), target.end(), nothing);
  }

  void writeTarget(model::Model &model, const MekikFunction &function, int64_t row, std::span<const int32_t> ids,
                   int64_t index) const {
    std::span<int32_t> window = rowOf(model, **model.tensor(function, MEKIK_INPUT), row);
    rowOf(model, **model.tensor(function, MEKIK_TARGET), row)[0] = data.targetAt(ids, index, window);
  }

  data::TextData data;
  std::string hash;
  const tokenizer::Tokenizer &tokenizer;
  int64_t evaluationSymbols;
  mutable int64_t windowContext = 0;
  mutable std::vector<data::Window> trainWindows, validationWindows;
};

} // namespace

int64_t batchSize(const MekikFunction &function) {
  for (uint64_t i = 0; i < function.tensorCount; ++i)
    if (const MekikTensor &tensor = function.tensors[i]; tensor.role == MEKIK_INPUT && tensor.rank > 0)
      return std::max<int64_t>(1, tensor.shape[0]);
  return 1;
}

std::unique_ptr<Examples> makeTextExamples(data::TextData data, std::string dataHash,
                                           const tokenizer::Tokenizer &tokenizer, int64_t evaluationSymbols) {
  return std::make_unique<TextExamples>(std::move(data), std::move(dataHash), tokenizer, evaluationSymbols);
}

} // namespace mekik::train
