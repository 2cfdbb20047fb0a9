// Calling a function of a model in the reference evaluator: arguments and results by role and name.
#ifndef MEKIK_TOOLS_MEKIK_FEED_H
#define MEKIK_TOOLS_MEKIK_FEED_H

#include "compiler/driver/Compiler.h"
#include "compiler/reference/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/base/Status.h"
#include <map>
#include <string>
#include <vector>

namespace mekik::tool {

struct Named {
  std::string role, name;
  reference::Tensor tensor;
  std::string type; // "f32[8, 16]"
};

/// What is known so far: parameters, inputs, targets, seed, step. The names of seed and step do not matter.
class Feed {
public:
  void set(const std::string &role, const std::string &name, reference::Tensor tensor);
  void setScalar(const std::string &role, int64_t value);
  const reference::Tensor *find(const std::string &role, const std::string &name) const;
  reference::Tensor *find(const std::string &role, const std::string &name);

  /// Results in order. NotFound naming an argument that was not set.
  base::StatusOr<std::vector<Named>> call(mlir::func::FuncOp function) const;

private:
  std::map<std::pair<std::string, std::string>, reference::Tensor> tensors;
};

struct Argument {
  std::string role, name;
  mlir::RankedTensorType type;
  int64_t classes = 0; // 0: not class ids
};
std::vector<Argument> argumentsOf(mlir::func::FuncOp function);

/// The function of that name. NotFound.
base::StatusOr<mlir::func::FuncOp> functionOf(mlir::ModuleOp module, llvm::StringRef name);

/// Calls @init of a module at stage Gradient, and keeps the parameters.
base::Status initialize(Feed &feed, mlir::ModuleOp module, uint64_t seed);

/// "f32[8, 16]"
std::string describe(mlir::RankedTensorType type);

} // namespace mekik::tool

#endif
