// Random models, compiled and evaluated. Without arguments 100 seeds as one test; for a long run:
//   mekik_fuzz_test --seeds=FIRST:LAST
// and to look at the model of one seed:
//   mekik_fuzz_test --print=SEED
#include "compiler/driver/Dialects.h"
#include "tests/fuzz/CompareBits.h"
#include "tests/fuzz/RandomModel.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

using namespace mekik;

namespace {

mlir::OwningOpRef<mlir::ModuleOp> modelOf(mlir::MLIRContext &context, uint64_t seed) {
  fuzz::RandomModelOptions options;
  options.f64 = seed % 8 == 7;
  options.ops = 2 + seed % 9;
  return fuzz::randomModel(context, seed, options);
}

absl::Status checkSeed(mlir::MLIRContext &context, uint64_t seed) {
  auto model = modelOf(context, seed);
  fuzz::CompareOptions compare;
  compare.seed = seed * 0x100000001u;
  // The tensors of random models are small: in every second one each counts as large, and three of four are cut into
  // tiles smaller than usual.
  if (seed % 2 == 1)
    compare.largeBytes = 0;
  if (seed % 4 != 0)
    compare.tileElements = seed % 4 == 1 ? 1 : seed % 4 == 2 ? 16 : 64;
  return fuzz::compareBits(*model, compare);
}

TEST(RandomModels, CompiledCodeEqualsTheEvaluatorInEveryBit) {
  mlir::MLIRContext context(driver::dialects());
  for (uint64_t seed = 0; seed < 100; ++seed) {
    absl::Status status = checkSeed(context, seed);
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.message();
  }
}

int runSeeds(uint64_t first, uint64_t last) {
  uint64_t failed = 0;
  for (uint64_t seed = first; seed < last; ++seed) {
    mlir::MLIRContext context(driver::dialects());
    absl::Status status = checkSeed(context, seed);
    if (!status.ok()) {
      ++failed;
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), std::string(status.message()).c_str());
    }
    if ((seed - first) % 100 == 99)
      std::printf("%llu models, %llu failed\n", static_cast<unsigned long long>(seed - first + 1),
                  static_cast<unsigned long long>(failed));
    std::fflush(stdout);
  }
  return failed ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 2 && std::strncmp(argv[1], "--seeds=", 8) == 0) {
    char *rest = nullptr;
    uint64_t first = std::strtoull(argv[1] + 8, &rest, 10), last = std::strtoull(rest + 1, nullptr, 10);
    return runSeeds(first, last);
  }
  if (argc == 2 && std::strncmp(argv[1], "--print=", 8) == 0) {
    mlir::MLIRContext context(driver::dialects());
    modelOf(context, std::strtoull(argv[1] + 8, nullptr, 10))->print(llvm::outs());
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
