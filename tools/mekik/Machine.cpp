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
constexpr auto partLength = std::chrono::milliseconds(100);
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

constexpr int64_t rounds = 20000;
constexpr int wideChains = 12, narrowChains = 6;

#if defined(__x86_64__)
[[gnu::target("avx512f")]] float wide(float factor) { return chains<wideChains>(rounds, factor); }
[[gnu::target("avx2,fma")]] float narrow(float factor) { return chains<narrowChains>(rounds, factor); }
bool isWide() { return __builtin_cpu_supports("avx512f"); }
#else
float wide(float factor) { return chains<wideChains>(rounds, factor); }
float narrow(float factor) { return chains<narrowChains>(rounds, factor); }
bool isWide() { return false; }
#endif

/// Processor time of this thread: what neighbours take of the machine in between does not count.
double threadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Operations a second in each part, all cores starting together.
void measureCore(std::chrono::steady_clock::time_point start, double (&speeds)[parts], float &used) {
  bool useWide = isWide();
  double operations = 2.0 * 16 * (useWide ? wideChains : narrowChains) * static_cast<double>(rounds);
  std::this_thread::sleep_until(start);
  for (int part = 0; part < parts; ++part) {
    auto end = start + (part + 1) * partLength;
    double begin = threadSeconds();
    int64_t calls = 0;
    do {
      used += useWide ? wide(0.5f) : narrow(0.5f);
      ++calls;
    } while (std::chrono::steady_clock::now() < end);
    double seconds = threadSeconds() - begin;
    speeds[part] = seconds > 0 ? operations * static_cast<double>(calls) / seconds : 0;
  }
}

std::string processor() {
  auto target = lowering::Target::parse("native");
  return target.ok() ? concat(target->cpu, ", vectors of ", target->vectorBytes, " bytes") : std::string("unknown");
}

} // namespace

MachineSpeed measureMachine() {
  MachineSpeed speed;
  size_t cores = std::max(1u, std::thread::hardware_concurrency());
  speed.cores = static_cast<int64_t>(cores);
  struct alignas(128) Core {
    double speeds[parts] = {};
    float used = 0;
  };
  std::vector<Core> measured(cores);
  auto start = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  std::vector<std::thread> threads;
  for (Core &core : measured)
    threads.emplace_back([&core, start] { measureCore(start, core.speeds, core.used); });
  for (std::thread &thread : threads)
    thread.join();
  for (int part = 0; part < parts; ++part) {
    double together = 0;
    for (const Core &core : measured)
      together += core.speeds[part];
    speed.operations = std::max(speed.operations, together);
  }
  return speed;
}

MachineSpeed machineSpeed(const std::string &folder) {
  std::string path = concat(folder, "/machine.json"), name = processor();
  int64_t cores = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  if (auto text = base::readFile(path); text.ok()) {
    auto json = base::Json::parse(*text, path);
    const base::Json *operations = json.ok() ? json->find("operations") : nullptr;
    const base::Json *there = json.ok() ? json->find("cores") : nullptr;
    const base::Json *which = json.ok() ? json->find("processor") : nullptr;
    if (operations && operations->number() && *operations->number() > 0 && there && there->integer() == cores && which &&
        which->isString() && which->text() == name)
      return {*operations->number(), cores, true};
  }
  MachineSpeed speed = measureMachine();
  std::string text = concat("{\"processor\":", base::jsonString(name), ",\"cores\":", cores, ",\"operations\":",
                            base::formatNumber(speed.operations), "}\n");
  (void)base::writeFileAtomically(path, text).ok();
  return speed;
}

} // namespace mekik::tool
