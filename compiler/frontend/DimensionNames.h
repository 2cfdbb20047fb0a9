// Shapes with the names the source gives their axes, so that messages can say [batch, width] = [8, 32].
#ifndef MEKIK_FRONTEND_DIMENSION_NAMES_H
#define MEKIK_FRONTEND_DIMENSION_NAMES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include <string>
#include <vector>

namespace mekik::frontend {

using Names = std::vector<std::string>;

class DimensionNames {
public:
  /// One name an axis; "" where the size is all there is to say.
  void set(mlir::Value tensor, Names names) { known[tensor] = std::move(names); }
  /// One entry an axis.
  Names of(mlir::Value tensor) const;
  /// "[batch, width] = [8, 32]", or "[8, 32]" when no axis has a name; an empty shape is "[] (one number)".
  std::string describe(mlir::Value tensor) const;
  /// "width = 32" or "32".
  std::string describeAxis(mlir::Value tensor, int64_t axis) const;

  /// Names for the broadcast of two tensors, of rank `rank`.
  Names broadcast(mlir::Value a, mlir::Value b, int64_t rank) const;

private:
  llvm::DenseMap<mlir::Value, Names> known;
};

std::string describeShape(llvm::ArrayRef<int64_t> shape, const Names &names);

} // namespace mekik::frontend

#endif
