// Parameters taken over from an earlier training, for a new run on other data or at another rate. The new run is one of
// its own: its steps, optimizer state and best start from nothing, and of the other run only numbers come over.
#ifndef MEKIK_RUNTIME_TRAIN_TRANSFER_H
#define MEKIK_RUNTIME_TRAIN_TRANSFER_H

#include "runtime/checkpoint/Safetensors.h"
#include "runtime/model/Model.h"
#include "runtime/tokenizer/Tokenizer.h"
#include <string>
#include <vector>

namespace mekik::train {

class Transfer {
public:
  /// Reads a checkpoint, or a plain safetensors file with the parameters by name, and checks it against the model:
  /// every parameter must be there, of the model's type. Its shape is the model's; where the program's tokenizer knows
  /// all symbols of the checkpoint's and further ones, axes of the old vocabulary's size stand for axes of the new
  /// one's. `tokenizer` may be null for models that are not about text. Errors name file and tensor or symbol.
  static base::StatusOr<Transfer> load(const std::string &path, const model::Model &model,
                                       const tokenizer::Tokenizer *tokenizer);

  /// Into a model whose `init` has run: rows of symbols that are new stay as they were initialized.
  void apply(model::Model &model) const;

  const std::string &origin() const { return file.origin(); }
  int64_t newSymbols() const { return added; }

private:
  explicit Transfer(checkpoint::Safetensors file) : file(std::move(file)) {}
  base::Status mapSymbols(const tokenizer::Tokenizer &theirs, const tokenizer::Tokenizer &ours);
  bool fits(std::span<const int64_t> theirs, std::span<const int64_t> ours) const;
  void copyBySymbol(const checkpoint::TensorEntry &from, const MekikTensor &to, unsigned char *data) const;

  checkpoint::Safetensors file;
  std::vector<int32_t> symbols; // the program's id of each id of the checkpoint; empty: the vocabulary is the same
  int64_t added = 0;
};

} // namespace mekik::train

#endif
