// Which ops become one kernel. The rules look at shapes and accesses only:
//
//   rows         element ops over one shape, folds of its last axis, and what is computed once per row between them
//   columns      one fold over leading axes, with the element ops that feed only it
//   contraction  one contraction
//   standalone   one op that brings its own kernel
//
// Views and free ops belong to no group: views cost nothing, free ops are copied to where they are read.
#ifndef MEKIK_FUSION_GROUPING_H
#define MEKIK_FUSION_GROUPING_H

#include "compiler/graph/Graph.h"
#include "mlir/IR/Block.h"
#include <vector>

namespace mekik::fusion {

enum class KernelKind { Rows, Columns, Contraction, Standalone };

struct KernelGroup {
  KernelKind kind;
  llvm::SmallVector<mlir::Operation *> ops; ///< in program order
  llvm::SmallVector<int64_t> domain;        ///< rows, columns: the shape iterated over
};

/// Groups of all ops of `block` that compute something, and the views between them, in an order in which each can run
/// after the ones before it. A view is a step without group.
struct KernelStep {
  const KernelGroup *group = nullptr;
  mlir::Operation *view = nullptr;
};
struct KernelPlan {
  std::vector<KernelGroup> groups;
  std::vector<KernelStep> steps;
};
KernelPlan planKernels(mlir::Block &block);

/// "rows", "columns", ...: used in names of kernels.
llvm::StringRef nameOf(KernelKind kind);

} // namespace mekik::fusion

#endif
