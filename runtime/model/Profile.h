// Where the time of a function goes, dispatch by dispatch: wall-clock time as the driving thread sees it, handing out
// the work included. Beside it, if somebody knows, what was expected (runtime/estimate).
#ifndef MEKIK_RUNTIME_MODEL_PROFILE_H
#define MEKIK_RUNTIME_MODEL_PROFILE_H

#include "runtime/abi/MekikAbi.h"
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mekik::model {

/// Monotonic time in nanoseconds.
int64_t nowNanoseconds();

class Profile {
public:
  explicit Profile(const MekikModel &model);

  struct Dispatch {
    int64_t total = 0, least = INT64_MAX; // nanoseconds

    void add(int64_t nanoseconds) {
      total += nanoseconds;
      least = nanoseconds < least ? nanoseconds : least;
    }
  };

  /// The counters of `function`, one a dispatch; counts one call more.
  Dispatch *beginCall(const MekikFunction &function);

  /// A table of the kernels of `function` by falling time, dispatches of the same kernel and source line in one row:
  /// microseconds a call of the function (mean, and the sum of the least times, which a busy machine disturbs less),
  /// share, dispatches, tiles, operations a second at the least times, line of the model. Empty if the function was
  /// never called.
  /// With `expected`, the seconds of each dispatch, each row shows them and the least time as a multiple of them; the
  /// kernels where the two are far from each other are named behind the table.
  std::string table(const MekikFunction &function, std::span<const double> expected = {}) const;

private:
  struct Counters {
    int64_t calls = 0;
    std::vector<Dispatch> dispatches;
  };
  const MekikModel &model;
  std::vector<Counters> functions; // by function
};

} // namespace mekik::model

#endif
