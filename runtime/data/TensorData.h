// Training data that is not text: tensors of a .safetensors file whose first axis counts examples. The tensors are
// named like the inputs and targets of the model.
#ifndef MEKIK_RUNTIME_DATA_TENSORDATA_H
#define MEKIK_RUNTIME_DATA_TENSORDATA_H

#include "runtime/base/Status.h"
#include "runtime/checkpoint/Safetensors.h"
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mekik::data {

/// What the model expects of one tensor: its shape without the batch axis.
struct TensorWanted {
  std::string_view name;
  checkpoint::DataType type;
  std::span<const int64_t> exampleShape;
  int64_t classes = 0; // every value in [0, classes); 0: not class ids
};

class TensorData {
public:
  /// `validation` in millionths, as in TextOptions. Errors: those of the file; no tensors; tensors that disagree about
  /// the number of examples; no examples to train with.
  static base::StatusOr<TensorData> load(const std::string &path, int64_t validation = 100000);

  int64_t examples() const { return count; }
  int64_t trainExamples() const { return trainCount; }
  int64_t validationExamples() const { return count - trainCount; }
  const checkpoint::Safetensors &file() const { return tensors; }

  /// OK if the file holds this tensor with this type and shape, every class id is in range, every float finite.
  base::Status check(const TensorWanted &wanted) const;
  /// The bytes of one example, 0 <= index < examples(); `name` passed check. Not aligned: copy before use.
  std::span<const uint8_t> example(std::string_view name, int64_t index) const;
  /// The training example that row `row` of step `step` sees, uniform over the training part.
  int64_t exampleAt(uint64_t seed, uint64_t step, uint64_t row) const;
  /// Index (for example()) of the i-th validation example.
  int64_t validationExample(int64_t i) const { return trainCount + i; }

private:
  TensorData(checkpoint::Safetensors tensors, int64_t count, int64_t trainCount)
      : tensors(std::move(tensors)), count(count), trainCount(trainCount) {}
  checkpoint::Safetensors tensors;
  int64_t count, trainCount;
};

} // namespace mekik::data

#endif
