#include "runtime/model/Phases.h"
#include <algorithm>

namespace mekik::model {
namespace {

/// Below this many operations a dispatch that would have to be waited for runs in one share.
constexpr double leastSharedOperations = 4096;
/// What the beginning of a dispatch costs, in operations.
constexpr double dispatchOperations = 1000;

// Who touches a buffer: one share (its number), every share its own part of it, or every share anything.
constexpr int ownParts = -1, anything = -2;

struct Access {
  int32_t arena;
  uint64_t begin, end;
  bool written;
  int by;
};

bool conflict(const Access &a, const Access &b) {
  if (a.arena != b.arena || a.end <= b.begin || b.end <= a.begin || !(a.written || b.written))
    return false;
  if (a.by != b.by || a.by == anything)
    return true;
  return a.by == ownParts && (a.begin != b.begin || a.end != b.end);
}

/// The dispatches of the phase that is being filled: what they touch and how much each share has to do.
class OpenPhase {
public:
  explicit OpenPhase(int shares) : shares(shares), work(static_cast<size_t>(shares), 0) {}

  /// Where a dispatch may run without waiting: ownParts or anything (split), a share's number; `wait` if nowhere.
  static constexpr int wait = -3;

  int place(const MekikDispatch &dispatch) const {
    if (shares == 1)
      return 0;
    if (dispatch.tiles > 1 && !preferOne(dispatch))
      return allowed(dispatch, anything) ? anything : wait;
    // Of several shares that are free to take it the least busy one.
    int best = wait;
    for (int share = 0; share < shares; ++share)
      if ((best == wait || work[size_t(share)] < work[size_t(best)]) && allowed(dispatch, share))
        best = share;
    return best;
  }

  void add(const MekikDispatch &dispatch, int place) {
    for (int32_t b = 0; b < dispatch.bufferCount; ++b)
      if (dispatch.buffers[b].arena != MEKIK_IMMEDIATE)
        accesses.push_back(access(dispatch, dispatch.buffers[b], place));
    double operations = dispatch.operations + dispatchOperations;
    if (place >= 0)
      work[size_t(place)] += operations;
    else
      for (double &each : work)
        each += operations / shares;
  }

  void clear() {
    accesses.clear();
    std::fill(work.begin(), work.end(), 0);
  }

private:
  /// A dispatch is in its own parts in this number of shares if they all get equally many.
  Access access(const MekikDispatch &dispatch, const MekikBuffer &buffer, int place) const {
    bool own = place == anything && buffer.parts % shares == 0;
    return {buffer.arena, buffer.offset, buffer.offset + buffer.bytes, buffer.written != 0, own ? ownParts : place};
  }

  bool allowed(const MekikDispatch &dispatch, int place) const {
    for (int32_t b = 0; b < dispatch.bufferCount; ++b) {
      if (dispatch.buffers[b].arena == MEKIK_IMMEDIATE)
        continue;
      Access now = access(dispatch, dispatch.buffers[b], place);
      for (const Access &before : accesses)
        if (conflict(before, now))
          return false;
    }
    return true;
  }

  /// Too little to be worth a meeting of the threads, which splitting it would make necessary.
  bool preferOne(const MekikDispatch &dispatch) const {
    if (dispatch.operations <= 0 || dispatch.operations >= leastSharedOperations)
      return false;
    for (int32_t b = 0; b < dispatch.bufferCount; ++b)
      if (dispatch.buffers[b].written && dispatch.buffers[b].parts % shares != 0)
        return true;
    return false;
  }

  int shares;
  std::vector<double> work;
  std::vector<Access> accesses;
};

} // namespace

Phases::Phases(const MekikFunction &function, const std::vector<void *const *> &buffers, int shares)
    : shares(static_cast<size_t>(shares)) {
  OpenPhase phase(shares);
  std::vector<std::vector<TileRange>> open(this->shares);
  for (uint64_t d = 0; d < function.dispatchCount; ++d) {
    const MekikDispatch &dispatch = function.dispatches[d];
    if (dispatch.tiles <= 0)
      continue;
    int place = phase.place(dispatch);
    if (place == OpenPhase::wait) {
      append(open);
      phase.clear();
      place = phase.place(dispatch);
    }
    phase.add(dispatch, place);
    if (place >= 0) {
      open[size_t(place)].push_back({dispatch.kernel, buffers[d], 0, dispatch.tiles});
      continue;
    }
    // The first `tiles % shares` shares have one tile more.
    int64_t each = dispatch.tiles / shares, extra = dispatch.tiles % shares, first = 0;
    for (int64_t share = 0; share < shares && first < dispatch.tiles; ++share) {
      int64_t last = first + each + (share < extra);
      open[size_t(share)].push_back({dispatch.kernel, buffers[d], first, last});
      first = last;
    }
  }
  append(open);
  starts.push_back(ranges.size());
}

void Phases::append(std::vector<std::vector<TileRange>> &open) {
  int last = 0;
  for (size_t share = 0; share < shares; ++share)
    if (!open[share].empty())
      last = int(share) + 1;
  if (last == 0)
    return;
  busy.push_back(last);
  for (std::vector<TileRange> &share : open) {
    starts.push_back(ranges.size());
    ranges.insert(ranges.end(), share.begin(), share.end());
    share.clear();
  }
}

void Phases::run(size_t phase, int share, void *scratch) const {
  size_t place = phase * shares + size_t(share);
  for (size_t i = starts[place]; i < starts[place + 1]; ++i)
    ranges[i].kernel(ranges[i].buffers, scratch, ranges[i].first, ranges[i].last);
}

} // namespace mekik::model
