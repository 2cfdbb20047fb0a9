// See Diagonal.h.
#include "compiler/graph/Diagonal.h"
#include "compiler/graph/Access.h"
#include "compiler/graph/Build.h"
#include "compiler/numerics/NumberArithmetic.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::graph;

std::optional<UpToDiagonal> graph::upToDiagonal(Value value) {
  auto select = value.getDefiningOp<SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<CompareOp>() : CompareOp();
  if (!compare || compare.getHow() != "le")
    return std::nullopt;
  auto earlier = compare.getLhs().getDefiningOp<IotaOp>(), later = compare.getRhs().getDefiningOp<IotaOp>();
  int64_t last = static_cast<int64_t>(shapeOf(value).size()) - 1;
  if (!earlier || !later || int64_t(earlier.getAxis()) != last || int64_t(later.getAxis()) == last)
    return std::nullopt;
  return UpToDiagonal{int64_t(later.getAxis()), select.getCondition(), select.getIfTrue(), select.getIfFalse()};
}

std::optional<UpToDiagonal> graph::endOfFold(ReductionOpInterface fold) {
  std::optional<UpToDiagonal> kept = upToDiagonal(fold->getOperand(0));
  Attribute constant;
  if (!kept || !reducesLastAxis(fold) || !matchPattern(kept->behind, m_Constant(&constant)))
    return std::nullopt;
  numerics::NumberArithmetic arithmetic;
  std::optional<numerics::Number> behind = splatNumber(constant);
  if (!behind || behind->bits != fold.identity(arithmetic).bits)
    return std::nullopt;
  return kept;
}
