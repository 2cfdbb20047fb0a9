// Selects that keep what stands on and below a diagonal, as in attention that looks at nothing later: where rows may
// end early, and halves of tensors that nobody looks at, are found by them.
#ifndef MEKIK_GRAPH_DIAGONAL_H
#define MEKIK_GRAPH_DIAGONAL_H

#include "compiler/graph/Graph.h"
#include <optional>

namespace mekik::graph {

/// Rows of at most this many elements are held in registers and computed whole, diagonal or not.
inline constexpr int64_t kWholeRow = 128;

/// A select of elements [..., j] whose position j along the last axis is at most that along the axis `later`.
struct UpToDiagonal {
  int64_t later;
  mlir::Value condition, before, behind;
};
std::optional<UpToDiagonal> upToDiagonal(mlir::Value value);

/// The select that `fold` reads, if the fold runs along the last axis and what it meets behind the diagonal is its
/// identity: it may as well end there.
std::optional<UpToDiagonal> endOfFold(ReductionOpInterface fold);

} // namespace mekik::graph

#endif
