// Measuring, and remembering what was measured.
#include "tools/mekik/Machine.h"
#include "compiler/lowering/Target.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

namespace mekik::tool {
namespace {

using base::concat;

constexpr int parts = 5;
constexpr auto partLength = std::chrono::milliseconds(40);
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

/// Amounts a second of all cores together, in each part: `work` runs on every core, again and again, and returns how
/// much it did.
template <typename Work> Speeds onAllCores(size_t cores, Work work) {
  struct alignas(128) Core {
    Speeds speeds{};
  };
  std::vector<Core> measured(cores);
  auto start = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  std::vector<std::thread> threads;
  for (size_t core = 0; core < cores; ++core)
    threads.emplace_back([&, core] {
      std::this_thread::sleep_until(start);
      for (int part = 0; part < parts; ++part) {
        auto end = start + (part + 1) * partLength;
        double begin = threadSeconds(), amount = 0;
        do
          amount += work(core);
        while (std::chrono::steady_clock::now() < end);
        double seconds = threadSeconds() - begin;
        measured[core].speeds[size_t(part)] = seconds > 0 ? amount / seconds : 0;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  Speeds together{};
  for (const Core &core : measured)
    for (size_t part = 0; part < parts; ++part)
      together[part] += core.speeds[part];
  return together;
}

double best(const Speeds &speeds) { return *std::max_element(speeds.begin(), speeds.end()); }
double middle(Speeds speeds) {
  std::sort(speeds.begin(), speeds.end());
  return speeds[parts / 2];
}

/// From the size that stays in the second-level cache to one that no cache holds, within a gigabyte for all cores.
std::array<int64_t, 3> levelBytes(size_t cores) {
  return {1 << 20, 16 << 20, std::clamp<int64_t>((int64_t{1} << 30) / int64_t(cores), 16 << 20, 256 << 20)};
}

std::string processor() {
  auto target = lowering::Target::parse("native");
  return target.ok() ? concat(target->cpu, ", vectors of ", target->vectorBytes, " bytes") : std::string("unknown");
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

MachineSpeed measureMachine() {
  MachineSpeed speed;
  size_t cores = std::max(1u, std::thread::hardware_concurrency());
  speed.cores = static_cast<int64_t>(cores);
  bool useWide = isWide();

  std::vector<float> used(cores * 32);
  speed.operations = best(onAllCores(cores, [&](size_t core) {
    used[core * 32] += useWide ? wide(0.5f) : narrow(0.5f);
    return 2.0 * 16 * (useWide ? wideChains : narrowChains) * static_cast<double>(rounds);
  }));

  struct Operands {
    std::vector<float> left = std::vector<float>(productRows * productDepth, 0.5f);
    std::vector<float> right = std::vector<float>(productDepth * productColumns, 0.5f);
    std::vector<float> result = std::vector<float>(productRows * productColumns);
  };
  std::vector<Operands> operands(cores);
  speed.products = best(onAllCores(cores, [&](size_t core) {
    Operands &mine = operands[core];
    (useWide ? wideProduct : narrowProduct)(mine.left.data(), mine.right.data(), mine.result.data());
    return 2.0 * productRows * productColumns * productDepth;
  }));

  for (size_t level = 0; level < speed.levels.size(); ++level) {
    int64_t bytes = levelBytes(cores)[level], count = bytes / 16, stretch = std::min<int64_t>(count, 1 << 16);
    std::vector<std::vector<float>> arrays(cores);
    for (std::vector<float> &mine : arrays)
      mine.resize(static_cast<size_t>(4 * count));
    std::vector<int64_t> places(cores * 16);
    speed.levels[level] = {bytes, middle(onAllCores(cores, [&](size_t core) {
                             // A stretch of 4 * `stretch` neighbouring elements takes the place of four arrays.
                             int64_t &place = places[core * 16];
                             (useWide ? wideUpdate : narrowUpdate)(arrays[core].data() + place, stretch);
                             place = (place + 4 * stretch) % (4 * count);
                             return 7.0 * sizeof(float) * static_cast<double>(stretch);
                           }))};
  }
  return speed;
}

MachineSpeed machineSpeed(const std::string &folder) {
  std::string path = concat(folder, "/machine.json"), name = processor();
  int64_t cores = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  if (auto text = base::readFile(path); text.ok()) {
    auto json = base::Json::parse(*text, path);
    auto find = [&](const char *key) { return json.ok() ? json->find(key) : nullptr; };
    auto speedOf = [&](const std::string &key) {
      const base::Json *value = find(key.c_str());
      return value && value->number() && *value->number() > 0 ? *value->number() : 0;
    };
    const base::Json *there = find("cores"), *which = find("processor");
    MachineSpeed kept{speedOf("operations"), speedOf("products"), {}, cores, true};
    bool complete = kept.operations > 0 && kept.products > 0;
    for (size_t level = 0; level < kept.levels.size(); ++level) {
      int64_t bytes = levelBytes(size_t(cores))[level];
      kept.levels[level] = {bytes, speedOf(concat("bytes_of_", bytes))};
      complete &= kept.levels[level].speed > 0;
    }
    if (complete && there && there->integer() == cores && which && which->isString() && which->text() == name)
      return kept;
  }
  MachineSpeed speed = measureMachine();
  std::string text = concat("{\"processor\":", base::jsonString(name), ",\"cores\":", cores, ",\"operations\":",
                            base::formatNumber(speed.operations), ",\"products\":", base::formatNumber(speed.products));
  for (const MachineSpeed::Level &level : speed.levels)
    base::append(text, ",\"bytes_of_", level.bytes, "\":", base::formatNumber(level.speed));
  (void)base::writeFileAtomically(path, text + "}\n").ok();
  return speed;
}

} // namespace mekik::tool
