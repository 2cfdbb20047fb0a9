// What the front end builds: functions, arguments, names, numbers.
#include "compiler/graph/Graph.h"
#include "tests/frontend/Elaborated.h"
#include "tests/syntax/DiagnosticCases.h"

#include <random>

namespace mekik::tests {
namespace {

using Strings = std::vector<std::string>;

int64_t parameterCount(Elaborated &model) {
  int64_t count = 0;
  mlir::func::FuncOp train = model.function("train");
  for (unsigned i = 0; train && i < train.getNumArguments(); ++i)
    if (train.getArgAttrOfType<mlir::StringAttr>(i, graph::kRole).getValue() == "parameter")
      count += llvm::cast<mlir::RankedTensorType>(train.getArgumentTypes()[i]).getNumElements();
  return count;
}

TEST(Frontend, BuildsTheBooksGptWithItsParametersAndNames) {
  Elaborated gpt(readFile(sourceFolder() / "models/gpt/gpt.mekik"), {{"vocab", "30"}});
  EXPECT_EQ(gpt.messages(), "");
  ASSERT_TRUE(gpt.module);
  EXPECT_EQ(parameterCount(gpt), 27678);
  Strings names = gpt.names("train", "parameter");
  EXPECT_EQ(names.size(), 2 + 2 * 12 + 2 + 2u);
  EXPECT_EQ(
      Strings(names.begin(), names.begin() + 9),
      (Strings{"wte", "wpe", "layer.0.norm.gain", "layer.0.norm.bias", "layer.0.attention.query",
               "layer.0.attention.key", "layer.0.attention.value", "layer.0.attention.out", "layer.0.norm2.gain"}));
  EXPECT_EQ(names, gpt.names("eval", "parameter"));
  EXPECT_EQ(gpt.names("train", "loss", true), Strings{"loss"});
  EXPECT_EQ(gpt.names("train", "output", true), Strings{"logits"});
  EXPECT_EQ(gpt.names("train", "probe", true), (Strings{"layer.0.attention.weights", "layer.1.attention.weights"}));
  std::string text = gpt.print();
  EXPECT_NE(text.find("graph.drop"), std::string::npos);
  EXPECT_NE(text.find("tensor<8x16x30xf32>"), std::string::npos);
  EXPECT_NE(text.find("tensor<1x16x30xf32>"), std::string::npos);
  EXPECT_NE(text.find("{\\22vocab\\22:30,\\22context\\22:16,\\22width\\22:32,"), std::string::npos)
      << text.substr(0, 600);
}

TEST(Frontend, EvaluatesWithBatchOneAndWithoutDropping) {
  Elaborated model(
      "model m\nconfig batch: int = 4 in 2..\ninput x: f32[batch, 3]\nparam w: [3] = ones\nlet y = drop(x * w, 0.5)\n"
      "output o = y\nloss sum(y)\n");
  EXPECT_EQ(model.messages(), "");
  std::string eval, train;
  llvm::raw_string_ostream(eval) << model.function("eval");
  llvm::raw_string_ostream(train) << model.function("train");
  EXPECT_EQ(eval.find("graph.drop"), std::string::npos);
  EXPECT_NE(eval.find("tensor<1x3xf32>"), std::string::npos);
  EXPECT_NE(train.find("graph.drop"), std::string::npos);
  EXPECT_NE(train.find("tensor<4x3xf32>"), std::string::npos);
}

TEST(Frontend, LeavesOutDroppingWithShareZeroButKeepsItsStreamNumber) {
  Elaborated model("model m\ninput x: f32[3]\noutput o = drop(drop(x, 0), 0.5)\nloss sum(o)\n");
  std::string text = model.print();
  EXPECT_EQ(text.find("stream 0"), std::string::npos);
  EXPECT_NE(text.find("stream 1"), std::string::npos) << text;
}

TEST(Frontend, HasNoTrainFunctionWithoutALoss) {
  Elaborated model("model m\ninput x: f32[3]\noutput o = x + 1\n");
  EXPECT_EQ(model.messages(), "");
  EXPECT_FALSE(model.function("train"));
  EXPECT_TRUE(model.function("eval"));
}

TEST(Frontend, NamesParametersByCallsCountersAndLabels) {
  Elaborated model("model m\ninput x: f32[3]\nblock scale(x) {\n  param w: [3] = ones\n  return x * w\n}\n"
                   "block twice(x) {\n  return scale(scale(x) as last)\n}\n"
                   "param v: [] = zeros as \"public.v\"\n"
                   "let y = twice(twice(x)) + v\nrepeat i in 1:3 {\n  y = scale(y) + scale(y)\n}\nloss sum(y)\n");
  EXPECT_EQ(model.messages(), "");
  EXPECT_EQ(model.names("train", "parameter"),
            (Strings{"public.v", "twice.last.w", "twice.scale.w", "twice2.last.w", "twice2.scale.w", "i.1.scale.w",
                     "i.1.scale2.w", "i.2.scale.w", "i.2.scale2.w"}));
}

TEST(Frontend, PutsValuesIntoWrittenPaths) {
  Elaborated model(
      "model m\ninput x: f32[3]\nblock scale(x, at) {\n  param w: [3] = ones as \"{at}.weight\"\n  return x * w\n}\n"
      "repeat layer in 2 {\n  param v: [3] = ones as \"h.{layer}.v\"\n  x = scale(x, \"a\") + v\n  if layer == 0 { x = "
      "scale(x, \"b\") }\n}\nloss sum(x)\n");
  EXPECT_NE(model.messages().find("two parameters have the path 'a.weight'"), std::string::npos);
  Elaborated good("model m\ninput x: f32[3]\nrepeat layer in 2 {\n  param v: [3] = ones as \"h.{layer}.v\"\n  x = x * "
                  "v\n}\nloss sum(x)\n");
  EXPECT_EQ(good.names("train", "parameter"), (Strings{"h.0.v", "h.1.v"}));
}

TEST(Frontend, FindsTheNumberOfClassesFromUse) {
  Elaborated model("model m\ninput a: i32[2, 3]\ninput b: i32[2] below 4\ntarget t: i32[2]\ntarget u: i32[2]\nparam "
                   "table: [7, 5] = normal(1)\n"
                   "let x = embedding(a[:, 1], table) + embedding(b, table)\n"
                   "loss cross_entropy(x, t) + cross_entropy(x, u, ignore = -1)\n");
  EXPECT_EQ(model.messages(), "");
  mlir::func::FuncOp train = model.function("train");
  ASSERT_TRUE(train);
  auto classes = [&](unsigned i) {
    auto attribute = train.getArgAttrOfType<mlir::IntegerAttr>(i, graph::kClasses);
    return attribute ? attribute.getInt() : 0;
  };
  EXPECT_EQ(classes(1), 7);
  EXPECT_EQ(classes(2), 4);
  EXPECT_EQ(classes(3), 5);
  EXPECT_EQ(classes(4), 0); // -1 is allowed, so the loader must not refuse it
}

TEST(Frontend, SplitsEinsumsOfManyOperandsFromLeftToRight) {
  Elaborated model("model m\ninput a: f32[2, 3]\ninput b: f32[3, 4]\ninput c: f32[4, 5]\n"
                   "output y = einsum(\"i j, j k, k l -> l i\", a, b, c)\noutput z = einsum(\"i j -> j i\", a)\n"
                   "output s = einsum(\"i j -> j\", a)\noutput o = einsum(\"i j, k l -> l i\", a, b)\noutput p = "
                   "einsum(\"i j, i j -> i j\", a, a)\n");
  EXPECT_EQ(model.messages(), "");
  std::string text = model.print();
  EXPECT_NE(text.find("graph.contract \"ab,bc->ac\""), std::string::npos) << text;
  EXPECT_NE(text.find("graph.contract \"ac,cd->da\""), std::string::npos) << text;
  EXPECT_NE(text.find("tensor<5x2xf32>"), std::string::npos);
}

TEST(Frontend, TakesSlicesPositionsAndShapes) {
  Elaborated model(
      "model m\ninput x: f32[4, 6, 5]\nlet n = x.shape[1] - x.rank\noutput y = x[1:, -1, :n]\noutput z = x[0]\n");
  EXPECT_EQ(model.messages(), "");
  auto types = model.function("eval").getResultTypes();
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(types[0]).getShape(), llvm::ArrayRef<int64_t>({3, 3}));
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(types[1]).getShape(), llvm::ArrayRef<int64_t>({6, 5}));
}

TEST(Frontend, CallsEveryOperationOfTheReference) {
  Elaborated model(
      "model m\ninput x: f32[4, 6]\ninput ids: i32[4]\ninput flags: bool[4, 6]\ntarget t: f32[4, 6]\n"
      "let a = exp(x) + log(x) + sqrt(x) + rsqrt(x) + tanh(x) + sigmoid(x) + relu(x) + gelu(x) + gelu(x, form = "
      "\"erf\")\n"
      "let b = silu(x) + softplus(x) + erf(x) + sin(x) + cos(x) + abs(x) + max(x, 0.5) + min(1, x) + -x + x ** 3 + x "
      "** 2.5\n"
      "let c = select(x > 0 and not flags or x == 1 and true, x, 0.0) + cast(x >= 0, float) + cast(cast(x, bool), "
      "float)\n"
      "let d = sum(x) + sum(x, 0) + mean(x, axis = [0, 1], keep = true) + max(x, axis = -1, keep = true) + min(x, axis "
      "= -1, "
      "keep = true)\n"
      "let e = softmax(x) + log_softmax(x, axis = 0) + normalize(x, axis = -2, eps = 1) + rms_normalize(x)\n"
      "let f = matmul(x, transpose(x)) @ x + reshape(x, [-1, 6]) + transpose(transpose(x, [1, 0]))\n"
      "let g = concat([x[:, :2], x[:, 2:]], axis = 1) + broadcast(x[0], [4, 6]) + one_hot(ids, 6) + full([4, 6], 2)\n"
      "let h = softmax(causal(x @ transpose(x))) @ x + softmax(mask(x, flags)) + cast(positions(6), float)\n"
      "let i = drop(x, 0.25) + embedding(ids, x)\n"
      "let j = mse(x, t) + binary_cross_entropy(x, t, reduction = \"sum\") + mean(mse(x, t, \"none\")) + "
      "cross_entropy(x, ids, smoothing = 0.1)\n"
      "loss mean(a + b + c + d + e + f + g + h + i) + j\n");
  EXPECT_EQ(model.messages(), "");
}

TEST(Frontend, RestrictsProductsAroundACausalMaskToItsTriangle) {
  std::string begin = "model m\ninput x: f32[4, 6]\nlet scores = einsum(\"t w, u w -> t u\", x, x) / 2\n";
  auto triangles = [&](const std::string &rest) {
    Elaborated model(begin + rest + "loss mean(y)\n");
    EXPECT_EQ(model.messages(), "");
    int count = 0;
    model.module->walk([&](mlir::func::FuncOp function) {
      if (function.getName() == "train")
        function.walk([&](graph::ContractOp op) { count += op.getTriangle().has_value(); });
    });
    return count;
  };
  EXPECT_EQ(triangles("let y = softmax(causal(scores)) @ x\n"), 2);
  EXPECT_EQ(triangles("let y = drop(softmax(causal(scores)), 0.5) @ x\n"), 2);
  EXPECT_EQ(triangles("let y = einsum(\"t u, u w -> t w\", softmax(causal(scores)), x)\n"), 2);
  // What else looks at the scores sees all of them; a softmax along the queries leaves no zeros.
  EXPECT_EQ(triangles("probe seen = scores\nlet y = softmax(causal(scores)) @ x\n"), 1);
  EXPECT_EQ(triangles("let y = softmax(causal(scores), axis = 0) @ x\n"), 1);
  EXPECT_EQ(triangles("let y = softmax(scores) @ x\n"), 0);
  EXPECT_EQ(triangles("let y = causal(scores) @ x\n"), 1);
}

TEST(Frontend, ComputesInDoubleOnRequestAndConvertsInputs) {
  std::string text = "model m\nprecision = f64\ninput x: f32[3]\nparam w: [3] = ones\nloss sum(x * w)\n";
  Elaborated model(text);
  EXPECT_NE(model.print().find("graph.cast %arg1 : tensor<3xf32> to tensor<3xf64>"), std::string::npos)
      << model.print();
  Elaborated single(text, {{"precision", "f32"}});
  EXPECT_EQ(single.print().find("xf64"), std::string::npos);
}

TEST(Frontend, PutsTheSourcePlaceOnEveryOp) {
  Elaborated model("model m\ninput x: f32[3]\nlet y = x +\n  exp(x)\nloss sum(y)\n");
  std::string text = model.print(true);
  EXPECT_NE(text.find("loc(\"m\":4:3)"), std::string::npos) << text;
  model.module->walk([](mlir::Operation *op) { EXPECT_TRUE(llvm::isa<mlir::FileLineColLoc>(op->getLoc())); });
}

TEST(Frontend, WritesTheOptimizerAndItsSchedule) {
  Elaborated model("model m\nparam w: [3] = ones\nloss sum(w)\n"
                   "train adamw(cosine(0.1, steps = 100, floor = 0.01, warmup = 10, warmup_rule = \"current\"), beta2 "
                   "= 0.95, clip = 1)\n");
  EXPECT_EQ(model.messages(), "");
  auto optimizer = (*model.module)->getAttrOfType<mlir::DictionaryAttr>(graph::kOptimizer);
  ASSERT_TRUE(optimizer);
  EXPECT_EQ(optimizer.getAs<mlir::StringAttr>("kind").getValue(), "adamw");
  EXPECT_EQ(optimizer.getAs<mlir::FloatAttr>("weight_decay").getValueAsDouble(), 0.01);
  EXPECT_EQ(optimizer.getAs<mlir::FloatAttr>("beta2").getValueAsDouble(), 0.95);
  EXPECT_EQ(optimizer.getAs<mlir::FloatAttr>("clip").getValueAsDouble(), 1);
  auto rate = optimizer.getAs<mlir::DictionaryAttr>("rate");
  EXPECT_EQ(rate.getAs<mlir::StringAttr>("warmup_rule").getValue(), "current");
  EXPECT_EQ(rate.getAs<mlir::IntegerAttr>("steps").getInt(), 100);
  Elaborated nesterov("model m\nparam w: [3] = ones\nloss sum(w)\ntrain nesterov(0.1)\n");
  optimizer = (*nesterov.module)->getAttrOfType<mlir::DictionaryAttr>(graph::kOptimizer);
  EXPECT_EQ(optimizer.getAs<mlir::StringAttr>("kind").getValue(), "sgd");
  EXPECT_TRUE(optimizer.getAs<mlir::BoolAttr>("nesterov").getValue());
  EXPECT_EQ(optimizer.getAs<mlir::FloatAttr>("momentum").getValueAsDouble(), 0.9);
}

TEST(Frontend, TakesOverridesOfEveryType) {
  std::string text = "model m\nconfig a: int = 1\nconfig b: float = 1\nconfig c: bool = false\nconfig d: string = "
                     "\"x\" in \"x\", \"y z\"\n"
                     "input x: f32[a]\nif c and d == \"y z\" {\n  loss sum(x * b)\n} else {\n  loss mean(x)\n}\n";
  Elaborated model(text, {{"a", "7"}, {"b", "0.5"}, {"c", "true"}, {"d", "y z"}});
  EXPECT_EQ(model.messages(), "");
  EXPECT_NE(model.print().find("{\\22a\\22:7,\\22b\\22:0.5,\\22c\\22:true,\\22d\\22:\\22y z\\22}"), std::string::npos)
      << model.print();
  EXPECT_NE(model.print().find("graph.mul"), std::string::npos);
}

TEST(Frontend, StopsLoopsAndRecursionsThatGrowWithoutEnd) {
  EXPECT_NE(Elaborated("model m\nlet x = 1\nrepeat i in 1000000000000 {\n  x = x + 1\n}\noutput y = full([1], x)\n")
                .messages()
                .find("counting further"),
            std::string::npos);
  EXPECT_NE(Elaborated("model m\nblock f(x) {\n  return f(x + 1)\n}\noutput y = full([1], f(1))\n")
                .messages()
                .find("without end"),
            std::string::npos);
}

TEST(Frontend, CompilesTheFirstExampleOfTheReference) {
  std::string reference = readFile(sourceFolder() / "docs/language.md"), example;
  size_t at = reference.find("    model line\n");
  ASSERT_NE(at, std::string::npos);
  while (reference.compare(at, 4, "    ") == 0 || reference[at] == '\n') {
    size_t end = reference.find('\n', at);
    example += reference.substr(at, end + 1 - at);
    at = end + 1;
  }
  Elaborated line(example);
  EXPECT_EQ(line.messages(), "");
  EXPECT_TRUE(line.module) << example;
}

TEST(Frontend, RefusesAMillionLayersSoon) {
  Elaborated gpt(readFile(sourceFolder() / "models/gpt/gpt.mekik"), {{"vocab", "30"}, {"layers", "1000000"}});
  EXPECT_NE(gpt.messages().find("counting further"), std::string::npos) << gpt.messages();
}

TEST(Frontend, BoundsItsOwnRecursion) {
  std::string braces, close;
  for (int i = 0; i < 60; ++i) {
    braces += "if deep {\n";
    close += "}\n";
  }
  std::string text = "model m\nconfig deep: bool = true\nblock f(x) {\nlet y = x\n" + braces +
                     "y = " + std::string(100, '-') + "f(x)\n" + close +
                     "return y\n}\ninput x: f32[2]\noutput z = f(x)\n";
  EXPECT_NE(Elaborated(text).messages().find("nested too deep"), std::string::npos) << Elaborated(text).messages();
}

TEST(Fuzz, MutatedModelsEndInAGraphOrInMessages) {
  const std::string gpt = readFile(sourceFolder() / "models/gpt/gpt.mekik");
  const char *words[] = {"x",          "width",
                         "0",          "-1",
                         "2",          "1e30",
                         "[1, 2]",     "true",
                         "\"a\"",      "+",
                         "*",          "@",
                         "/",          "//",
                         "==",         "batch",
                         "sum(x)",     "tokens",
                         "wte",        "norm(x)",
                         "head",       "9223372036854775807",
                         ", axis = 0", "context",
                         "vocab"};
  const char *seeds = std::getenv("MEKIK_FUZZ_SEEDS");
  unsigned count = seeds ? std::atoi(seeds) : 300;
  for (unsigned seed = 0; seed < count; ++seed) {
    std::mt19937 random(seed);
    std::string text = gpt;
    for (unsigned i = 1 + random() % 3; i > 0; --i) {
      // Replaces one word by another one.
      size_t begin = text.find_first_of("abcdefghijklmnopqrstuvwxyz0123456789", random() % text.size());
      if (begin == std::string::npos)
        continue;
      size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", begin);
      text.replace(begin, end - begin, words[random() % std::size(words)]);
    }
    Elaborated model(text, {{"vocab", "30"}});
    EXPECT_EQ(model.diagnostics.hasErrors(), !model.module) << "seed " << seed;
    EXPECT_EQ(model.messages().find("internal error"), std::string::npos)
        << "seed " << seed << model.messages() << text;
  }
}

} // namespace
} // namespace mekik::tests
