// A graph function built in a test, and what the reference evaluator makes of it.
#ifndef MEKIK_TESTS_AUTODIFF_PROGRAM_H
#define MEKIK_TESTS_AUTODIFF_PROGRAM_H

#include "compiler/graph/Build.h"
#include "compiler/reference/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"
#include "tests/autodiff/Oracle.h"
#include <map>
#include <string>

namespace mekik::tests {

enum class Precision { F32, F64 };

/// Owns a context with the dialects, a module and a function @name of it whose arguments appear as they are asked for.
class Program {
public:
  explicit Program(Precision precision, llvm::StringRef name = "f");

  graph::Build &build() { return ops; }
  mlir::Type real() { return realType; }
  mlir::RankedTensorType realTensor(llvm::ArrayRef<int64_t> shape) {
    return mlir::RankedTensorType::get(shape, realType);
  }

  mlir::Value argument(const Numbers &numbers, mlir::Type element = {}, mlir::DictionaryAttr attributes = {});
  mlir::Value ids(const std::vector<int64_t> &values, std::vector<int64_t> shape);

  /// Ends the function with these results. `attributes`: none, or one a result.
  void finish(llvm::ArrayRef<mlir::Value> results, llvm::ArrayRef<mlir::DictionaryAttr> attributes = {});
  /// Runs passes over the module; false, with the errors in `errors`, if it fails.
  bool runPasses(std::vector<std::unique_ptr<mlir::Pass>> passes);

  mlir::func::FuncOp function(llvm::StringRef name);
  mlir::ModuleOp module() { return *moduleOp; }

  /// Ends the function, evaluates it for the arguments' numbers as it stands and again with composites expanded and the
  /// graph simplified, and expects the same bits both times.
  std::vector<Numbers> run(llvm::ArrayRef<mlir::Value> results);

  static std::vector<reference::Tensor> evaluate(mlir::func::FuncOp function,
                                                 const std::vector<reference::Tensor> &arguments);
  static reference::Tensor tensor(mlir::Type type, const Numbers &numbers);
  static Numbers numbers(const reference::Tensor &tensor);

  std::string errors;

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> moduleOp;
  mlir::func::FuncOp functionOp;
  mlir::OpBuilder builder;
  mlir::Type realType;
  graph::Build ops;
  std::vector<reference::Tensor> values;
  std::vector<mlir::DictionaryAttr> argumentAttributes;
};

/// A model under training: @train with roles and names, turned into @train_step by the pass, stepped by the evaluator.
class Training {
public:
  Training(Precision precision, llvm::StringRef optimizer);

  Program program;

  mlir::Value parameter(const std::string &name, const Numbers &start);
  /// The numbers are given again at every step.
  mlir::Value input(const std::string &name, const Numbers &example);
  mlir::Value ids(const std::string &name, const std::vector<int64_t> &example, std::vector<int64_t> shape);
  /// Derives @train_step and @gradient, and @forward if there is an output; false if a pass fails (program.errors).
  bool finish(mlir::Value loss, mlir::Value output = {});

  void set(const std::string &name, const Numbers &value);
  struct Step {
    double loss;
    double rate;
  };
  Step step(int64_t it);
  /// Loss (name "loss") and gradients by parameter name.
  std::map<std::string, Numbers> gradients();
  Numbers output();
  Numbers parameterNow(const std::string &name) { return Program::numbers(stored.at("parameter " + name)); }
  const reference::Tensor &bytesOf(const std::string &name) { return stored.at("parameter " + name); }

private:
  mlir::DictionaryAttr attributes(llvm::StringRef role, const std::string &name);
  std::vector<reference::Tensor> gather(mlir::func::FuncOp function, int64_t it);

  /// By role and name.
  std::map<std::string, reference::Tensor> stored;
};

/// The mean cross-entropy.
mlir::Value crossEntropy(graph::Build &build, mlir::Value logits, mlir::Value targets);

/// Largest violation of |found - wanted| <= absolute + relative |wanted|, as a multiple of the bound; NaN counts as
/// infinitely wrong, and infinities must be equal.
double worst(const Numbers &found, const Numbers &wanted, double absolute, double relative);

} // namespace mekik::tests

#endif
