// Rows of data tensors into the inputs and targets of the same names.
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include "runtime/train/DataTypes.h"
#include "runtime/train/Examples.h"
#include <algorithm>
#include <cstring>

namespace mekik::train {
namespace {

using base::concat;
using base::Status;

bool isFed(const MekikTensor &tensor) { return tensor.role == MEKIK_INPUT || tensor.role == MEKIK_TARGET; }

class TensorExamples final : public Examples {
public:
  TensorExamples(data::TensorData data, std::string hash, int64_t limit)
      : data(std::move(data)), hash(std::move(hash)), limit(limit) {}

  const std::string &dataHash() const override { return hash; }

  std::string describe() const override {
    return concat(base::formatCount(static_cast<uint64_t>(data.trainExamples())), " training and ",
                  base::formatCount(static_cast<uint64_t>(data.validationExamples())), " validation examples");
  }

  Status check(const model::Model &model, const MekikFunction &function) const override {
    for (uint64_t i = 0; i < function.tensorCount; ++i) {
      const MekikTensor &tensor = function.tensors[i];
      if (!isFed(tensor))
        continue;
      if (tensor.rank == 0 || tensor.shape[0] != batchSize(function))
        return base::failedPreconditionError(concat("function ", function.name, " of model ", model.descriptor().name,
                                                    " takes ", tensor.name, ": ", model::describeTensor(tensor),
                                                    "; the first axis of every input must be the batch of ",
                                                    batchSize(function)));
      MEKIK_RETURN_IF_ERROR(data.check({.name = tensor.name,
                                        .type = dataTypeOf(tensor.type),
                                        .exampleShape = {tensor.shape + 1, static_cast<size_t>(tensor.rank - 1)},
                                        .classes = tensor.classes}));
    }
    return {};
  }

  int64_t evaluationCount(const model::Model &, const MekikFunction &, Split split) const override {
    int64_t all = split == Split::Train ? data.trainExamples() : data.validationExamples();
    return limit > 0 ? std::min(all, limit) : all;
  }

  bool takesAll(const model::Model &, const MekikFunction &trainStep) const override {
    return batchSize(trainStep) == data.trainExamples();
  }

  void writeTraining(model::Model &model, const MekikFunction &function, uint64_t seed, int64_t step) const override {
    bool all = takesAll(model, function);
    for (int64_t row = 0; row < batchSize(function); ++row)
      writeRow(model, function, row,
               all ? row : data.exampleAt(seed, static_cast<uint64_t>(step), static_cast<uint64_t>(row)));
  }

  double writeEvaluation(model::Model &model, const MekikFunction &function, Split split, int64_t first) const override {
    for (int64_t row = 0; row < batchSize(function); ++row)
      writeRow(model, function, row, split == Split::Train ? first + row : data.validationExample(first + row));
    return 1;
  }

  base::StatusOr<CountedLoss> countedLoss(const model::Model &model, const MekikFunction &, int64_t) const override {
    return base::failedPreconditionError(concat("--baseline: model ", model.descriptor().name,
                                                " is not about text; there is "
                                                "nothing to count"));
  }

private:
  void writeRow(model::Model &model, const MekikFunction &function, int64_t row, int64_t index) const {
    for (uint64_t i = 0; i < function.tensorCount; ++i) {
      const MekikTensor &tensor = function.tensors[i];
      if (!isFed(tensor))
        continue;
      std::span<const uint8_t> bytes = data.example(tensor.name, index);
      memcpy(static_cast<unsigned char *>(model.data(tensor)) + static_cast<uint64_t>(row) * bytes.size(), bytes.data(),
             bytes.size());
    }
  }

  data::TensorData data;
  std::string hash;
  int64_t limit;
};

} // namespace

std::unique_ptr<Examples> makeTensorExamples(data::TensorData data, std::string dataHash, int64_t evaluationExamples) {
  return std::make_unique<TensorExamples>(std::move(data), std::move(dataHash), evaluationExamples);
}

} // namespace mekik::train
