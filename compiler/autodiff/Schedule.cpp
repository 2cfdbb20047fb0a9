// The learning rate as a function of the step, in f64.
#include "compiler/autodiff/Optimizer.h"
#include "compiler/graph/Build.h"
#include <numbers>

using namespace mlir;
using namespace mekik;
using namespace mekik::autodiff;

bool Schedule::canBeZero() const {
  bool decays = kind != Kind::Constant;
  return peak == 0 || (decays && floor == 0) || (warmup > 0 && warmupRule == Warmup::Current);
}

Value autodiff::buildRate(OpBuilder &builder, Location loc, const Schedule &schedule, Value step) {
  graph::Build build(builder, loc);
  Type real = builder.getF64Type();
  Value it = build.cast(step, real);
  Value rate = build.constantLike(it, schedule.peak);
  auto warmup = static_cast<double>(schedule.warmup);

  if (schedule.kind != Schedule::Kind::Constant) {
    // A decay of no steps has its only point, it = warmup = steps, at the peak.
    double length = std::max<double>(static_cast<double>(schedule.steps) - warmup, 1);
    Value progress = build.div(build.add(it, -warmup), length);
    double range = schedule.peak - schedule.floor;
    if (schedule.kind == Schedule::Kind::Cosine) {
      Value wave = build.cos(build.mul(progress, std::numbers::pi));
      rate = build.add(build.mul(build.mul(build.add(wave, 1), 0.5), range), schedule.floor);
    } else {
      rate = build.add(build.mul(progress, -range), schedule.peak);
    }
    Value after = build.compare("gt", it, build.constantLike(it, static_cast<double>(schedule.steps)));
    rate = build.select(after, build.constantLike(it, schedule.floor), rate);
  }

  if (schedule.warmup > 0) {
    bool current = schedule.warmupRule == Schedule::Warmup::Current;
    bool open = schedule.warmupRule == Schedule::Warmup::NextOpen;
    Value numerator = current ? it : build.add(it, 1);
    Value rising = build.div(build.mul(numerator, schedule.peak), open ? warmup + 1 : warmup);
    rate = build.select(build.compare("lt", it, build.constantLike(it, warmup)), rising, rate);
  }
  return rate;
}
