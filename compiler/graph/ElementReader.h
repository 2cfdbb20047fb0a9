// How an op's element definition reads its operands without knowing whether it is being evaluated on numbers or turned
// into vector code: the two implementations are the reference evaluator and the kernel emitter.
#ifndef MEKIK_GRAPH_ELEMENT_READER_H
#define MEKIK_GRAPH_ELEMENT_READER_H

#include "compiler/numerics/Arithmetic.h"
#include "llvm/ADT/ArrayRef.h"

namespace mekik::graph {

/// A position along one axis. Opaque: only the ElementReader that made it can interpret it. In emitted code sixteen
/// neighbouring elements may be computed at once; then an index stands for one position per lane.
struct Index {
  uint64_t bits = 0;     ///< a number, or an SSA value
  int64_t laneStep = 0;  ///< lane l is at `bits` + l * laneStep; meaningless if perLane
  bool perLane = false;  ///< `bits` holds a vector of positions
};

class ElementReader {
public:
  virtual ~ElementReader() = default;

  virtual numerics::Arithmetic &arithmetic() = 0;

  /// The element of operand number `operand` at `index` (one entry per axis of the operand), which must lie inside.
  virtual numerics::Number read(unsigned operand, llvm::ArrayRef<Index> index) = 0;
  /// The same where `condition` holds, `otherwise` elsewhere; `index` need lie inside only where `condition` holds.
  virtual numerics::Number readIf(numerics::Number condition, unsigned operand, llvm::ArrayRef<Index> index,
                                  numerics::Number otherwise) = 0;

  virtual Index constantIndex(int64_t value) = 0;
  virtual Index addToIndex(Index index, int64_t amount) = 0;
  /// `a` * `factor` + `b`.
  virtual Index combineIndices(Index a, int64_t factor, Index b) = 0;
  /// The position as an I32 number, one per lane where lanes differ.
  virtual numerics::Number indexToNumber(Index index) = 0;
  /// A computed I32 or I64 position, e.g. a token id; the value is never negative.
  virtual Index numberToIndex(numerics::Number number) = 0;
};

} // namespace mekik::graph

#endif
