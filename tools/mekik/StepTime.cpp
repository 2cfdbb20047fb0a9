#include "tools/mekik/StepTime.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Parse.h"
#include "tools/mekik/Table.h"
#include <algorithm>
#include <map>

namespace mekik::tool {

using base::concat;
using base::formatCount;
using base::formatFixed;
using base::formatNumber;

namespace {

/// What the beginning of a dispatch costs a thread.
constexpr double dispatchSeconds = 100e-9;
constexpr size_t kernelsShown = 5;

} // namespace

StepTime estimateStep(const Plan &plan, const MachineSpeed &speed) {
  StepTime time;
  for (const FunctionPlan &function : plan.functions) {
    if (function.name != "train_step")
      continue;
    double set = static_cast<double>(plan.parameterBytes + plan.stateBytes + function.workBytes);
    auto secondsOf = [&](const DispatchPlan &dispatch, double cores) {
      double parts = std::min<double>(cores, static_cast<double>(dispatch.tiles));
      double compute = dispatch.cycles / (speed.cyclesPerSecond(dispatch.isContraction) * parts);
      double memory = dispatch.traffic / (speed.bytesPerSecond(set / cores) * parts / static_cast<double>(speed.cores));
      // A row's next elements arrive while it computes; a contraction packs first and multiplies then.
      if (!dispatch.isContraction)
        return std::max(compute, memory) + dispatchSeconds;
      bool near = set / cores <= static_cast<double>(speed.levels.front().bytes);
      return compute + (near ? 0 : memory) + dispatchSeconds;
    };
    std::map<std::pair<std::string, unsigned>, StepTime::Kernel> kernels;
    for (const DispatchPlan &dispatch : function.schedule) {
      StepTime::Kernel &kernel = kernels[{dispatch.kernel, dispatch.line}];
      kernel.name = dispatch.kernel;
      kernel.line = dispatch.line;
      ++kernel.calls;
      kernel.seconds += secondsOf(dispatch, 1);
      time.oneCore += secondsOf(dispatch, 1);
      time.allCores += secondsOf(dispatch, static_cast<double>(speed.cores));
    }
    for (const auto &[key, kernel] : kernels)
      time.kernels.push_back(kernel);
    std::stable_sort(time.kernels.begin(), time.kernels.end(),
                     [](const auto &a, const auto &b) { return a.seconds > b.seconds; });
  }
  return time;
}

std::string stepTimeForPeople(const StepTime &time, const MachineSpeed &speed, int64_t steps) {
  using enum Table::Align;
  Table table({"a step on one core", "line", "calls", "estimate", "share"}, {Left, Right, Right, Right, Right});
  auto share = [&](double seconds) { return concat(formatFixed(100 * seconds / time.oneCore, 0), " %"); };
  double rest = time.oneCore;
  int64_t restCalls = 0;
  for (size_t i = 0; i < time.kernels.size(); ++i) {
    const StepTime::Kernel &kernel = time.kernels[i];
    if (i >= kernelsShown) {
      restCalls += kernel.calls;
      continue;
    }
    rest -= kernel.seconds;
    table.add({kernel.name, kernel.line ? std::to_string(kernel.line) : "", formatCount(uint64_t(kernel.calls)),
               describeSeconds(kernel.seconds), share(kernel.seconds)});
  }
  if (restCalls > 0)
    table.add({concat(formatCount(time.kernels.size() - kernelsShown), " others"), "", formatCount(uint64_t(restCalls)),
               describeSeconds(rest), share(rest)});
  table.rule();
  table.add({"together", "", "", describeSeconds(time.oneCore), ""});
  std::string text = table.print();
  if (speed.cores > 1)
    base::append(text, "on ", speed.cores, " cores about ", describeSeconds(time.allCores), "\n");
  if (steps > 0)
    base::append(text, formatCount(uint64_t(steps)), " steps, as configured, about ",
                 describeSeconds(static_cast<double>(steps) * time.allCores), "\n");
  return text;
}

std::string stepTimeForPrograms(const StepTime &time) {
  std::string text = concat("{\"one_core_seconds\":", formatNumber(time.oneCore),
                            ",\"all_cores_seconds\":", formatNumber(time.allCores), ",\"kernels\":[");
  for (size_t i = 0; i < time.kernels.size(); ++i) {
    const StepTime::Kernel &kernel = time.kernels[i];
    base::append(text, i > 0 ? "," : "", "{\"name\":", base::jsonString(kernel.name), ",\"line\":",
                 static_cast<uint64_t>(kernel.line), ",\"calls\":", kernel.calls, ",\"one_core_seconds\":",
                 formatNumber(kernel.seconds), "}");
  }
  return text + "]}";
}

} // namespace mekik::tool
