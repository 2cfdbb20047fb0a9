// Times single calls of a function of a compiled model, driven by the runtime as a trainer drives it: no data files, no
// evaluations, no checkpoints. `tools/bench` runs it beside other programs that do the same work.
//
//   mekik-bench-calls MODEL.so FUNCTION [--threads N] [--seconds S] [--least-calls N] [--profile]
//
// MODEL.so is an object of `mekik compile --emit=obj`, linked with `cc -shared`. Inputs are drawn once: class ids
// below their limit, numbers in -1 .. 1. Prints one JSON line; with --profile, the table of kernels on stderr.
#include "runtime/model/Model.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace mekik;

struct Options {
  const char *sharedObject = nullptr, *function = nullptr;
  int threads = 1;
  double seconds = 1;
  long leastCalls = 3;
  bool profile = false;
};

[[noreturn]] void stop(int status, const std::string &message) {
  std::fprintf(stderr, "mekik-bench-calls: %s\n", message.c_str());
  std::exit(status);
}

Options parse(int count, char **words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    std::string_view word = words[i];
    auto number = [&] {
      char *end = nullptr;
      double value = i + 1 < count ? std::strtod(words[i + 1], &end) : -1;
      if (i + 1 >= count || end == words[i + 1] || *end || !(value >= 0 && value <= 1e9))
        stop(2, std::string(word) + " needs a number from 0 to 1e9");
      ++i;
      return value;
    };
    if (word == "--threads")
      options.threads = int(number());
    else if (word == "--seconds")
      options.seconds = number();
    else if (word == "--least-calls")
      options.leastCalls = std::max(1L, long(number()));
    else if (word == "--profile")
      options.profile = true;
    else if (!options.sharedObject)
      options.sharedObject = words[i];
    else if (!options.function)
      options.function = words[i];
    else
      stop(2, "one argument too many: " + std::string(word));
  }
  if (!options.function)
    stop(2, "usage: mekik-bench-calls MODEL.so FUNCTION [--threads N] [--seconds S] [--least-calls N] [--profile]");
  return options;
}

void fill(const MekikTensor &tensor, void *data, std::mt19937_64 &random) {
  int64_t count = model::elementCount(tensor);
  std::uniform_real_distribution<double> numbers(-1, 1);
  for (int64_t i = 0; i < count; ++i) {
    int64_t id = tensor.classes > 0 ? int64_t(random() % uint64_t(tensor.classes)) : 0;
    switch (tensor.type) {
    case MEKIK_F32:
      static_cast<float *>(data)[i] = float(numbers(random));
      break;
    case MEKIK_F64:
      static_cast<double *>(data)[i] = numbers(random);
      break;
    case MEKIK_I32:
      static_cast<int32_t *>(data)[i] = int32_t(id);
      break;
    case MEKIK_I64:
      static_cast<int64_t *>(data)[i] = id;
      break;
    default:
      static_cast<unsigned char *>(data)[i] = random() & 1;
    }
  }
}

/// Most memory this process ever had resident, in bytes. Not getrusage: that counts what was there before exec.
long peakResident() {
  long kilobytes = 0;
  char line[256];
  if (std::FILE *file = std::fopen("/proc/self/status", "r")) {
    while (std::fgets(line, sizeof line, file))
      if (std::sscanf(line, "VmHWM: %ld", &kilobytes) == 1)
        break;
    std::fclose(file);
  }
  return kilobytes * 1024;
}

} // namespace

int main(int count, char **words) {
  Options options = parse(count, words);
  void *library = dlopen(options.sharedObject, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    stop(1, dlerror());
  auto *descriptor = static_cast<const MekikModel *>(dlsym(library, "mekik_model"));
  if (!descriptor)
    stop(1, std::string(options.sharedObject) + ": expected the symbol mekik_model, found none");
  auto created = model::Model::create(*descriptor, {.threads = options.threads, .profile = options.profile});
  if (!created.ok())
    stop(1, created.status().message());
  model::Model &model = *created;
  auto found = model.function(options.function);
  if (!found.ok())
    stop(1, found.status().message());
  const MekikFunction &function = **found;

  // A call may use the place of its inputs for something else, so they are written before each one. Several batches in
  // turn: a model that has learned its only one by heart computes with numbers unlike those of training.
  constexpr int64_t batches = 64;
  std::mt19937_64 random(1);
  std::vector<std::pair<const MekikTensor *, std::vector<unsigned char>>> inputs;
  for (uint64_t i = 0; i < function.tensorCount; ++i)
    if (const MekikTensor &tensor = function.tensors[i]; tensor.role == MEKIK_INPUT || tensor.role == MEKIK_TARGET) {
      inputs.emplace_back(&tensor, std::vector<unsigned char>(tensor.bytes * batches));
      for (int64_t batch = 0; batch < batches; ++batch)
        fill(tensor, inputs.back().second.data() + uint64_t(batch) * tensor.bytes, random);
    }
  auto prepare = [&](const MekikFunction &called, int64_t step) {
    for (uint64_t i = 0; i < called.tensorCount; ++i) {
      const MekikTensor &tensor = called.tensors[i];
      if (tensor.role == MEKIK_STEP)
        model.writeScalar(tensor, step);
      else if (tensor.role == MEKIK_SEED)
        model.writeScalar(tensor, 1);
    }
    if (&called == &function)
      for (const auto &[tensor, bytes] : inputs)
        std::memcpy(model.data(*tensor), bytes.data() + uint64_t(step % batches) * tensor->bytes, tensor->bytes);
  };
  if (auto init = model.function("init"); init.ok()) {
    prepare(**init, 0);
    model.call(**init);
  }

  // The first calls find cold caches and pages never touched; they count for nothing.
  std::vector<double> times;
  int64_t step = 0, begun = model::nowNanoseconds();
  const long warming = std::min(20L, options.leastCalls);
  for (; step < warming; ++step) {
    prepare(function, step);
    model.call(function);
    if (double(model::nowNanoseconds() - begun) > 0.3e9 * std::max(options.seconds, 0.1))
      break;
  }
  begun = model::nowNanoseconds();
  do {
    int64_t start = model::nowNanoseconds();
    prepare(function, ++step);
    model.call(function);
    times.push_back(double(model::nowNanoseconds() - start) * 1e-6);
  } while (long(times.size()) < options.leastCalls || double(model::nowNanoseconds() - begun) < 1e9 * options.seconds);

  std::sort(times.begin(), times.end());
  double total = 0;
  for (double time : times)
    total += time;
  double operations = 0;
  for (uint64_t i = 0; i < function.dispatchCount; ++i)
    operations += function.dispatches[i].operations;
  std::printf("{\"peer\":\"mekik\",\"function\":\"%s\",\"threads\":%d,\"calls\":%zu,\"ms\":%.6f,\"mean_ms\":%.6f,"
              "\"least_ms\":%.6f,\"most_ms\":%.6f,\"operations\":%.0f,\"dispatches\":%llu,\"phases\":%zu,\"parameters\":%llu,"
              "\"planned_bytes\":%llu,\"peak_bytes\":%ld}\n",
              function.name, model.threads(), times.size(), times[times.size() / 2], total / double(times.size()),
              times.front(), times.back(), operations, (unsigned long long)function.dispatchCount, model.phaseCount(function),
              (unsigned long long)model::parameterCount(*descriptor),
              (unsigned long long)(descriptor->parameterBytes + descriptor->stateBytes + descriptor->workBytes +
                                   descriptor->scratchBytes * uint64_t(model.threads())),
              peakResident());
  if (options.profile)
    std::fputs(model.profile()->table(function).c_str(), stderr);
  return 0;
}
