#include "runtime/model/Profile.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include <algorithm>
#include <map>
#include <time.h>

namespace mekik::model {
namespace {

struct Row {
  std::string kernel;
  int32_t line = 0;
  int64_t total = 0, least = 0, dispatches = 0, tiles = 0;
  double operations = 0;
};

std::string padLeft(std::string text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string padRight(std::string text, size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

} // namespace

int64_t nowNanoseconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

Profile::Profile(const MekikModel &model) : model(model), functions(model.functionCount) {
  for (uint64_t i = 0; i < model.functionCount; ++i)
    functions[i].dispatches.resize(model.functions[i].dispatchCount);
}

Profile::Dispatch *Profile::beginCall(const MekikFunction &function) {
  Counters &counters = functions[&function - model.functions];
  ++counters.calls;
  return counters.dispatches.data();
}

std::string Profile::table(const MekikFunction &function) const {
  const Counters &counters = functions[&function - model.functions];
  if (counters.calls == 0)
    return {};
  std::map<std::pair<std::string, int32_t>, Row> byKernel;
  int64_t all = 0, allLeast = 0;
  for (uint64_t i = 0; i < function.dispatchCount; ++i) {
    const MekikDispatch &dispatch = function.dispatches[i];
    Row &row = byKernel[{dispatch.kernelName, dispatch.line}];
    row.kernel = dispatch.kernelName;
    row.line = dispatch.line;
    row.total += counters.dispatches[i].total;
    row.least += counters.dispatches[i].least;
    row.operations += dispatch.operations;
    row.tiles = std::max(row.tiles, dispatch.tiles);
    ++row.dispatches;
    all += counters.dispatches[i].total;
    allLeast += counters.dispatches[i].least;
  }
  std::vector<Row> rows;
  size_t nameWidth = 6;
  for (const auto &[key, row] : byKernel) {
    rows.push_back(row);
    nameWidth = std::max(nameWidth, row.kernel.size());
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) { return a.least > b.least; });

  double calls = static_cast<double>(counters.calls);
  auto micros = [](double nanoseconds) { return base::formatFixed(nanoseconds / 1e3, 1); };
  std::string text =
      base::concat(function.name, ": mean ", micros(double(all) / calls), " us, least ", micros(double(allLeast)),
                   " us a call, ", function.dispatchCount, " dispatches, ", counters.calls, " calls\n");
  base::append(text, padRight("kernel", nameWidth), padLeft("mean us", 11), padLeft("least us", 11),
               padLeft("share", 8), padLeft("calls", 7), padLeft("tiles", 7), padLeft("GFLOP/s", 9), padLeft("line", 6),
               "\n");
  for (const Row &row : rows)
    base::append(
        text, padRight(row.kernel, nameWidth), padLeft(micros(double(row.total) / calls), 11),
        padLeft(micros(double(row.least)), 11),
        padLeft(base::formatFixed(100.0 * double(row.least) / double(std::max<int64_t>(allLeast, 1)), 1) + "%", 8),
        padLeft(std::to_string(row.dispatches), 7), padLeft(std::to_string(row.tiles), 7),
        padLeft(base::formatFixed(row.operations / double(std::max<int64_t>(row.least, 1)), 1), 9),
        padLeft(std::to_string(row.line), 6), "\n");
  return text;
}

} // namespace mekik::model
