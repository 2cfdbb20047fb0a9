// Smooth gates. Both forms of gelu and silu stay finite wherever their value is: where a factor runs into overflow the
// other one is exactly 0 or 1, and the gradient caps the square that would give 0 * inf.
#include "compiler/graph/Build.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mekik::graph;

namespace {

constexpr double kCubic = 0.044715;
/// sqrt(2 / pi).
const double kTanhScale = std::sqrt(2 / std::numbers::pi);

/// tanh(sqrt(2/pi) (x + 0.044715 x^3)), given x^2.
Value gateTanh(Build &build, Value x, Value square) {
  Value cube = build.mul(square, x);
  Value argument = build.mul(build.add(x, build.mul(cube, kCubic)), kTanhScale);
  return build.unary<TanhOp>(argument);
}

} // namespace

LogicalResult GeluOp::verify() {
  if (getForm() != "tanh" && getForm() != "erf")
    return emitOpError() << "expects form \"tanh\" or \"erf\", got \"" << getForm() << "\"";
  return success();
}

Value GeluOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  Value x = getOperand();
  if (getForm() == "erf")
    return build.mul(x, build.unary<NormalCdfOp>(x));
  Value gate = gateTanh(build, x, build.mul(x, x));
  return build.mul(build.mul(x, 0.5), build.add(gate, 1));
}

SmallVector<Value> GeluOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  Value x = getOperand();
  if (getForm() == "erf") {
    Value local = build.add(build.unary<NormalCdfOp>(x), build.mul(build.normalDensity(x), x));
    return {build.mul(upstream, local)};
  }
  Value square = build.mul(x, x);
  Value gate = gateTanh(build, x, square);
  // From 1e4 on 1 - tanh^2 is exactly 0; without the cap x^2 would overflow beside it.
  square = build.minimum(square, build.constantLike(x, 1e8));
  Value inner = build.mul(build.add(build.mul(square, 3 * kCubic), 1), 0.5 * kTanhScale);
  Value slope = build.mul(build.mul(build.sub(1, build.mul(gate, gate)), inner), x);
  Value local = build.add(build.mul(build.add(gate, 1), 0.5), slope);
  return {build.mul(upstream, local)};
}

Value SiluOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  return build.mul(getOperand(), build.unary<SigmoidOp>(getOperand()));
}

SmallVector<Value> SiluOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  Value gate = build.unary<SigmoidOp>(getOperand());
  // s + x s (1 - s)
  Value local = build.mul(gate, build.add(build.mul(getOperand(), build.sub(1, gate)), 1));
  return {build.mul(upstream, local)};
}
