#include "tests/autodiff/Program.h"
#include "compiler/driver/Passes.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/reference/Evaluator.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace mekik::tests {

using reference::Tensor;

Program::Program(Precision precision, StringRef name)
    : moduleOp(ModuleOp::create(UnknownLoc::get(&context))), builder(&context),
      realType(precision == Precision::F64 ? Type(builder.getF64Type()) : Type(builder.getF32Type())),
      ops(builder, UnknownLoc::get(&context)) {
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  functionOp = func::FuncOp::create(UnknownLoc::get(&context), name, FunctionType::get(&context, {}, {}));
  moduleOp->push_back(functionOp);
  builder.setInsertionPointToEnd(functionOp.addEntryBlock());
}

Tensor Program::tensor(Type type, const Numbers &numbers) {
  Tensor result = reference::zeros(cast<RankedTensorType>(type));
  for (int64_t i = 0; i < result.size(); ++i)
    result.setDouble(i, numbers.data[i]);
  return result;
}

Numbers Program::numbers(const Tensor &tensor) {
  Numbers result{tensor.shape(), {}};
  for (int64_t i = 0; i < tensor.size(); ++i)
    result.data.push_back(tensor.getDouble(i));
  return result;
}

Value Program::argument(const Numbers &numbers, Type element, DictionaryAttr attributes) {
  auto type = RankedTensorType::get(numbers.shape, element ? element : realType);
  values.push_back(tensor(type, numbers));
  argumentAttributes.push_back(attributes ? attributes : builder.getDictionaryAttr({}));
  return functionOp.getBody().front().addArgument(type, ops.loc);
}

Value Program::ids(const std::vector<int64_t> &values, std::vector<int64_t> shape) {
  return argument({std::move(shape), std::vector<double>(values.begin(), values.end())}, builder.getI32Type());
}

void Program::finish(ArrayRef<Value> results, ArrayRef<DictionaryAttr> attributes) {
  func::ReturnOp::create(builder, ops.loc, results);
  functionOp.setType(
      builder.getFunctionType(functionOp.getBody().front().getArgumentTypes(), TypeRange(ValueRange(results))));
  functionOp.setAllArgAttrs(argumentAttributes);
  if (!attributes.empty())
    functionOp.setAllResultAttrs(attributes);
  EXPECT_TRUE(succeeded(verify(*moduleOp)));
}

bool Program::runPasses(std::vector<std::unique_ptr<Pass>> passes) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.str() + "\n";
    return success();
  });
  PassManager manager(&context, ModuleOp::getOperationName());
  for (auto &pass : passes)
    manager.addPass(std::move(pass));
  return succeeded(manager.run(*moduleOp));
}

func::FuncOp Program::function(StringRef name) { return moduleOp->lookupSymbol<func::FuncOp>(name); }

std::vector<Tensor> Program::evaluate(func::FuncOp function, const std::vector<Tensor> &arguments) {
  auto results = reference::evaluate(function, arguments);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *std::move(results) : std::vector<Tensor>();
}

std::vector<Numbers> Program::run(ArrayRef<Value> results) {
  finish(results);
  std::vector<Tensor> before = evaluate(functionOp, values);
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(createExpandComposites());
  passes.push_back(createCanonicalizerPass());
  passes.push_back(createCSEPass());
  EXPECT_TRUE(runPasses(std::move(passes))) << errors;
  std::vector<Tensor> after = evaluate(functionOp, values);
  EXPECT_EQ(before.size(), after.size());
  std::vector<Numbers> found;
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(std::equal(before[i].data(), before[i].data() + before[i].byteSize(), after[i].data()))
        << "expansion and simplification changed the bits of result " << i;
    found.push_back(numbers(before[i]));
  }
  return found;
}

namespace {

std::string keyOf(StringRef role, StringRef name) { return (role + " " + name).str(); }

std::string keyOf(DictionaryAttr attributes) {
  auto role = attributes.getAs<StringAttr>(graph::kRole);
  auto name = attributes.getAs<StringAttr>(graph::kName);
  return keyOf(role ? role.getValue() : "", name ? name.getValue() : "");
}

} // namespace

Training::Training(Precision precision, StringRef optimizer) : program(precision, graph::kTrainFunction) {
  MLIRContext *context = program.module().getContext();
  if (!optimizer.empty())
    program.module()->setAttr(graph::kOptimizer, parseAttribute(optimizer, context));
}

DictionaryAttr Training::attributes(StringRef role, const std::string &name) {
  Builder builder(program.module().getContext());
  SmallVector<NamedAttribute> entries = {builder.getNamedAttr(graph::kRole, builder.getStringAttr(role)),
                                         builder.getNamedAttr(graph::kName, builder.getStringAttr(name))};
  if (role == "parameter")
    entries.push_back(builder.getNamedAttr(
        graph::kInit, builder.getDictionaryAttr(builder.getNamedAttr("kind", builder.getStringAttr("zeros")))));
  return builder.getDictionaryAttr(entries);
}

Value Training::parameter(const std::string &name, const Numbers &start) {
  stored.insert_or_assign(keyOf("parameter", name), Program::tensor(program.realTensor(start.shape), start));
  return program.argument(start, {}, attributes("parameter", name));
}

Value Training::input(const std::string &name, const Numbers &example) {
  stored.insert_or_assign(keyOf("input", name), Program::tensor(program.realTensor(example.shape), example));
  return program.argument(example, {}, attributes("input", name));
}

Value Training::ids(const std::string &name, const std::vector<int64_t> &example, std::vector<int64_t> shape) {
  Type element = Builder(program.module().getContext()).getI32Type();
  Numbers numbers{shape, std::vector<double>(example.begin(), example.end())};
  stored.insert_or_assign(keyOf("input", name), Program::tensor(RankedTensorType::get(shape, element), numbers));
  return program.argument(numbers, element, attributes("input", name));
}

bool Training::finish(Value loss, Value output) {
  SmallVector<Value> results = {loss};
  SmallVector<DictionaryAttr> roles = {attributes("loss", "loss")};
  if (output) {
    results.push_back(output);
    roles.push_back(attributes("output", "output"));
  }
  program.finish(results, roles);
  // Used as it is trained: nothing here depends on batch or drop.
  auto eval = cast<func::FuncOp>(program.function(graph::kTrainFunction)->clone());
  eval.setName(graph::kEvalFunction);
  program.module().push_back(eval);
  std::vector<std::unique_ptr<Pass>> passes;
  DeriveFunctionsOptions options;
  options.gradientFunction = true;
  passes.push_back(createDeriveFunctions(options));
  passes.push_back(createCanonicalizerPass());
  passes.push_back(createCSEPass());
  passes.push_back(createExpandComposites());
  passes.push_back(createCanonicalizerPass());
  passes.push_back(createCSEPass());
  return program.runPasses(std::move(passes));
}

void Training::set(const std::string &name, const Numbers &value) {
  Tensor &tensor = stored.at(keyOf("input", name));
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setDouble(i, value.data[i]);
}

std::vector<Tensor> Training::gather(func::FuncOp function, int64_t it) {
  std::vector<Tensor> arguments;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    std::string key = keyOf(function.getArgAttrDict(i));
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (key == "step " || key == "seed ")
      arguments.push_back(Program::tensor(type, {{}, {static_cast<double>(it)}}));
    else if (auto found = stored.find(key); found != stored.end())
      arguments.push_back(found->second);
    else
      arguments.push_back(reference::zeros(type)); // state before the first step
  }
  return arguments;
}

Training::Step Training::step(int64_t it) {
  func::FuncOp function = program.function(graph::kTrainStepFunction);
  std::vector<Tensor> results = Program::evaluate(function, gather(function, it));
  for (unsigned i = 2; i < results.size(); ++i)
    stored.insert_or_assign(keyOf(function.getResultAttrDict(i)), results[i]);
  return {results[0].getDouble(0), results[1].getDouble(0)};
}

Numbers Training::output() {
  func::FuncOp function = program.function(graph::kForwardFunction);
  return Program::numbers(Program::evaluate(function, gather(function, 0)).front());
}

std::map<std::string, Numbers> Training::gradients() {
  func::FuncOp function = program.function(graph::kGradientFunction);
  std::vector<Tensor> results = Program::evaluate(function, gather(function, 0));
  std::map<std::string, Numbers> found{{"loss", Program::numbers(results[0])}};
  for (unsigned i = 1; i < results.size(); ++i)
    found[function.getResultAttrOfType<StringAttr>(i, graph::kName).getValue().str()] = Program::numbers(results[i]);
  return found;
}

Value crossEntropy(graph::Build &build, Value logits, Value targets) {
  return graph::CrossEntropyOp::create(build.builder, build.loc, logits, targets, build.builder.getStringAttr("mean"),
                                       IntegerAttr(), build.builder.getF64FloatAttr(0));
}

double worst(const Numbers &found, const Numbers &wanted, double absolute, double relative) {
  EXPECT_EQ(found.shape, wanted.shape);
  if (found.data.size() != wanted.data.size())
    return INFINITY;
  double most = 0;
  for (size_t i = 0; i < found.data.size(); ++i) {
    double a = found.data[i], b = wanted.data[i];
    double excess = a == b ? 0 : std::abs(a - b) / (absolute + relative * std::abs(b));
    most = std::max(most, std::isnan(excess) ? INFINITY : excess);
  }
  return most;
}

} // namespace mekik::tests
