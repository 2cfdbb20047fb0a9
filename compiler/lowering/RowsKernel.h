// What the body of a kernel of kind rows looks like: its domain, its folds, where its rows end, and how it is cut into
// tiles.
#ifndef MEKIK_LOWERING_ROWS_KERNEL_H
#define MEKIK_LOWERING_ROWS_KERNEL_H

#include "compiler/graph/Diagonal.h"
#include "compiler/lowering/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mekik::lowering {

struct RowsKernel {
  RowsKernel(mlir::func::FuncOp kernel, const Target &target);

  /// Of a value that lies in memory as the domain, or as the domain without its last axis.
  int64_t partsOf(mlir::Value value) const;

  /// How many rows are computed side by side: what comes before and behind a fold is mostly waiting, more than a
  /// processor can fill with rows to come, and a fold of two rows takes one step more than that of one. One value of
  /// all of them takes at most a quarter of the registers.
  int64_t rowsTogether(const Target &target) const;

  /// An element of a row that `select` keeps up to the diagonal.
  struct Kept {
    mlir::Value select;
    graph::UpToDiagonal parts;
  };

  llvm::SmallVector<int64_t> domain;
  llvm::SmallVector<graph::ReductionOpInterface> folds;
  llvm::SmallVector<mlir::Value> outputs;
  llvm::SmallVector<bool> readUpToDiagonal; // of each output: nobody reads what is behind
  int64_t rows, columns;
  int64_t tiles, unitsPerTile; // rows; elements if flat
  bool flat;

  /// Where elements are told apart by a diagonal, the axis of the domain whose position it is found by, and the selects
  /// that do so; -1 and none if there is no such axis.
  int64_t diagonal = -1;
  llvm::SmallVector<Kept> kept;

private:
  void widen(llvm::ArrayRef<int64_t> shape);
  void cutTiles(int64_t elements);
  void findDiagonal(mlir::func::FuncOp kernel);
};

} // namespace mekik::lowering

#endif
