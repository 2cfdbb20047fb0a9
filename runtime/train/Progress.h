// What people see of a training run, on standard error: a table of evaluations, and on a terminal one line below it
// that is redrawn with step, loss, rate and time left.
#ifndef MEKIK_RUNTIME_TRAIN_PROGRESS_H
#define MEKIK_RUNTIME_TRAIN_PROGRESS_H

#include "runtime/train/Examples.h"
#include "runtime/train/RunState.h"
#include <string>
#include <string_view>

namespace mekik::train {

/// Seconds of a clock that never goes back.
double secondsNow();
/// "12 s", "3 min 20 s", "2 h 05 min"
std::string describeDuration(double seconds);

class Progress {
public:
  enum class Style { None, Lines, Terminal };
  /// Terminal if standard error is one, otherwise Lines.
  static Style detect();

  explicit Progress(Style style) : style(style) {}
  ~Progress() { clearLine(); }
  Progress(const Progress &) = delete;

  void note(std::string_view text);
  /// Begins counting; `done` steps of `total` are behind us.
  void begin(int64_t done, int64_t total);
  void step(int64_t done, double loss);
  /// A row that stands above the evaluations, to compare with.
  void compareWith(std::string_view name, const CountedLoss &loss, std::string_view remark);
  void evaluation(const Evaluation &evaluation, std::string_view mark);

private:
  void clearLine();
  Style style;
  std::string comparison;
  bool lineShown = false, headShown = false;
  int64_t firstStep = 0, total = 0;
  double begun = 0, lastShown = 0;
};

} // namespace mekik::train

#endif
