// mekik-ulp: measures the error of each f32 function of the numerics contract over every float32, with the compiled
// sixteen-lane form, and compares that form with NumberArithmetic bit for bit on a dense sample of them.
#include "compiler/numerics/CompiledFunction.h"
#include "compiler/numerics/NumberArithmetic.h"
#include "compiler/numerics/References.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace mekik::numerics;

namespace {

constexpr unsigned lanes = 16;

struct Options {
  std::vector<std::string> names;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  uint64_t stride = 1;
  double limit = 2;
};

struct Finding {
  double worst = 0;
  float worstAt = 0, worstGot = 0;
  double worstWant = 0;
  uint64_t beyondOne = 0, beyondLimit = 0, compared = 0, unequal = 0;
  float unequalAt = 0;
};

bool sameBits(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

/// Bit patterns first, first + stride, ... below `end`.
Finding measure(const FunctionReference &function, const CompiledFunction &compiled, uint64_t first, uint64_t end,
                const Options &options) {
  Finding finding;
  NumberArithmetic arithmetic;
  alignas(64) float x[lanes], y[lanes];
  void *buffers[] = {x, y};
  uint64_t step = options.stride * lanes;
  for (uint64_t base = first, block = 0; base < end; base += step, ++block) {
    for (unsigned i = 0; i < lanes; ++i)
      x[i] = std::bit_cast<float>(static_cast<uint32_t>(base + i * options.stride));
    compiled(buffers);
    for (unsigned i = 0; i < lanes; ++i) {
      double want = function.forSingle(x[i]);
      double error = ulpError(y[i], want);
      finding.beyondOne += error > 1;
      finding.beyondLimit += error > options.limit;
      if (error > finding.worst) {
        finding.worst = error;
        finding.worstAt = x[i];
        finding.worstGot = y[i];
        finding.worstWant = want;
      }
    }
    unsigned lane = block % lanes;
    if (options.stride > 64 || block % 64 < lanes) {
      ++finding.compared;
      float number = toFloat(function.definition(arithmetic, fromFloat(x[lane])));
      if (!sameBits(number, y[lane]) && finding.unequal++ == 0)
        finding.unequalAt = x[lane];
    }
  }
  return finding;
}

void merge(Finding &all, const Finding &part) {
  if (part.worst > all.worst) {
    all.worst = part.worst;
    all.worstAt = part.worstAt;
    all.worstGot = part.worstGot;
    all.worstWant = part.worstWant;
  }
  if (!all.unequal)
    all.unequalAt = part.unequalAt;
  all.beyondOne += part.beyondOne;
  all.beyondLimit += part.beyondLimit;
  all.compared += part.compared;
  all.unequal += part.unequal;
}

/// True if the function is within the limit and equal in both forms.
bool report(const FunctionReference &function, const Options &options) {
  auto compiled = CompiledFunction::compile(
      [&](Arithmetic &arithmetic, const std::vector<Number> &operands) {
        return std::vector<Number>{function.definition(arithmetic, operands[0])};
      },
      {ElementType::F32}, lanes);
  if (!compiled.ok()) {
    std::fprintf(stderr, "mekik-ulp: %s: %s\n", function.name.c_str(), compiled.status().ToString().c_str());
    return false;
  }
  constexpr uint64_t patterns = uint64_t(1) << 32;
  uint64_t blocks = patterns / (lanes * options.stride);
  std::vector<Finding> findings(options.threads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < options.threads; ++t)
    threads.emplace_back([&, t] {
      uint64_t step = lanes * options.stride;
      findings[t] = measure(function, *compiled, blocks * t / options.threads * step,
                            blocks * (t + 1) / options.threads * step, options);
    });
  Finding all;
  for (unsigned t = 0; t < options.threads; ++t) {
    threads[t].join();
    merge(all, findings[t]);
  }
  std::printf("%-10s max %.4f ulp at %a (%.9g): got %a, want %a; above 1 ulp: %llu; compared %llu, unequal %llu",
              function.name.c_str(), all.worst, all.worstAt, all.worstAt, all.worstGot, all.worstWant,
              static_cast<unsigned long long>(all.beyondOne), static_cast<unsigned long long>(all.compared),
              static_cast<unsigned long long>(all.unequal));
  if (all.unequal)
    std::printf(" (first %a)", all.unequalAt);
  std::printf("\n");
  std::fflush(stdout);
  return all.beyondLimit == 0 && all.unequal == 0;
}

constexpr char usage[] =
    R"(Usage: mekik-ulp [--stride N] [--threads N] [--limit ULP] [FUNCTION...]

Measures the error of the f32 functions of the numerics contract over every float32, or every Nth one.
Exit status: 0 all within the limit (2 ulp) and equal in both forms, 1 not, 2 wrong usage.

Example: mekik-ulp --stride 4096 exp tanh
)";

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.rfind("--", 0) != 0) {
      options.names.push_back(argument);
      continue;
    }
    if (i + 1 == argc)
      return false;
    char *end = nullptr;
    double value = std::strtod(argv[++i], &end);
    if (*end || !(value > 0) || value > 1e6)
      return false;
    if (argument == "--stride")
      options.stride = std::max<uint64_t>(1, static_cast<uint64_t>(value));
    else if (argument == "--threads")
      options.threads = std::max(1u, static_cast<unsigned>(value));
    else if (argument == "--limit")
      options.limit = value;
    else
      return false;
  }
  return true;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
    std::fputs(usage, stdout);
    return 0;
  }
  if (!parse(argc, argv, options)) {
    std::fputs(usage, stderr);
    return 2;
  }
  bool good = true, found = false;
  for (const FunctionReference &function : functionReferences()) {
    bool asked = options.names.empty();
    for (const std::string &name : options.names)
      asked |= name == function.name;
    if (!asked)
      continue;
    found = true;
    good &= report(function, options);
  }
  if (!found) {
    std::fputs("mekik-ulp: no such function; known:", stderr);
    for (const FunctionReference &function : functionReferences())
      std::fprintf(stderr, " %s", function.name.c_str());
    std::fputs("\n", stderr);
    return 2;
  }
  return good ? 0 : 1;
}
