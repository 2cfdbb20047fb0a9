// Builds the functions of a case and runs them.
#include "tests/ops/OpHarness.h"
#include "compiler/autodiff/Gradient.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace mekik::tests {

using numerics::ElementType;

namespace {

double formula(int64_t i, int64_t t, double scale, double offset) {
  int64_t r = (31 * i * i + (17 + 101 * t) * i + 389 * t + 7) % 1009;
  return offset + scale * static_cast<double>(r - 504) / 512;
}

int64_t countOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Value sumAll(graph::Build &build, Value x) {
  SmallVector<int64_t> axes;
  for (size_t axis = 0; axis < graph::shapeOf(x).size(); ++axis)
    axes.push_back(axis);
  return build.sum(x, axes);
}

} // namespace

Operand filled(std::vector<int64_t> shape, int64_t t, double scale, double offset) {
  Operand operand{shape, {}, false};
  for (int64_t i = 0; i < countOf(shape); ++i)
    operand.values.push_back(formula(i, t, scale, offset));
  return operand;
}
Operand numbers(std::vector<int64_t> shape, std::vector<double> values) { return {shape, values, false}; }
Operand integers(std::vector<int64_t> shape, std::vector<double> values) { return {shape, values, true}; }

Tensor filledLike(const Tensor &like, int64_t t, double scale, double offset) {
  Tensor tensor(like.type(), like.shape());
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setDouble(i, formula(i, t, scale, offset));
  return tensor;
}

OpCase::OpCase(std::vector<Operand> operands, const Body &body, bool isF64, bool withSecond) {
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  owned = ModuleOp::create(loc);
  Type real = isF64 ? Type(builder.getF64Type()) : Type(builder.getF32Type());
  ElementType element = isF64 ? ElementType::F64 : ElementType::F32;
  SmallVector<Type> types, floatTypes;
  for (auto [number, operand] : llvm::enumerate(operands)) {
    Tensor tensor(operand.isInteger ? ElementType::I32 : element, operand.shape);
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.setDouble(i, operand.values[i]);
    tensors.push_back(tensor);
    types.push_back(RankedTensorType::get(operand.shape, operand.isInteger ? builder.getI32Type() : real));
    if (!operand.isInteger) {
      floats.push_back(number);
      floatTypes.push_back(types.back());
    }
  }

  // Fills a function over `inputs` with what `emit` returns.
  auto addFunction = [&](StringRef name, TypeRange inputs, auto emit) {
    builder.setInsertionPointToEnd(owned->getBody());
    auto function = func::FuncOp::create(builder, loc, name, builder.getFunctionType(inputs, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    graph::Build build(builder, loc);
    SmallVector<Value> results = emit(build, block->getArguments());
    func::ReturnOp::create(builder, loc, results);
    function.setType(builder.getFunctionType(inputs, ValueRange(results).getTypes()));
  };
  // L and its gradients.
  auto emitFirst = [&](graph::Build &build, ValueRange arguments) {
    Value output = body(build, arguments.take_front(types.size()));
    Value loss = sumAll(build, build.mul(output, arguments[types.size()]));
    SmallVector<Value> wrt, results{output, loss};
    for (size_t number : floats)
      wrt.push_back(arguments[number]);
    auto gradients = autodiff::buildGradient(builder, loss, wrt);
    EXPECT_TRUE(succeeded(gradients)) << "no gradient";
    if (succeeded(gradients))
      llvm::append_range(results, *gradients);
    return results;
  };

  RankedTensorType resultType;
  addFunction("value", types, [&](graph::Build &build, ValueRange arguments) -> SmallVector<Value> {
    Value value = body(build, arguments);
    resultType = cast<RankedTensorType>(value.getType());
    return {value};
  });
  result = reference::zeros(resultType);
  SmallVector<Type> firstTypes(types);
  firstTypes.push_back(resultType);
  if (!floats.empty())
    addFunction("first", firstTypes, emitFirst);
  if (withSecond && !floats.empty()) {
    SmallVector<Type> secondTypes(firstTypes);
    llvm::append_range(secondTypes, floatTypes);
    addFunction("second", secondTypes, [&](graph::Build &build, ValueRange arguments) {
      SmallVector<Value> first = emitFirst(build, arguments.take_front(firstTypes.size()));
      Value total;
      for (auto [gradient, direction] :
           llvm::zip(ArrayRef(first).drop_front(2), arguments.drop_front(firstTypes.size()))) {
        Value part = sumAll(build, build.mul(gradient, direction));
        total = total ? build.add(total, part) : part;
      }
      SmallVector<Value> wrt, results{total};
      for (size_t number : floats)
        wrt.push_back(arguments[number]);
      auto gradients = autodiff::buildGradient(builder, total, wrt);
      EXPECT_TRUE(succeeded(gradients)) << "no gradient of second order";
      if (succeeded(gradients))
        llvm::append_range(results, *gradients);
      return results;
    });
  }
  EXPECT_TRUE(succeeded(verify(*owned)));
}

std::vector<Tensor> OpCase::run(const std::string &function, const std::vector<Tensor> &arguments) {
  auto results = reference::evaluate(owned->lookupSymbol<func::FuncOp>(function), arguments);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *std::move(results) : std::vector<Tensor>();
}

} // namespace mekik::tests
