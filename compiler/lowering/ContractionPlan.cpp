// The cutting rules: register blocks by a count of instructions, cache blocks by size, tiles by work.
#include "compiler/lowering/Contraction.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <limits>

namespace mekik::lowering {
namespace {

int64_t divideCeil(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Multiply-adds, as a multiple of Target::tileElements, below which a tile is mostly its own beginning: few if it
/// reads operands where they lie, more if it packs them. And the number of tiles beyond which more help nobody.
constexpr int64_t kTileWork = 4;
constexpr int64_t kPackedTileWork = 16;
constexpr int64_t kMostTiles = 256;
/// A few tiles may be that small; many are larger, because each thread's share packs for itself.
constexpr int64_t kFewTiles = 16;
/// Rows and columns that pay for packing the other operand once per share, as a fraction of Target::tileElements: where
/// it comes from afar, from near, or for two tiles where there would be one.
constexpr int64_t kFarRows = 4, kPackedRows = 16, kPackedRowsOfTwo = 32;
constexpr int64_t kPackedColumns = 16, kDirectColumns = 32;
constexpr int64_t kManyTilesWork = 16 * 1024 * 1024;
constexpr int64_t kPageBytes = 4096;

/// Steps of k in which another panel can be asked for, one line in four steps.
constexpr int64_t kFetchingDepth = 64;

/// Vectors of a register block side by side, at most.
constexpr int64_t kMostVectors = 4;

/// Rows that pay for copying a right operand because its vectors would be half empty otherwise.
constexpr int64_t kRowsOfPanels = 8;

int64_t product(llvm::ArrayRef<ContractionAxis> axes) {
  int64_t size = 1;
  for (const ContractionAxis &axis : axes)
    size *= axis.size;
  return size;
}

/// Cycles for one step of k of a register block: two multiply-adds and two loads a cycle, four cycles until an
/// accumulator can be used again.
double blockCycles(int64_t rows, int64_t vectors, bool lanesInBatch) {
  double products = double(rows * vectors);
  double loads = lanesInBatch ? products + double(vectors) : double(rows + vectors);
  return std::max({products / 2, loads / 2, 4.0});
}

/// Cycles for one step of k over `rows` x `vectors`, cut into blocks.
double coverCycles(int64_t rows, int64_t vectors, int64_t blockRows, int64_t blockVectors, bool lanesInBatch) {
  double cycles = 0;
  for (auto [r, rowCount] : {std::pair(blockRows, rows / blockRows), std::pair(rows % blockRows, int64_t(1))})
    for (auto [v, vectorCount] :
         {std::pair(blockVectors, vectors / blockVectors), std::pair(vectors % blockVectors, int64_t(1))})
      if (r && v)
        cycles += double(rowCount * vectorCount) * blockCycles(r, v, lanesInBatch);
  return cycles;
}

/// So few columns that one register block holds all of them, and a left operand that comes from afar: a part of a long
/// sum is done with it in little more time than it takes to come.
bool leftIsMost(const ContractionPlan &plan, const Target &target) {
  return plan.lanes.size() <= kMostVectors * plan.width &&
         plan.row.size * product(plan.contraction.contracted) * plan.contraction.elementBytes > target.farBytes;
}

/// Where the fastest axis of the result is narrower than a vector and divides it, the axis of columns with which the
/// fewest vectors remain joins it.
void chooseLanes(ContractionPlan &plan, const Target &target) {
  const Contraction &contraction = plan.contraction;
  ContractionLanes &lanes = plan.lanes;
  lanes.axis = contraction.lanes;
  llvm::SmallVector<ContractionAxis> columns = contraction.columns;
  int64_t width = target.lanes(contraction.elementBytes), size = lanes.axis.size;
  bool narrow = size < width && width % size == 0 && lanes.axis.side == TriangleSide::None;
  const ContractionAxis *best = nullptr;
  auto vectors = [&](const ContractionAxis &axis) { return divideCeil(axis.size * size, width); };
  auto pays = [&](const ContractionAxis &axis) {
    // Without it the right operand might be read where it lies.
    bool packs = lanes.axis.right == 1 && axis.right != size;
    return axis.side == TriangleSide::None && (!packs || plan.outerRowsSize * plan.row.size >= kRowsOfPanels);
  };
  if (narrow && !contraction.lanesInBatch)
    for (const ContractionAxis &axis : columns)
      if (pays(axis) && (!best || vectors(axis) * best->size <= vectors(*best) * axis.size))
        best = &axis;
  if (best) {
    lanes.around = *best;
    columns.erase(best);
  }
  plan.outer = contraction.batch;
  plan.outer.append(columns);
  plan.outerSize = product(plan.outer);
  plan.width = std::min<int64_t>(width, int64_t(llvm::bit_ceil(uint64_t(lanes.size()))));
}

/// Steps of the longest sums that are done in one visit where two visits would be cut at `limit`.
int64_t longestVisit(int64_t limit) { return limit * 3 / 2; }

/// Large results of short sums, if every whole vector is a line of its own.
void chooseStreaming(ContractionPlan &plan, const Target &target) {
  const Contraction &contraction = plan.contraction;
  int64_t bytes = contraction.elementBytes;
  auto wholeLines = [&](const ContractionAxis &axis) { return axis.result * bytes % kLineBytes == 0; };
  int64_t elements = plan.outerSize * plan.outerRowsSize * plan.row.size * plan.lanes.size();
  plan.streamsResult = elements * bytes > target.passBytes && plan.width * bytes == kLineBytes &&
                       plan.lanes.around.size == 1 && !leftIsMost(plan, target) &&
                       product(contraction.contracted) <= longestVisit(target.contractionDepth) &&
                       wholeLines(plan.row) && llvm::all_of(plan.outer, wholeLines) &&
                       llvm::all_of(plan.outerRows, wholeLines);
}

/// Vectors of a register block side by side: sums that are stored once need panels of all of their steps.
int64_t mostVectors(const ContractionPlan &plan, const Target &target) {
  if (!plan.streamsResult)
    return kMostVectors;
  int64_t steps = std::min(product(plan.contraction.contracted), target.contractionDepth);
  return std::clamp<int64_t>(target.nearBytes / (steps * target.vectorBytes), 1, kMostVectors);
}

void chooseRegisterBlock(ContractionPlan &plan, const Target &target) {
  const Contraction &contraction = plan.contraction;
  int64_t vectors = divideCeil(plan.lanes.size(), plan.width);
  int64_t contracted = product(contraction.contracted);
  // Tiles of unequal rows are no equal parts of the result, which threads of a small model would have to wait for.
  double unevenRows = plan.outerRowsSize * plan.row.size * plan.lanes.size() * contracted < kManyTilesWork ? 2 : 1;
  double best = 0;
  // A left operand that is waited for comes once, and evenly, if there is one column block.
  for (int64_t v = leftIsMost(plan, target) ? vectors : 1; v <= std::min(vectors, mostVectors(plan, target)); ++v) {
    for (int64_t r = 1; r <= std::min<int64_t>(plan.row.size, 16); ++r) {
      if (r * v + v + 1 > target.registers || r * v > 24)
        continue;
      double cycles = coverCycles(plan.row.size, vectors, r, v, contraction.lanesInBatch);
      // Each edge is a kernel of its own to compile. Among equals the one that reads little, whole vectors of the right
      // operand, single elements of the left one; if sums are long, in few loads a product.
      double edges = (plan.row.size % r != 0) * unevenRows + (vectors % v != 0);
      double length = std::min(1.0, double(contracted) / double(target.contractionDepth));
      double loads = double(r + v) / double(r * v) * length;
      double bytes = double(contraction.elementBytes) * (double(plan.width) / double(r) + 1.0 / double(v));
      double preference = cycles * (1 + 0.005 * edges + 0.05 * loads + 0.002 * bytes);
      if (best == 0 || preference < best) {
        best = preference;
        plan.blockRows = r;
        plan.blockVectors = v;
      }
    }
  }
}

/// About `most` steps of an axis of `size`: if possible such that all blocks are equal, at least such that all but the
/// last are whole unrolled steps and whole transposed squares.
int64_t blockOf(int64_t size, int64_t most) {
  constexpr int64_t square = 16;
  for (int64_t depth = most / square * square; 3 * depth > 2 * most; depth -= square)
    if (size % depth == 0)
      return depth;
  int64_t depth = divideCeil(size, divideCeil(size, most));
  return std::min(size, depth >= square ? divideCeil(depth, square) * square : depth);
}

/// Every k in one visit if it is short; else blocks along the last axis that allows it, of about the target's depth or
/// such that a panel of the right operand stays in the nearest cache.
void cutDepth(ContractionPlan &plan, const Target &target) {
  auto &axes = plan.contraction.contracted;
  if (axes.empty())
    axes.push_back({});
  int64_t panelDepth = target.nearBytes / (plan.blockColumns() * plan.contraction.elementBytes) / 16 * 16;
  int64_t limit = std::min(target.contractionDepth, std::max<int64_t>(panelDepth, 16));
  int64_t inner = product(axes);
  plan.split = 0;
  plan.depth = axes[0].size;
  if (inner > longestVisit(limit)) {
    int64_t blocks = 1;
    inner /= axes[0].size;
    while (inner > limit) {
      blocks *= axes[plan.split].size;
      inner /= axes[++plan.split].size;
    }
    int64_t size = axes[plan.split].size;
    plan.depth = blockOf(size, std::max<int64_t>(1, limit / inner));
    plan.depthBlocks = blocks * divideCeil(size, plan.depth);
  }
  plan.depthElements = plan.depth * product(llvm::ArrayRef(axes).drop_front(plan.split + 1));
}

/// Panels where lanes are apart, or where what a block of k reads would not stay near and is read often enough to pay
/// for the copy.
void chooseAccess(ContractionPlan &plan, const Target &target) {
  const Contraction &contraction = plan.contraction;
  if (contraction.lanesInBatch)
    return;
  int64_t rows = plan.outerRowsSize * plan.row.size, columns = plan.lanes.size();
  LaneSpread right = plan.lanes.inRight();
  const ContractionAxis &innermost = contraction.contracted.back();
  int64_t bytes = plan.depthElements * contraction.elementBytes;
  if (columns > 1 && right.step != 1)
    plan.access = RightAccess::Transposed;
  else if (right.run < columns || (columns > 2 * plan.width && rows >= 64 && bytes * columns > target.nearBytes))
    plan.access = RightAccess::Copied;
  plan.packsLeft = plan.row.left == 1 && plan.row.size >= plan.blockRows && innermost.left > plan.blockRows &&
                   columns > kMostVectors * plan.width && bytes * plan.row.size > target.nearBytes;
}

/// What comes from beyond the second-level cache is asked for, if there are turns enough in a block of k to do so.
void chooseFetching(ContractionPlan &plan, const Target &target) {
  const Contraction &contraction = plan.contraction;
  auto far = [&](int64_t elements) { return elements * contraction.elementBytes > target.farBytes; };
  int64_t columns = plan.lanes.size();
  bool oneAxis = plan.split + 1 == int64_t(contraction.contracted.size());
  if (!oneAxis || plan.depth < kFetchingDepth)
    return;
  bool transposed = plan.access == RightAccess::Transposed;
  plan.fetchesRight = plan.access != RightAccess::Direct && (!transposed || contraction.contracted.back().right == 1) &&
                      far(product(contraction.contracted) * columns) && plan.lanes.inRight().run >= columns &&
                      columns >= 2 * plan.blockColumns();
  plan.fetchesLeft = !plan.packsLeft && contraction.contracted.back().left == 1 && plan.depthBlocks > 1 &&
                     far(plan.row.size * product(contraction.contracted)) &&
                     columns >= plan.blockRows * plan.blockColumns();
  plan.fetchesResult = !plan.streamsResult && far(plan.row.size * columns) && plan.row.size >= 2 * plan.blockRows;
  if (plan.packsLeft || !leftIsMost(plan, target))
    return;
  plan.fetchesRows = contraction.contracted.back().left == 1 && plan.row.size >= 2 * plan.blockRows;
  plan.fetchesSteps = plan.row.left == 1 && contraction.contracted.size() == 1;
}

/// The slowest axis of the result first; what has no axis before it, so that every number of a tile is bounded: where
/// it was not, a kernel took 1.6 times as long.
void orderTiles(ContractionPlan &plan) {
  auto step = [&](TileDimension dimension) -> int64_t {
    auto first = [](llvm::ArrayRef<ContractionAxis> axes) {
      return axes.empty() ? std::numeric_limits<int64_t>::max() : axes.front().result;
    };
    return dimension == TileOuter       ? first(plan.outer)
           : dimension == TileOuterRows ? first(plan.outerRows)
           : dimension == TileRows      ? plan.row.result
           : plan.lanes.around.size > 1 ? plan.lanes.around.result
                                        : plan.lanes.axis.result;
  };
  llvm::stable_sort(plan.tileOrder, [&](TileDimension a, TileDimension b) { return step(a) > step(b); });
}

/// So many rows at a time that what a block of k reads of them stays in the second-level cache.
void chooseCacheBlock(ContractionPlan &plan, const Target &target) {
  int64_t elementBytes = plan.contraction.elementBytes, bytes = target.leftBlockBytes;
  // Rows whole pages apart share few sets of a cache.
  if (!plan.packsLeft && plan.row.left * elementBytes % kPageBytes == 0)
    bytes /= 2;
  int64_t rows = std::max<int64_t>(1, bytes / (plan.depthElements * elementBytes));
  int64_t chunks = divideCeil(plan.row.size, divideCeil(rows, plan.blockRows) * plan.blockRows);
  plan.cacheRows = divideCeil(divideCeil(plan.row.size, chunks), plan.blockRows) * plan.blockRows;
  if (!plan.packsLeft)
    plan.cacheOuterRows = std::clamp<int64_t>(rows / plan.row.size, 1, plan.outerRowsSize);
  // Sums too many for any cache come near once, for all blocks of k; but a packed left operand would be packed again.
  int64_t columns = plan.lanes.size();
  plan.cacheColumns = columns;
  if (!plan.packsLeft && plan.depthBlocks > 1 && plan.row.size * columns * elementBytes > target.remoteBytes)
    plan.cacheColumns = bytes / (plan.cacheRows * elementBytes) / plan.blockColumns() * plan.blockColumns();
  plan.cacheColumns = std::max(plan.cacheColumns, plan.blockColumns());
}

void cutTiles(ContractionPlan &plan, const Target &target) {
  const Contraction &contraction = plan.contraction;
  int64_t columns = plan.lanes.size();
  int64_t columnUnits = divideCeil(columns, plan.blockColumns());
  int64_t rowUnits = divideCeil(plan.row.size, plan.blockRows);
  int64_t work = plan.outerSize * plan.outerRowsSize * plan.row.size * columns * product(contraction.contracted);
  bool packed = plan.access != RightAccess::Direct;
  auto tilesOf = [&](int64_t tileWork) {
    return std::max(std::clamp<int64_t>(work / (tileWork * target.tileElements), 1, kFewTiles),
                    std::min<int64_t>(work / kManyTilesWork, kMostTiles));
  };
  auto cutOuter = [&](int64_t count) {
    plan.tileOuter = divideCeil(plan.outerSize, std::min(plan.outerSize, count));
    plan.outerTiles = divideCeil(plan.outerSize, plan.tileOuter);
  };
  // Each product packs its own operands, however they are dealt out.
  bool outerFirst = plan.tileOrder[0] == TileOuter;
  if (outerFirst)
    cutOuter(tilesOf(kTileWork));
  int64_t wanted = divideCeil(tilesOf(packed || plan.packsLeft ? kPackedTileWork : kTileWork), plan.outerTiles);

  int64_t columnSplit = 1;
  int64_t rowSplit = 1, rowSplitLimit = plan.outerRowsSize * rowUnits;
  bool far = product(contraction.contracted) * columns * contraction.elementBytes > target.farBytes;
  auto share = [&](int64_t fraction) { return std::max<int64_t>(1, target.tileElements / fraction); };
  int64_t leastRows = packed ? share(far ? kFarRows : kPackedRows) : 2 * plan.blockRows;
  int64_t leastColumns = plan.packsLeft ? share(kPackedColumns) : packed ? share(kDirectColumns) : 1;
  int64_t allRows = plan.outerRowsSize * plan.row.size;
  while (columnSplit * rowSplit < wanted) {
    int64_t tileRows = allRows / rowSplit, tileColumns = columns / columnSplit;
    bool columnsDivide = columnSplit * 2 <= columnUnits && tileColumns >= 2 * leastColumns;
    bool only = packed && !far && rowSplit * columnSplit == 1 && !columnsDivide;
    bool rowsDivide = rowSplit * 2 <= rowSplitLimit && tileRows >= 2 * (only ? share(kPackedRowsOfTwo) : leastRows);
    if (rowsDivide && (!columnsDivide || packed || tileRows >= tileColumns))
      rowSplit *= 2;
    else if (columnsDivide)
      columnSplit *= 2;
    else
      break;
  }
  if (!outerFirst)
    cutOuter(divideCeil(tilesOf(kTileWork), columnSplit * rowSplit));
  plan.tileColumns = std::min(columns, divideCeil(columnUnits, columnSplit) * plan.blockColumns());
  plan.columnTiles = divideCeil(columns, plan.tileColumns);
  plan.tileOuterRows = divideCeil(plan.outerRowsSize, std::min(plan.outerRowsSize, rowSplit));
  plan.outerRowTiles = divideCeil(plan.outerRowsSize, plan.tileOuterRows);
  int64_t rowCuts = divideCeil(rowSplit, plan.outerRowTiles);
  plan.tileRows = std::min(plan.row.size, divideCeil(rowUnits, rowCuts) * plan.blockRows);
  plan.rowTiles = divideCeil(plan.row.size, plan.tileRows);
}

} // namespace

LaneSpread ContractionLanes::spread(int64_t step, int64_t jump) const {
  bool even = around.size == 1 || jump == axis.size * step;
  return {even ? size() : axis.size, step, jump};
}

ContractionParts ContractionPlan::parts() const {
  const ContractionAxis columns[] = {lanes.around, lanes.axis};
  auto along = [&](TileDimension dimension) -> llvm::ArrayRef<ContractionAxis> {
    return dimension == TileOuter       ? llvm::ArrayRef(outer)
           : dimension == TileOuterRows ? llvm::ArrayRef(outerRows)
           : dimension == TileRows      ? llvm::ArrayRef(row)
                                        : llvm::ArrayRef(columns);
  };
  bool even[kTileDimensions];
  even[TileOuter] = outerSize % tileOuter == 0;
  even[TileOuterRows] = outerRowsSize % tileOuterRows == 0;
  even[TileRows] = row.size % tileRows == 0;
  even[TileColumns] = lanes.size() % tileColumns == 0;

  auto partsOf = [&](int64_t ContractionAxis::*step) {
    int64_t span = 1; // elements of what is not cut yet
    for (llvm::ArrayRef<ContractionAxis> axes : {along(TileOuter), along(TileOuterRows), along(TileRows),
                                                 along(TileColumns), llvm::ArrayRef(contraction.contracted)})
      for (const ContractionAxis &axis : axes)
        span *= axis.*step ? axis.size : 1;
    int64_t parts = 1;
    for (TileDimension dimension : tileOrder) {
      int64_t left = tilesAlong(dimension);
      for (const ContractionAxis &axis : along(dimension)) {
        if (left == 1 || axis.size == 1)
          continue;
        int64_t count = std::min(left, axis.size);
        bool cut = even[dimension] && axis.size % count == 0 && left % count == 0;
        if (!cut || axis.*step * axis.size != span)
          return parts;
        span /= count;
        parts *= count;
        left /= count;
      }
    }
    return parts;
  };
  return {partsOf(&ContractionAxis::left), partsOf(&ContractionAxis::right), partsOf(&ContractionAxis::result)};
}

double ContractionPlan::cycles() const {
  int64_t vectors = divideCeil(lanes.size(), width);
  double steps = double(outerSize * outerRowsSize * product(contraction.contracted));
  return steps * coverCycles(row.size, vectors, blockRows, blockVectors, contraction.lanesInBatch) *
         contraction.share();
}

double ContractionPlan::traffic(const Target &target) const {
  double rows = double(outerRowsSize * row.size), columns = double(lanes.size());
  double depth = double(product(contraction.contracted));
  // What is small stays in a near cache from one visit to the next.
  auto bytes = [&](double elements, int64_t times) {
    double all = elements * double(contraction.elementBytes);
    return all > double(target.farBytes) ? all * double(times) : all;
  };
  bool comesOnce = cacheColumns < lanes.size();
  int64_t chunks = divideCeil(outerRowsSize, cacheOuterRows) * divideCeil(row.size, cacheRows);
  double left = bytes(rows * depth, divideCeil(lanes.size(), cacheColumns)), right = bytes(columns * depth, chunks);
  double result = bytes(rows * columns, comesOnce ? 1 : 2 * depthBlocks - 1);
  return double(outerSize) * (left + right + result) * contraction.share();
}

int64_t ContractionPlan::rightPanelElements() const {
  return access == RightAccess::Direct ? 0 : blockColumns() * depthElements;
}

int64_t ContractionPlan::scratchBytes() const {
  int64_t leftElements = packsLeft ? divideCeil(cacheRows, blockRows) * leftPanelElements() : 0;
  return (rightPanelElements() + leftElements) * contraction.elementBytes;
}

ContractionPlan ContractionPlan::make(const Contraction &contraction, const Target &target) {
  ContractionPlan plan;
  plan.contraction = contraction;
  for (const ContractionAxis &axis : contraction.rows) {
    if (axis.size > plan.row.size) {
      if (plan.row.size > 1)
        plan.outerRows.push_back(plan.row);
      plan.row = axis;
    } else {
      plan.outerRows.push_back(axis);
    }
  }
  plan.outerRowsSize = product(plan.outerRows);
  chooseLanes(plan, target);
  chooseStreaming(plan, target);
  chooseRegisterBlock(plan, target);
  cutDepth(plan, target);
  chooseAccess(plan, target);
  chooseFetching(plan, target);
  chooseCacheBlock(plan, target);
  orderTiles(plan);
  cutTiles(plan, target);
  return plan;
}

} // namespace mekik::lowering
