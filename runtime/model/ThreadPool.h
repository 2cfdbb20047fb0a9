// The threads that run the tiles of a dispatch. A step of a small model is a few hundred dispatches of a few
// microseconds, so handing out work must cost a fraction of one: workers spin for a moment after a dispatch, because
// the next one follows at once, and sleep on a futex after that, so that nothing spins while the driver is busy
// elsewhere.
//
// Tiles are split evenly and contiguously. Kernels give the same bits for every split (runtime/abi/MekikAbi.h), so the
// number of threads is a matter of speed alone.
#ifndef MEKIK_RUNTIME_MODEL_THREADPOOL_H
#define MEKIK_RUNTIME_MODEL_THREADPOOL_H

#include "runtime/abi/MekikAbi.h"
#include "runtime/base/Status.h"
#include <atomic>
#include <cstdint>
#include <memory>
#include <pthread.h>

namespace mekik::model {

/// Cores this process may run on, at least 1.
int availableCores();

class ThreadPool {
public:
  static constexpr int maximumThreads = 1024;

  /// `threads` counts the calling thread; 1 makes none. Errors: the system refuses a thread, or threads is not in
  /// 1 .. maximumThreads.
  static base::StatusOr<std::unique_ptr<ThreadPool>> create(int threads);
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;
  ~ThreadPool();

  int threads() const { return threadCount; }

  /// Runs all tiles and returns when the last is done. `scratch` holds one address for each thread. Only one thread may
  /// call this at a time.
  void run(MekikKernel kernel, void *const *buffers, void *const *scratch, int64_t tiles);

private:
  struct alignas(64) Worker {
    std::atomic<uint32_t> ticket{0}; // grows by one for every share of work; a futex
    std::atomic<uint32_t> asleep{0};
    int64_t firstTile = 0, lastTile = 0;
    void *scratch = nullptr;
    ThreadPool *pool = nullptr;
    pthread_t thread{};
  };

  explicit ThreadPool(int threads);
  static void *workerMain(void *argument);
  void work(Worker &worker);
  void wake(Worker &worker);
  void waitForWorkers();

  int threadCount;
  int started = 0; // workers whose thread exists
  int spins;
  bool stopping = false; // written before the ticket that tells of it
  std::unique_ptr<Worker[]> workers;
  MekikKernel kernel = nullptr;
  void *const *buffers = nullptr;
  alignas(64) std::atomic<uint32_t> remaining{0}; // workers still busy with this dispatch; a futex
  std::atomic<uint32_t> driverAsleep{0};
};

} // namespace mekik::model

#endif
