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

static constexpr size_t kernelsShown = 5;

StepTime estimateStep(const Plan &plan, const estimate::MachineSpeed &speed) {
  StepTime time;
  for (const FunctionPlan &function : plan.functions) {
    if (function.name != "train_step")
      continue;
    double set = static_cast<double>(plan.parameterBytes + plan.stateBytes + function.workBytes);
    std::vector<estimate::Work> works;
    for (const DispatchPlan &dispatch : function.schedule)
      works.push_back(dispatch.work);
    std::vector<double> alone = estimate::dispatchSeconds(works, set, 1, speed);
    for (double seconds : estimate::dispatchSeconds(works, set, speed.cores, speed))
      time.allCores += seconds;
    std::map<std::pair<std::string, unsigned>, StepTime::Kernel> kernels;
    for (size_t i = 0; i < works.size(); ++i) {
      const DispatchPlan &dispatch = function.schedule[i];
      StepTime::Kernel &kernel = kernels[{dispatch.kernel, dispatch.line}];
      kernel.name = dispatch.kernel;
      kernel.line = dispatch.line;
      ++kernel.calls;
      kernel.seconds += alone[i];
      time.oneCore += alone[i];
    }
    for (const auto &[key, kernel] : kernels)
      time.kernels.push_back(kernel);
    std::stable_sort(time.kernels.begin(), time.kernels.end(),
                     [](const auto &a, const auto &b) { return a.seconds > b.seconds; });
  }
  return time;
}

std::string stepTimeForPeople(const StepTime &time, const estimate::MachineSpeed &speed, int64_t steps) {
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
    base::append(text, i > 0 ? "," : "", "{\"name\":", base::jsonString(kernel.name),
                 ",\"line\":", static_cast<uint64_t>(kernel.line), ",\"calls\":", kernel.calls,
                 ",\"one_core_seconds\":", formatNumber(kernel.seconds), "}");
  }
  return text + "]}";
}

} // namespace mekik::tool
