// The update rules.
#include "compiler/autodiff/Optimizer.h"
#include "compiler/graph/Build.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::autodiff;
using graph::Build;

ArrayRef<StringLiteral> Optimizer::stateKinds() const {
  static constexpr StringLiteral momentumKinds[] = {"momentum"};
  static constexpr StringLiteral adamKinds[] = {"adam.m", "adam.v"};
  if (kind != Kind::Sgd)
    return adamKinds;
  if (momentum != 0)
    return momentumKinds;
  return {};
}

namespace {

/// Of the norm that clipping takes (docs/numerics.md): gradients of at most so many elements are one row, which costs
/// the fewest kernels; others are cut into rows of whole trailing axes with at least so many elements. Threads share
/// them; their sums may be taken where the gradient is computed and are few against what they are sums of.
constexpr int64_t kOneFold = 65536;
constexpr int64_t kShortestRow = 64;

Type elementOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getElementType(); }

SmallVector<int64_t> allAxes(Value x) {
  return llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(graph::shapeOf(x).size())));
}

/// Builds the updates of one training step. f64 scalars are named as in the rules of Optimizer.
class Updater {
public:
  Updater(OpBuilder &builder, Location loc, const Optimizer &optimizer, Value rate, Value step)
      : build(builder, loc), optimizer(optimizer), rate(rate), step(step) {}

  void clip(MutableArrayRef<Trained> parameters);
  /// Scalars that all parameters share.
  void prepare();
  void update(Trained &one);

private:
  /// An f64 scalar in the precision of `like`.
  Value scalar(Value number, Value like) { return build.cast(number, elementOf(like)); }
  bool decays(Value parameter) const {
    return optimizer.weightDecay != 0 && (optimizer.decayAll || graph::shapeOf(parameter).size() >= 2);
  }
  Value sumOfSquares(Value gradient);
  Value sgd(Trained &one, Value gradient);
  Value adam(Trained &one, Value gradient);
  Value powerOf(double base, Value exponent) { return build.pow(build.constantLike(exponent, base), exponent); }

  Build build;
  const Optimizer &optimizer;
  Value rate;
  Value step;
  Value stepSize;  ///< Adam: rate / (1 - beta1^t)
  Value rootScale; ///< Adam: 1 / sqrt(1 - beta2^t)
  Value keep;      ///< AdamW: 1 - rate * weightDecay
  Value still;     ///< true if the rate is 0; null if it never is
};

Value Updater::sumOfSquares(Value gradient) {
  ArrayRef<int64_t> shape = graph::shapeOf(gradient);
  Type wide = build.builder.getF64Type();
  int64_t elements = llvm::product_of(shape);
  SmallVector<int64_t> row;
  for (int64_t held = 1, axis = shape.size(); held < kShortestRow && axis > 0; held *= shape[axis])
    row.insert(row.begin(), --axis);
  if (elements <= kOneFold || row.size() == shape.size()) {
    Value flat = build.reshape(gradient, elements);
    return build.cast(build.sum(build.mul(flat, flat), 0), wide);
  }
  Value ofRows = build.cast(build.sum(build.mul(gradient, gradient), row), wide);
  return build.sum(ofRows, allAxes(ofRows));
}

void Updater::clip(MutableArrayRef<Trained> parameters) {
  Value total;
  for (Trained &one : parameters) {
    Value squares = sumOfSquares(one.gradient);
    total = total ? build.add(total, squares) : squares;
  }
  if (!total)
    return;
  Value norm = build.sqrt(total);
  Value ratio = build.div(build.constantLike(norm, optimizer.clip), build.add(norm, 1e-6));
  Value factor = build.minimum(ratio, build.constantLike(ratio, 1));
  for (Trained &one : parameters)
    one.gradient = build.mul(one.gradient, scalar(factor, one.gradient));
}

void Updater::prepare() {
  if (optimizer.kind != Optimizer::Kind::Sgd) {
    Value t = build.add(build.cast(step, build.builder.getF64Type()), 1);
    stepSize = build.div(rate, build.sub(1, powerOf(optimizer.beta1, t)));
    Value correction = build.sub(1, powerOf(optimizer.beta2, t));
    rootScale = build.div(build.constantLike(correction, 1), build.sqrt(correction));
  }
  if (optimizer.kind == Optimizer::Kind::AdamW)
    keep = build.sub(1, build.mul(rate, optimizer.weightDecay));
  if (optimizer.rate.canBeZero())
    still = build.compare("eq", rate, build.constantLike(rate, 0));
}

Value Updater::sgd(Trained &one, Value gradient) {
  Value direction = gradient;
  if (optimizer.momentum != 0) {
    Value &velocity = one.state[0];
    velocity = build.add(build.mul(velocity, optimizer.momentum), gradient);
    direction = optimizer.nesterov ? build.add(gradient, build.mul(velocity, optimizer.momentum)) : velocity;
  }
  return build.sub(one.parameter, build.mul(direction, scalar(rate, direction)));
}

Value Updater::adam(Trained &one, Value gradient) {
  Value &mean = one.state[0];
  Value &square = one.state[1];
  mean = build.add(build.mul(mean, optimizer.beta1), build.mul(gradient, 1 - optimizer.beta1));
  square = build.add(build.mul(square, optimizer.beta2), build.mul(build.mul(gradient, gradient), 1 - optimizer.beta2));
  // sqrt(v / c) = sqrt(v) / sqrt(c): one division an element instead of three.
  Value root = build.mul(build.sqrt(square), scalar(rootScale, square));
  Value ratio = build.div(mean, build.add(root, optimizer.eps));
  Value start = one.parameter;
  if (optimizer.kind == Optimizer::Kind::AdamW && decays(start))
    start = build.mul(start, scalar(keep, start));
  return build.sub(start, build.mul(ratio, scalar(stepSize, ratio)));
}

void Updater::update(Trained &one) {
  Value gradient = one.gradient;
  if (optimizer.kind != Optimizer::Kind::AdamW && decays(one.parameter))
    gradient = build.add(gradient, build.mul(one.parameter, optimizer.weightDecay));
  Value updated = optimizer.kind == Optimizer::Kind::Sgd ? sgd(one, gradient) : adam(one, gradient);
  // p - 0 u is p except for -0 and for an infinite u.
  if (still)
    updated = build.select(build.broadcastTo(still, graph::shapeOf(updated)), one.parameter, updated);
  one.parameter = updated;
}

} // namespace

void autodiff::buildUpdate(OpBuilder &builder, Location loc, const Optimizer &optimizer, Value rate, Value step,
                           MutableArrayRef<Trained> parameters) {
  Updater updater(builder, loc, optimizer, rate, step);
  if (optimizer.clip != 0)
    updater.clip(parameters);
  updater.prepare();
  for (Trained &one : parameters)
    updater.update(one);
}
