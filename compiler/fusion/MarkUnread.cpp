// Pass `mark-unread`: what attention computes behind its diagonal is looked at by nobody, from the product that makes
// the scores to the last product of the gradient. Kernels are told, and leave that half of their results as it is.
//
// A result counts as read behind the diagonal unless everything that reads it is a product with the same triangle, or
// goes, element for element, into a select of what stands before the diagonal or into a result that is not read there
// either.
#include "compiler/driver/Passes.h"
#include "compiler/graph/Build.h"
#include "compiler/graph/Diagonal.h"
#include "compiler/graph/ModelConventions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mekik {
#define GEN_PASS_DEF_MARKUNREAD
#include "compiler/driver/Passes.h.inc"
} // namespace mekik

using namespace mlir;
using namespace mekik;
using graph::shapeOf;

namespace {

constexpr int64_t kRead = -1;

/// The axis at which `labels` have the later letter of a triangle if the last is the earlier one.
int64_t laterAxis(StringRef labels, StringRef triangle) {
  if (triangle.empty() || labels.empty() || labels.back() != triangle[1])
    return kRead;
  size_t later = labels.find(triangle[0]);
  return later == StringRef::npos ? kRead : static_cast<int64_t>(later);
}

class Marker {
public:
  explicit Marker(ModuleOp module) {
    for (auto kernel : module.getOps<func::FuncOp>())
      if (kernel->hasAttr(graph::kKernel))
        kernels[kernel.getSymNameAttr()].function = kernel;
    module.walk([&](func::CallOp call) {
      if (auto kernel = kernels.find(call.getCalleeAttr().getAttr()); kernel != kernels.end())
        kernel->second.calls.push_back(call);
    });
  }

  void run() {
    for (auto &[name, kernel] : kernels)
      for (Value output : kernel.function.getBody().front().getTerminator()->getOperands())
        kernel.unread.push_back(diagonalOf(kernel.function, output));
    // From the assumption that nothing is read, until nothing has to be taken back.
    for (bool changed = true; changed;) {
      changed = false;
      for (auto &[name, kernel] : kernels)
        for (auto [number, axis] : llvm::enumerate(kernel.unread))
          if (axis != kRead && llvm::any_of(kernel.calls, [&](func::CallOp call) {
                return llvm::any_of(call.getResult(number).getUses(),
                                    [&](OpOperand &use) { return isReadByCall(use, axis); });
              })) {
            axis = kRead;
            changed = true;
          }
    }
    for (auto &[name, kernel] : kernels)
      if (llvm::any_of(kernel.unread, [](int64_t axis) { return axis != kRead; }))
        kernel.function->setAttr(graph::kReadUpToDiagonal,
                                 Builder(name.getContext()).getDenseI64ArrayAttr(kernel.unread));
  }

private:
  struct Kernel {
    func::FuncOp function;
    SmallVector<func::CallOp> calls;
    SmallVector<int64_t> unread; ///< of each result: the axis of a diagonal behind which nobody reads, or kRead
  };

  /// The diagonal at which the loops of `kernel` could leave `output` alone.
  static int64_t diagonalOf(func::FuncOp kernel, Value output) {
    if (shapeOf(output).empty() || shapeOf(output).back() <= graph::kWholeRow)
      return kRead;
    if (auto product = output.getDefiningOp<graph::ContractionOpInterface>())
      return laterAxis(product.resultLabels(), product.triangle());
    for (Operation &op : kernel.getBody().front().without_terminator())
      if (op.getNumResults() == 1 && shapeOf(op.getResult(0)) == shapeOf(output))
        if (std::optional<graph::UpToDiagonal> kept = graph::upToDiagonal(op.getResult(0)))
          return kept->later;
    return kRead;
  }

  bool isReadByCall(OpOperand &use, int64_t later) {
    auto call = dyn_cast<func::CallOp>(use.getOwner());
    auto reader = call ? kernels.find(call.getCalleeAttr().getAttr()) : kernels.end();
    return reader == kernels.end() ||
           isRead(reader->second, reader->second.function.getArgument(use.getOperandNumber()), later);
  }

  /// Each value that `value` goes into is looked at once, however many paths lead there.
  bool isRead(const Kernel &kernel, Value value, int64_t later) {
    llvm::SmallSetVector<Value, 8> reached;
    reached.insert(value);
    for (size_t next = 0; next < reached.size(); ++next)
      for (OpOperand &use : reached[next].getUses()) {
        if (passesOn(use, later))
          reached.insert(use.getOwner()->getResult(0));
        else if (isReadBy(kernel, use, later))
          return true;
      }
    return false;
  }

  /// The element, or row, at hand of the result is made of that of the operand, behind the diagonal too.
  static bool passesOn(OpOperand &use, int64_t later) {
    auto element = dyn_cast<graph::ElementOpInterface>(use.getOwner());
    return element && element.readsInPlace() && !keepsBefore(use, later);
  }

  /// The operand of a select that only what stands before the diagonal comes through.
  static bool keepsBefore(OpOperand &use, int64_t later) {
    std::optional<graph::UpToDiagonal> kept = graph::upToDiagonal(use.getOwner()->getResult(0));
    return kept && kept->later == later && kept->before == use.get() && kept->behind != use.get();
  }

  bool isReadBy(const Kernel &kernel, OpOperand &use, int64_t later) {
    Operation *reader = use.getOwner();
    unsigned number = use.getOperandNumber();
    if (reader->hasTrait<OpTrait::IsTerminator>())
      return kernel.unread[number] != later;
    if (auto product = dyn_cast<graph::ContractionOpInterface>(reader)) {
      bool whole = ArrayRef<int64_t>(product.leftLayout().shape) == shapeOf(reader->getOperand(0));
      return laterAxis(number == 0 ? product.leftLabels() : product.rightLabels(), product.triangle()) != later ||
             (number == 0 && !whole);
    }
    auto element = dyn_cast<graph::ElementOpInterface>(reader);
    return !element || !element.readsInPlace() || !keepsBefore(use, later);
  }

  llvm::MapVector<StringAttr, Kernel> kernels;
};

struct MarkUnread : mekik::impl::MarkUnreadBase<MarkUnread> {
  void runOnOperation() override { Marker(getOperation()).run(); }
};

} // namespace
