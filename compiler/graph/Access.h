// Where an element op reads its operands, found by running the op's own element definition on symbolic positions.
// Fusion and loop emission decide by this and need to know no op by name.
#ifndef MEKIK_GRAPH_ACCESS_H
#define MEKIK_GRAPH_ACCESS_H

#include "compiler/graph/Graph.h"

namespace mekik::graph {

enum class Access {
  Same,    ///< at the index of the result; the shapes are equal
  Row,     ///< at the index of the result without its last axis; the shapes agree
  Uniform, ///< the operand has rank 0
  Other    ///< anywhere else
};

struct Accesses {
  llvm::SmallVector<Access, 4> operands; ///< one per operand
  bool usesPosition = false;             ///< a position enters the value itself, or is computed from a value
};

Accesses accessesOf(ElementOpInterface op);

/// True if the result may be copied into every kernel that reads it: it has no operands.
bool isFree(mlir::Operation *op);

/// True if the result is less than its operands spread out, and cheaper to spread again than to store and load: every
/// operand is free or at most half as large as the result.
bool spreads(mlir::Operation *op);

/// A fold over the last axis alone.
bool reducesLastAxis(mlir::Operation *op);
/// A fold over axes that do not include the last.
bool reducesLeadingAxes(mlir::Operation *op);

} // namespace mekik::graph

#endif
