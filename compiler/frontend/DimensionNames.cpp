// Keeping and printing axis names.
#include "compiler/frontend/DimensionNames.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mekik::frontend {

static llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor) {
  return llvm::cast<mlir::RankedTensorType>(tensor.getType()).getShape();
}

Names DimensionNames::of(mlir::Value tensor) const {
  auto found = known.find(tensor);
  Names names = found == known.end() ? Names() : found->second;
  names.resize(shapeOf(tensor).size());
  return names;
}

std::string describeShape(llvm::ArrayRef<int64_t> shape, const Names &names) {
  if (shape.empty())
    return "[] (one number)";
  std::string sizes = absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
  bool named = false;
  Names shown = names;
  shown.resize(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    std::string size = absl::StrCat(shape[i]);
    named |= !shown[i].empty() && shown[i] != size;
    if (shown[i].empty())
      shown[i] = size;
  }
  return named ? absl::StrCat("[", absl::StrJoin(shown, ", "), "] = ", sizes) : sizes;
}

std::string DimensionNames::describe(mlir::Value tensor) const { return describeShape(shapeOf(tensor), of(tensor)); }

std::string DimensionNames::describeAxis(mlir::Value tensor, int64_t axis) const {
  std::string name = of(tensor)[axis];
  std::string size = absl::StrCat(shapeOf(tensor)[axis]);
  return name.empty() || name == size ? size : absl::StrCat(name, " = ", size);
}

Names DimensionNames::broadcast(mlir::Value a, mlir::Value b, int64_t rank) const {
  Names result(rank);
  for (mlir::Value tensor : {b, a}) {
    Names names = of(tensor);
    auto shape = shapeOf(tensor);
    int64_t skipped = rank - static_cast<int64_t>(shape.size());
    for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
      if (skipped + i >= 0 && shape[i] != 1 && !names[i].empty())
        result[skipped + i] = names[i];
  }
  return result;
}

} // namespace mekik::frontend
