// Measuring, and remembering what was measured.
#include "runtime/estimate/Machine.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/CacheFolder.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "runtime/model/Profile.h"
#include "runtime/model/ThreadPool.h"
#include <algorithm>
#include <ctime>
#include <new>
#include <unistd.h>
#include <vector>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mekik::estimate {
namespace {

using base::concat;
using base::StatusOr;

constexpr int parts = 5;
constexpr int64_t partNanoseconds = 40'000'000;
typedef float Lanes __attribute__((vector_size(64)));

/// Independent chains, enough of them to hide the latency of an fma and few enough to stay in registers. The result
/// must be used, or the loop would not be there.
template <int Chains> [[gnu::always_inline]] inline float chains(int64_t rounds, float factor) {
  Lanes sums[Chains], multiplier = Lanes{} + factor;
  for (int i = 0; i < Chains; ++i)
    sums[i] = Lanes{} + static_cast<float>(i);
  for (int64_t round = 0; round < rounds; ++round)
    for (int i = 0; i < Chains; ++i)
      sums[i] = __builtin_elementwise_fma(sums[i], multiplier, multiplier);
  float result = 0;
  for (int i = 0; i < Chains; ++i)
    result += sums[i][0];
  return result;
}

constexpr int64_t productDepth = 256, productRows = 96, productColumns = 256;

/// Rows of a result as a kernel computes them: `Rows` x 32 sums in registers, operands in panels of the second-level
/// cache.
template <int Rows> [[gnu::always_inline]] inline void product(const float *left, const float *right, float *result) {
  for (int64_t column = 0; column < productColumns; column += 32)
    for (int64_t row = 0; row + Rows <= productRows; row += Rows) {
      const float *from = left + row * productDepth, *panel = right + column * productDepth;
      Lanes sums[Rows][2] = {};
      for (int64_t k = 0; k < productDepth; ++k, panel += 32, from += Rows) {
        Lanes near, far;
        __builtin_memcpy(&near, panel, sizeof near);
        __builtin_memcpy(&far, panel + 16, sizeof far);
        constexpr Lanes ones = Lanes{} + 1.0f; // times a number: all lanes that number, without an instruction
#pragma GCC unroll 16
        for (int r = 0; r < Rows; ++r) {
          Lanes element = ones * from[r];
          sums[r][0] = __builtin_elementwise_fma(element, near, sums[r][0]);
          sums[r][1] = __builtin_elementwise_fma(element, far, sums[r][1]);
        }
      }
#pragma GCC unroll 16
      for (int r = 0; r < Rows; ++r)
        __builtin_memcpy(result + (row + r) * productColumns + column, sums[r], sizeof sums[r]);
    }
}

constexpr int64_t rounds = 20000;
constexpr int wideChains = 12, narrowChains = 6, wideRows = 12, narrowRows = 3;

/// Four arrays one behind the other, three of which are changed.
[[gnu::always_inline]] inline void updateArrays(float *arrays, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    for (int64_t array = 1; array < 4; ++array)
      arrays[array * count + i] += arrays[i];
}

#if defined(__x86_64__)
#define MEKIK_WIDE [[gnu::target("avx512f")]]
#define MEKIK_NARROW [[gnu::target("avx2,fma")]]
bool isWide() { return __builtin_cpu_supports("avx512f"); }
#else
#define MEKIK_WIDE
#define MEKIK_NARROW
bool isWide() { return false; }
#endif
MEKIK_WIDE float wide(float factor) { return chains<wideChains>(rounds, factor); }
MEKIK_NARROW float narrow(float factor) { return chains<narrowChains>(rounds, factor); }
MEKIK_WIDE void wideProduct(const float *left, const float *right, float *result) {
  product<wideRows>(left, right, result);
}
MEKIK_NARROW void narrowProduct(const float *left, const float *right, float *result) {
  product<narrowRows>(left, right, result);
}
MEKIK_WIDE void wideUpdate(float *arrays, int64_t count) { updateArrays(arrays, count); }
MEKIK_NARROW void narrowUpdate(float *arrays, int64_t count) { updateArrays(arrays, count); }

/// Processor time of this thread: what neighbours take of the machine in between does not count.
double threadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

using Speeds = std::array<double, parts>;

/// Amounts a second of all cores together, in each part: `work(core)` runs on every core, again and again, and returns
/// how much it did.
template <typename Work> Speeds onAllCores(model::ThreadPool &pool, const Work &work) {
  struct alignas(128) Core {
    Speeds speeds{};
  };
  std::vector<Core> cores(static_cast<size_t>(pool.threads()));
  struct Measuring {
    const Work &work;
    Core *cores;
    int64_t start;
  } measuring{work, cores.data(), model::nowNanoseconds()};
  auto measure = [](const void *context, int core, int) {
    const Measuring &measuring = *static_cast<const Measuring *>(context);
    for (int part = 0; part < parts; ++part) {
      int64_t end = measuring.start + (part + 1) * partNanoseconds;
      double begin = threadSeconds(), amount = 0;
      do
        amount += measuring.work(static_cast<size_t>(core));
      while (model::nowNanoseconds() < end);
      double seconds = threadSeconds() - begin;
      measuring.cores[core].speeds[size_t(part)] = seconds > 0 ? amount / seconds : 0;
    }
  };
  pool.run(measure, &measuring, pool.threads());
  Speeds together{};
  for (const Core &core : cores)
    for (size_t part = 0; part < parts; ++part)
      together[part] += core.speeds[part];
  return together;
}

double best(const Speeds &speeds) { return *std::max_element(speeds.begin(), speeds.end()); }
double middle(Speeds speeds) {
  std::sort(speeds.begin(), speeds.end());
  return speeds[parts / 2];
}

/// From the size that stays in the second-level cache to one that no cache holds: for all cores together a gigabyte, or
/// an eighth of a smaller machine's memory, but never so little that a level is no larger than the one before.
std::array<int64_t, 3> levelBytes(int cores) {
  int64_t memory = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  int64_t together = std::min(int64_t{1} << 30, memory / 8);
  return {1 << 20, 16 << 20, std::clamp<int64_t>(together / cores, 32 << 20, 256 << 20)};
}

/// Tells this processor from others that a measurement may have been kept of.
std::string processor() {
  std::string name = "unknown";
#if defined(__x86_64__)
  unsigned words[12] = {}, version = 0, rest[3];
  for (unsigned i = 0; i < 3; ++i)
    __get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]);
  __get_cpuid(1, &version, &rest[0], &rest[1], &rest[2]);
  std::string_view brand(reinterpret_cast<const char *>(words), sizeof words);
  name = concat(brand.substr(0, brand.find('\0')), " ", version);
#endif
  return concat(name, ", vectors of ", isWide() ? 64 : 32, " bytes");
}

/// `count` times `value`, in memory that is there.
StatusOr<std::unique_ptr<float[]>> numbers(int64_t count, float value) {
  std::unique_ptr<float[]> memory(new (std::nothrow) float[static_cast<size_t>(count)]);
  if (!memory)
    return base::resourceExhaustedError(concat("not enough memory to measure this machine: ", count * 4, " bytes"));
  std::fill_n(memory.get(), count, value);
  return memory;
}

StatusOr<MachineSpeed> measureMachine(int cores) {
  MEKIK_ASSIGN_OR_RETURN(std::unique_ptr<model::ThreadPool> pool, model::ThreadPool::create(cores));
  MachineSpeed speed;
  speed.cores = cores;
  bool useWide = isWide();

  struct Core {
    std::unique_ptr<float[]> left, right, result, arrays;
    int64_t place = 0;
    float used = 0;
  };
  std::vector<Core> memory(static_cast<size_t>(cores));
  for (Core &mine : memory) {
    MEKIK_ASSIGN_OR_RETURN(mine.left, numbers(productRows * productDepth, 0.5f));
    MEKIK_ASSIGN_OR_RETURN(mine.right, numbers(productDepth * productColumns, 0.5f));
    MEKIK_ASSIGN_OR_RETURN(mine.result, numbers(productRows * productColumns, 0));
  }
  speed.operations = best(onAllCores(*pool, [&](size_t core) {
    memory[core].used += useWide ? wide(0.5f) : narrow(0.5f);
    return 2.0 * 16 * (useWide ? wideChains : narrowChains) * static_cast<double>(rounds);
  }));
  speed.products = best(onAllCores(*pool, [&](size_t core) {
    Core &mine = memory[core];
    (useWide ? wideProduct : narrowProduct)(mine.left.get(), mine.right.get(), mine.result.get());
    return 2.0 * productRows * productColumns * productDepth;
  }));
  for (size_t level = 0; level < speed.levels.size(); ++level) {
    int64_t bytes = levelBytes(cores)[level], count = bytes / 16, stretch = std::min<int64_t>(count, 1 << 16);
    for (Core &mine : memory) {
      mine.arrays.reset(); // what was before goes before the next is taken
      mine.place = 0;
      MEKIK_ASSIGN_OR_RETURN(mine.arrays, numbers(4 * count, 0));
    }
    speed.levels[level] = {bytes, middle(onAllCores(*pool, [&](size_t core) {
                             // A stretch of 4 * `stretch` neighbouring elements takes the place of four arrays.
                             Core &mine = memory[core];
                             (useWide ? wideUpdate : narrowUpdate)(mine.arrays.get() + mine.place, stretch);
                             mine.place = (mine.place + 4 * stretch) % (4 * count);
                             return 7.0 * sizeof(float) * static_cast<double>(stretch);
                           }))};
  }
  return speed;
}

/// What the file holds of this machine, if it holds all of it.
std::optional<MachineSpeed> readKept(const std::string &path, int cores) {
  auto text = base::readFile(path);
  auto json = text.ok() ? base::Json::parse(*text, path) : text.status();
  if (!json.ok())
    return std::nullopt;
  auto speedOf = [&](const std::string &key) {
    const base::Json *value = json->find(key.c_str());
    return value && value->number() && *value->number() > 0 ? *value->number() : 0;
  };
  const base::Json *there = json->find("cores"), *which = json->find("processor");
  MachineSpeed kept{speedOf("operations"), speedOf("products"), {}, cores};
  bool complete = kept.operations > 0 && kept.products > 0;
  for (size_t level = 0; level < kept.levels.size(); ++level) {
    int64_t bytes = levelBytes(cores)[level];
    kept.levels[level] = {bytes, speedOf(concat("bytes_of_", bytes))};
    complete &= kept.levels[level].speed > 0;
  }
  complete &= there && there->integer() == cores && which && which->isString() && which->text() == processor();
  return complete ? std::optional(kept) : std::nullopt;
}

} // namespace

double MachineSpeed::cyclesPerSecond(bool contraction) const {
  return (contraction ? products : operations) / static_cast<double>(cores) / (4 * (isWide() ? 16 : 8));
}

double MachineSpeed::bytesPerSecond(double bytes) const {
  for (const Level &level : levels)
    if (bytes <= 2 * static_cast<double>(level.bytes))
      return level.speed;
  return levels.back().speed;
}

StatusOr<MachineSpeed> machineSpeed() {
  int cores = std::min(model::availableCores(), model::ThreadPool::maximumThreads);
  auto folder = base::cacheFolder();
  std::string path = folder.ok() ? *folder + "/machine.json" : std::string();
  if (std::optional<MachineSpeed> kept = folder.ok() ? readKept(path, cores) : std::nullopt)
    return *kept;
  MEKIK_ASSIGN_OR_RETURN(MachineSpeed speed, measureMachine(cores));
  if (!folder.ok())
    return speed;
  std::string text = concat("{\"processor\":", base::jsonString(processor()), ",\"cores\":", cores,
                            ",\"operations\":", base::formatNumber(speed.operations),
                            ",\"products\":", base::formatNumber(speed.products));
  for (const MachineSpeed::Level &level : speed.levels)
    base::append(text, ",\"bytes_of_", level.bytes, "\":", base::formatNumber(level.speed));
  (void)base::writeFileAtomically(path, text + "}\n").ok();
  return speed;
}

} // namespace mekik::estimate
