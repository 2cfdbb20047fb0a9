// The threads that run the phases of a function (Phases.h). A step of a small model is a few dozen phases of a few
// microseconds, so handing out work must cost a fraction of one: workers spin for a moment after a phase, because the
// next one follows at once, and sleep on a futex after that, so that nothing spins while the driver is busy elsewhere.
//
// A share is an offer: whoever takes it first runs it, and the driver takes what no worker has taken when its own share
// is done. So a worker that does not get to run, on a machine busy with other things, delays nothing.
//
// Kernels give the same bits for every split (runtime/abi/MekikAbi.h), so the number of threads and who takes what are
// a matter of speed alone.
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

  /// Runs one share of some work. `thread`, 0 .. threads() - 1, is the thread that runs it, so that it can be given
  /// memory of its own.
  using Share = void (*)(const void *work, int share, int thread);

  /// Runs shares 0 .. shares - 1, at most threads(), and returns when the last is done. Only one thread may call this
  /// at a time.
  void run(Share share, const void *work, int shares);

  /// Runs all tiles of one kernel, dealt out evenly. `scratch` holds one address for each thread.
  void run(MekikKernel kernel, void *const *buffers, void *const *scratch, int64_t tiles);

private:
  struct alignas(64) Worker {
    std::atomic<uint32_t> offer{1}; // even: a share to be taken; odd: taken, by anybody; a futex
    std::atomic<uint32_t> asleep{0};
    int number = 0; // of the share it is offered, and of its thread
    ThreadPool *pool = nullptr;
    pthread_t thread{};
    alignas(64) std::atomic<uint32_t> finished{1}; // `offer` of the last share the worker itself has run; a futex
    std::atomic<uint32_t> driverAsleep{0};
  };

  explicit ThreadPool(int threads);
  static void *workerMain(void *argument);
  void serve(Worker &worker);
  void makeOffer(Worker &worker);
  void waitFor(Worker &worker, uint32_t share);

  int threadCount;
  int started = 0; // workers whose thread exists
  int spins;
  bool stopping = false; // written before the offer that tells of it
  std::unique_ptr<Worker[]> workers;
  Share share = nullptr;
  const void *work = nullptr;
};

} // namespace mekik::model

#endif
