// The composite families against outside numbers: softmax, normalizations, losses, attention and gates, output and
// gradients of L = sum(output * upstream), in f64 to 1e-10 and in f32 to the bounds of a float32 program.
#include "compiler/autodiff/Gradient.h"
#include "tests/autodiff/Program.h"
#include <functional>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mekik;
using namespace mekik::tests;
using graph::Build;
using nlohmann::json;

namespace {

struct Case {
  Program &program;
  const json &oracle;
  std::map<std::string, Value> in;

  Build &build() { return program.build(); }
  OpBuilder &builder() { return program.build().builder; }
  Location loc() { return program.build().loc; }
  const json &attribute(const char *name) { return oracle["attrs"][name]; }
  bool has(const char *name) { return oracle["attrs"].contains(name); }
  bool named(const char *part) { return oracle["name"].get<std::string>().find(part) != std::string::npos; }
};

using Formula = std::function<Value(Case &)>;

Value softmaxFamily(Case &c) {
  Value x = c.in["x"];
  auto axis = c.attribute("axis").get<int64_t>();
  if (c.named("logsumexp")) {
    // The log of the sum is what log_softmax takes away.
    Value y = graph::LogSoftmaxOp::create(c.builder(), c.loc(), x);
    Value difference = c.build().sub(x, y);
    int64_t last = graph::shapeOf(x).size() - 1;
    return c.build().mean(difference, {last});
  }
  if (c.named("log_softmax"))
    return graph::LogSoftmaxOp::create(c.builder(), c.loc(), x.getType(), x, axis);
  return graph::SoftmaxOp::create(c.builder(), c.loc(), x.getType(), x, axis);
}

Value normFamily(Case &c) {
  Value x = c.in["x"];
  Value y = c.named("rmsnorm") ? Value(graph::RmsNormalizeOp::create(c.builder(), c.loc(), x))
                               : Value(graph::NormalizeOp::create(c.builder(), c.loc(), x));
  if (c.in.count("w"))
    y = c.build().mul(y, c.in["w"]);
  return c.in.count("b") ? c.build().add(y, c.in["b"]) : y;
}

Value lossFamily(Case &c) {
  Value x = c.in["x"];
  if (c.named("mse"))
    return graph::MseOp::create(c.builder(), c.loc(), x, c.in["y"]);
  auto targets = c.attribute("targets").get<std::vector<int64_t>>();
  auto count = static_cast<int64_t>(targets.size());
  if (c.named("bce")) {
    Value t = c.program.argument({{count}, std::vector<double>(targets.begin(), targets.end())});
    return graph::BinaryCrossEntropyOp::create(c.builder(), c.loc(), x, t);
  }
  std::string reduction = c.attribute("reduction").get<std::string>();
  reduction = reduction.substr(0, reduction.find_first_of(" ;"));
  IntegerAttr ignore;
  if (c.has("ignore_index"))
    ignore = c.builder().getI64IntegerAttr(c.attribute("ignore_index").get<int64_t>());
  double smoothing = c.has("label_smoothing") ? c.attribute("label_smoothing").get<double>() : 0;
  return graph::CrossEntropyOp::create(c.builder(), c.loc(), x, c.program.ids(targets, {count}),
                                       c.builder().getStringAttr(reduction), ignore,
                                       c.builder().getF64FloatAttr(smoothing));
}

Value attentionFamily(Case &c) {
  Value scores = c.build().contract("bhts,bhus->bhtu", c.in["q"], c.in["k"]);
  scores = c.build().mul(scores, c.attribute("scale").get<double>());
  if (c.has("causal") && c.attribute("causal").get<bool>())
    scores = graph::CausalOp::create(c.builder(), c.loc(), scores);
  if (!c.attribute("mask_keep").is_null()) {
    Numbers keep{{}, {}};
    for (const json &row : c.attribute("mask_keep"))
      for (const json &entry : row)
        keep.data.push_back(entry.is_boolean() ? entry.get<bool>() : entry.get<int>());
    ArrayRef<int64_t> shape = graph::shapeOf(scores);
    keep.shape = {shape[2], shape[3]};
    Value mask = c.build().broadcastTo(c.program.argument(keep, c.builder().getI1Type()), shape);
    scores = graph::MaskOp::create(c.builder(), c.loc(), scores.getType(), scores, mask);
  }
  Value weights = graph::SoftmaxOp::create(c.builder(), c.loc(), scores);
  return c.build().contract("bhtu,bhus->bhts", weights, c.in["v"]);
}

Value gateFamily(Case &c) {
  Build &b = c.build();
  Value x = c.in["x"];
  auto silu = [&](Value z) { return Value(graph::SiluOp::create(c.builder(), c.loc(), z)); };
  auto gelu = [&](Value z, const char *form) { return Value(graph::GeluOp::create(c.builder(), c.loc(), z, form)); };
  Value zero = b.constantLike(x, 0);
  auto positive = [&](Value ifTrue, Value ifFalse) { return b.select(b.compare("gt", x, zero), ifTrue, ifFalse); };
  if (c.named("swiglu"))
    return b.contract("bth,oh->bto",
                      b.mul(silu(b.contract("bti,hi->bth", x, c.in["w1"])), b.contract("bti,hi->bth", x, c.in["w3"])),
                      c.in["w2"]);
  if (c.named("geglu"))
    return b.mul(gelu(b.contract("bi,hi->bh", x, c.in["w1"]), "erf"), b.contract("bi,hi->bh", x, c.in["w3"]));
  if (c.named("gelu_tanh"))
    return gelu(x, "tanh");
  if (c.named("gelu_erf"))
    return gelu(x, "erf");
  if (c.named("silu"))
    return silu(x);
  if (c.named("leaky_relu"))
    return positive(x, b.mul(x, 0.01));
  if (c.named("relu"))
    return b.unary<graph::ReluOp>(x);
  if (c.named("elu"))
    return positive(x, b.add(b.unary<graph::ExpOp>(positive(zero, x)), -1)); // e^100 is infinite in f32
  if (c.named("tanh"))
    return b.unary<graph::TanhOp>(x);
  if (c.named("logsigmoid"))
    return b.unary<graph::NegOp>(b.unary<graph::SoftplusOp>(b.unary<graph::NegOp>(x)));
  if (c.named("sigmoid"))
    return b.unary<graph::SigmoidOp>(x);
  if (c.named("softplus"))
    return b.unary<graph::SoftplusOp>(x);
  if (c.named("erf"))
    return b.unary<graph::ErfOp>(x);
  if (c.named("exp"))
    return b.unary<graph::ExpOp>(b.mul(x, 0.25));
  ADD_FAILURE() << "no formula for " << c.oracle["name"];
  return x;
}

void checkFile(const std::string &file, const Formula &formula, Precision precision) {
  json oracle = readOracle(file);
  for (const json &one : oracle["cases"]) {
    SCOPED_TRACE(file + "/" + one["name"].get<std::string>());
    Program program(precision);
    Case c{program, one, {}};
    std::vector<std::string> names;
    SmallVector<Value> inputs;
    for (const auto &[name, numbers] : one["inputs"].items()) {
      names.push_back(name);
      inputs.push_back(c.in[name] = program.argument(readNumbers(numbers)));
    }
    Value output = formula(c);
    Value scaled = output;
    if (one["upstream"].is_object())
      scaled = c.build().mul(output, program.argument(readNumbers(one["upstream"])));
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, graph::shapeOf(scaled).size()));
    Value loss = c.build().sum(scaled, axes);
    auto gradients = autodiff::buildGradient(c.builder(), loss, inputs);
    ASSERT_TRUE(succeeded(gradients));
    SmallVector<Value> results = {output};
    llvm::append_range(results, *gradients);
    std::vector<Numbers> found = program.run(results);

    bool wide = precision == Precision::F64;
    double absolute = wide ? 1e-10 : c.named("large_mean") ? 5e-3 : 1e-5;
    double relative = wide ? 1e-10 : 1e-4;
    EXPECT_LE(worst(found[0], readNumbers(one["output"]), absolute, relative), 1) << "output";
    for (size_t i = 0; i < names.size(); ++i)
      EXPECT_LE(worst(found[i + 1], readNumbers(one["grads"][names[i]]), absolute, relative), 1)
          << "gradient of " << names[i];
  }
}

class OpOracle : public ::testing::TestWithParam<Precision> {};

TEST_P(OpOracle, SoftmaxAlongEveryAxisMatches) { checkFile("ops_softmax", softmaxFamily, GetParam()); }
TEST_P(OpOracle, NormalizationsMatch) { checkFile("ops_norm", normFamily, GetParam()); }
TEST_P(OpOracle, LossesMatch) { checkFile("ops_loss", lossFamily, GetParam()); }
TEST_P(OpOracle, AttentionMatches) { checkFile("ops_attention", attentionFamily, GetParam()); }
TEST_P(OpOracle, GatesMatch) { checkFile("ops_act", gateFamily, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Precisions, OpOracle, ::testing::Values(Precision::F64, Precision::F32),
                         [](const auto &info) { return info.param == Precision::F64 ? "F64" : "F32"; });

} // namespace
