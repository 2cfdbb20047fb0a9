// Which values of a function of kernel calls share bytes, and between which dispatches their contents matter. Pass
// `plan-memory` gives these buffers their places; pass `rematerialize` asks what would become of them.
#ifndef MEKIK_MEMORY_BUFFERS_H
#define MEKIK_MEMORY_BUFFERS_H

#include "compiler/memory/ArenaPlanner.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mekik::memory {

/// Bytes of a tensor of this type.
int64_t bytesOf(mlir::Type type);

/// True for the roles of tensors that are stored between calls: parameter and state.
bool isStored(mlir::StringAttr role);

/// Bytes that one or more values share: a value and its views, or an operand and the result that overwrites it.
struct Buffer {
  enum class Home { Work, Storage, Immediate };

  int64_t bytes = 0;
  int64_t first = 0, last = 0; ///< dispatches between which the contents matter: -1 is before all, their number behind
  Home home = Home::Work;
  mlir::StringAttr name, role;  ///< Home::Storage: which stored tensor
  mlir::IntegerAttr immediate;  ///< Home::Immediate: the number
};

class Buffers {
public:
  /// `function` is a straight list of calls, views and constants; `symbols` finds the kernels.
  Buffers(mlir::func::FuncOp function, const mlir::SymbolTable &symbols);

  /// Call number i is dispatch i.
  llvm::ArrayRef<mlir::func::CallOp> calls() const { return dispatches; }
  size_t size() const { return buffers.size(); }
  size_t indexOf(mlir::Value value) const { return root(bufferOf.lookup(value)); }
  const Buffer &of(mlir::Value value) const { return buffers[indexOf(value)]; }
  /// True if the result of the function is to be stored and its value is not computed where it is stored.
  bool needsCopy(unsigned result) const { return llvm::is_contained(copied, result); }
  /// What lies in the work arena: index of the buffer and when it is alive.
  std::vector<std::pair<size_t, Lifetime>> work() const;

private:
  void collect();
  void addBuffer(mlir::Value value, int64_t now);
  void bindArguments();
  /// Results live until the function ends; results that are stored go straight to their place where that is safe.
  void bindResults();
  /// True if nothing reads the old contents of what `value` is stored over after the dispatch that computes it, and
  /// that dispatch itself may read them.
  bool overwritesSafely(mlir::Value value, mlir::StringAttr name, mlir::StringAttr role);
  /// True if `result` of the call may have the buffer of an operand: the kernel allows it for every operand that has it.
  bool mayOverwrite(mlir::func::CallOp call, size_t operandBuffer, mlir::Value result);
  /// Lets results take over the buffers of operands that nobody needs any more.
  void reuseOperands();

  size_t root(size_t index) const {
    while (mergedInto[index] >= 0)
      index = mergedInto[index];
    return index;
  }
  Buffer &buffer(mlir::Value value) { return buffers[indexOf(value)]; }

  mlir::func::FuncOp function;
  const mlir::SymbolTable &symbols;
  std::vector<Buffer> buffers;
  std::vector<int64_t> mergedInto; ///< by buffer; -1: itself
  llvm::DenseMap<mlir::Value, size_t> bufferOf;
  /// Arguments by name and role of what is stored.
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, llvm::SmallVector<mlir::Value, 1>> storedIn;
  llvm::SmallVector<mlir::func::CallOp> dispatches;
  llvm::SmallVector<unsigned> copied;
};

} // namespace mekik::memory

#endif
