// Pass `deduplicate-kernels`: kernels with the same body become one function, so that twelve equal layers compile as
// fast as one.
#include "compiler/driver/Passes.h"
#include "compiler/graph/ModelConventions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"

namespace mekik {
#define GEN_PASS_DEF_DEDUPLICATEKERNELS
#include "compiler/driver/Passes.h.inc"
} // namespace mekik

using namespace mlir;
using namespace mekik;

namespace {

/// What has to agree but the body; the name does not.
DictionaryAttr attributesOf(func::FuncOp kernel) {
  NamedAttrList attributes(kernel->getAttrDictionary());
  attributes.erase(kernel.getSymNameAttrName());
  return attributes.getDictionary(kernel.getContext());
}

/// Equal kernels have the same number. Values do not count: which ones an op reads is left to the comparison.
llvm::hash_code hashOf(func::FuncOp kernel) {
  llvm::hash_code hash = hash_value(attributesOf(kernel));
  for (Operation &op : kernel.getBody().front())
    hash = llvm::hash_combine(hash, OperationEquivalence::computeHash(&op, OperationEquivalence::ignoreHashValue,
                                                                      OperationEquivalence::ignoreHashValue,
                                                                      OperationEquivalence::IgnoreLocations));
  return hash;
}

/// The same ops in the same order on the same operands: x + y is not y + x, which may differ in the bits of a NaN.
bool areEqual(func::FuncOp a, func::FuncOp b) {
  llvm::DenseMap<Value, Value> counterpart;
  return attributesOf(a) == attributesOf(b) &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), [&](Value x, Value y) { return success(counterpart.lookup(x) == y); },
             [&](Value x, Value y) { counterpart[x] = y; }, OperationEquivalence::IgnoreLocations);
}

struct DeduplicateKernels : mekik::impl::DeduplicateKernelsBase<DeduplicateKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::DenseMap<size_t, SmallVector<func::FuncOp, 1>> known; // by hash
    llvm::DenseMap<StringAttr, FlatSymbolRefAttr> replacement;
    for (auto kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!kernel->hasAttr(graph::kKernel))
        continue;
      SmallVector<func::FuncOp, 1> &alike = known[hashOf(kernel)];
      auto first = llvm::find_if(alike, [&](func::FuncOp other) { return areEqual(kernel, other); });
      if (first == alike.end()) {
        alike.push_back(kernel);
        continue;
      }
      replacement[kernel.getSymNameAttr()] = FlatSymbolRefAttr::get(first->getSymNameAttr());
      kernel.erase();
    }
    module.walk([&](func::CallOp call) {
      if (auto other = replacement.lookup(call.getCalleeAttr().getAttr()))
        call.setCalleeAttr(other);
    });
  }
};

} // namespace
