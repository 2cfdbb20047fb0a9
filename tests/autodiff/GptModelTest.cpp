// models/gpt/gpt.mekik through the front end and the derivation of its functions, run by the reference evaluator: the
// untrained loss, its independence of the form of the program, and training that learns one batch by heart.
#include "compiler/driver/Passes.h"
#include "compiler/frontend/Frontend.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/reference/Evaluator.h"
#include "compiler/syntax/Parser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <sstream>

using namespace mlir;
using namespace mekik;
using reference::Tensor;

namespace {

class Gpt {
public:
  explicit Gpt(std::map<std::string, std::string> overrides, bool withDrop = true)
      : source("gpt.mekik", withDrop ? read() : withoutDrop(read())), diagnostics(source),
        model(syntax::parse(source, diagnostics)) {
    overrides["vocab"] = "30";
    frontend::Options options;
    options.overrides = std::move(overrides);
    module = frontend::elaborate(model, options, diagnostics, context);
    if (!module) {
      ADD_FAILURE() << diagnostics.print();
      return;
    }
    PassManager passes(&context, ModuleOp::getOperationName());
    passes.addPass(createDeriveFunctions());
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    passes.addPass(createExpandComposites());
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    if (failed(passes.run(*module)))
      ADD_FAILURE() << "derivation failed";
  }

  func::FuncOp function(StringRef name) { return module->lookupSymbol<func::FuncOp>(name); }

  /// Stores every result that has a name and returns the one of role loss, if any.
  double call(StringRef name, int64_t step) {
    func::FuncOp op = function(name);
    std::vector<Tensor> arguments;
    for (unsigned i = 0; i < op.getNumArguments(); ++i) {
      Tensor &stored = tensors
                           .try_emplace(key(op.getArgAttrDict(i)),
                                        reference::zeros(cast<RankedTensorType>(op.getArgumentTypes()[i])))
                           .first->second;
      if (role(op.getArgAttrDict(i)) == "step" || role(op.getArgAttrDict(i)) == "seed")
        stored.setDouble(0, role(op.getArgAttrDict(i)) == "seed" ? 1 : static_cast<double>(step));
      arguments.push_back(stored);
    }
    auto results = reference::evaluate(op, arguments);
    EXPECT_TRUE(results.ok()) << results.status();
    double loss = NAN;
    for (unsigned i = 0; results.ok() && i < results->size(); ++i)
      if (role(op.getResultAttrDict(i)) == "loss")
        loss = (*results)[i].getDouble(0);
      else
        tensors.insert_or_assign(key(op.getResultAttrDict(i)), (*results)[i]);
    return loss;
  }

  void setBatch(StringRef name, int64_t start) {
    Tensor &tensor = tensors.at(name.str());
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.setDouble(i, static_cast<double>((i * i * 7 + 3 * i + start) % 30));
  }

  std::map<std::string, Tensor> tensors;

private:
  static std::string read() {
    std::ifstream file(std::string(std::getenv("MEKIK_SOURCE_DIR")) + "/models/gpt/gpt.mekik");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  /// The model with each `drop(x, dropout)` written as x.
  static std::string withoutDrop(const std::string &text) {
    return std::regex_replace(text, std::regex("drop\\((.*), dropout\\)"), "$1");
  }
  static StringRef role(DictionaryAttr attributes) { return attributes.getAs<StringAttr>(graph::kRole).getValue(); }
  static std::string key(DictionaryAttr attributes) {
    auto name = attributes.getAs<StringAttr>(graph::kName);
    return (name && !name.getValue().empty() ? name.getValue() : role(attributes)).str();
  }

  MLIRContext context;
  syntax::Source source;
  syntax::Diagnostics diagnostics;
  syntax::Model model;
  OwningOpRef<ModuleOp> module;
};

TEST(GptModel, LearnsOneBatchByHeartFromALossOfTheLogarithmOfItsVocabulary) {
  Gpt gpt({{"dropout", "0"}, {"batch", "2"}, {"context", "8"}, {"layers", "1"}});
  gpt.call(graph::kInitFunction, 0);
  // The first call makes the batch's tensors.
  double untrained = gpt.call(graph::kTrainStepFunction, 0);
  gpt.setBatch("tokens", 0);
  gpt.setBatch("next", 11);
  EXPECT_NEAR(untrained, std::log(30), 1);
  double first = gpt.call(graph::kTrainStepFunction, 1);
  double last = first;
  for (int64_t step = 2; step < 60; ++step)
    last = gpt.call(graph::kTrainStepFunction, step);
  EXPECT_NEAR(first, std::log(30), 1);
  EXPECT_LT(last, 0.2);
}

TEST(GptModel, DropOfRateZeroIsTheModelWithoutDropInEveryBit) {
  auto losses = [](const char *dropout, bool withDrop = true) {
    Gpt gpt({{"dropout", dropout}, {"batch", "1"}, {"context", "4"}, {"layers", "1"}}, withDrop);
    gpt.call(graph::kInitFunction, 0);
    std::vector<double> all;
    for (int64_t step = 0; step < 20; ++step)
      all.push_back(gpt.call(graph::kTrainStepFunction, step));
    return all;
  };
  EXPECT_EQ(losses("0"), losses("0", /*withDrop=*/false));
  EXPECT_NE(losses("0"), losses("0.2"));
}

} // namespace
