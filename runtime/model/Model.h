// A compiled model brought to life: its descriptor checked once, its arenas allocated once, its functions called by
// name. Nothing is allocated between calls.
#ifndef MEKIK_RUNTIME_MODEL_MODEL_H
#define MEKIK_RUNTIME_MODEL_MODEL_H

#include "runtime/abi/MekikAbi.h"
#include "runtime/base/Status.h"
#include "runtime/model/Phases.h"
#include "runtime/model/Profile.h"
#include "runtime/model/ThreadPool.h"
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mekik::model {

/// OK if this runtime can drive the model: magic, version and sizes of the ABI, every tensor and buffer inside its
/// arena, shapes and byte counts that agree, names that are present and unique. Errors name what is wrong.
base::Status checkDescriptor(const MekikModel &descriptor);

/// Bytes of one element of a MekikElementType; 0 for an unknown type.
uint64_t elementBytes(int32_t type);
/// "f32", "i64", ...
std::string_view elementTypeName(int32_t type);
/// "parameters", "state", "work"
std::string_view arenaName(int32_t arena);
/// "f32[8, 16, 30]"
std::string describeTensor(const MekikTensor &tensor);
/// Product of the shape. The descriptor was checked.
int64_t elementCount(const MekikTensor &tensor);
/// Elements of all parameters together.
uint64_t parameterCount(const MekikModel &descriptor);

struct ModelOptions {
  /// 0: all cores the process may use. Never more than the largest dispatch has tiles.
  int threads = 0;
  /// Before every call, overwrite all of the work arena but the inputs, and all scratch memory, with bytes that read as
  /// NaN: shows code that reads what it did not write.
  bool fillWorkWithGarbage = false;
  /// Measure every dispatch, one after the other; see Model::profile.
  bool profile = false;
  /// A function with fewer operations in its phases, on average, runs on one thread: a meeting of threads costs about a
  /// microsecond. The forward pass of one window of a small model is such a function. Tests set 0.
  double phaseOperations = 200'000;
  /// Run the shares of `threads` threads one after the other on the calling thread, the last share of a phase first:
  /// shows work that needs what another share does in the same phase.
  bool lastShareFirst = false;
};

class Model {
public:
  /// `descriptor` must outlive the model. Parameters and state start as zero bytes. Errors: those of checkDescriptor;
  /// ResourceExhausted if memory or threads are not to be had.
  static base::StatusOr<Model> create(const MekikModel &descriptor, const ModelOptions &options = {});

  const MekikModel &descriptor() const { return *model; }
  int threads() const { return pool->threads(); }

  /// NotFound, listing the functions there are, if the model has none of this name.
  base::StatusOr<const MekikFunction *> function(std::string_view name) const;
  bool hasFunction(std::string_view name) const { return function(name).ok(); }

  /// Runs the function; its inputs in the work arena must have been written since the last call.
  void call(const MekikFunction &function);
  base::Status call(std::string_view name);

  /// How often the threads meet in one call.
  size_t phaseCount(const MekikFunction &function) const {
    return phases[size_t(&function - model->functions)].count();
  }

  /// Address of a tensor of this model's descriptor or of one of its functions.
  void *data(const MekikTensor &tensor) { return arenas[tensor.arena].get() + tensor.offset; }
  const void *data(const MekikTensor &tensor) const { return arenas[tensor.arena].get() + tensor.offset; }

  /// The only tensor of `role` in the function. NotFound if there is none or more than one.
  base::StatusOr<const MekikTensor *> tensor(const MekikFunction &function, MekikRole role) const;
  /// A parameter or state tensor by name and role. NotFound.
  base::StatusOr<const MekikTensor *> tensor(std::string_view name, MekikRole role = MEKIK_PARAMETER) const;

  /// A scalar of type f32, f64, i32 or i64 as a double.
  double readScalar(const MekikTensor &tensor) const;
  /// Writes the bits of an i64 scalar.
  void writeScalar(const MekikTensor &tensor, int64_t value);

  /// What was measured so far; null unless asked for in the options.
  const Profile *profile() const { return measured.get(); }

private:
  struct Free {
    void operator()(unsigned char *memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<unsigned char, Free>;
  static base::StatusOr<Memory> allocate(uint64_t bytes, std::string_view what);

  explicit Model(const MekikModel &descriptor) : model(&descriptor) {}
  void resolveBuffers();
  void cutIntoPhases(int shares, double phaseOperations);
  void callMeasured(const MekikFunction &function);
  void fillWorkWithGarbage(const MekikFunction &function);

  const MekikModel *model;
  std::unique_ptr<ThreadPool> pool;
  Memory arenas[3]; // by MekikArena
  std::vector<Memory> scratch;
  std::vector<void *> scratchAddresses;
  std::vector<void *> addresses;                      // of all buffers of all dispatches
  std::vector<std::vector<void *const *>> buffersOf; // by function and dispatch, into addresses
  std::vector<Phases> phases;                         // by function
  bool garbage = false, lastShareFirst = false;
  std::unique_ptr<Profile> measured;
};

} // namespace mekik::model

#endif
