// What a sum of products is once its letters are gone: axes with a size and a stride in each operand, sorted by the
// part they play, and a plan that cuts them into tiles and register blocks. Pure arithmetic on shapes; emits nothing.
#ifndef MEKIK_LOWERING_CONTRACTION_H
#define MEKIK_LOWERING_CONTRACTION_H

#include "compiler/lowering/Target.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>

namespace mekik::lowering {

/// The part of an axis in a triangle: a product takes part where the position along the earlier axis is at most that
/// along the later one.
enum class TriangleSide : int8_t { None, Later, Earlier };

/// An axis of a contraction: its size and its strides, in elements, in the left operand, the right operand and the
/// result; 0 where an operand does not have it.
struct ContractionAxis {
  int64_t size = 1;
  int64_t left = 0;
  int64_t right = 0;
  int64_t result = 0;
  TriangleSide side = TriangleSide::None;
};

/// The axes by role. Axes of size 1 are gone; neighbours that are contiguous in every operand that has them are one.
/// The two axes of a triangle stay as they are. "Left" and "right" are the operands after a possible exchange, made so
/// that the fastest axis of the result is not one of the left operand alone.
struct Contraction {
  int64_t elementBytes = 4;                      // 4 (f32) or 8 (f64)
  bool swapped = false;                          // the operands are exchanged
  bool hasTriangle = false;                      // two of the axes have a side
  bool lanesInBatch = false;                     // the fastest axis of the result is in both operands
  ContractionAxis lanes;                         // the fastest axis of the result; result stride 1
  llvm::SmallVector<ContractionAxis> batch;      // in both operands and the result, without `lanes`
  llvm::SmallVector<ContractionAxis> rows;       // left and result
  llvm::SmallVector<ContractionAxis> columns;    // right and result, without `lanes`
  llvm::SmallVector<ContractionAxis> contracted; // both operands, in the order of the left operand as written

  /// The share of products that take part, about: a half if there is a triangle.
  double share() const { return hasTriangle ? 0.5 : 1; }

  /// Labels as in ContractionOpInterface, shapes of the two operands as written. The left operand may be read in other
  /// steps than those of its shape. A triangle is two labels, the later one first, or empty.
  static Contraction analyze(llvm::StringRef leftLabels, llvm::StringRef rightLabels, llvm::StringRef resultLabels,
                             llvm::ArrayRef<int64_t> leftShape, llvm::ArrayRef<int64_t> rightShape,
                             int64_t elementBytes, llvm::ArrayRef<int64_t> leftStrides = {},
                             llvm::StringRef triangle = "");
};

/// Where lanes lie in an operand, in elements: lane l at of(l) from the first. Runs of lanes `step` apart, their starts
/// `jump` apart.
struct LaneSpread {
  int64_t run, step, jump;

  int64_t of(int64_t lane) const { return lane / run * jump + lane % run * step; }
};

/// What vectors run along: the fastest axis of the result and, where that alone would leave a part of each vector
/// empty, an axis of columns around it. Lanes are numbered through both.
struct ContractionLanes {
  ContractionAxis axis;
  ContractionAxis around; // size 1 if there is none; else axis.size divides the width of a vector

  int64_t size() const { return around.size * axis.size; }
  LaneSpread inLeft() const { return spread(axis.left, around.left); }
  LaneSpread inRight() const { return spread(axis.right, around.right); }
  LaneSpread inResult() const { return spread(axis.result, around.result); }

private:
  LaneSpread spread(int64_t step, int64_t jump) const;
};

/// Of a line of the caches.
constexpr int64_t kLineBytes = 64;

/// How the right operand reaches the registers.
enum class RightAccess {
  Direct,    // vectors loaded where they lie
  Copied,    // runs of contiguous lanes, copied into panels first
  Transposed // lanes apart from each other, brought together in panels
};

/// What tiles are cut along.
enum TileDimension { TileOuter, TileOuterRows, TileRows, TileColumns, kTileDimensions };

/// Numbers of equal parts of the operands (after the exchange) and the result of which the tiles touch one each.
struct ContractionParts {
  int64_t left = 1, right = 1, result = 1;
};

/// Loops and blocks for one contraction on one target. Every count follows from the shapes and the target alone.
struct ContractionPlan {
  Contraction contraction;
  ContractionLanes lanes;                       // the columns of register blocks
  ContractionAxis row;                          // the axis register blocks run over
  llvm::SmallVector<ContractionAxis> outer;     // batch and other columns: one small product each
  llvm::SmallVector<ContractionAxis> outerRows; // the other rows: they share a packed right operand
  int64_t outerSize = 1, outerRowsSize = 1;

  int64_t width = 1;        // lanes of a vector
  int64_t blockVectors = 1; // vectors side by side in a register block
  int64_t blockRows = 1;    // rows of a register block
  RightAccess access = RightAccess::Direct;
  bool packsLeft = false; // rows that lie side by side, k far apart: brought together in panels too

  // What comes from afar and is asked for ahead of its use: rows in the next block of k, what the next column block
  // packs, sums of the next row block. Where columns are few, the left operand is most of what comes: rows of the next
  // row block, or, where steps of k are far apart, those to come.
  bool fetchesLeft = false, fetchesRight = false, fetchesResult = false;
  bool fetchesRows = false, fetchesSteps = false;

  // Sums are stored once, whole lines at a time, past the caches: those would first read the lines that are written
  // over, and then lose them before anybody reads them.
  bool streamsResult = false;

  // Of a triangle of which both axes are kept: elements without products are not read by anybody, so not written.
  bool leavesOutside = false;

  // k: axes before `split` and blocks of `depth` along it are run through with accumulators resting in the result.
  int64_t split = 0, depth = 1;
  int64_t depthBlocks = 1;   // visits of an accumulator
  int64_t depthElements = 1; // products of the largest visit

  // A tile: so many steps of `outer`, steps of `outerRows`, rows, columns. Tiles are numbered as they lie in the
  // result, the slowest of its axes first, so that a thread's share lies together, as in kernels that go by rows.
  std::array<TileDimension, kTileDimensions> tileOrder{TileOuter, TileOuterRows, TileRows, TileColumns};
  int64_t tileOuter = 1, tileColumns = 1, tileOuterRows = 1, tileRows = 1;
  int64_t outerTiles = 1, columnTiles = 1, outerRowTiles = 1, rowTiles = 1;
  // Rows, and steps of `outerRows`, run through before the next column block.
  int64_t cacheRows = 1, cacheOuterRows = 1;
  int64_t cacheColumns = 1; // columns run through in all blocks of k before the next

  int64_t blockColumns() const { return width * blockVectors; }
  int64_t tiles() const { return outerTiles * columnTiles * outerRowTiles * rowTiles; }
  int64_t tilesAlong(TileDimension dimension) const {
    return dimension == TileOuter       ? outerTiles
           : dimension == TileOuterRows ? outerRowTiles
           : dimension == TileRows      ? rowTiles
                                        : columnTiles;
  }
  int64_t sizeAlong(TileDimension dimension) const {
    return dimension == TileOuter       ? outerSize
           : dimension == TileOuterRows ? outerRowsSize
           : dimension == TileRows      ? row.size
                                        : lanes.size();
  }
  int64_t tileSizeAlong(TileDimension dimension) const {
    return dimension == TileOuter       ? tileOuter
           : dimension == TileOuterRows ? tileOuterRows
           : dimension == TileRows      ? tileRows
                                        : tileColumns;
  }
  ContractionParts parts() const;
  /// Of all tiles, by the instructions of the register blocks: cycles of one core.
  double cycles() const;
  /// Of all tiles: bytes of operands read, as often as they are packed or streamed, and of accumulators visited.
  double traffic(const Target &target) const;
  /// Elements of the panel of the right operand: one column block.
  int64_t rightPanelElements() const;
  /// Elements from the panel of one row block to the next. Not a power of two, so that one step of k of all row blocks
  /// does not meet in one set of the cache.
  int64_t leftPanelElements() const { return blockRows * depthElements + 16; }
  /// Bytes of private memory a thread needs.
  int64_t scratchBytes() const;

  static ContractionPlan make(const Contraction &contraction, const Target &target);
};

} // namespace mekik::lowering

#endif
