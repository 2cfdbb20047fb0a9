// Arenas and calls. Each arena and each thread's scratch is an allocation of its own of exactly the declared size, so a
// memory checker sees a kernel that leaves its place.
#include "runtime/model/Model.h"
#include "runtime/base/Concat.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace mekik::model {
namespace {

using base::concat;
using base::Status;
using base::StatusOr;

bool isInput(int32_t role) {
  return role == MEKIK_INPUT || role == MEKIK_TARGET || role == MEKIK_STEP || role == MEKIK_SEED;
}

int64_t largestTileCount(const MekikModel &model) {
  int64_t most = 1;
  for (uint64_t f = 0; f < model.functionCount; ++f)
    for (uint64_t d = 0; d < model.functions[f].dispatchCount; ++d)
      most = std::max(most, model.functions[f].dispatches[d].tiles);
  return most;
}

} // namespace

StatusOr<Model::Memory> Model::allocate(uint64_t bytes, std::string_view what) {
  // Large arenas start on a huge page, which the system is asked to use.
  constexpr uint64_t hugePage = 2 << 20, mostBytes = uint64_t{1} << 46; // of the address space, half
  uint64_t alignment = bytes >= 2 * hugePage ? hugePage : MEKIK_ALIGNMENT;
  void *memory = nullptr;
  if (bytes > mostBytes || posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0)
    return base::resourceExhaustedError(concat("not enough memory for the ", what, " arena of ", bytes, " bytes"));
  if (alignment == hugePage)
    madvise(memory, bytes, MADV_HUGEPAGE);
  memset(memory, 0, bytes);
  return Memory(static_cast<unsigned char *>(memory));
}

StatusOr<Model> Model::create(const MekikModel &descriptor, const ModelOptions &options) {
  MEKIK_RETURN_IF_ERROR(checkDescriptor(descriptor));
  Model model(descriptor);
  model.garbage = options.fillWorkWithGarbage;
  model.lastShareFirst = options.lastShareFirst;
  int64_t wanted = options.threads > 0 ? options.threads : std::min(availableCores(), ThreadPool::maximumThreads);
  int shares = static_cast<int>(std::min(wanted, largestTileCount(descriptor)));
  MEKIK_ASSIGN_OR_RETURN(model.pool, ThreadPool::create(options.lastShareFirst ? 1 : shares));
  const uint64_t sizes[3] = {descriptor.parameterBytes, descriptor.stateBytes, descriptor.workBytes};
  for (int32_t arena = 0; arena < 3; ++arena) {
    MEKIK_ASSIGN_OR_RETURN(model.arenas[arena], allocate(sizes[arena], arenaName(arena)));
  }
  for (int i = 0; i < model.pool->threads(); ++i) {
    MEKIK_ASSIGN_OR_RETURN(Memory memory, allocate(descriptor.scratchBytes, "scratch"));
    model.scratchAddresses.push_back(memory.get());
    model.scratch.push_back(std::move(memory));
  }
  model.resolveBuffers();
  model.cutIntoPhases(shares, options.phaseOperations);
  if (options.profile)
    model.measured = std::make_unique<Profile>(descriptor);
  return model;
}

void Model::resolveBuffers() {
  unsigned char *bases[] = {arenas[MEKIK_PARAMETERS].get(), arenas[MEKIK_STATE].get(), arenas[MEKIK_WORK].get()};
  std::vector<std::vector<size_t>> starts(model->functionCount);
  for (uint64_t f = 0; f < model->functionCount; ++f) {
    const MekikFunction &function = model->functions[f];
    for (uint64_t d = 0; d < function.dispatchCount; ++d) {
      const MekikDispatch &dispatch = function.dispatches[d];
      starts[f].push_back(addresses.size());
      for (int32_t b = 0; b < dispatch.bufferCount; ++b)
        addresses.push_back(mekikAddress(&dispatch.buffers[b], bases));
    }
  }
  for (const std::vector<size_t> &ofFunction : starts) {
    std::vector<void *const *> &buffers = buffersOf.emplace_back();
    for (size_t start : ofFunction)
      buffers.push_back(addresses.data() + start);
  }
}

void Model::cutIntoPhases(int shares, double phaseOperations) {
  for (uint64_t f = 0; f < model->functionCount; ++f) {
    const MekikFunction &function = model->functions[f];
    double operations = 0;
    for (uint64_t d = 0; d < function.dispatchCount; ++d)
      operations += function.dispatches[d].operations;
    Phases split(function, buffersOf[f], shares);
    bool pays = operations >= phaseOperations * static_cast<double>(split.count());
    phases.push_back(pays ? std::move(split) : Phases(function, buffersOf[f], 1));
  }
}

StatusOr<const MekikFunction *> Model::function(std::string_view name) const {
  std::string known;
  for (uint64_t i = 0; i < model->functionCount; ++i) {
    if (model->functions[i].name == name)
      return &model->functions[i];
    base::append(known, i > 0 ? ", " : "", model->functions[i].name);
  }
  return base::notFoundError(
      concat("model ", model->name, " has no function '", name, "'; it has: ", known.empty() ? "none" : known));
}

Status Model::call(std::string_view name) {
  MEKIK_ASSIGN_OR_RETURN(const MekikFunction *found, function(name));
  call(*found);
  return {};
}

void Model::call(const MekikFunction &function) {
  if (garbage)
    fillWorkWithGarbage(function);
  if (measured)
    return callMeasured(function);
  struct Phase {
    const Phases &phases;
    size_t number;
    void *const *scratch;
  };
  auto runShare = [](const void *work, int share, int thread) {
    const Phase &phase = *static_cast<const Phase *>(work);
    phase.phases.run(phase.number, share, phase.scratch[thread]);
  };
  Phase phase{phases[size_t(&function - model->functions)], 0, scratchAddresses.data()};
  for (; phase.number < phase.phases.count(); ++phase.number)
    if (lastShareFirst)
      for (int share = phase.phases.sharesOf(phase.number) - 1; share >= 0; --share)
        runShare(&phase, share, 0);
    else
      pool->run(runShare, &phase, phase.phases.sharesOf(phase.number));
}

void Model::callMeasured(const MekikFunction &function) {
  const std::vector<void *const *> &buffers = buffersOf[size_t(&function - model->functions)];
  Profile::Dispatch *counters = measured->beginCall(function);
  int64_t before = nowNanoseconds();
  for (uint64_t i = 0; i < function.dispatchCount; ++i) {
    const MekikDispatch &dispatch = function.dispatches[i];
    pool->run(dispatch.kernel, buffers[i], scratchAddresses.data(), dispatch.tiles);
    int64_t after = nowNanoseconds();
    counters[i].add(after - before);
    before = after;
  }
}

void Model::fillWorkWithGarbage(const MekikFunction &function) {
  std::vector<std::pair<uint64_t, uint64_t>> kept;
  for (uint64_t i = 0; i < function.tensorCount; ++i)
    if (const MekikTensor &tensor = function.tensors[i]; tensor.arena == MEKIK_WORK && isInput(tensor.role))
      kept.push_back({tensor.offset, tensor.offset + tensor.bytes});
  std::sort(kept.begin(), kept.end());
  kept.push_back({model->workBytes, model->workBytes});
  uint64_t from = 0;
  for (auto [begin, end] : kept) {
    if (begin > from)
      memset(arenas[MEKIK_WORK].get() + from, 0xFF, begin - from);
    from = std::max(from, end);
  }
  for (void *memory : scratchAddresses)
    memset(memory, 0xFF, model->scratchBytes);
}

StatusOr<const MekikTensor *> Model::tensor(const MekikFunction &function, MekikRole role) const {
  const MekikTensor *found = nullptr;
  for (uint64_t i = 0; i < function.tensorCount; ++i) {
    if (function.tensors[i].role != role)
      continue;
    if (found)
      return base::notFoundError(concat("function ", function.name, " of model ", model->name,
                                        " has several tensors where one is expected: ", found->name, ", ",
                                        function.tensors[i].name));
    found = &function.tensors[i];
  }
  if (found)
    return found;
  static constexpr std::string_view names[] = {"",     "parameter", "optimizer state", "input", "target",   "step",
                                               "seed", "output",    "probe",           "loss",  "gradient", "rate"};
  return base::notFoundError(concat("function ", function.name, " of model ", model->name, " has no ", names[role]));
}

StatusOr<const MekikTensor *> Model::tensor(std::string_view name, MekikRole role) const {
  for (uint64_t i = 0; i < model->tensorCount; ++i)
    if (model->tensors[i].role == role && model->tensors[i].name == name)
      return &model->tensors[i];
  return base::notFoundError(concat("model ", model->name, " has no tensor '", name, "'"));
}

double Model::readScalar(const MekikTensor &tensor) const {
  const void *address = data(tensor);
  switch (tensor.type) {
  case MEKIK_F32: {
    float value;
    memcpy(&value, address, sizeof value);
    return value;
  }
  case MEKIK_F64: {
    double value;
    memcpy(&value, address, sizeof value);
    return value;
  }
  case MEKIK_I32: {
    int32_t value;
    memcpy(&value, address, sizeof value);
    return value;
  }
  default: {
    int64_t value;
    memcpy(&value, address, sizeof value);
    return static_cast<double>(value);
  }
  }
}

void Model::writeScalar(const MekikTensor &tensor, int64_t value) { memcpy(data(tensor), &value, sizeof value); }

} // namespace mekik::model
