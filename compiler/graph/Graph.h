// The graph dialect: include this to name its ops.
#ifndef MEKIK_GRAPH_GRAPH_H
#define MEKIK_GRAPH_GRAPH_H

#include "compiler/graph/ElementReader.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mekik::reference {
class Tensor;
}

namespace mekik::graph {

/// Where the elements of a tensor lie: sizes of axes and distances of neighbours along them, in elements.
struct Layout {
  llvm::SmallVector<int64_t> shape, strides;
};
/// Row-major, as every tensor lies in memory.
Layout denseLayout(mlir::Value tensor);

} // namespace mekik::graph

#include "compiler/graph/GraphInterfaces.h.inc"

#include "compiler/graph/GraphDialect.h.inc"

namespace mekik::graph {

/// The element type in the vocabulary of numerics. `type` is f32, f64, i32, i64 or i1.
numerics::ElementType elementType(mlir::Type type);
/// The same of a tensor value.
numerics::ElementType elementType(mlir::Value tensor);

/// A shape as messages show it: "[8, 16, 32]".
std::string shapeText(llvm::ArrayRef<int64_t> shape);
/// The number every element of a constant has, of the element type of `attribute`; nullopt if it is not a constant or
/// not the same everywhere. Operands of folders are such attributes.
std::optional<numerics::Number> splatNumber(mlir::Attribute attribute);
/// The same as a double.
std::optional<double> splatValue(mlir::Attribute attribute);
/// The attribute of a tensor of `type` whose every element is `number`.
mlir::Attribute splatAttribute(mlir::Type type, numerics::Number number);
/// `attribute`, a constant that is the same everywhere, under the shape of `type`; null if it is not such a constant.
mlir::OpFoldResult reshapeSplat(mlir::Attribute attribute, mlir::Type type);

/// Result of an elementwise op whose operands all are splats, computed by the op's own definition; null otherwise.
mlir::OpFoldResult foldElementwise(ElementOpInterface op, llvm::ArrayRef<mlir::Attribute> operands);

} // namespace mekik::graph

#define GET_OP_CLASSES
#include "compiler/graph/Graph.h.inc"

#endif
