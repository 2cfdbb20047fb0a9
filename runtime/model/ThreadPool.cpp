// Spin-then-futex hand-over. Each sleeper first announces that it sleeps and then lets the kernel compare the futex
// word once more; each waker first changes the word and then looks for sleepers. Both orders are sequentially
// consistent, so one of the two always sees the other and no wake-up is lost.
//
// The fields of an offer change only while it is odd and, if a worker took it, finished; whoever makes it odd may read
// them.
#include "runtime/model/ThreadPool.h"
#include "runtime/base/Concat.h"
#include <algorithm>
#include <cstring>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mekik::model {
namespace {

// Kernels keep their temporaries in the scratch arena, so a stack holds little more than call frames.
constexpr size_t workerStackBytes = 256 * 1024;
constexpr int patientSpins = 4000; // about as long as the pause between two steps
constexpr int crowdedSpins = 50;   // more threads than cores: whoever spins keeps another from working

void pauseBriefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futexWake(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

} // namespace

int availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

ThreadPool::ThreadPool(int threads)
    : threadCount(threads), spins(threads > availableCores() ? crowdedSpins : patientSpins),
      workers(threads > 1 ? new Worker[threads - 1] : nullptr) {}

base::StatusOr<std::unique_ptr<ThreadPool>> ThreadPool::create(int threads) {
  if (threads < 1 || threads > maximumThreads)
    return base::invalidArgumentError(base::concat("threads: expected 1 to ", maximumThreads, ", got ", threads));
  std::unique_ptr<ThreadPool> pool(new ThreadPool(threads));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, workerStackBytes);
  int failure = 0;
  for (int i = 0; i < threads - 1 && failure == 0; ++i) {
    pool->workers[i].pool = pool.get();
    pool->workers[i].number = i + 1;
    failure = pthread_create(&pool->workers[i].thread, &attributes, workerMain, &pool->workers[i]);
    if (failure == 0)
      ++pool->started;
  }
  pthread_attr_destroy(&attributes);
  if (failure != 0)
    return base::resourceExhaustedError(base::concat("cannot start thread ", pool->started + 2, " of ", threads, ": ",
                                                     strerror(failure), "; use fewer with --threads"));
  return pool;
}

ThreadPool::~ThreadPool() {
  stopping = true;
  for (int i = 0; i < started; ++i)
    makeOffer(workers[i]);
  for (int i = 0; i < started; ++i)
    pthread_join(workers[i].thread, nullptr);
}

void ThreadPool::makeOffer(Worker &worker) {
  worker.offer.fetch_add(1, std::memory_order_seq_cst);
  if (worker.asleep.load(std::memory_order_seq_cst) != 0)
    futexWake(worker.offer);
}

void *ThreadPool::workerMain(void *argument) {
  auto &worker = *static_cast<Worker *>(argument);
  worker.pool->serve(worker);
  return nullptr;
}

void ThreadPool::serve(Worker &worker) {
  for (int spun = 0;;) {
    uint32_t offer = worker.offer.load(std::memory_order_acquire);
    if (offer % 2 == 0) {
      if (!worker.offer.compare_exchange_strong(offer, offer + 1, std::memory_order_acquire))
        continue;
      if (stopping)
        return;
      share(work, worker.number, worker.number);
      worker.finished.store(offer + 1, std::memory_order_seq_cst);
      if (worker.driverAsleep.load(std::memory_order_seq_cst) != 0)
        futexWake(worker.finished);
      spun = 0;
    } else if (spun < spins) {
      ++spun;
      pauseBriefly();
    } else {
      worker.asleep.store(1, std::memory_order_seq_cst);
      futexWait(worker.offer, offer);
      worker.asleep.store(0, std::memory_order_relaxed);
    }
  }
}

void ThreadPool::waitFor(Worker &worker, uint32_t share) {
  int spun = 0;
  for (uint32_t finished; (finished = worker.finished.load(std::memory_order_acquire)) != share;) {
    if (spun < spins) {
      ++spun;
      pauseBriefly();
      continue;
    }
    worker.driverAsleep.store(1, std::memory_order_seq_cst);
    futexWait(worker.finished, finished);
    worker.driverAsleep.store(0, std::memory_order_relaxed);
  }
}

void ThreadPool::run(Share newShare, const void *newWork, int shares) {
  share = newShare;
  work = newWork;
  for (int number = 1; number < shares; ++number)
    makeOffer(workers[number - 1]);
  newShare(newWork, 0, 0);
  for (int number = 1; number < shares; ++number) {
    Worker &worker = workers[number - 1];
    // Odd by now if the worker took it.
    uint32_t offer = worker.offer.load(std::memory_order_relaxed) & ~1u;
    uint32_t untaken = offer;
    if (worker.offer.compare_exchange_strong(untaken, offer + 1, std::memory_order_acquire))
      newShare(newWork, number, 0);
    else
      waitFor(worker, offer + 1);
  }
}

void ThreadPool::run(MekikKernel kernel, void *const *buffers, void *const *scratch, int64_t tiles) {
  struct Tiles {
    MekikKernel kernel;
    void *const *buffers, *const *scratch;
    int64_t each, extra;
  };
  int shares = static_cast<int>(std::min<int64_t>(threadCount, tiles));
  if (shares < 1)
    return;
  Tiles all{kernel, buffers, scratch, tiles / shares, tiles % shares};
  // The first `extra` shares have one tile more.
  auto runShare = [](const void *work, int number, int thread) {
    const Tiles &all = *static_cast<const Tiles *>(work);
    int64_t first = number * all.each + std::min<int64_t>(number, all.extra);
    all.kernel(all.buffers, all.scratch[thread], first, first + all.each + (number < all.extra));
  };
  run(runShare, &all, shares);
}

} // namespace mekik::model
