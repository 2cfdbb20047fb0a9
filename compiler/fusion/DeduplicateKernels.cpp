// Pass `deduplicate-kernels`: kernels with the same body become one function, so that twelve equal layers compile as
// fast as one.
#include "compiler/driver/Passes.h"
#include "compiler/graph/ModelConventions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace mekik {
#define GEN_PASS_DEF_DEDUPLICATEKERNELS
#include "compiler/driver/Passes.h.inc"
} // namespace mekik

using namespace mlir;
using namespace mekik;

namespace {

/// The kernel as text without its name and without locations.
std::string bodyOf(func::FuncOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  StringAttr name = kernel.getSymNameAttr();
  kernel.setSymName("kernel");
  kernel->print(stream, OpPrintingFlags().enableDebugInfo(false).useLocalScope());
  kernel.setSymNameAttr(name);
  return text;
}

struct DeduplicateKernels : mekik::impl::DeduplicateKernelsBase<DeduplicateKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<func::FuncOp> known;
    llvm::DenseMap<StringAttr, FlatSymbolRefAttr> replacement;
    for (auto kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!kernel->hasAttr(graph::kKernel))
        continue;
      auto [first, isNew] = known.try_emplace(bodyOf(kernel), kernel);
      if (isNew)
        continue;
      replacement[kernel.getSymNameAttr()] = FlatSymbolRefAttr::get(first->second.getSymNameAttr());
      kernel.erase();
    }
    module.walk([&](func::CallOp call) {
      if (auto other = replacement.lookup(call.getCalleeAttr().getAttr()))
        call.setCalleeAttr(other);
    });
  }
};

} // namespace
