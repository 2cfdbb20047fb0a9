// Spin-then-futex hand-over. Each sleeper first announces that it sleeps and then lets the kernel compare the futex
// word once more; each waker first changes the word and then looks for sleepers. Both orders are sequentially
// consistent, so one of the two always sees the other and no wake-up is lost.
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
constexpr int patientSpins = 20000; // about as long as the pause between two steps
constexpr int crowdedSpins = 50;    // more threads than cores: whoever spins keeps another from working

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
    wake(workers[i]);
  for (int i = 0; i < started; ++i)
    pthread_join(workers[i].thread, nullptr);
}

void ThreadPool::wake(Worker &worker) {
  worker.ticket.fetch_add(1, std::memory_order_seq_cst);
  if (worker.asleep.load(std::memory_order_seq_cst) != 0)
    futexWake(worker.ticket);
}

void *ThreadPool::workerMain(void *argument) {
  auto &worker = *static_cast<Worker *>(argument);
  worker.pool->work(worker);
  return nullptr;
}

void ThreadPool::work(Worker &worker) {
  for (uint32_t seen = 0;; ++seen) {
    for (int spun = 0; worker.ticket.load(std::memory_order_acquire) == seen;) {
      if (spun < spins) {
        ++spun;
        pauseBriefly();
        continue;
      }
      worker.asleep.store(1, std::memory_order_seq_cst);
      futexWait(worker.ticket, seen);
      worker.asleep.store(0, std::memory_order_relaxed);
    }
    if (stopping)
      return;
    kernel(buffers, worker.scratch, worker.firstTile, worker.lastTile);
    if (remaining.fetch_sub(1, std::memory_order_seq_cst) == 1 && driverAsleep.load(std::memory_order_seq_cst) != 0)
      futexWake(remaining);
  }
}

void ThreadPool::waitForWorkers() {
  int spun = 0;
  for (uint32_t busy; (busy = remaining.load(std::memory_order_acquire)) != 0;) {
    if (spun < spins) {
      ++spun;
      pauseBriefly();
      continue;
    }
    driverAsleep.store(1, std::memory_order_seq_cst);
    if ((busy = remaining.load(std::memory_order_seq_cst)) != 0)
      futexWait(remaining, busy);
    driverAsleep.store(0, std::memory_order_relaxed);
  }
}

void ThreadPool::run(MekikKernel newKernel, void *const *newBuffers, void *const *scratch, int64_t tiles) {
  if (tiles <= 0)
    return;
  int64_t shares = std::min<int64_t>(threadCount, tiles);
  if (shares == 1) {
    newKernel(newBuffers, scratch[0], 0, tiles);
    return;
  }
  kernel = newKernel;
  buffers = newBuffers;
  remaining.store(static_cast<uint32_t>(shares - 1), std::memory_order_relaxed);
  // The first `tiles % shares` shares have one tile more.
  int64_t each = tiles / shares, extra = tiles % shares;
  int64_t ownEnd = each + (extra > 0), first = ownEnd;
  for (int64_t share = 1; share < shares; ++share) {
    Worker &worker = workers[share - 1];
    worker.firstTile = first;
    worker.lastTile = first += each + (share < extra);
    worker.scratch = scratch[share];
    wake(worker);
  }
  newKernel(newBuffers, scratch[0], 0, ownEnd);
  waitForWorkers();
}

} // namespace mekik::model
