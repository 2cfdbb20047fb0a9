#include "runtime/model/Profile.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <time.h>

namespace mekik::model {
namespace {

using base::concat;

struct Row {
  std::string kernel;
  int32_t line = 0;
  int64_t total = 0, least = 0, dispatches = 0, tiles = 0;
  double operations = 0, expected = 0; // expected: nanoseconds

  double times() const { return static_cast<double>(least) / expected; }
  double difference() const { return static_cast<double>(least) - expected; }
};

/// A kernel is far from what is expected at this factor, up or down, and at this share of the function's time.
constexpr double farFactor = 1.5, farShare = 0.01;

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

std::string Profile::table(const MekikFunction &function, std::span<const double> expected) const {
  const Counters &counters = functions[&function - model.functions];
  if (counters.calls == 0)
    return {};
  std::map<std::pair<std::string, int32_t>, Row> byKernel;
  Row all;
  for (uint64_t i = 0; i < function.dispatchCount; ++i) {
    const MekikDispatch &dispatch = function.dispatches[i];
    Row &row = byKernel[{dispatch.kernelName, dispatch.line}];
    row.kernel = dispatch.kernelName;
    row.line = dispatch.line;
    row.tiles = std::max(row.tiles, dispatch.tiles);
    for (Row *sum : {&row, &all}) {
      sum->total += counters.dispatches[i].total;
      sum->least += counters.dispatches[i].least;
      sum->operations += dispatch.operations;
      sum->expected += expected.empty() ? 0 : 1e9 * expected[i];
      ++sum->dispatches;
    }
  }
  std::vector<Row> rows;
  size_t nameWidth = 8;
  for (const auto &[key, row] : byKernel) {
    rows.push_back(row);
    nameWidth = std::max(nameWidth, row.kernel.size());
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) { return a.least > b.least; });

  double calls = static_cast<double>(counters.calls), whole = double(std::max<int64_t>(all.least, 1));
  auto micros = [](double nanoseconds) { return base::formatFixed(nanoseconds / 1e3, 1); };
  auto measured = [&](const Row &row) {
    std::string text = concat(padLeft(micros(double(row.total) / calls), 11), padLeft(micros(double(row.least)), 11));
    return expected.empty()
               ? text
               : concat(text, padLeft(micros(row.expected), 13), padLeft(base::formatFixed(row.times(), 2), 8));
  };
  std::string text =
      concat(function.name, ": mean ", micros(double(all.total) / calls), " us, least ", micros(double(all.least)),
             expected.empty() ? " us" : concat(" us, expected ", micros(all.expected), " us"), " a call, ",
             function.dispatchCount, " dispatches, ", counters.calls, " calls\n");
  base::append(text, padRight("kernel", nameWidth), padLeft("mean us", 11), padLeft("least us", 11),
               expected.empty() ? "" : "  expected us   times", padLeft("share", 8), padLeft("calls", 7),
               padLeft("tiles", 7), padLeft("GFLOP/s", 9), padLeft("line", 6), "\n");
  for (const Row &row : rows)
    base::append(text, padRight(row.kernel, nameWidth), measured(row),
                 padLeft(base::formatFixed(100.0 * double(row.least) / whole, 1) + "%", 8),
                 padLeft(std::to_string(row.dispatches), 7), padLeft(std::to_string(row.tiles), 7),
                 padLeft(base::formatFixed(row.operations / double(std::max<int64_t>(row.least, 1)), 1), 9),
                 padLeft(std::to_string(row.line), 6), "\n");
  if (expected.empty())
    return text;
  base::append(text, padRight("together", nameWidth), measured(all), "\n");

  std::erase_if(rows, [&](const Row &row) {
    return std::abs(row.difference()) < farShare * whole || (row.times() < farFactor && row.times() > 1 / farFactor);
  });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row &a, const Row &b) { return std::abs(a.difference()) > std::abs(b.difference()); });
  if (rows.empty())
    return text + "no kernel is far from what is expected\n";
  base::append(text, "far from what is expected:\n");
  for (const Row &row : rows)
    base::append(text, "  ", padRight(row.kernel, nameWidth), " line ", row.line, ": ",
                 micros(std::abs(row.difference())), row.difference() > 0 ? " us slower, " : " us faster, ",
                 base::formatFixed(row.times(), 2), " times what is expected\n");
  return text;
}

} // namespace mekik::model
