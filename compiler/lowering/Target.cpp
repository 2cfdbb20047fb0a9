// The table of targets, and what the machine at hand turns out to be.
#include "compiler/lowering/Target.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include <algorithm>
#include <vector>

namespace mekik::lowering {
namespace {

void useAvx2(Target &target) {
  target.vectorBytes = 32;
  target.registers = 16;
}

void useAvx512(Target &target) {
  target.vectorBytes = 64;
  target.registers = 32;
}

absl::Status describeHost(Target &target) {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto has = [&](llvm::StringRef feature) { return features.lookup(feature); };
  if (!has("avx2") || !has("fma"))
    return absl::FailedPreconditionError(
        "--cpu native: expected a CPU with AVX2 and fused multiply-add (x86-64-v3), found " +
        llvm::sys::getHostCPUName().str() + "; run on a newer machine");
  target.cpu = llvm::sys::getHostCPUName().str();
  std::vector<std::string> list;
  for (const auto &feature : features)
    list.push_back((feature.getValue() ? "+" : "-") + feature.getKey().str());
  std::sort(list.begin(), list.end()); // the map's order is not fixed, and the text goes into cache keys
  for (const std::string &feature : list)
    target.features += (target.features.empty() ? "" : ",") + feature;
  bool wide = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  wide ? useAvx512(target) : useAvx2(target);
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<Target> Target::parse(llvm::StringRef name) {
  Target target;
  target.name = name.str();
  target.triple = "x86_64-unknown-linux-gnu";
  if (name == "x86-64-v3") {
    target.cpu = name.str();
    useAvx2(target);
  } else if (name == "x86-64-v4") {
    target.cpu = name.str();
    useAvx512(target);
  } else if (name == "native") {
    if (absl::Status status = describeHost(target); !status.ok())
      return status;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("--cpu: expected x86-64-v3, x86-64-v4 or native, found \"", name.str(), "\""));
  }
  return target;
}

} // namespace mekik::lowering
