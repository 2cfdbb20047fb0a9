#include "tests/models/CompiledModel.h"
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

using namespace mekik;
using namespace mekik::tests;

namespace {

driver::CompilerOptions optionsOf(const Settings &settings) {
  driver::CompilerOptions options;
  options.frontend.overrides = settings;
  options.gradientFunction = true;
  return options;
}

} // namespace

CompiledModel CompiledModel::fromFile(const std::string &name, const Settings &settings, int threads) {
  const char *source = std::getenv("MEKIK_SOURCE_DIR");
  std::string messages, path = std::string(source ? source : ".") + "/tests/models/" + name;
  auto compiler = driver::Compiler::fromFile(path, optionsOf(settings), messages);
  return load(std::move(compiler), std::move(messages), threads);
}

CompiledModel CompiledModel::fromText(const std::string &text, const Settings &settings, int threads) {
  std::string messages;
  auto compiler = driver::Compiler::fromSource(syntax::Source("test.mekik", text), optionsOf(settings), messages);
  return load(std::move(compiler), std::move(messages), threads);
}

CompiledModel CompiledModel::load(absl::StatusOr<std::unique_ptr<driver::Compiler>> compiler, std::string messages,
                                  int threads) {
  CompiledModel result;
  absl::StatusOr<std::string> object = compiler.ok() ? (*compiler)->object(messages) : compiler.status();
  auto code = object.ok() ? emit::LoadedModel::load(*object) : object.status();
  if (!code.ok()) {
    ADD_FAILURE() << messages << code.status();
    return result;
  }
  result.code = *std::move(code);
  auto model = model::Model::create(*result.code->model(), {.threads = threads, .fillWorkWithGarbage = true});
  if (model.ok())
    result.model = std::make_unique<model::Model>(*std::move(model));
  else
    ADD_FAILURE() << model.status().message();
  return result;
}

void CompiledModel::setParameter(const std::string &name, const std::vector<double> &values) {
  auto tensor = model->tensor(name);
  ASSERT_TRUE(tensor.ok()) << tensor.status().message();
  write(**tensor, values);
}

void CompiledModel::clearState() {
  for (uint64_t i = 0; i < code->model()->tensorCount; ++i)
    if (const MekikTensor &tensor = code->model()->tensors[i]; tensor.role == MEKIK_OPTIMIZER_STATE)
      std::memset(model->data(tensor), 0, tensor.bytes);
}

void CompiledModel::call(const std::string &name, int64_t step, uint64_t seed) {
  auto found = model->function(name);
  ASSERT_TRUE(found.ok()) << found.status().message();
  function = *found;
  for (uint64_t i = 0; i < function->tensorCount; ++i) {
    const MekikTensor &tensor = function->tensors[i];
    if (tensor.role == MEKIK_INPUT || tensor.role == MEKIK_TARGET)
      write(tensor, inputs[tensor.name]);
    else if (tensor.role == MEKIK_STEP)
      model->writeScalar(tensor, step);
    else if (tensor.role == MEKIK_SEED)
      model->writeScalar(tensor, static_cast<int64_t>(seed));
  }
  model->call(*function);
}

double CompiledModel::loss() {
  auto tensor = model->tensor(*function, MEKIK_LOSS);
  EXPECT_TRUE(tensor.ok()) << tensor.status().message();
  return tensor.ok() ? model->readScalar(**tensor) : 0;
}

std::vector<double> CompiledModel::output(const std::string &name) { return readResult(MEKIK_OUTPUT, name); }
std::vector<double> CompiledModel::probe(const std::string &name) { return readResult(MEKIK_PROBE, name); }
std::vector<double> CompiledModel::gradient(const std::string &name) { return readResult(MEKIK_GRADIENT, name); }

std::vector<double> CompiledModel::readResult(MekikRole role, const std::string &name) {
  for (uint64_t i = 0; i < function->tensorCount; ++i)
    if (function->tensors[i].role == role && function->tensors[i].name == name)
      return read(function->tensors[i]);
  ADD_FAILURE() << function->name << " has no result '" << name << "' of role " << role;
  return {};
}

std::vector<std::string> CompiledModel::parameterNames() const {
  std::vector<std::string> names;
  for (uint64_t i = 0; i < code->model()->tensorCount; ++i)
    if (code->model()->tensors[i].role == MEKIK_PARAMETER)
      names.push_back(code->model()->tensors[i].name);
  return names;
}

std::vector<int64_t> CompiledModel::parameterShape(const std::string &name) {
  auto tensor = model->tensor(name);
  return tensor.ok() ? std::vector<int64_t>((*tensor)->shape, (*tensor)->shape + (*tensor)->rank)
                     : std::vector<int64_t>{-1};
}

std::vector<double> CompiledModel::parameter(const std::string &name) {
  auto tensor = model->tensor(name);
  EXPECT_TRUE(tensor.ok()) << tensor.status().message();
  return tensor.ok() ? read(**tensor) : std::vector<double>();
}

void CompiledModel::write(const MekikTensor &tensor, const std::vector<double> &values) {
  ASSERT_EQ(model::elementCount(tensor), static_cast<int64_t>(values.size())) << tensor.name;
  void *data = model->data(tensor);
  for (size_t i = 0; i < values.size(); ++i)
    switch (tensor.type) {
    case MEKIK_F32: static_cast<float *>(data)[i] = static_cast<float>(values[i]); break;
    case MEKIK_F64: static_cast<double *>(data)[i] = values[i]; break;
    case MEKIK_I32: static_cast<int32_t *>(data)[i] = static_cast<int32_t>(values[i]); break;
    default: static_cast<uint8_t *>(data)[i] = values[i] != 0;
    }
}

std::vector<double> CompiledModel::read(const MekikTensor &tensor) {
  const void *data = model->data(tensor);
  std::vector<double> values;
  for (int64_t i = 0; i < model::elementCount(tensor); ++i)
    switch (tensor.type) {
    case MEKIK_F32: values.push_back(static_cast<const float *>(data)[i]); break;
    case MEKIK_F64: values.push_back(static_cast<const double *>(data)[i]); break;
    case MEKIK_I32: values.push_back(static_cast<const int32_t *>(data)[i]); break;
    default: values.push_back(static_cast<const uint8_t *>(data)[i]);
    }
  return values;
}
