// What a dispatch is expected to take, and how a profile tells where that is not so.
#include "runtime/estimate/DispatchTime.h"
#include "runtime/model/Profile.h"
#include "tests/runtime/trainer/BigramModel.h"
#include <gtest/gtest.h>

namespace mekik::test {
namespace {

using Bigram = BigramModel<5, 4, 6>;
using estimate::dispatchSeconds;
using estimate::MachineSpeed;
using estimate::Work;

constexpr double beginning = 100e-9;
constexpr MachineSpeed speed = {.operations = 400e9,
                                .products = 200e9,
                                .levels = {{{1 << 20, 80e9}, {16 << 20, 40e9}, {256 << 20, 10e9}}},
                                .cores = 4};

double secondsOf(const Work &work, double set, int64_t threads) {
  return dispatchSeconds(std::vector{work, Work{{0, 0, 0}, 64}}, set, threads, speed).front();
}

TEST(Estimate, RowsTakeTheLongerOfComputingAndMoving) {
  double compute = 1e6 / speed.cyclesPerSecond(false), memory = 1e6 / (10e9 / 4);
  EXPECT_DOUBLE_EQ(secondsOf({{1e6, 0, 0}, 8}, 1e9, 1), compute + beginning);
  EXPECT_DOUBLE_EQ(secondsOf({{1, 1e6, 0}, 8}, 1e9, 1), memory + beginning);
  EXPECT_DOUBLE_EQ(secondsOf({{1e6, 1e6, 0}, 8}, 1e9, 1), std::max(compute, memory) + beginning);
}

TEST(Estimate, AContractionMovesFirstUnlessAllIsInANearCache) {
  double compute = 1e6 / speed.cyclesPerSecond(true), memory = 1e6 / (10e9 / 4);
  EXPECT_DOUBLE_EQ(secondsOf({{1e6, 1e6, 1}, 8}, 1e9, 1), compute + memory + beginning);
  EXPECT_DOUBLE_EQ(secondsOf({{1e6, 1e6, 1}, 8}, 1e5, 1), compute + beginning);
}

TEST(Estimate, ThreadsShareTilesAndTheWorkingSet) {
  double alone = secondsOf({{1e6, 0, 0}, 8}, 1e5, 1) - beginning;
  EXPECT_DOUBLE_EQ(secondsOf({{1e6, 0, 0}, 8}, 1e5, 4), alone / 4 + beginning);
  EXPECT_DOUBLE_EQ(secondsOf({{1e6, 0, 0}, 1}, 1e5, 4), alone + beginning);
  EXPECT_DOUBLE_EQ(secondsOf({{0, 1e6, 0}, 8}, 4 << 20, 1), 1e6 / (40e9 / 4) + beginning);
  EXPECT_DOUBLE_EQ(secondsOf({{0, 1e6, 0}, 8}, 4 << 20, 4), 1e6 / 80e9 + beginning);
}

TEST(Estimate, MoreThreadsThanTheLargestDispatchHasTilesAreNoFaster) {
  std::vector<Work> works = {{{1e6, 1e6, 0}, 3}, {{1e6, 1e6, 1}, 2}};
  EXPECT_EQ(dispatchSeconds(works, 1e9, 4, speed), dispatchSeconds(works, 1e9, 3, speed));
}

TEST(Estimate, MoreThreadsThanCoresAreNoFaster) {
  std::vector<Work> works = {{{1e6, 1e6, 0}, 64}, {{1e6, 1e6, 1}, 64}};
  EXPECT_EQ(dispatchSeconds(works, 1e9, 16, speed), dispatchSeconds(works, 1e9, 4, speed));
}

TEST(Estimate, TheFunctionOfAModelIsItsDispatches) {
  const MekikFunction &step = Bigram::functions[3];
  std::vector<Work> works;
  for (const MekikDispatch &dispatch : Bigram::stepDispatches)
    works.push_back({dispatch.cost, dispatch.tiles});
  double set = double(Bigram::model.parameterBytes + Bigram::model.stateBytes + step.workBytes);
  EXPECT_EQ(dispatchSeconds(Bigram::model, step, 2, speed), dispatchSeconds(works, set, 2, speed));
}

/// The table of a step whose kernels took 100, 50 and 0.5 microseconds the first time, more the second.
std::string table(const std::vector<double> &expected) {
  model::Profile profile(Bigram::model);
  const MekikFunction &step = Bigram::functions[3];
  for (int64_t factor : {1, 2}) {
    model::Profile::Dispatch *counters = profile.beginCall(step);
    counters[0].add(100'000 * factor);
    counters[1].add(50'000 * factor);
    counters[2].add(500 * factor);
  }
  return profile.table(step, expected);
}

TEST(Profile, ShowsWhatWasExpectedBesideWhatWasMeasured) {
  EXPECT_EQ(table({80e-6, 51e-6, 1e-6}),
            "train_step: mean 225.8 us, least 150.5 us, expected 132.0 us a call, 3 dispatches, 2 calls\n"
            "kernel      mean us   least us  expected us   times   share  calls  tiles  GFLOP/s  line\n"
            "gradient      150.0      100.0         80.0    1.25   66.4%      1      5     10.0     0\n"
            "sum            75.0       50.0         51.0    0.98   33.2%      1      1     20.0     0\n"
            "update          0.8        0.5          1.0    0.50    0.3%      1      5   2000.0     0\n"
            "together      225.8      150.5        132.0    1.14\n"
            "no kernel is far from what is expected\n");
}

TEST(Profile, NamesTheKernelsThatAreFarFromWhatIsExpectedTheFarthestFirst) {
  std::string text = table({50e-6, 300e-6, 0.1e-6});
  EXPECT_EQ(text.substr(text.find("far from")), "far from what is expected:\n"
                                                "  sum      line 0: 250.0 us faster, 0.17 times what is expected\n"
                                                "  gradient line 0: 50.0 us slower, 2.00 times what is expected\n");
}

TEST(Profile, IsSilentAboutWhatNobodyKnows) {
  EXPECT_EQ(table({}).find("expected"), std::string::npos);
  EXPECT_EQ(table({}).find("together"), std::string::npos);
}

} // namespace
} // namespace mekik::test
