// A CPU that code is generated for: what LLVM is told about it, and the sizes that shape loops for it. Nothing here may
// change a result; it only changes how fast the result comes.
#ifndef MEKIK_LOWERING_TARGET_H
#define MEKIK_LOWERING_TARGET_H

#include "absl/status/statusor.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace mekik::lowering {

struct Target {
  std::string name;     // as the user wrote it: "x86-64-v3", "x86-64-v4", "native"
  std::string triple;   // "x86_64-unknown-linux-gnu"
  std::string cpu;      // LLVM's name of the CPU
  std::string features; // LLVM's feature list, "+avx2,+fma,..."; empty if the CPU's name says it all

  int64_t vectorBytes = 0; // of one vector register
  int64_t registers = 0;   // vector registers

  int64_t tileElements = 2048; // about how many elements a tile computes

  int64_t contractionDepth = 256; // elements of k between two visits of an accumulator to memory, at most

  // What a contraction reckons with of the memory. Bytes.
  int64_t nearBytes = 32 * 1024;          // stay in the nearest cache while a row block is computed
  int64_t leftBlockBytes = 256 * 1024;    // of rows stay in the second-level cache from one column block to the next
  int64_t farBytes = 1024 * 1024;         // what is larger comes from beyond the second-level cache
  int64_t passBytes = 2 * 1024 * 1024;    // of a result that is written once: what is larger is not kept near
  int64_t remoteBytes = 16 * 1024 * 1024; // what is larger is in no cache when it is visited again

  /// Elements of `elementBytes` bytes in one vector register.
  int64_t lanes(int64_t elementBytes) const { return vectorBytes / elementBytes; }

  /// The target of that name. InvalidArgument names the known ones; FailedPrecondition if `native` means a CPU without
  /// AVX2 and fused multiply-add.
  static absl::StatusOr<Target> parse(llvm::StringRef name);
};

} // namespace mekik::lowering

#endif
