// Kernels know nothing of each other, so that each can be worked on by itself once it has a module of its own: the list
// of functions of one module is not for several threads.
#include "compiler/lowering/EachKernel.h"
#include "compiler/graph/ModelConventions.h"
#include "mlir/IR/Threading.h"
#include <vector>

namespace mekik::lowering {
namespace {

struct Kernel {
  mlir::func::FuncOp function;
  mlir::OwningOpRef<mlir::ModuleOp> home;
  size_t size = 0;
};

/// A measure of the work that is good enough to begin with the longest.
size_t sizeOf(mlir::func::FuncOp function) {
  size_t operations = 0;
  function.walk([&](mlir::Operation *) { ++operations; });
  return operations;
}

} // namespace

llvm::LogicalResult forEachKernel(mlir::ModuleOp module,
                                  llvm::function_ref<llvm::LogicalResult(mlir::func::FuncOp)> work) {
  std::vector<mlir::Operation *> order;
  std::vector<Kernel> kernels;
  for (mlir::Operation &op : llvm::make_early_inc_range(module.getOps())) {
    auto function = llvm::dyn_cast<mlir::func::FuncOp>(op);
    bool isKernel = function && function->hasAttr(graph::kKernel);
    order.push_back(isKernel ? nullptr : &op);
    if (!isKernel)
      continue;
    Kernel &kernel = kernels.emplace_back(Kernel{function, mlir::ModuleOp::create(module.getLoc()), sizeOf(function)});
    op.remove();
    kernel.home->push_back(&op);
  }
  std::vector<Kernel *> largestFirst;
  for (Kernel &kernel : kernels)
    largestFirst.push_back(&kernel);
  llvm::sort(largestFirst, [](Kernel *a, Kernel *b) { return a->size != b->size ? a->size > b->size : a < b; });
  llvm::LogicalResult result = mlir::failableParallelForEach(module.getContext(), largestFirst,
                                                             [&](Kernel *kernel) { return work(kernel->function); });
  mlir::Block *body = module.getBody();
  auto next = kernels.begin();
  for (mlir::Operation *op : order)
    if (op)
      op->moveBefore(body, body->end());
    else
      body->getOperations().splice(body->end(), (next++)->home->getBody()->getOperations());
  return result;
}

} // namespace mekik::lowering
