// The log of a run: one JSON object a line, one line an evaluation.
//   {"step":250,"train_loss":2.31,"validation_loss":2.42,"best":true,"seconds":0.18}
// `seconds` counts from the start of this process and comes last: without it, logs of equal runs are equal.
#ifndef MEKIK_RUNTIME_TRAIN_RUNLOG_H
#define MEKIK_RUNTIME_TRAIN_RUNLOG_H

#include "runtime/train/RunState.h"

namespace mekik::train {

class RunLog {
public:
  RunLog() = default; // writes nothing
  RunLog(RunLog &&other) noexcept : path(std::move(other.path)), descriptor(other.descriptor) { other.descriptor = -1; }
  RunLog &operator=(RunLog &&other) noexcept;
  ~RunLog();

  /// Begins an empty log, replacing a file of that name.
  static base::StatusOr<RunLog> begin(const std::string &path);
  /// Goes on with the log of an interrupted run: keeps the lines up to `lastStep`, drops what came after it. A missing
  /// file is begun. InvalidArgument for a file that is no log.
  static base::StatusOr<RunLog> resume(const std::string &path, int64_t lastStep);

  base::Status write(const Evaluation &evaluation, bool best, double seconds);

private:
  static base::StatusOr<RunLog> open(const std::string &path, int flags);
  std::string path;
  int descriptor = -1;
};

} // namespace mekik::train

#endif
