// From the model as written, @train and @eval, to the functions a trainer calls.
#include "compiler/autodiff/Gradient.h"
#include "compiler/autodiff/ModelFunction.h"
#include "compiler/autodiff/Optimizer.h"
#include "compiler/graph/Build.h"
#include "compiler/graph/ModelConventions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "runtime/abi/MekikPhilox.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace mekik {
#define GEN_PASS_DECL_DERIVEFUNCTIONS
#define GEN_PASS_DEF_DERIVEFUNCTIONS
#include "compiler/driver/Passes.h.inc"
} // namespace mekik

using namespace mekik;
using namespace mekik::autodiff;
using graph::Build;

namespace {

/// One initializer: a value of the parameter's type.
FailureOr<Value> buildInitial(Build &build, Type type, DictionaryAttr init, int64_t position, Value seed, Value step) {
  auto kind = init ? init.getAs<StringAttr>("kind") : StringAttr();
  auto number = [&](StringRef key) {
    auto found = init.getAs<FloatAttr>(key);
    return found ? found.getValueAsDouble() : 0;
  };
  StringRef name = kind ? kind.getValue() : StringRef();
  int64_t stream = MEKIK_STREAM_INIT + 2 * position;
  if (name == "zeros")
    return build.constant(type, 0);
  if (name == "ones")
    return build.constant(type, 1);
  if (name == "constant")
    return build.constant(type, number("a"));
  if (name == "normal") {
    Value x = build.randomNormal(type, seed, step, stream);
    return build.mul(x, number("a"));
  }
  if (name == "uniform") {
    Value x = build.random(type, seed, step, stream);
    return build.add(build.mul(x, number("b") - number("a")), number("a"));
  }
  return emitError(build.loc) << "expects " << graph::kInit << " of kind zeros, ones, constant, normal or uniform, got "
                              << init;
}

/// Values of the block that depend on one of `roots`.
llvm::DenseSet<Value> dependentsOf(Block &block, ArrayRef<BlockArgument> roots) {
  llvm::DenseSet<Value> dependents;
  dependents.insert(roots.begin(), roots.end());
  for (Operation &op : block)
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return dependents.contains(operand); }))
      dependents.insert(op.result_begin(), op.result_end());
  return dependents;
}

class DeriveFunctions : public mekik::impl::DeriveFunctionsBase<DeriveFunctions> {
public:
  using DeriveFunctionsBase::DeriveFunctionsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto train = module.lookupSymbol<func::FuncOp>(graph::kTrainFunction);
    auto eval = module.lookupSymbol<func::FuncOp>(graph::kEvalFunction);
    if (failed(derive(module, train, eval)))
      return signalPassFailure();
    if (train)
      train.erase();
    if (eval)
      eval.erase();
  }

private:
  LogicalResult derive(ModuleOp module, func::FuncOp train, func::FuncOp eval);
  LogicalResult deriveInit(ModelFunction source);
  void deriveForward(ModelFunction eval);
  void deriveLoss(ModelFunction eval);
  LogicalResult deriveGradient(ModelFunction train);
  LogicalResult deriveTrainStep(ModelFunction train, const Optimizer &optimizer);
  /// Gradients of all parameters, built before the return: zeros for one without influence on the loss, of which the
  /// front end warns.
  FailureOr<SmallVector<Value>> gradients(ModelFunction function, Value loss);
};

LogicalResult DeriveFunctions::derive(ModuleOp module, func::FuncOp train, func::FuncOp eval) {
  for (func::FuncOp function : {train, eval})
    if (function && failed(ModelFunction(function).check()))
      return failure();
  if (train || eval)
    if (failed(deriveInit(ModelFunction(train ? train : eval))))
      return failure();
  if (eval) {
    deriveForward(ModelFunction(eval));
    deriveLoss(ModelFunction(eval));
  }
  if (!train || ModelFunction(train).results("loss").empty())
    return success();
  if (gradientFunction && failed(deriveGradient(ModelFunction(train))))
    return failure();
  auto settings = module->getAttrOfType<DictionaryAttr>(graph::kOptimizer);
  if (!settings)
    return success();
  FailureOr<Optimizer> optimizer = Optimizer::read(settings, train.getLoc());
  if (failed(optimizer))
    return failure();
  return deriveTrainStep(ModelFunction(train), *optimizer);
}

LogicalResult DeriveFunctions::deriveInit(ModelFunction source) {
  ModelFunction init = ModelFunction::create(getOperation(), source.loc(), graph::kInitFunction);
  Value seed = init.scalarArgument("seed");
  Value step = init.scalarArgument("step");
  OpBuilder builder(init.body().getTerminator());
  SmallVector<Result> results;
  for (auto [position, parameter] : llvm::enumerate(source.arguments("parameter"))) {
    Build build(builder, parameter.getLoc());
    auto attribute = source.op().getArgAttrOfType<DictionaryAttr>(parameter.getArgNumber(), graph::kInit);
    FailureOr<Value> value =
        buildInitial(build, parameter.getType(), attribute, static_cast<int64_t>(position), seed, step);
    if (failed(value))
      return failure();
    results.push_back({*value, ModelFunction::attributes(&getContext(), "parameter", source.name(parameter))});
  }
  init.finish(results);
  return success();
}

void DeriveFunctions::deriveForward(ModelFunction eval) {
  ModelFunction forward = ModelFunction::copy(eval, graph::kForwardFunction);
  SmallVector<Result> results = forward.results("output");
  results.append(forward.results("probe"));
  // Where the model is used there are no targets: what needs them is left out.
  llvm::DenseSet<Value> unknown = dependentsOf(forward.body(), forward.arguments("target"));
  llvm::erase_if(results, [&](const Result &result) { return unknown.contains(result.value); });
  if (results.empty())
    return forward.op().erase();
  forward.finish(results);
}

void DeriveFunctions::deriveLoss(ModelFunction eval) {
  if (eval.results("loss").empty())
    return;
  ModelFunction loss = ModelFunction::copy(eval, graph::kLossFunction);
  loss.finish(loss.results("loss"));
}

FailureOr<SmallVector<Value>> DeriveFunctions::gradients(ModelFunction function, Value loss) {
  SmallVector<BlockArgument> parameters = function.arguments("parameter");
  SmallVector<Value> wrt(parameters.begin(), parameters.end());
  OpBuilder builder(function.body().getTerminator());
  return buildGradient(builder, loss, wrt);
}

LogicalResult DeriveFunctions::deriveGradient(ModelFunction train) {
  ModelFunction function = ModelFunction::copy(train, graph::kGradientFunction);
  SmallVector<Result> results = function.results("loss");
  FailureOr<SmallVector<Value>> built = gradients(function, results.front().value);
  if (failed(built))
    return failure();
  // buildGradient may have replaced the loss by its expansion.
  results = function.results("loss");
  for (auto [parameter, gradient] : llvm::zip_equal(function.arguments("parameter"), *built))
    results.push_back({gradient, ModelFunction::attributes(&getContext(), "gradient", function.name(parameter))});
  function.finish(results);
  return success();
}

LogicalResult DeriveFunctions::deriveTrainStep(ModelFunction train, const Optimizer &optimizer) {
  MLIRContext *context = &getContext();
  ModelFunction function = ModelFunction::copy(train, graph::kTrainStepFunction);
  FailureOr<SmallVector<Value>> built = gradients(function, function.results("loss").front().value);
  if (failed(built))
    return failure();

  auto parameters = function.arguments("parameter");
  SmallVector<Type> stateTypes;
  SmallVector<DictionaryAttr> stateAttributes;
  SmallVector<Location> stateLocations;
  for (BlockArgument parameter : parameters)
    for (StringRef kind : optimizer.stateKinds()) {
      std::string name = (kind + "/" + function.name(parameter)).str();
      stateTypes.push_back(parameter.getType());
      stateAttributes.push_back(ModelFunction::attributes(context, "state", name));
      stateLocations.push_back(parameter.getLoc());
    }
  unsigned position = parameters.empty() ? 0 : parameters.back().getArgNumber() + 1;
  ArrayRef<BlockArgument> states = function.insertArguments(position, stateTypes, stateAttributes, stateLocations);

  SmallVector<Trained> trained;
  for (auto [parameter, gradient] : llvm::zip_equal(parameters, *built)) {
    size_t count = optimizer.stateKinds().size();
    trained.push_back({parameter, gradient, llvm::to_vector_of<Value>(states.take_front(count))});
    states = states.drop_front(count);
  }

  Value step = function.scalarArgument("step");
  OpBuilder builder(function.body().getTerminator());
  Value rate = buildRate(builder, function.loc(), optimizer.rate, step);
  buildUpdate(builder, function.loc(), optimizer, rate, step, trained);

  SmallVector<Result> results = function.results("loss");
  results.push_back({rate, ModelFunction::attributes(context, "rate")});
  for (auto [parameter, one] : llvm::zip_equal(parameters, trained))
    results.push_back({one.parameter, ModelFunction::attributes(context, "parameter", function.name(parameter))});
  const auto *attributes = stateAttributes.begin();
  for (Trained &one : trained)
    for (Value state : one.state)
      results.push_back({state, *attributes++});
  function.finish(results);
  return success();
}

} // namespace
