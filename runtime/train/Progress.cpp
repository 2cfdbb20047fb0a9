#include "runtime/train/Progress.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Parse.h"
#include <algorithm>
#include <ctime>
#include <unistd.h>

namespace mekik::train {
namespace {

using base::concat;
using base::formatFixed;

void print(std::string_view text) {
  // Nothing sensible can be done when even standard error is gone.
  (void)base::writeAll(STDERR_FILENO, text, "standard error").ok();
}

std::string padded(std::string text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string lossText(double loss) {
  return loss > -1e9 && loss < 1e9 ? formatFixed(loss, 3) : base::formatNumber(loss);
}

} // namespace

double secondsNow() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::string describeDuration(double seconds) {
  auto whole = static_cast<int64_t>(seconds + 0.5);
  auto two = [](int64_t value) { return concat(value < 10 ? "0" : "", value); };
  if (seconds < 9.95)
    return concat(formatFixed(seconds, 1), " s");
  if (whole < 60)
    return concat(whole, " s");
  if (whole < 3600)
    return concat(whole / 60, " min ", two(whole % 60), " s");
  return concat(whole / 3600, " h ", two(whole % 3600 / 60), " min");
}

Progress::Style Progress::detect() { return isatty(STDERR_FILENO) ? Style::Terminal : Style::Lines; }

void Progress::clearLine() {
  if (lineShown)
    print("\r\033[K");
  lineShown = false;
}

void Progress::note(std::string_view text) {
  if (style == Style::None)
    return;
  clearLine();
  print(concat(text, "\n"));
}

void Progress::begin(int64_t done, int64_t newTotal) {
  firstStep = done;
  total = newTotal;
  begun = lastShown = secondsNow();
}

void Progress::step(int64_t done, double loss) {
  if (style != Style::Terminal)
    return;
  double now = secondsNow();
  if (now - lastShown < 0.1)
    return;
  lastShown = now;
  double rate = static_cast<double>(done - firstStep) / std::max(now - begun, 1e-9);
  double left = static_cast<double>(total - done) / std::max(rate, 1e-9);
  print(concat("\r\033[Kstep ", done, " of ", total, "   loss ", lossText(loss), "   ",
               formatFixed(rate, rate < 10 ? 2 : 0), " steps/s   ", describeDuration(left), " left"));
  lineShown = true;
}

static std::string row(std::string name, double trainLoss, const std::optional<double> &validationLoss,
                       std::string_view mark) {
  return concat(padded(std::move(name), 8), padded(lossText(trainLoss), 16),
                padded(validationLoss ? lossText(*validationLoss) : "-", 18), mark.empty() ? "" : "   ", mark, "\n");
}

void Progress::compareWith(std::string_view name, const CountedLoss &loss, std::string_view remark) {
  comparison = row(std::string(name), loss.train, loss.validation, remark);
}

void Progress::evaluation(const Evaluation &evaluation, std::string_view mark) {
  if (style == Style::None)
    return;
  clearLine();
  std::string text;
  if (!headShown)
    text = concat("    step   training loss   validation loss\n", comparison);
  headShown = true;
  print(concat(text, row(std::to_string(evaluation.step), evaluation.trainLoss, evaluation.validationLoss, mark)));
}

} // namespace mekik::train
