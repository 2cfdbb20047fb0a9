// How a model stands in a module, from the front end to the object file: names of functions and attributes. The module
// itself is a `builtin.module` named after the model.
//
// After the front end (stage `graph`):
//   @train  the model as trained: batch as configured, drop active.    Results: loss, outputs, probes.
//   @eval   the model as used: config `batch` is 1, drop is identity.  Results: loss (if any), outputs, probes.
//   Arguments of both: every parameter in order of declaration, inputs, targets, seed, step (both i64 scalars).
// After autodiff (stage `gradient`): functions the runtime calls by name.
//   @init        seed, step                                    -> parameters
//   @forward     parameters, inputs                            -> outputs, probes     (from @eval)
//   @loss        parameters, inputs, targets                   -> loss                (from @eval)
//   @train_step  parameters, state, inputs, targets, seed, step -> loss, rate, parameters, state   (from @train)
//   @gradient    parameters, inputs, targets, seed, step        -> loss, gradients    (from @train; on request)
// Functions drop arguments they do not use, except parameters and state, which are storage.
#ifndef MEKIK_GRAPH_MODEL_CONVENTIONS_H
#define MEKIK_GRAPH_MODEL_CONVENTIONS_H

#include "llvm/ADT/StringRef.h"

namespace mekik::graph {

// Functions.
inline constexpr llvm::StringLiteral kTrainFunction = "train";
inline constexpr llvm::StringLiteral kEvalFunction = "eval";
inline constexpr llvm::StringLiteral kInitFunction = "init";
inline constexpr llvm::StringLiteral kForwardFunction = "forward";
inline constexpr llvm::StringLiteral kLossFunction = "loss";
inline constexpr llvm::StringLiteral kTrainStepFunction = "train_step";
inline constexpr llvm::StringLiteral kGradientFunction = "gradient";

// Attributes of function arguments and results.
/// StringAttr: "parameter", "state", "input", "target", "step", "seed", "output", "probe", "loss", "gradient", "rate".
inline constexpr llvm::StringLiteral kRole = "mekik.role";
/// StringAttr: the tensor's name in the model. A result with role parameter or state is stored over the argument of the
/// same role and name.
inline constexpr llvm::StringLiteral kName = "mekik.name";
/// DictionaryAttr of a parameter: {kind = "zeros" | "ones" | "constant" | "normal" | "uniform", a : f64, b : f64}:
/// constant a; normal with standard deviation a; uniform in [a, b). Parameter number i (by position among the
/// parameters) draws from stream MEKIK_STREAM_INIT + 2 i.
inline constexpr llvm::StringLiteral kInit = "mekik.init";
/// StringAttr of a parameter: the block whose body declares it; absent outside of blocks.
inline constexpr llvm::StringLiteral kBlock = "mekik.block";
/// IntegerAttr i64 of an input or target of class ids: they lie in [0, classes). Absent: unchecked.
inline constexpr llvm::StringLiteral kClasses = "mekik.classes";

// Attributes of the module.
/// StringAttr: JSON object of every `config` with its value.
inline constexpr llvm::StringLiteral kConfiguration = "mekik.configuration";
/// StringAttr: hexadecimal SHA-256.
inline constexpr llvm::StringLiteral kSourceHash = "mekik.source_hash";
/// DictionaryAttr, absent without a `train` statement: {kind = "sgd" | "adam" | "adamw", momentum : f64,
/// nesterov : bool, beta1 : f64, beta2 : f64, eps : f64, weight_decay : f64, decay = "matrices" (rank 2 and more only) |
/// "all", clip : f64 (0: none), rate = {kind = "constant" | "cosine" | "linear", peak : f64, floor : f64, steps : i64,
/// warmup : i64, warmup_rule = "next" | "next_open" | "current"}}. Formulas and defaults: compiler/autodiff/Optimizer.h.
inline constexpr llvm::StringLiteral kOptimizer = "mekik.optimizer";

// Attributes of the module, set when memory is planned.
/// ArrayAttr of dictionaries {name, role, type, offset}: parameters, then optimizer state, each in its arena.
inline constexpr llvm::StringLiteral kStorage = "mekik.storage";
/// IntegerAttr i64: sizes of the two persistent arenas in bytes.
inline constexpr llvm::StringLiteral kParameterBytes = "mekik.parameter_bytes";
inline constexpr llvm::StringLiteral kStateBytes = "mekik.state_bytes";

// Attributes of a kernel function (stage `kernels` and below).
/// UnitAttr: the function is a kernel, called once per dispatch.
inline constexpr llvm::StringLiteral kKernel = "mekik.kernel";
/// DenseI64ArrayAttr: operands that results may overwrite: each is read at the element being written and nowhere else,
/// or by folds of its row, so any result of the same type may be given its buffer.
inline constexpr llvm::StringLiteral kInPlace = "mekik.in_place";
/// DenseI64ArrayAttr, one entry per result: nobody reads elements [..., j] of it whose position j along the last axis
/// is beyond that along this axis, so they need not be written; -1 if all are read.
inline constexpr llvm::StringLiteral kReadUpToDiagonal = "mekik.read_up_to_diagonal";
/// IntegerAttr i64: number of tiles; set when loops are emitted.
inline constexpr llvm::StringLiteral kTiles = "mekik.tiles";
/// DenseI64ArrayAttr, one entry per operand and result: bytes of its buffer, and the number of equal parts of which the
/// tiles touch one each (MekikBuffer::parts); set when loops are emitted. Results are the last kResults of them.
inline constexpr llvm::StringLiteral kBytes = "mekik.bytes";
inline constexpr llvm::StringLiteral kParts = "mekik.parts";
inline constexpr llvm::StringLiteral kResults = "mekik.results";
/// FloatAttr f64: cycles of one core for one dispatch as its instructions alone would take, and the bytes that it moves
/// beyond the nearest caches; estimates, set when loops are emitted.
inline constexpr llvm::StringLiteral kCycles = "mekik.cycles";
inline constexpr llvm::StringLiteral kTraffic = "mekik.traffic";
/// UnitAttr: the kernel is a contraction; set when loops are emitted.
inline constexpr llvm::StringLiteral kContraction = "mekik.contraction";
/// IntegerAttr i64: bytes of scratch a thread needs; set when loops are emitted.
inline constexpr llvm::StringLiteral kScratch = "mekik.scratch";
/// FloatAttr f64: floating-point operations of one dispatch.
inline constexpr llvm::StringLiteral kOperations = "mekik.operations";

} // namespace mekik::graph

#endif
