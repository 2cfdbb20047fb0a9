// What this machine can do at most: fused multiply-adds a second in registers, and bytes a second between memory and an
// optimizer's update. The limits in docs/performance.md are made of these two numbers, measured in the same run as what
// is held against them.
//
//   mekik-bench-peak [THREADS [SECONDS]]
//
// Prints one JSON line. Every figure is the best of many short slices in SECONDS (0.5): whatever disturbs makes it
// smaller, nothing makes it larger.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <immintrin.h>
#include <sys/mman.h>

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Floating-point operations a second of sixteen independent chains: twice as many as latency times ports asks for.
#define MEKIK_CHAINS(TARGET, NAME, VECTOR, LANES, SET, FMA)                                                            \
  __attribute__((target(TARGET))) double NAME(double seconds) {                                                        \
    const VECTOR factor = SET(0.999f), term = SET(0.001f);                                                             \
    VECTOR chain[CHAINS];                                                                                              \
    for (VECTOR &one : chain)                                                                                          \
      one = factor;                                                                                                    \
    double begun = now(), spent;                                                                                       \
    int64_t rounds = 0;                                                                                                \
    do {                                                                                                               \
      for (int i = 0; i < 20000; ++i) {                                                                                \
        _Pragma("GCC unroll 16") for (VECTOR &one : chain) {                                                           \
          one = FMA(one, factor, term);                                                                                \
          asm volatile("" : "+v"(one));                                                                                \
        }                                                                                                              \
      }                                                                                                                \
      rounds += 20000;                                                                                                 \
      spent = now() - begun;                                                                                           \
    } while (spent < seconds);                                                                                         \
    return double(rounds) * CHAINS * LANES * 2 / spent;                                                                \
  }

#define CHAINS 12
MEKIK_CHAINS("avx2,fma", chains256, __m256, 8, _mm256_set1_ps, _mm256_fmadd_ps)
MEKIK_CHAINS("avx512f", chains512, __m512, 16, _mm512_set1_ps, _mm512_fmadd_ps)
#undef CHAINS

double multiplyAdds(double seconds) {
  if (__builtin_cpu_supports("avx512f"))
    return chains512(seconds);
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? chains256(seconds) : 0;
}

/// One pass of an optimizer without its arithmetic: four arrays are read, three of them written.
#define MEKIK_UPDATE(TARGET, NAME)                                                                                     \
  __attribute__((target(TARGET))) void NAME(const float *__restrict gradient, float *__restrict parameter,            \
                                            float *__restrict first, float *__restrict second, size_t count) {        \
    for (size_t i = 0; i < count; ++i) {                                                                               \
      parameter[i] += gradient[i];                                                                                     \
      first[i] += gradient[i];                                                                                         \
      second[i] += gradient[i];                                                                                        \
    }                                                                                                                  \
  }

MEKIK_UPDATE("avx2", update256)
MEKIK_UPDATE("avx512f", update512)

/// Arrays larger than the share of a last-level cache that a thread can hold on to, on huge pages if the system has
/// them, as the arenas of a model are.
class Memory {
public:
  static constexpr size_t bytes = size_t{512} << 20, count = bytes / sizeof(float) / 4;

  Memory() : place(static_cast<float *>(std::aligned_alloc(2 << 20, bytes))) {
    if (!place)
      std::abort();
    madvise(place, bytes, MADV_HUGEPAGE);
    std::memset(place, 0, bytes);
  }
  Memory(const Memory &) = delete;
  ~Memory() { std::free(place); }

  /// Bytes read and written a second by updates, going on where the last call ended, so that nothing is still in a cache.
  double update(double seconds) {
    constexpr size_t stretch = 1 << 16; // elements between two looks at the clock
    auto run = __builtin_cpu_supports("avx512f") ? update512 : update256;
    double begun = now(), spent;
    size_t done = 0;
    do {
      run(place + next, place + count + next, place + 2 * count + next, place + 3 * count + next, stretch);
      next = (next + stretch) % count;
      done += stretch * 7 * sizeof(float);
      spent = now() - begun;
    } while (spent < seconds);
    return double(done) / spent;
  }

private:
  float *place;
  size_t next = 0;
};

/// The best sum of what all threads reach in one slice of 5 ms that they begin together. Slices are short, so that on
/// a machine with other work some of them are left alone.
template <typename Work> double onThreads(int threads, double seconds, Work work) {
  const int slices = std::max(1, int(seconds / 0.005));
  std::vector<double> rates(static_cast<size_t>(threads));
  std::atomic<int> arrived = 0;
  double best = 0;
  auto meet = [&](int number) {
    arrived.fetch_add(1);
    while (arrived.load() < number * threads)
      std::this_thread::yield();
  };
  auto run = [&](int thread) {
    for (int slice = 0; slice < slices; ++slice) {
      meet(2 * slice + 1);
      rates[size_t(thread)] = work(thread, 0.005);
      meet(2 * slice + 2);
      if (thread == 0) {
        double sum = 0;
        for (double rate : rates)
          sum += rate;
        best = std::max(best, sum);
      }
    }
  };
  std::vector<std::thread> running;
  for (int thread = 1; thread < threads; ++thread)
    running.emplace_back(run, thread);
  run(0);
  for (std::thread &thread : running)
    thread.join();
  return best;
}

} // namespace

int main(int count, char **words) {
  int threads = count > 1 ? std::clamp(std::atoi(words[1]), 1, 256) : 1;
  double seconds = count > 2 ? std::clamp(std::atof(words[2]), 0.01, 60.0) : 0.5;
  double operations = onThreads(threads, seconds, [&](int, double slice) { return multiplyAdds(slice); });
  std::vector<Memory> memory(static_cast<size_t>(threads));
  double bytes =
      onThreads(threads, seconds, [&](int thread, double slice) { return memory[size_t(thread)].update(slice); });
  std::printf("{\"threads\":%d,\"operations_per_second\":%.4g,\"bytes_per_second\":%.4g}\n", threads, operations,
              bytes);
  return 0;
}
