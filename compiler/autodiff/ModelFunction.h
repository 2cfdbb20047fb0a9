// A function of a model seen through the roles of its arguments and results (compiler/graph/ModelConventions.h), and
// how one function is cut out of another.
#ifndef MEKIK_AUTODIFF_MODELFUNCTION_H
#define MEKIK_AUTODIFF_MODELFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

namespace mekik::autodiff {

struct Result {
  mlir::Value value;
  mlir::DictionaryAttr attributes;
};

class ModelFunction {
public:
  /// Refers to `function`, whose body is one block that ends in `func.return`.
  explicit ModelFunction(mlir::func::FuncOp function) : function(function) {}
  /// A copy of `source` under another name, behind the last function of the module.
  static ModelFunction copy(ModelFunction source, llvm::StringRef name);
  /// A function without results, behind the last function of the module.
  static ModelFunction create(mlir::ModuleOp module, mlir::Location loc, llvm::StringRef name);

  /// Every argument and result must have a role, parameters a name: reported at the place that has none.
  mlir::LogicalResult check();

  mlir::func::FuncOp op() { return function; }
  mlir::Block &body() { return function.getBody().front(); }
  mlir::Location loc() { return function.getLoc(); }

  llvm::StringRef role(mlir::BlockArgument argument);
  llvm::StringRef name(mlir::BlockArgument argument);
  llvm::SmallVector<mlir::BlockArgument> arguments(llvm::StringRef role);
  /// The only argument of the role, added behind the last one as an i64 scalar if there is none.
  mlir::BlockArgument scalarArgument(llvm::StringRef role);
  /// Inserts arguments side by side at once, since each change of a function's type costs its length. The first of them
  /// becomes number `index`. The list holds until arguments change again.
  llvm::ArrayRef<mlir::BlockArgument> insertArguments(unsigned index, mlir::TypeRange types,
                                                      llvm::ArrayRef<mlir::DictionaryAttr> attributes,
                                                      llvm::ArrayRef<mlir::Location> locs);

  llvm::SmallVector<Result> results();
  llvm::SmallVector<Result> results(llvm::StringRef role);
  /// Gives the function these results, then drops what is unused: ops, and arguments that are neither parameter nor
  /// state.
  void finish(llvm::ArrayRef<Result> results);

  /// {mekik.role = role, mekik.name = name}; no name if empty.
  static mlir::DictionaryAttr attributes(mlir::MLIRContext *context, llvm::StringRef role, llvm::StringRef name = "");

private:
  mlir::func::FuncOp function;
};

} // namespace mekik::autodiff

#endif
