// A model brought through the whole compiler into this process, to be called as the runtime calls it, its work memory full
// of garbage before every call.
#ifndef MEKIK_TESTS_MODELS_COMPILED_MODEL_H
#define MEKIK_TESTS_MODELS_COMPILED_MODEL_H

#include "compiler/driver/Compiler.h"
#include "compiler/emit/LoadedModel.h"
#include "runtime/model/Model.h"
#include <map>
#include <string>
#include <vector>

namespace mekik::tests {

using Settings = std::map<std::string, std::string>; ///< values of -D

/// Errors become failures of the test; `good()` says whether the rest makes sense.
class CompiledModel {
public:
  /// A file of tests/models, and source text.
  static CompiledModel fromFile(const std::string &name, const Settings &settings = {}, int threads = 1);
  static CompiledModel fromText(const std::string &text, const Settings &settings = {}, int threads = 1);

  bool good() const { return model != nullptr; }

  /// What `call` writes to the inputs and targets of a function, by name; they stay until set again.
  void set(const std::string &name, std::vector<double> values) { inputs[name] = std::move(values); }
  void setParameter(const std::string &name, const std::vector<double> &values);
  /// Optimizer state as before the first step: zero.
  void clearState();
  /// Runs a function of the model.
  void call(const std::string &function, int64_t step = 0, uint64_t seed = 1);

  // Of the last call.
  double loss();
  std::vector<double> output(const std::string &name);
  std::vector<double> probe(const std::string &name);
  std::vector<double> gradient(const std::string &name);

  std::vector<std::string> parameterNames() const;
  std::vector<int64_t> parameterShape(const std::string &name);
  std::vector<double> parameter(const std::string &name);
  bool hasFunction(const std::string &name) const { return model->hasFunction(name); }

private:
  static CompiledModel load(absl::StatusOr<std::unique_ptr<driver::Compiler>> compiler, std::string messages, int threads);
  void write(const MekikTensor &tensor, const std::vector<double> &values);
  std::vector<double> read(const MekikTensor &tensor);
  std::vector<double> readResult(MekikRole role, const std::string &name);

  std::unique_ptr<emit::LoadedModel> code;
  std::unique_ptr<model::Model> model;
  const MekikFunction *function = nullptr;
  std::map<std::string, std::vector<double>> inputs;
};

} // namespace mekik::tests

#endif
