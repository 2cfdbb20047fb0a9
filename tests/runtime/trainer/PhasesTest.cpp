#include "runtime/model/Phases.h"
#include <deque>
#include <gtest/gtest.h>
#include <string>

namespace mekik::model {
namespace {

/// A function of dispatches over a work arena; every call of a kernel is written down.
class Function {
public:
  MekikBuffer reads(uint64_t offset, uint64_t bytes, int64_t parts = 1) {
    return {offset, bytes, MEKIK_WORK, 0, parts};
  }
  MekikBuffer writes(uint64_t offset, uint64_t bytes, int64_t parts = 1) {
    return {offset, bytes, MEKIK_WORK, 1, parts};
  }
  Function &dispatch(int64_t tiles, std::vector<MekikBuffer> touched, double operations = 1e6) {
    buffers.push_back(std::move(touched));
    dispatches.push_back(
        {note, "kernel", buffers.back().data(), tiles, static_cast<int32_t>(buffers.back().size()), 0, operations, {}});
    return *this;
  }

  Phases cut(int shares) {
    std::vector<void *const *> lists;
    for (size_t d = 0; d < dispatches.size(); ++d) {
      names.push_back({this, reinterpret_cast<void *>(d)});
      lists.push_back(names.back().data());
    }
    MekikFunction function{"train_step", nullptr, dispatches.data(), 0, dispatches.size(), 0, 0};
    return Phases(function, lists, shares);
  }

  /// "0[0,2) 1[0,4)": the ranges of tiles that a share runs.
  std::string ran(const Phases &phases, size_t phase, int share) {
    calls.clear();
    phases.run(phase, share, nullptr);
    return calls;
  }

private:
  static void note(void *const *buffers, void *, int64_t first, int64_t last) {
    auto &function = *static_cast<Function *>(buffers[0]);
    if (!function.calls.empty())
      function.calls += " ";
    function.calls += std::to_string(reinterpret_cast<size_t>(buffers[1])) + "[" + std::to_string(first) + "," +
                      std::to_string(last) + ")";
  }

  std::deque<std::vector<MekikBuffer>> buffers;
  std::deque<std::vector<void *>> names;
  std::vector<MekikDispatch> dispatches;
  std::string calls;
};

TEST(Phases, ReadingTheOwnPartOfWhatWasWrittenNeedsNoMeeting) {
  Function f;
  f.dispatch(4, {f.writes(0, 64, 4)}).dispatch(8, {f.reads(0, 64, 8), f.writes(64, 64, 8)});
  Phases phases = f.cut(2);
  ASSERT_EQ(phases.count(), 1u);
  EXPECT_EQ(phases.sharesOf(0), 2);
  EXPECT_EQ(f.ran(phases, 0, 0), "0[0,2) 1[0,4)");
  EXPECT_EQ(f.ran(phases, 0, 1), "0[2,4) 1[4,8)");
}

TEST(Phases, ReadingWhatAnotherShareWroteDoes) {
  Function f;
  f.dispatch(4, {f.writes(0, 64, 4)}).dispatch(4, {f.reads(0, 64), f.writes(64, 64, 4)});
  EXPECT_EQ(f.cut(2).count(), 2u);
}

TEST(Phases, OverwritingWhatAnotherShareStillReadsDoes) {
  Function f;
  f.dispatch(4, {f.reads(0, 64), f.writes(64, 64, 4)}).dispatch(4, {f.reads(64, 64, 4), f.writes(0, 64, 4)});
  EXPECT_EQ(f.cut(2).count(), 2u);
}

TEST(Phases, PartsOfOverlappingBuffersAreNotTheSameParts) {
  Function f;
  f.dispatch(4, {f.writes(0, 64, 4)}).dispatch(4, {f.reads(0, 128, 4), f.writes(128, 64, 4)});
  EXPECT_EQ(f.cut(2).count(), 2u);
}

TEST(Phases, ThePartsOfThreeSharesAreNotThoseOfFourTiles) {
  Function f;
  f.dispatch(4, {f.writes(0, 64, 4)}).dispatch(4, {f.reads(0, 64, 4), f.writes(64, 64, 4)});
  EXPECT_EQ(f.cut(4).count(), 1u);
  Function g;
  g.dispatch(4, {g.writes(0, 64, 4)}).dispatch(4, {g.reads(0, 64, 4), g.writes(64, 64, 4)});
  EXPECT_EQ(g.cut(3).count(), 2u);
}

TEST(Phases, TwoThatReadTheSameNeedNoMeeting) {
  Function f;
  f.dispatch(4, {f.reads(0, 64), f.writes(64, 64, 4)}).dispatch(4, {f.reads(0, 64), f.writes(128, 64)});
  EXPECT_EQ(f.cut(2).count(), 1u);
}

TEST(Phases, KernelsOfOneTileRunSideBySide) {
  Function f;
  f.dispatch(1, {f.writes(0, 64)}, 9e6)
      .dispatch(1, {f.writes(64, 64)})
      .dispatch(1, {f.reads(64, 64), f.writes(128, 64)});
  Phases phases = f.cut(2);
  ASSERT_EQ(phases.count(), 1u);
  EXPECT_EQ(f.ran(phases, 0, 0), "0[0,1)");
  EXPECT_EQ(f.ran(phases, 0, 1), "1[0,1) 2[0,1)");
}

TEST(Phases, AKernelOfOneTileFollowsTheShareThatWroteWhatItReads) {
  Function f;
  f.dispatch(1, {f.writes(0, 64)}, 9e6).dispatch(1, {f.reads(0, 64), f.writes(64, 64)});
  Phases phases = f.cut(2);
  ASSERT_EQ(phases.count(), 1u);
  EXPECT_EQ(f.ran(phases, 0, 0), "0[0,1) 1[0,1)");
  EXPECT_EQ(phases.sharesOf(0), 1);
}

TEST(Phases, TooLittleWorkIsNotSplitIfThatMeansAMeeting) {
  Function f;
  f.dispatch(1, {f.writes(0, 64)}).dispatch(2, {f.reads(0, 64), f.writes(64, 64)}, 100);
  Phases phases = f.cut(2);
  ASSERT_EQ(phases.count(), 1u);
  EXPECT_EQ(f.ran(phases, 0, 0), "0[0,1) 1[0,2)");
}

TEST(Phases, OneShareIsOnePhase) {
  Function f;
  f.dispatch(4, {f.writes(0, 64, 4)}).dispatch(3, {f.reads(0, 64), f.writes(64, 60)}).dispatch(0, {f.writes(0, 64)});
  Phases phases = f.cut(1);
  ASSERT_EQ(phases.count(), 1u);
  EXPECT_EQ(f.ran(phases, 0, 0), "0[0,4) 1[0,3)");
}

TEST(Phases, FewerTilesThanSharesLeaveTheLastSharesIdle) {
  Function f;
  f.dispatch(3, {f.writes(0, 60, 3)});
  Phases phases = f.cut(8);
  ASSERT_EQ(phases.count(), 1u);
  EXPECT_EQ(phases.sharesOf(0), 3);
  EXPECT_EQ(f.ran(phases, 0, 2), "0[2,3)");
}

TEST(Phases, AFunctionWithoutWorkHasNone) { EXPECT_EQ(Function().cut(4).count(), 0u); }

} // namespace
} // namespace mekik::model
