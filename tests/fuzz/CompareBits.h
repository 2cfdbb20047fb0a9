// The central equality: what compiled code computes is what the reference evaluator computes, in every bit, on every
// target and number of threads, in whatever order threads get to run, whatever was in memory before.
#ifndef MEKIK_TESTS_FUZZ_COMPARE_BITS_H
#define MEKIK_TESTS_FUZZ_COMPARE_BITS_H

#include "absl/status/status.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>
#include <vector>

namespace mekik::fuzz {

struct CompareOptions {
  std::vector<std::string> targets = {"x86-64-v3", "x86-64-v4"}; ///< those this machine can run are used
  std::vector<int> threads = {1, 2, 3, 4}; ///< also their shares one after the other, the last one first
  int steps = 2;
  uint64_t seed = 7; ///< of parameters, inputs and drops
  std::optional<int64_t> largeBytes, tileElements; ///< of PipelineOptions; without them, theirs
};

/// Derives, compiles and runs every function of `model` (stage `graph`) and compares all parameters, optimizer state,
/// losses and outputs with the evaluator. The message of an error names function, tensor, element, target, threads.
absl::Status compareBits(mlir::ModuleOp model, const CompareOptions &options = {});

} // namespace mekik::fuzz

#endif
