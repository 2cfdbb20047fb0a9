// Composite ops are what they expand into; from here on only ops with kernels of their own are left.
#include "compiler/graph/Graph.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace mekik {
#define GEN_PASS_DEF_EXPANDCOMPOSITES
#include "compiler/driver/Passes.h.inc"
} // namespace mekik

namespace {

class ExpandComposites : public mekik::impl::ExpandCompositesBase<ExpandComposites> {
public:
  void runOnOperation() override {
    SmallVector<mekik::graph::CompositeOpInterface> composites;
    // An expansion may hold composites itself.
    do {
      composites.clear();
      getOperation().walk([&](mekik::graph::CompositeOpInterface op) { composites.push_back(op); });
      for (mekik::graph::CompositeOpInterface op : composites) {
        OpBuilder builder(op);
        op->getResult(0).replaceAllUsesWith(op.expand(builder));
        op->erase();
      }
    } while (!composites.empty());
  }
};

} // namespace
