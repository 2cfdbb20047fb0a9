// The state that the loops of one contraction share while they are emitted. Private to the contraction emitter.
#ifndef MEKIK_LOWERING_CONTRACTION_EMITTER_H
#define MEKIK_LOWERING_CONTRACTION_EMITTER_H

#include "compiler/lowering/EmitContraction.h"
#include "compiler/lowering/LoopBuilder.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mekik::lowering {

class ContractionEmitter {
public:
  ContractionEmitter(mlir::OpBuilder &builder, mlir::Location loc, const ContractionPlan &plan, mlir::Value left,
                     mlir::Value right, mlir::Value result, mlir::Value scratch, ContractionEpilogue epilogue);

  void emit(mlir::Value first, mlir::Value last);

private:
  /// Steps of k written out in one turn of the loop.
  static constexpr int64_t kUnroll = 4;
  using Values = LoopBuilder::Values;

  struct Offsets {
    mlir::Value left, right, result; // elements
  };
  struct Range {
    mlir::Value from, to;
  };
  using TileRanges = std::array<Range, kTileDimensions>;
  /// The block of k at hand.
  struct Depth {
    mlir::Value first, last; // i1: nothing is in the result yet; nothing comes after
    mlir::Value lastOfAxis;  // i1: the block ends where its axis ends
    mlir::Value length;      // steps along the axis that is split
    mlir::Value lastOfNext;  // number of the last step of the next block, 0 if there is none
    mlir::Value lastStep;    // number of the last step along the axis, counted from the block's first
  };

  Offsets offsets(Offsets base, llvm::ArrayRef<ContractionAxis> axes, mlir::Value linear);
  Offsets advance(Offsets base, const ContractionAxis &axis, mlir::Value position);
  /// At lane number `column`, which starts a vector.
  Offsets atColumn(Offsets base, mlir::Value column);

  mlir::Value boxFrom(mlir::Value tile, mlir::Value last, llvm::ArrayRef<TileDimension> cut, TileRanges &box);
  void emitBox(const TileRanges &box);
  void emitDepthBlock(Offsets base, mlir::Value block, Range outerRows, Range rows);
  /// body(first column, vectors, lanes of the last vector).
  void forColumnBlocks(llvm::function_ref<void(mlir::Value, int64_t, int64_t)> body);
  /// body(first row, rows).
  void forRowBlocks(Range rows, llvm::function_ref<void(mlir::Value, int64_t)> body);

  /// One register block (ContractionBlock.cpp). `base` is where its first row and column lie.
  void emitBlock(Offsets base, mlir::Value row, mlir::Value column, int64_t rows, int64_t vectors, int64_t lastLanes);
  struct Block {
    int64_t rows, vectors, lastLanes, width;

    int64_t lanesOf(int64_t vector) const { return vector + 1 == vectors ? lastLanes : width; }
    int64_t lanes() const { return (vectors - 1) * width + lastLanes; }
  };
  /// Where a step of k lies in the panels; null for an operand that is read where it lies.
  struct Panels {
    mlir::Value left, right;
  };
  void emitSums(const Block &block, Offsets base, mlir::Value row, mlir::Value column);
  void storeSums(const Block &block, Offsets base, llvm::ArrayRef<mlir::Value> sums);
  mlir::Value placeOf(Offsets base, int64_t row, int64_t vector) {
    return at.add(base.result, row * plan.row.result + inResult.of(vector * plan.width));
  }
  Values emitDepth(const Block &block, size_t axis, Offsets base, Panels panels, Values sums);
  Values emitStep(const Block &block, Offsets base, Panels panels, Values sums, bool masked);

  /// Which products take part (ContractionTriangle.cpp). Where one of the two axes stands, and the position along it at
  /// which the block at hand starts.
  struct Side {
    enum { Absent, Fixed, Row, Lanes, Depth } place = Absent;
    mlir::Value start;
  };
  /// Steps [from, to) along an axis of k; masked ones are not for every element of the block.
  struct Steps {
    mlir::Value from, to;
    bool masked;
  };
  void findTriangle();
  Side &side(TriangleSide which) { return sides[which == TriangleSide::Later ? 0 : 1]; }
  /// First and last position of the block; not of a side in k.
  mlir::Value lowest(const Side &side) { return side.start; }
  mlir::Value highest(const Side &side, const Block &block);
  /// Both sides are axes of the result: an element has all of its products or none.
  bool bothSidesKept();
  /// i1, if both sides are kept: some element of the block has products.
  mlir::Value touchesTriangle(const Block &block);
  llvm::SmallVector<Steps> stepsInTriangle(const Block &block, size_t axis, mlir::Value length);
  /// The blocks of k in which some of the rows have products.
  Range depthBlocksOf(Range rows);
  /// Lane by lane: the products of this row and vector, at the step of k at hand, take part.
  mlir::Value takesPart(int64_t row, int64_t vector);
  mlir::Value whereItTakesPart(int64_t row, int64_t vector, mlir::Value value, mlir::Value otherwise);

  /// Brings a column block of the right operand into its panel (ContractionPanels.cpp).
  void emitPacking(Offsets base, mlir::Value column, int64_t vectors, int64_t lastLanes);
  void packAxis(size_t axis, mlir::Value source, mlir::Value target, int64_t step, int64_t count);
  /// What the steps of k of a row block ask for ahead of its use (ContractionFetch.cpp). Of the left operand one of its
  /// rows in the next block of k, another one in each column block; of the right operand a part of what the next column
  /// block packs, another one in each row block; and the sums of the next row block. `base` is that of
  /// the row block, for the right operand that of the block of k.
  mlir::Value leftAhead(Offsets base, mlir::Value column, int64_t rows);
  mlir::Value rightAhead(Offsets base, mlir::Value column, mlir::Value block);
  mlir::Value resultAhead(Offsets base, mlir::Value row);
  /// Where columns are few: all lines of the next row block in the same block of k.
  mlir::Value rowsAhead(Offsets base, mlir::Value row);
  /// Of a right operand with its lanes apart: lanes whose lines are as many as a block of k has turns.
  int64_t lanesOfTurns() const { return kLineBytes / plan.contraction.elementBytes / kUnroll; }
  void fetchAhead(const Block &block, mlir::Value k);
  /// Brings rows [part) of the left operand into their panels, a row block each.
  void emitRowPacking(Offsets base, Range part);
  void packRows(size_t axis, mlir::Value source, mlir::Value target, Range part);
  void packSquare(mlir::Value source, mlir::Value target, int64_t step, int64_t count, int64_t size);
  /// Where the panel of the row block at `row` starts.
  mlir::Value leftPanelStart(mlir::Value row);

  mlir::VectorType vectorType(int64_t width);
  mlir::Value zeros(int64_t width);
  mlir::Value mask(int64_t count);
  /// Vectors of the same length, a power of two of them, side by side.
  mlir::Value concatenate(Values parts);
  mlir::Value load(mlir::Value buffer, mlir::Value offset, int64_t count);
  mlir::Value gather(mlir::Value buffer, mlir::Value offset, const LaneSpread &spread, int64_t count);
  mlir::Value broadcast(mlir::Value buffer, mlir::Value offset);
  /// Past the caches only where every whole vector is a line.
  void store(mlir::Value vector, mlir::Value buffer, mlir::Value offset, const LaneSpread &spread, int64_t count,
             bool pastCaches = false);

  LoopBuilder at;
  const ContractionPlan &plan;
  const ContractionLanes &lanes;
  const LaneSpread inLeft, inRight, inResult;
  ContractionEpilogue epilogue;
  mlir::Value left, right, result; // flat, after the exchange
  mlir::Value panels;              // flat scratch, null if nothing is packed: the right panel, then left ones
  mlir::Type element;
  Range columns;                               // at hand
  mlir::Value nextLeft, nextRight, nextResult; // where to fetch from, null if nothing is
  mlir::Value nextRows, nextSteps;
  Range packed;                                // rows whose left panels are there
  Depth depth;
  Side sides[2];          // later, earlier
  mlir::Value stepInSide; // position along the side that is in k, at the step at hand
};

} // namespace mekik::lowering

#endif
