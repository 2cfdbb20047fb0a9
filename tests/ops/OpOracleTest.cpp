// Outputs and gradients of operations against reference numbers computed elsewhere in double precision
// (tests/oracles/ops_*.json): f64 nearly exactly, f32 within stated bounds.
#include "tests/autodiff/Oracle.h"
#include "tests/ops/OpHarness.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <map>

using namespace mlir;
using namespace mekik;
using namespace mekik::graph;
using namespace mekik::tests;
using nlohmann::json;

namespace {

using Axes = SmallVector<int64_t>;

/// Operands by name, built into the function of a case.
struct Scope {
  Build &build;
  std::map<std::string, Value> values;
  const json &attributes;
  Value operator[](const std::string &name) const { return values.at(name); }
  MLIRContext *context() const { return build.builder.getContext(); }
  OpBuilder &builder() const { return build.builder; }
  Location loc() const { return build.loc; }

  /// Integers of an attribute, as ids; a list of lists is a matrix.
  std::vector<int64_t> flat(const std::string &name) const {
    std::vector<int64_t> numbers;
    for (const json &entry : attributes.at(name))
      if (entry.is_array())
        for (const json &inner : entry)
          numbers.push_back(inner.is_boolean() ? inner.get<bool>() : inner.get<int64_t>());
      else
        numbers.push_back(entry.is_boolean() ? entry.get<bool>() : entry.get<int64_t>());
    return numbers;
  }
  /// An i32 tensor of given numbers, put together from constants.
  Value constants(const std::vector<int64_t> &numbers, ArrayRef<int64_t> shape) const {
    SmallVector<Value> parts;
    for (int64_t number : numbers)
      parts.push_back(build.constant(RankedTensorType::get({1}, builder().getI32Type()), number));
    return build.reshape(ConcatOp::create(builder(), loc(), parts, 0), shape);
  }
  Value ids(const std::string &name) const {
    const json &list = attributes.at(name);
    std::vector<int64_t> shape{static_cast<int64_t>(list.size())};
    if (list[0].is_array())
      shape.push_back(list[0].size());
    return constants(flat(name), shape);
  }
  Value truth(const std::string &name, ArrayRef<int64_t> shape) const {
    Value numbers = build.reshape(ids(name), shape);
    return build.compare("ne", numbers, build.constantLike(numbers, 0));
  }
  Value slice(Value x, int64_t axis, int64_t offset, int64_t size) const {
    Axes offsets(shapeOf(x).size(), 0), sizes(shapeOf(x));
    offsets[axis] = offset;
    sizes[axis] = size;
    return SliceOp::create(builder(), loc(), x, offsets, sizes);
  }
  template <typename Op> Value along(Value x, int64_t axis) const {
    return Op::create(builder(), loc(), x.getType(), x, builder().getI64IntegerAttr(axis));
  }
  template <typename Op> Value normalized(Value x) const {
    return Op::create(builder(), loc(), x.getType(), x, builder().getI64IntegerAttr(-1),
                      builder().getF64FloatAttr(1e-5));
  }
};

using Formula = std::function<Value(const Scope &)>;

Value affine(const Scope &s, Value x) {
  if (s.values.count("w"))
    x = s.build.mul(x, s["w"]);
  return s.values.count("b") ? s.build.add(x, s["b"]) : x;
}

Value layerNorm(const Scope &s) { return affine(s, s.normalized<NormalizeOp>(s["x"])); }
Value rmsNorm(const Scope &s) { return affine(s, s.normalized<RmsNormalizeOp>(s["x"])); }

/// softmax(mask(q k^T scale)) v
Value attention(const Scope &s) {
  Value scores = s.build.matmul(s["q"], s.build.transpose(s["k"], {0, 1, 3, 2}));
  scores = s.build.mul(scores, s.attributes.at("scale").get<double>());
  ArrayRef<int64_t> shape = shapeOf(scores);
  if (s.attributes.contains("causal") && s.attributes["causal"].get<bool>())
    scores = CausalOp::create(s.builder(), s.loc(), scores.getType(), scores);
  if (s.attributes.contains("mask_keep") && !s.attributes["mask_keep"].is_null()) {
    Value keep = s.truth("mask_keep", shape.take_back(2));
    scores = MaskOp::create(s.builder(), s.loc(), scores.getType(), scores, s.build.broadcastTo(keep, shape));
  }
  return s.build.matmul(s.along<SoftmaxOp>(scores, -1), s["v"]);
}

Value linear(const Scope &s, Value x, Value w) { return s.build.matmul(x, s.build.transpose(w, {1, 0})); }

Value embedding(const Scope &s) { return EmbeddingOp::create(s.builder(), s.loc(), s.ids("indices"), s["w"]); }

/// The rows of x picked along axis 1, as a product with one-hot rows.
Value pickedAlongAxis1(const Scope &s) {
  Value ids = s.ids("index"), x = s["x"];
  SmallVector<int64_t> shape(shapeOf(ids));
  shape.push_back(shapeOf(x)[1]);
  Value hot = OneHotOp::create(s.builder(), s.loc(), withShape(x, shape), ids, shape.back());
  return shape.size() == 3 ? s.build.contract("bik,bk->bi", hot, x) : s.build.contract("ik,bkc->bic", hot, x);
}

Value crossEntropy(const Scope &s) {
  std::string reduction = s.attributes.at("reduction").get<std::string>();
  reduction = reduction.substr(0, reduction.find_first_of(" ;"));
  IntegerAttr ignore;
  if (s.attributes.contains("ignore_index"))
    ignore = s.builder().getI64IntegerAttr(s.attributes["ignore_index"].get<int64_t>());
  double smoothing = s.attributes.value("label_smoothing", 0.0);
  return CrossEntropyOp::create(s.builder(), s.loc(), s["x"], s.ids("targets"), s.builder().getStringAttr(reduction),
                                ignore, s.builder().getF64FloatAttr(smoothing));
}

Value variance(const Scope &s, double divisor) {
  Value x = s["x"];
  Value centered = s.build.sub(x, s.build.broadcastAlong(s.build.mean(x, {1}), {1}, shapeOf(x)));
  return s.build.div(s.build.sum(s.build.mul(centered, centered), {1}), divisor);
}

template <typename Op> Formula unary() {
  return [](const Scope &s) -> Value { return s.build.unary<Op>(s["x"]); };
}

Formula gelu(std::string form) {
  return [=](const Scope &s) -> Value { return GeluOp::create(s.builder(), s.loc(), s["x"].getType(), s["x"], form); };
}

const std::map<std::string, Formula> &formulas() {
  static const std::map<std::string, Formula> map = {
      // Activations.
      {"swiglu_mlp",
       [](const Scope &s) {
         Value gate = s.build.unary<SiluOp>(linear(s, s["x"], s["w1"]));
         return linear(s, s.build.mul(gate, linear(s, s["x"], s["w3"])), s["w2"]);
       }},
      {"geglu_erf",
       [](const Scope &s) {
         Value gate = linear(s, s["x"], s["w1"]);
         gate = GeluOp::create(s.builder(), s.loc(), gate.getType(), gate, "erf");
         return s.build.mul(gate, linear(s, s["x"], s["w3"]));
       }},
      {"act_relu", unary<ReluOp>()},
      {"act_gelu_tanh", gelu("tanh")},
      {"act_gelu_erf", gelu("erf")},
      {"act_silu", unary<SiluOp>()},
      {"act_tanh", unary<TanhOp>()},
      {"act_sigmoid", unary<SigmoidOp>()},
      {"act_softplus", unary<SoftplusOp>()},
      {"act_exp", [](const Scope &s) { return s.build.unary<ExpOp>(s.build.mul(s["x"], 0.25)); }},
      {"act_leaky_relu_0.01",
       [](const Scope &s) {
         Value x = s["x"], positive = s.build.compare("gt", x, s.build.constantLike(x, 0));
         return s.build.select(positive, x, s.build.mul(x, 0.01));
       }},
      {"act_elu",
       [](const Scope &s) {
         Value x = s["x"], zero = s.build.constantLike(x, 0), positive = s.build.compare("gt", x, zero);
         Value negative = s.build.select(positive, zero, x);
         return s.build.select(positive, x, s.build.add(s.build.unary<ExpOp>(negative), -1.0));
       }},
      {"act_erf", unary<ErfOp>()},
      {"act_logsigmoid",
       [](const Scope &s) {
         Value negated = s.build.unary<NegOp>(s["x"]);
         return s.build.unary<NegOp>(s.build.unary<SoftplusOp>(negated));
       }},
      // Attention.
      {"attention_causal", attention},
      {"attention_full", attention},
      {"attention_causal_scale1", attention},
      {"attention_T1", attention},
      {"attention_cross_q3_k5", attention},
      {"attention_keypad", attention},
      {"attention_onehead_dim1", attention},
      {"attention_fully_masked_row0_zero_rule", attention},
      // Gathering.
      {"embedding_repeated", embedding},
      {"embedding_all_same", embedding},
      {"embedding_two_uses", [](const Scope &s) { return linear(s, embedding(s), s["w"]); }},
      {"gather_axis1_repeated", pickedAlongAxis1},
      {"index_select_axis1", pickedAlongAxis1},
      // Linear operations.
      {"linear_bias", [](const Scope &s) { return s.build.add(linear(s, s["x"], s["w"]), s["b"]); }},
      {"matmul_batched_broadcast", [](const Scope &s) { return s.build.matmul(s["a"], s["b"]); }},
      {"matmul_k1", [](const Scope &s) { return s.build.matmul(s["a"], s["b"]); }},
      {"matmul_odd_17x13x19", [](const Scope &s) { return s.build.matmul(s["a"], s["b"]); }},
      {"add_broadcast", [](const Scope &s) { return s.build.add(s["a"], s["b"]); }},
      {"mul_same_tensor_twice", [](const Scope &s) { return s.build.add(s.build.mul(s["a"], s["a"]), s["a"]); }},
      {"div_broadcast", [](const Scope &s) { return s.build.div(s["a"], s["b"]); }},
      {"mean_axis1_keepdim_sub",
       [](const Scope &s) {
         Value a = s["a"];
         return s.build.sub(a, s.build.broadcastAlong(s.build.mean(a, {1}), {1}, shapeOf(a)));
       }},
      {"transpose_reshape",
       [](const Scope &s) {
         return s.build.mul(s.build.reshape(s.build.transpose(s["a"], {2, 1, 0}), {4, 6}), 2.0);
       }},
      {"slice_concat_overlap",
       [](const Scope &s) -> Value {
         Value a = s["a"];
         SmallVector<Value> parts{s.slice(a, 1, 1, 3), s.slice(a, 1, 0, 3), s.slice(a, 1, 2, 1)};
         return ConcatOp::create(s.builder(), s.loc(), parts, 1);
       }},
      {"where_select",
       [](const Scope &s) {
         return s.build.select(s.truth("cond", {2, 3}), s["a"], s["b"]);
       }},
      // Losses.
      {"cross_entropy_mean", crossEntropy},
      {"cross_entropy_ignore_mean", crossEntropy},
      {"cross_entropy_ignore_sum", crossEntropy},
      {"cross_entropy_ignore_none", crossEntropy},
      {"cross_entropy_ignore_valid_class", crossEntropy},
      {"cross_entropy_confident_wrong", crossEntropy},
      {"cross_entropy_label_smoothing", crossEntropy},
      {"cross_entropy_vocab1", crossEntropy},
      {"mse_mean", [](const Scope &s) -> Value { return MseOp::create(s.builder(), s.loc(), s["x"], s["y"], "mean"); }},
      {"bce_with_logits_mean",
       [](const Scope &s) -> Value {
         Value targets = s.build.cast(s.ids("targets"), cast<RankedTensorType>(s["x"].getType()).getElementType());
         return BinaryCrossEntropyOp::create(s.builder(), s.loc(), s["x"], targets, "mean");
       }},
      // Normalization.
      {"layernorm_affine", layerNorm},
      {"layernorm_noaffine", layerNorm},
      {"layernorm_nobias", layerNorm},
      {"layernorm_constant_rows", layerNorm},
      {"layernorm_large_mean", layerNorm},
      {"layernorm_dim1", layerNorm},
      {"layernorm_rows_not_multiple", layerNorm},
      {"rmsnorm", rmsNorm},
      {"rmsnorm_zero_row", rmsNorm},
      // Reductions.
      {"max_ties_even_share", [](const Scope &s) { return s.build.max(s["x"], {1}); }},
      {"sum_all",
       [](const Scope &s) {
         return s.build.sum(s["x"], {0, 1});
       }},
      {"prod_axis_with_zero",
       [](const Scope &s) {
         Value x = s["x"];
         Value product = s.build.mul(s.build.mul(s.slice(x, 1, 0, 1), s.slice(x, 1, 1, 1)), s.slice(x, 1, 2, 1));
         return s.build.reshape(product, {3});
       }},
      {"var_population", [](const Scope &s) { return variance(s, 5); }},
      {"std_unbiased", [](const Scope &s) { return s.build.unary<SqrtOp>(variance(s, 4)); }},
      {"cumsum_axis1",
       [](const Scope &s) {
         Value x = s["x"];
         Value before = s.build.compare("le", s.build.iota({5, 5}, 0), s.build.iota({5, 5}, 1));
         return s.build.matmul(x, s.build.cast(before, cast<RankedTensorType>(x.getType()).getElementType()));
       }},
      {"norm2",
       [](const Scope &s) {
         return s.build.unary<SqrtOp>(s.build.sum(s.build.mul(s["x"], s["x"]), {0, 1}));
       }},
      // Softmax.
      {"softmax_last", [](const Scope &s) { return s.along<SoftmaxOp>(s["x"], -1); }},
      {"softmax_axis1", [](const Scope &s) { return s.along<SoftmaxOp>(s["x"], -2); }},
      {"softmax_len1", [](const Scope &s) { return s.along<SoftmaxOp>(s["x"], -1); }},
      {"softmax_huge", [](const Scope &s) { return s.along<SoftmaxOp>(s["x"], -1); }},
      {"softmax_neg_inf", [](const Scope &s) { return s.along<SoftmaxOp>(s["x"], 1); }},
      {"log_softmax_last", [](const Scope &s) { return s.along<LogSoftmaxOp>(s["x"], -1); }},
      {"log_softmax_huge", [](const Scope &s) { return s.along<LogSoftmaxOp>(s["x"], -1); }},
      {"logsumexp",
       [](const Scope &s) {
         Value x = s["x"], largest = s.build.max(x, {1});
         Value shifted = s.build.sub(x, s.build.broadcastAlong(largest, {1}, shapeOf(x)));
         return s.build.add(s.build.unary<LogOp>(s.build.sum(s.build.unary<ExpOp>(shifted), {1})), largest);
       }},
  };
  return map;
}

/// Cases that state another convention than Mekik's.
bool isOtherConvention(const std::string &name) { return name == "max_ties_first_index"; }

struct OracleCase {
  std::string name;
  json content;
};

std::vector<OracleCase> oracleCases() {
  std::vector<OracleCase> cases;
  for (const char *group : {"act", "attention", "gather", "linear", "loss", "norm", "reduce", "softmax"}) {
    json file = readOracle(std::string("ops_") + group);
    for (const json &content : file.at("cases"))
      if (!isOtherConvention(content.at("name")))
        cases.push_back({content.at("name"), content});
  }
  return cases;
}

/// |actual - expected| within absolute + relative |expected|; infinities exactly.
void expectNear(const Tensor &actual, const Numbers &expected, double absolute, double relative,
                const std::string &what) {
  ASSERT_EQ(actual.size(), static_cast<int64_t>(expected.data.size())) << what;
  for (int64_t i = 0; i < actual.size(); ++i) {
    double reference = expected.data[i], value = actual.getDouble(i);
    if (std::isinf(reference))
      ASSERT_EQ(value, reference) << what << ", element " << i;
    else
      ASSERT_NEAR(value, reference, absolute + relative * std::abs(reference)) << what << ", element " << i;
  }
}

class OpOracle : public testing::TestWithParam<OracleCase> {
protected:
  void compare(bool isF64) {
    const json &content = GetParam().content;
    auto formula = formulas().find(GetParam().name);
    ASSERT_NE(formula, formulas().end()) << "no formula for this case";
    std::vector<Operand> operands;
    std::vector<std::string> names;
    for (const auto &[name, input] : content.at("inputs").items()) {
      Numbers values = readNumbers(input);
      operands.push_back({values.shape, values.data, false});
      names.push_back(name);
    }
    json attributes = content.value("attrs", json::object());
    OpCase op(
        operands,
        [&](Build &build, ValueRange arguments) {
          Scope scope{build, {}, attributes};
          for (auto [name, argument] : llvm::zip(names, arguments))
            scope.values[name] = argument;
          return formula->second(scope);
        },
        isF64, /*withSecond=*/false);
    std::vector<Tensor> arguments = op.operands();
    Tensor upstream = op.resultZeros();
    Numbers given = content.at("upstream").is_object() ? readNumbers(content["upstream"]) : Numbers{{}, {1}};
    ASSERT_EQ(upstream.size(), static_cast<int64_t>(given.data.size()));
    for (int64_t i = 0; i < upstream.size(); ++i)
      upstream.setDouble(i, given.data[i]);
    arguments.push_back(upstream);
    std::vector<Tensor> results = op.run("first", arguments);
    ASSERT_EQ(results.size(), 2 + names.size());

    double absolute = 1e-10, relative = 1e-10, gradientAbsolute = 1e-10, gradientRelative = 1e-10;
    if (!isF64) {
      absolute = 1e-5, relative = 1e-6, gradientAbsolute = 1e-5, gradientRelative = 1e-4;
      // Numbers of a thousand times the others, whose differences f32 rounds away.
      if (GetParam().name == "layernorm_large_mean")
        absolute = gradientAbsolute = 5e-3;
      // A variance of 0 under a root: the factor is 316, and so is that of every rounding error.
      if (GetParam().name == "layernorm_dim1" || GetParam().name == "layernorm_constant_rows" ||
          GetParam().name == "rmsnorm_zero_row")
        absolute = gradientAbsolute = 1e-4;
    }
    expectNear(results[0], readNumbers(content.at("output")), absolute, relative, "output");
    for (auto [number, name] : llvm::enumerate(names))
      if (content.at("grads").contains(name))
        expectNear(results[2 + number], readNumbers(content["grads"][name]), gradientAbsolute, gradientRelative,
                   "gradient of " + name);
  }
};

TEST_P(OpOracle, DoublePrecisionEqualsTheReference) { compare(true); }
TEST_P(OpOracle, SinglePrecisionIsWithinTheStatedBounds) { compare(false); }

std::string nameOf(const testing::TestParamInfo<OracleCase> &info) {
  std::string name;
  for (char c : info.param.name)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, OpOracle, testing::ValuesIn(oracleCases()), nameOf);

TEST(OpOracleConvention, TheGradientOfTiedMaximaAddsUpToTheUpstreamGradient) {
  json file = readOracle("ops_reduce");
  for (const json &content : file.at("cases")) {
    if (!isOtherConvention(content.at("name")))
      continue;
    Numbers x = readNumbers(content.at("inputs").at("x"));
    OpCase op(
        {{x.shape, x.data, false}}, [](Build &build, ValueRange v) { return build.max(v[0], {1}); }, true, false);
    Numbers upstream = readNumbers(content.at("upstream"));
    Tensor up = op.resultZeros();
    for (int64_t i = 0; i < up.size(); ++i)
      up.setDouble(i, upstream.data[i]);
    Tensor gradient = op.run("first", {op.operands()[0], up})[2];
    int64_t columns = x.shape[1];
    for (int64_t row = 0; row < x.shape[0]; ++row) {
      double total = 0;
      for (int64_t column = 0; column < columns; ++column)
        total += gradient.getDouble(row * columns + column);
      EXPECT_DOUBLE_EQ(total, upstream.data[row]);
    }
  }
}

TEST(OpOracleConvention, NormalizationOfARankThreeTensorEqualsThatOfItsRowsInEveryBit) {
  Operand cube = filled({3, 5, 8}, 1, 2), rows = cube;
  rows.shape = {15, 8};
  Body body = [](Build &build, ValueRange x) -> Value {
    return NormalizeOp::create(build.builder, build.loc, x[0].getType(), x[0], build.builder.getI64IntegerAttr(-1),
                               build.builder.getF64FloatAttr(1e-5));
  };
  OpCase first({cube}, body, false, false), second({rows}, body, false, false);
  auto runWithUpstream = [](OpCase &op) {
    return op.run("first", {op.operands()[0], filledLike(op.resultZeros(), 90)});
  };
  std::vector<Tensor> a = runWithUpstream(first), b = runWithUpstream(second);
  for (size_t result : {0, 2})
    EXPECT_EQ(std::memcmp(a[result].data(), b[result].data(), a[result].byteSize()), 0);
}

TEST(OpOracleConvention, TheGainOfANormalizationGetsItsGradientFromEveryRow) {
  Body body = [](Build &build, ValueRange x) -> Value {
    Value rows = NormalizeOp::create(build.builder, build.loc, x[0].getType(), x[0],
                                     build.builder.getI64IntegerAttr(-1), build.builder.getF64FloatAttr(1e-5));
    return build.mul(rows, x[1]);
  };
  for (int64_t rows : {1, 2, 7, 8, 9, 15, 16, 17, 1025}) {
    std::vector<Operand> operands{filled({rows, 3}, 1, 2), filled({3}, 2)};
    OpCase single(operands, body, false, false), wide(operands, body, true, false);
    auto gainGradient = [](OpCase &op) {
      return op.run("first", {op.operands()[0], op.operands()[1], filledLike(op.resultZeros(), 0, 0, 1)})[3];
    };
    Tensor found = gainGradient(single), wanted = gainGradient(wide);
    // What the rows add up to, computed here.
    for (int64_t column = 0; column < 3; ++column) {
      double sum = 0;
      for (int64_t row = 0; row < rows; ++row) {
        const double *x = &operands[0].values[row * 3];
        double mean = (x[0] + x[1] + x[2]) / 3, variance = 0;
        for (int i = 0; i < 3; ++i)
          variance += (x[i] - mean) * (x[i] - mean) / 3;
        sum += (x[column] - mean) / std::sqrt(variance + 1e-5);
      }
      EXPECT_NEAR(wanted.getDouble(column), sum, 1e-10) << rows;
      EXPECT_NEAR(found.getDouble(column), sum, 1e-3) << rows;
    }
  }
}

TEST(OpOracleConvention, SoftplusKeepsItsDigitsForVeryNegativeNumbers) {
  OpCase op(
      {numbers({1}, {-12.3392})}, [](Build &build, ValueRange x) { return build.unary<SoftplusOp>(x[0]); }, false,
      false);
  EXPECT_NEAR(op.run("value", op.operands())[0].getDouble(0) / 4.376758446e-6, 1, 1e-5);
}

} // namespace
