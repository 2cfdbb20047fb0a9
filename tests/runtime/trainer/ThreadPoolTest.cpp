#include "runtime/model/ThreadPool.h"
#include <atomic>
#include <ctime>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace mekik::model {
namespace {

struct Seen {
  std::vector<std::atomic<int>> runs;
  std::atomic<int> calls{0}, foreignCalls{0};
  std::thread::id driver = std::this_thread::get_id();
  explicit Seen(size_t tiles) : runs(tiles) {}
};

void countTiles(void *const *buffers, void *scratch, int64_t first, int64_t last) {
  auto &seen = *static_cast<Seen *>(buffers[0]);
  ++seen.calls;
  if (std::this_thread::get_id() != seen.driver)
    ++seen.foreignCalls;
  *static_cast<int64_t *>(scratch) = first;
  for (int64_t tile = first; tile < last; ++tile)
    ++seen.runs[static_cast<size_t>(tile)];
}

TEST(ThreadPool, RunsEveryTileOnceInEvenContiguousShares) {
  for (int threads : {1, 2, 3, 7}) {
    auto pool = ThreadPool::create(threads).value();
    std::vector<int64_t> memory(static_cast<size_t>(threads));
    std::vector<void *> scratch;
    for (int64_t &word : memory)
      scratch.push_back(&word);
    for (int64_t tiles : {0, 1, 2, 3, 6, 7, 8, 100}) {
      Seen seen(static_cast<size_t>(tiles));
      void *buffers[] = {&seen};
      pool->run(countTiles, buffers, scratch.data(), tiles);
      for (auto &runs : seen.runs)
        EXPECT_EQ(runs, 1) << threads << " threads, " << tiles << " tiles";
      EXPECT_EQ(seen.calls, std::min<int64_t>(threads, tiles));
    }
  }
}

/// The driver's share lasts until a worker has come, so a pool whose workers never work does not end.
void waitForAnother(void *const *buffers, void *, int64_t, int64_t) {
  auto &seen = *static_cast<Seen *>(buffers[0]);
  if (std::this_thread::get_id() != seen.driver)
    ++seen.foreignCalls;
  while (seen.foreignCalls == 0)
    usleep(100);
}

TEST(ThreadPool, WorkersTakeTheirSharesWhileTheDriverIsBusy) {
  auto pool = ThreadPool::create(2).value();
  void *scratch[] = {nullptr, nullptr};
  for (int i = 0; i < 3; ++i) {
    Seen seen(2);
    void *buffers[] = {&seen};
    pool->run(waitForAnother, buffers, scratch, 2);
    EXPECT_EQ(seen.foreignCalls, 1);
    usleep(5000);
  }
}

TEST(ThreadPool, TheDriverTakesWhatNoWorkerHasComeFor) {
  // More workers than could all come while the driver counts to one.
  constexpr int threads = 200;
  auto pool = ThreadPool::create(threads).value();
  std::vector<int64_t> memory(threads);
  std::vector<void *> scratch;
  for (int64_t &word : memory)
    scratch.push_back(&word);
  Seen seen(threads);
  void *buffers[] = {&seen};
  for (int i = 0; i < 20; ++i)
    pool->run(countTiles, buffers, scratch.data(), threads);
  EXPECT_EQ(seen.calls, 20 * threads);
  EXPECT_LT(seen.foreignCalls, 20 * (threads - 1));
}

TEST(ThreadPool, SurvivesManyDispatchesWithPausesBetween) {
  auto pool = ThreadPool::create(4).value();
  int64_t memory[4];
  void *scratch[] = {&memory[0], &memory[1], &memory[2], &memory[3]};
  Seen seen(16);
  void *buffers[] = {&seen};
  for (int i = 0; i < 2000; ++i) {
    pool->run(countTiles, buffers, scratch, 1 + i % 16);
    if (i % 100 == 0)
      usleep(3000); // long enough for the workers to fall asleep
  }
  int sum = 0;
  for (auto &runs : seen.runs)
    sum += runs;
  EXPECT_EQ(sum, 2000 / 16 * (16 * 17 / 2));
}

TEST(ThreadPool, NothingSpinsWhileTheDriverIsElsewhere) {
  auto pool = ThreadPool::create(4).value();
  int64_t memory[4];
  void *scratch[] = {&memory[0], &memory[1], &memory[2], &memory[3]};
  Seen seen(4);
  void *buffers[] = {&seen};
  pool->run(countTiles, buffers, scratch, 4);
  usleep(50000);
  auto processTime = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  double before = processTime();
  usleep(200000);
  EXPECT_LT(processTime() - before, 0.02);
}

TEST(ThreadPool, RefusesNoThreadsAndTooMany) {
  EXPECT_FALSE(ThreadPool::create(0).ok());
  EXPECT_FALSE(ThreadPool::create(-1).ok());
  EXPECT_FALSE(ThreadPool::create(ThreadPool::maximumThreads + 1).ok());
}

} // namespace
} // namespace mekik::model
