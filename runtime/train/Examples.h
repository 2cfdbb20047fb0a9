// What a training step and an evaluation see, written straight into the inputs of a compiled function. Text and tensor
// data differ only here.
#ifndef MEKIK_RUNTIME_TRAIN_EXAMPLES_H
#define MEKIK_RUNTIME_TRAIN_EXAMPLES_H

#include "runtime/data/TensorData.h"
#include "runtime/data/TextData.h"
#include "runtime/model/Model.h"
#include "runtime/tokenizer/Tokenizer.h"
#include <memory>
#include <optional>
#include <string>

namespace mekik::train {

enum class Split { Train, Validation };

/// What counting gets on the symbols that an evaluation reads.
struct CountedLoss {
  double train = 0;
  std::optional<double> validation; // empty if there is no validation part
};

class Examples {
public:
  virtual ~Examples() = default;

  /// SHA-256 of the data, hexadecimal: a resumed run must see the same.
  virtual const std::string &dataHash() const = 0;
  /// "4725 training and 559 validation symbols"
  virtual std::string describe() const = 0;
  /// OK if inputs and targets of `function` can be fed from this data. Errors say what the model wants and what there
  /// is.
  virtual base::Status check(const model::Model &model, const MekikFunction &function) const = 0;
  /// Number of examples that an evaluation of this split averages over; 0 if the split is empty by request.
  virtual int64_t evaluationCount(const model::Model &model, const MekikFunction &function, Split split) const = 0;
  /// True if the batch of `trainStep` is as large as the training part: then every step sees each example once, in
  /// order, and nothing is drawn. `trainStep` passed check.
  virtual bool takesAll(const model::Model &model, const MekikFunction &trainStep) const = 0;
  /// Writes the batch of the step, counted from 0. `function` passed check.
  virtual void writeTraining(model::Model &model, const MekikFunction &function, uint64_t seed, int64_t step) const = 0;
  /// Writes evaluation examples first, first + 1, ... until the batch is full. Returns the share of its targets that
  /// count: 1, or less where lines are shorter than their windows.
  virtual double writeEvaluation(model::Model &model, const MekikFunction &function, Split split,
                               int64_t first) const = 0;
  /// The loss of an n-gram of this order, counted on the training part with 1 added, on the same targets as evaluations
  /// with `function`. FailedPrecondition if the data are not text.
  virtual base::StatusOr<CountedLoss> countedLoss(const model::Model &model, const MekikFunction &function,
                                                  int64_t order) const = 0;
};

/// Windows of text for models with one input i32[batch, context] and one target i32[batch, context] (every next symbol)
/// or i32[batch] (the symbol after the window). An evaluation takes the first `evaluationSymbols` symbols of a part, in
/// windows that do not overlap or, for single targets, each of them; 0 takes all. `tokenizer` must outlive the result.
std::unique_ptr<Examples> makeTextExamples(data::TextData data, std::string dataHash,
                                           const tokenizer::Tokenizer &tokenizer, int64_t evaluationSymbols);

/// Tensors named like the inputs and targets of the model. An evaluation takes the first `evaluationExamples` examples
/// of a part; 0 takes all.
std::unique_ptr<Examples> makeTensorExamples(data::TensorData data, std::string dataHash, int64_t evaluationExamples);

/// Rows of the batch that `function` takes: the first axis of its inputs, at least 1.
int64_t batchSize(const MekikFunction &function);

} // namespace mekik::train

#endif
