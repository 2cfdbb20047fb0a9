// The orders of addition of the numerics contract: rows of sixteen lanes, chunks of rows, and chains.
#ifndef MEKIK_REFERENCE_FOLDS_H
#define MEKIK_REFERENCE_FOLDS_H

#include "compiler/graph/Graph.h"
#include "compiler/reference/Tensor.h"

namespace mekik::reference {

/// Result of a reduction; `result` has its type and shape.
void evaluateReduction(graph::ReductionOpInterface op, numerics::Arithmetic &arithmetic, const Tensor &operand,
                       Tensor &result);

/// Result of a contraction, one chain of multiply-adds for each element.
void evaluateContraction(graph::ContractionOpInterface op, numerics::FmaClass fmaClass, const Tensor &left,
                         const Tensor &right, Tensor &result);

} // namespace mekik::reference

#endif
