// See RowsKernel.h.
#include "compiler/lowering/RowsKernel.h"
#include "compiler/graph/Access.h"
#include "compiler/graph/Build.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/numerics/Contract.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::lowering;
using graph::shapeOf;
using numerics::kLanes;

/// Rows of one vector are computed two side by side, and rows of two vectors that wait for so many folds, four. More
/// than that only makes code that takes longer to compile.
static constexpr size_t kManyFolds = 3;

RowsKernel::RowsKernel(func::FuncOp kernel, const Target &target) {
  Block &body = kernel.getBody().front();
  bool uniform = true;
  for (Operation &op : body.without_terminator()) {
    if (auto fold = dyn_cast<graph::ReductionOpInterface>(op)) {
      folds.push_back(fold);
      widen(shapeOf(op.getOperand(0)));
      continue;
    }
    auto element = cast<graph::ElementOpInterface>(op);
    uniform &= !graph::accessesOf(element).usesPosition;
    if (graph::isFree(&op))
      continue;
    widen(shapeOf(op.getResult(0)));
    uniform &= element.readsInPlace() ||
               llvm::all_of(op.getOperands(), [](Value operand) { return shapeOf(operand).empty(); });
  }
  outputs = llvm::to_vector(body.getTerminator()->getOperands());
  for (Value output : outputs)
    uniform &= shapeOf(output) == ArrayRef<int64_t>(domain);
  flat = uniform && folds.empty() && !domain.empty();
  columns = domain.empty() ? 1 : domain.back();
  rows = 1;
  for (int64_t size : ArrayRef<int64_t>(domain).drop_back(domain.empty() ? 0 : 1))
    rows *= size;
  cutTiles(target.tileElements);
  findDiagonal(kernel);
}

void RowsKernel::widen(ArrayRef<int64_t> shape) {
  if (shape.size() >= domain.size())
    domain.assign(shape.begin(), shape.end());
}

/// Tiles of about `elements`, all alike if their number can be found: what lies in memory as the domain does is
/// then in equal parts, which threads need not wait for each other to touch. Among such numbers one that common
/// numbers of threads divide.
void RowsKernel::cutTiles(int64_t elements) {
  int64_t units = flat ? rows * columns : rows;
  unitsPerTile = flat ? llvm::alignTo(elements, kLanes) : std::max<int64_t>(1, elements / columns);
  tiles = (units + unitsPerTile - 1) / unitsPerTile;
  int64_t most = rows * columns < elements / 2 ? tiles : 2 * tiles;
  for (int64_t step : {8, 4, 2, 1})
    for (int64_t count = (tiles + step - 1) / step * step; count <= most; count += step)
      if (units % (count * (flat ? kLanes : 1)) == 0) {
        tiles = count;
        unitsPerTile = units / count;
        return;
      }
}

void RowsKernel::findDiagonal(func::FuncOp kernel) {
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (op.getNumResults() == 1 && shapeOf(op.getResult(0)) == ArrayRef<int64_t>(domain))
      if (auto parts = graph::upToDiagonal(op.getResult(0)); parts && (diagonal < 0 || diagonal == parts->later)) {
        diagonal = parts->later;
        kept.push_back({op.getResult(0), *parts});
      }
  auto unread = kernel->getAttrOfType<DenseI64ArrayAttr>(graph::kReadUpToDiagonal);
  for (size_t number = 0; number < outputs.size(); ++number)
    readUpToDiagonal.push_back(unread && diagonal >= 0 && unread[number] == diagonal);
}

int64_t RowsKernel::partsOf(Value value) const {
  ArrayRef<int64_t> shape = shapeOf(value), all(domain);
  bool follows = !all.empty() && (shape == all || (!flat && shape == all.drop_back()));
  return follows && unitsPerTile * tiles == (flat ? rows * columns : rows) ? tiles : 1;
}

int64_t RowsKernel::rowsTogether(const Target &target) const {
  int64_t perRow = (columns + kLanes - 1) / kLanes * (kLanes * 4 / target.vectorBytes);
  bool waitsMuch = folds.size() >= kManyFolds;
  int64_t together = waitsMuch ? 4 : 2;
  auto fits = [&] {
    return together * perRow <= target.registers / 4 && unitsPerTile % together == 0 && rows % together == 0;
  };
  while (together > 1 && !fits())
    together /= 2;
  return folds.empty() || domain.empty() || columns > (waitsMuch ? 2 : 1) * kLanes ? 1 : together;
}
