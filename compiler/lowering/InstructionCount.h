// What the instructions of a kernel's loops cost, counted in the loops that were emitted: an estimate for people who
// want to know how long training takes. Nothing else depends on it.
#ifndef MEKIK_LOWERING_INSTRUCTION_COUNT_H
#define MEKIK_LOWERING_INSTRUCTION_COUNT_H

#include "compiler/lowering/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mekik::lowering {

/// FloatAttr f64 of a loop whose bounds do not tell: how often it turns on average.
inline constexpr llvm::StringLiteral kTurns = "mekik.turns";

/// Cycles of one core for all tiles of a kernel (stage `vector`), if operands are in the nearest cache and nothing
/// waits for a result: two vector instructions a cycle, divisions and square roots one at a time.
double countCycles(mlir::func::FuncOp loops, int64_t tiles, const Target &target);

} // namespace mekik::lowering

#endif
