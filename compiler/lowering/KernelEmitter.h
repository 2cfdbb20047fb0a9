// Turns the element definitions inside one kernel into vector code: the ElementReader that emits IR, with the values
// already computed at a position remembered, and the loads and stores of kernel buffers.
#ifndef MEKIK_LOWERING_KERNEL_EMITTER_H
#define MEKIK_LOWERING_KERNEL_EMITTER_H

#include "compiler/graph/Graph.h"
#include "compiler/numerics/Contract.h"
#include "compiler/numerics/IrArithmetic.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <vector>

namespace mekik::lowering {

using numerics::kLanes;

/// The memref type a tensor has in memory: booleans are bytes.
mlir::MemRefType memoryType(mlir::Type tensor);

/// Emits values of the ops in the body of `kernel`. One KernelEmitter per kernel; positions are graph::Index with
/// `bits` an SSA value of type index.
class KernelEmitter {
public:
  /// `buffers`: one memref per argument of the kernel.
  KernelEmitter(mlir::OpBuilder &builder, mlir::func::FuncOp kernel, mlir::ValueRange buffers);

  mlir::OpBuilder &builder;

  /// The element of `value`, a value of the kernel's body, at `index`. Scalar unless some position differs by lane.
  /// Folds must have been given their result with setFold first.
  numerics::Number valueAt(mlir::Value value, llvm::ArrayRef<graph::Index> index);

  /// The result of a fold in the current row or column.
  void setFold(mlir::Value fold, numerics::Number value) { folds[{fold, row}] = value; }

  /// Of rows that are computed side by side, the one whose folds are read and set from now on.
  void atRow(unsigned number) { row = number; }

  /// The row at hand of `value` lies in `buffer`, of the same shape, from now on; null: nowhere.
  void setStored(mlir::Value value, mlir::Value buffer) {
    if (buffer)
      bufferOf[value] = buffer;
    else
      bufferOf.erase(value);
  }

  /// At the positions asked for from now on `value` is `other`, of the same type; null: itself again. What was emitted
  /// outside of the current scope must not depend on it.
  void setEqual(mlir::Value value, mlir::Value other) {
    if (other)
      equal[value] = other;
    else
      equal.erase(value);
  }

  /// Sixteen neighbouring elements of a buffer with one axis. Honours the lane mask.
  numerics::Number loadLanes(mlir::Value buffer, graph::Index lanes);

  /// Stores a number, splat if necessary, at `index`. Honours the lane mask.
  void store(numerics::Number value, mlir::Value buffer, llvm::ArrayRef<graph::Index> index);

  /// While set, only these lanes (vector<16xi1>) are loaded and stored; null means all.
  mlir::Value laneMask;

  /// Values emitted inside a scope may not be used outside of it: one Scope per loop body or branch.
  class Scope {
  public:
    explicit Scope(KernelEmitter &emitter) : emitter(emitter) { emitter.scopes.emplace_back(); }
    ~Scope() { emitter.scopes.pop_back(); }

  private:
    KernelEmitter &emitter;
  };

  // Positions.
  mlir::Value constant(int64_t value);
  graph::Index at(mlir::Value position) { return {reinterpret_cast<uint64_t>(position.getAsOpaquePointer())}; }
  /// Lanes `position`, `position` + 1, ...
  graph::Index lanesFrom(mlir::Value position);
  static mlir::Value positionOf(const graph::Index &index) {
    return mlir::Value::getFromOpaquePointer(reinterpret_cast<void *>(index.bits));
  }
  mlir::Value add(mlir::Value position, int64_t amount);
  mlir::Value add(mlir::Value a, mlir::Value b);
  /// Row-major coordinates of a flat position in `shape`.
  llvm::SmallVector<graph::Index> delinearize(mlir::Value flat, llvm::ArrayRef<int64_t> shape);

  mlir::Location loc() const { return location; }

private:
  friend class LaneReader;
  using Key = llvm::SmallVector<uint64_t, 6>;
  using Memory = std::map<Key, numerics::Number>;

  numerics::Number load(mlir::Value buffer, llvm::ArrayRef<graph::Index> index, numerics::ElementType type,
                        mlir::Value condition = {}, numerics::Number otherwise = {});
  numerics::Number gather(mlir::Value buffer, llvm::ArrayRef<graph::Index> index, mlir::Value condition,
                          numerics::Number otherwise);
  mlir::Value splat(mlir::Value value);
  mlir::Value allLanes();
  mlir::Value perLane(const graph::Index &index);

  mlir::Location location;
  mlir::func::FuncOp kernel;
  llvm::DenseMap<mlir::Value, mlir::Value> bufferOf; ///< kernel argument, or value stored before -> memref
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, numerics::Number> folds; ///< by row
  llvm::DenseMap<mlir::Value, mlir::Value> equal;
  unsigned row = 0;
  std::vector<Memory> scopes;
  llvm::DenseMap<int64_t, mlir::Value> constants;
};

} // namespace mekik::lowering

#endif
