// Values are kept in a range where nothing overflows by design, but nothing depends on that: bits are compared as they are.
#include "tests/fuzz/RandomModel.h"
#include "compiler/graph/Build.h"
#include "compiler/graph/ModelConventions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "tests/fuzz/Random.h"

using namespace mlir;
using namespace mekik;
using namespace mekik::fuzz;
using graph::Build;
using graph::shapeOf;

namespace {

constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 48, 65};
constexpr int64_t kMostElements = 3000;

class Generator {
public:
  Generator(MLIRContext &context, uint64_t seed, const RandomModelOptions &options)
      : random(seed), options(options), builder(&context), loc(builder.getUnknownLoc()),
        real(options.f64 ? Type(builder.getF64Type()) : builder.getF32Type()) {}

  OwningOpRef<ModuleOp> run() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc, "random");
    builder.setInsertionPointToEnd(module->getBody());
    function = func::FuncOp::create(builder, loc, graph::kTrainFunction, builder.getFunctionType({}, {}));
    builder.setInsertionPointToEnd(function.addEntryBlock());
    auto scalar = RankedTensorType::get({}, builder.getI64Type());
    seedArgument = argument(scalar, "seed", "", {});
    stepArgument = argument(scalar, "step", "", {});
    values.push_back(argument(type(randomShape()), "input", "x", {}));
    values.push_back(parameter(randomShape()));
    for (int i = 0; i < options.ops; ++i)
      values.push_back(randomOp());
    finish();
    (*module)->setAttr(graph::kOptimizer, optimizer());
    addEval();
    return module;
  }

private:
  // Types, arguments.

  RankedTensorType type(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, real); }
  Build build() { return Build(builder, loc); }

  SmallVector<int64_t> randomShape() {
    SmallVector<int64_t> shape;
    int64_t elements = 1;
    for (int64_t rank = random.below(4) + 1; rank > 0; --rank) {
      int64_t size = random.pick(kSizes);
      if (elements * size > kMostElements)
        continue;
      elements *= size;
      shape.push_back(size);
    }
    if (shape.empty())
      shape.push_back(3);
    return shape;
  }

  Value argument(Type type, StringRef role, StringRef name, ArrayRef<NamedAttribute> extra) {
    SmallVector<NamedAttribute> attributes(extra);
    attributes.push_back(builder.getNamedAttr(graph::kRole, builder.getStringAttr(role)));
    if (!name.empty())
      attributes.push_back(builder.getNamedAttr(graph::kName, builder.getStringAttr(name)));
    unsigned position = role == "parameter" ? parameters++ : function.getNumArguments();
    (void)function.insertArgument(position, type, builder.getDictionaryAttr(attributes), loc);
    return function.getArgument(position);
  }

  Value parameter(ArrayRef<int64_t> shape) {
    static constexpr const char *kinds[] = {"normal", "uniform", "ones", "constant"};
    StringRef kind = random.pick(kinds);
    double a = kind == "uniform" ? -0.5 : 0.25 + 0.25 * random.below(4);
    auto init = builder.getDictionaryAttr({builder.getNamedAttr("kind", builder.getStringAttr(kind)),
                                           builder.getNamedAttr("a", builder.getF64FloatAttr(a)),
                                           builder.getNamedAttr("b", builder.getF64FloatAttr(1.0))});
    std::string name = "p" + std::to_string(parameters);
    return argument(type(shape), "parameter", name, builder.getNamedAttr(graph::kInit, init));
  }

  Value ids(ArrayRef<int64_t> shape, int64_t classes) {
    std::string name = "ids" + std::to_string(function.getNumArguments());
    auto attribute = builder.getNamedAttr(graph::kClasses, builder.getI64IntegerAttr(classes));
    return argument(RankedTensorType::get(shape, builder.getI32Type()), "input", name, attribute);
  }

  // Picking.

  /// A value, mostly a recent one, so that chains grow.
  Value some() {
    size_t back = random.chance(70) ? std::min<size_t>(values.size(), 3) : values.size();
    return values[values.size() - 1 - random.below(back)];
  }
  /// With at least `rank` axes.
  Value some(size_t rank) {
    for (int i = 0; i < 8; ++i)
      if (Value value = some(); shapeOf(value).size() >= rank)
        return value;
    SmallVector<int64_t> shape(rank, 3);
    shape.back() = random.pick(kSizes);
    return parameter(shape);
  }
  int64_t axisOf(Value value) { return random.below(shapeOf(value).size()); }

  /// Something that broadcasts with x to at most kMostElements.
  Value partner(Value x) {
    for (int i = 0; i < 6; ++i) {
      Value y = some();
      auto shape = graph::broadcastShapes(shapeOf(x), shapeOf(y));
      if (shape && ShapedType::getNumElements(*shape) <= kMostElements)
        return y;
    }
    SmallVector<int64_t> shape(shapeOf(x).drop_front(random.below(shapeOf(x).size() + 1)));
    for (int64_t &size : shape)
      if (random.chance(20))
        size = 1;
    return parameter(shape);
  }

  SmallVector<int64_t> randomAxes(Value x) {
    SmallVector<int64_t> axes;
    for (int64_t axis = 0; axis < static_cast<int64_t>(shapeOf(x).size()); ++axis)
      if (random.chance(50))
        axes.push_back(axis);
    if (axes.empty())
      axes.push_back(axisOf(x));
    return axes;
  }

  // Ops.

  template <typename Op> Value unary(Value x) { return build().unary<Op>(x); }
  Value calm(Value x) { return unary<graph::TanhOp>(x); }
  Value positive(Value x) { return build().add(unary<graph::SoftplusOp>(x), 0.125); }

  Value randomOp() {
    switch (random.below(25)) {
    case 24:
      return randomAttention(some(2));
    case 22: case 23:
      return randomHeads(some(2));
    case 20: case 21:
      return randomSliding(some(2));
    case 0: case 1: case 2:
      return randomUnary(some());
    case 3: case 4: case 5:
      return randomBinary();
    case 6:
      return randomSelect();
    case 7: case 8:
      return randomFold();
    case 9: case 10:
      return randomRow(some(1));
    case 11: case 12: case 13: case 14:
      return randomContraction(some(1));
    case 15: case 16:
      return randomRearrangement(some(1));
    case 17:
      return randomGather();
    case 18:
      return randomDrop(some());
    default:
      return randomMatmul();
    }
  }

  Value randomUnary(Value x) {
    switch (random.below(18)) {
    case 0: return unary<graph::NegOp>(x);
    case 1: return unary<graph::AbsOp>(x);
    case 2: return unary<graph::ExpOp>(calm(x));
    case 3: return unary<graph::LogOp>(positive(x));
    case 4: return unary<graph::SqrtOp>(positive(x));
    case 5: return unary<graph::RsqrtOp>(positive(x));
    case 6: return unary<graph::TanhOp>(x);
    case 7: return unary<graph::SigmoidOp>(x);
    case 8: return unary<graph::ReluOp>(x);
    case 9: return unary<graph::SoftplusOp>(x);
    case 10: return unary<graph::ErfOp>(x);
    case 11: return unary<graph::SinOp>(x);
    case 12: return unary<graph::CosOp>(x);
    case 13: return unary<graph::SiluOp>(x);
    case 14: return build().pow(positive(x), calm(partner(x)));
    case 15: return build().mul(x, 0.5);
    default:
      return graph::GeluOp::create(builder, loc, x.getType(), x, random.chance(50) ? "tanh" : "erf");
    }
  }

  Value randomBinary() {
    Value x = some(), y = partner(x);
    Build b = build();
    switch (random.below(7)) {
    case 0: return b.sub(x, y);
    case 1: case 2: return b.mul(calm(x), y);
    case 3: return b.div(x, positive(y));
    case 4: return b.maximum(x, y);
    case 5: return b.minimum(x, y);
    default: return b.add(x, y);
    }
  }

  Value randomSelect() {
    Value x = some(), y = partner(x);
    auto shape = *graph::broadcastShapes(shapeOf(x), shapeOf(y));
    static constexpr const char *how[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    Value condition = build().compare(random.pick(how), x, y);
    if (random.chance(30))
      condition = graph::NotOp::create(builder, loc, condition.getType(), condition);
    return build().select(condition, build().broadcastTo(x, shape), build().broadcastTo(y, shape));
  }

  Value randomFold() {
    Value x = some(1);
    SmallVector<int64_t> axes = randomAxes(x);
    switch (random.below(3)) {
    case 0: return build().sum(x, axes);
    case 1: return build().max(x, axes);
    default: return build().mean(x, axes);
    }
  }

  Value randomRow(Value x) {
    auto axis = builder.getI64IntegerAttr(random.chance(70) ? -1 : axisOf(x));
    auto eps = builder.getF64FloatAttr(1e-5);
    switch (random.below(6)) {
    case 0: return graph::LogSoftmaxOp::create(builder, loc, x.getType(), x, axis);
    case 1: return graph::NormalizeOp::create(builder, loc, x.getType(), x, axis, eps);
    case 2: return graph::RmsNormalizeOp::create(builder, loc, x.getType(), x, axis, eps);
    case 3: return causalSoftmax(some(2));
    default: return graph::SoftmaxOp::create(builder, loc, x.getType(), x, axis);
    }
  }

  /// As one op or as two.
  Value causalSoftmax(Value x) {
    bool one = random.chance(50);
    if (!one)
      x = graph::CausalOp::create(builder, loc, x.getType(), x);
    return graph::SoftmaxOp::create(builder, loc, x.getType(), x, -1, /*causal=*/one);
  }

  /// The rows of x look at as many or fewer keys than stand before them, of which there may be more than a row that is
  /// held in registers has. Now and then something else looks at all of the weights.
  Value randomAttention(Value x) {
    ArrayRef<int64_t> shape = shapeOf(x);
    static constexpr int64_t kKeys[] = {3, 17, 129, 144, 200};
    int64_t keys = random.pick(kKeys), size = shape.back();
    if (ShapedType::getNumElements(shape) / size * keys > 4 * kMostElements)
      return calm(x);
    std::string batch = StringRef("abcd").take_front(shape.size() - 2).str();
    bool half = random.chance(20);
    Value scores =
        build().contract(batch + "ts,us->" + batch + "tu", calm(x), parameter({keys, size}), half ? "" : "tu");
    if (random.chance(50))
      scores = build().mul(scores, 0.5);
    if (random.chance(25)) // its gradient folds rows as a whole
      scores = build().add(scores, alongRows(parameter(shape.drop_back()), shapeOf(scores)));
    Value weights = half ? halfCausal(scores) : causalSoftmax(scores);
    if (random.chance(25))
      weights = foldedAgain(weights);
    if (random.chance(25))
      values.push_back(weights);
    if (random.chance(30))
      weights = randomDrop(weights);
    return build().contract(batch + "tu,us->" + batch + "ts", weights, parameter({keys, 1 + random.below(20)}),
                            half ? "" : "tu");
  }

  /// Divided by a fold of their rows, which ends at the diagonal or goes over all of them.
  Value foldedAgain(Value weights) {
    int64_t last = int64_t(shapeOf(weights).size()) - 1;
    Value fold = random.chance(50)
                     ? build().sum(weights, {last})
                     : build().max(graph::CausalOp::create(builder, loc, weights.getType(), weights), {last});
    return build().div(weights, alongRows(fold, shapeOf(weights)));
  }

  Value alongRows(Value rows, ArrayRef<int64_t> shape) {
    return build().broadcastAlong(rows, {int64_t(shape.size()) - 1}, shape);
  }

  /// What looks at whole rows of a softmax and, beside that, before the diagonal alone.
  Value halfCausal(Value scores) {
    Value weights = graph::SoftmaxOp::create(builder, loc, scores.getType(), scores, -1);
    Value kept = graph::CausalOp::create(builder, loc, weights.getType(), weights);
    return build().add(build().unary<graph::ExpOp>(kept), weights);
  }

  Value randomContraction(Value x) {
    std::string left = StringRef("abcdef").take_front(shapeOf(x).size()).str(), right, result;
    SmallVector<int64_t> rightShape;
    bool contracts = false;
    for (auto [label, size] : llvm::zip(left, shapeOf(x))) {
      int64_t role = random.below(3);
      if (role == 0 || (!contracts && label == left.back())) { // contracted
        contracts = true;
        right += label;
        rightShape.push_back(size);
      } else if (role == 1) { // batch
        right += label;
        rightShape.push_back(size);
        result += label;
      } else {
        result += label;
      }
    }
    int64_t elements = ShapedType::getNumElements(rightShape);
    for (char label : {'n', 'm'}) {
      int64_t size = random.pick(kSizes);
      if (!random.chance(60) || elements * size > kMostElements)
        continue;
      elements *= size;
      right += label;
      rightShape.push_back(size);
      result += label;
    }
    shuffle(right, rightShape);
    SmallVector<int64_t> none(result.size());
    shuffle(result, none);
    int64_t resultElements = 1;
    for (char label : result) {
      size_t inLeft = left.find(label);
      resultElements *= inLeft != std::string::npos ? shapeOf(x)[inLeft] : rightShape[right.find(label)];
    }
    if (resultElements > 2 * kMostElements)
      return calm(x);
    Value weight = parameter(rightShape);
    std::string equation = left + "," + right + "->" + result;
    Value lhs = x, rhs = weight;
    if (random.chance(30)) {
      equation = right + "," + left + "->" + result;
      std::swap(lhs, rhs);
    }
    return calm(build().contract(equation, lhs, rhs, randomTriangle(left, right, result)));
  }

  /// x times a weight of a few heads, each of few elements, which become the last axis of the result; the heads go before
  /// some other axis.
  Value randomHeads(Value x) {
    std::string left = StringRef("abcdef").take_front(shapeOf(x).size()).str(), result = left;
    size_t contracted = random.below(left.size());
    result.erase(contracted, 1);
    result.insert(random.below(result.size()), "h");
    std::string right{left[contracted], 'h', 's'};
    SmallVector<int64_t> shape{shapeOf(x)[contracted], 2 + random.below(8), int64_t(2) << random.below(3)};
    if (ShapedType::getNumElements(shapeOf(x)) / shape[0] * shape[1] * shape[2] > 2 * kMostElements)
      return calm(x);
    shuffle(right, shape);
    return calm(build().contract(left + "," + right + "->" + result + "s", x, parameter(shape)));
  }

  /// Now and then two letters that can make a triangle: one of them at least in each list.
  std::string randomTriangle(const std::string &left, const std::string &right, const std::string &result) {
    std::string letters = left + right;
    std::string triangle{letters[random.below(letters.size())], letters[random.below(letters.size())]};
    bool possible = triangle[0] != triangle[1];
    for (const std::string *list : {&left, &right, &result})
      possible &= list->find_first_of(triangle) != std::string::npos;
    return possible && random.chance(40) ? triangle : "";
  }

  void shuffle(std::string &labels, SmallVector<int64_t> &shape) {
    for (size_t i = labels.size(); i > 1; --i) {
      size_t j = random.below(i);
      std::swap(labels[i - 1], labels[j]);
      std::swap(shape[i - 1], shape[j]);
    }
  }

  Value randomMatmul() {
    Value x = some(2);
    Value weight = parameter({shapeOf(x).back(), random.pick(kSizes)});
    return calm(build().matmul(x, weight));
  }

  Value randomRearrangement(Value x) {
    ArrayRef<int64_t> shape = shapeOf(x);
    int64_t rank = shape.size();
    switch (random.below(7)) {
    case 6: {
      SmallVector<int64_t> axes = randomAxes(x);
      return graph::ReverseOp::create(builder, loc, x, builder.getDenseI64ArrayAttr(axes));
    }
    case 0: {
      SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
      for (size_t i = rank; i > 1; --i)
        std::swap(permutation[i - 1], permutation[random.below(i)]);
      return build().transpose(x, permutation);
    }
    case 1: {
      SmallVector<int64_t> flat{ShapedType::getNumElements(shape)};
      if (rank >= 2 && random.chance(50))
        flat = {ShapedType::getNumElements(shape.drop_back()), shape.back()};
      return build().reshape(x, flat);
    }
    case 2: {
      SmallVector<int64_t> offsets, sizes;
      for (int64_t size : shape) {
        offsets.push_back(random.below(size));
        sizes.push_back(1 + random.below(size - offsets.back()));
      }
      return graph::SliceOp::create(builder, loc, x, builder.getDenseI64ArrayAttr(offsets), builder.getDenseI64ArrayAttr(sizes));
    }
    case 3: {
      SmallVector<int64_t> low, high;
      for (int64_t i = 0; i < rank; ++i) {
        low.push_back(random.below(3));
        high.push_back(random.below(3));
      }
      return calm(graph::PadOp::create(builder, loc, x, builder.getDenseI64ArrayAttr(low), builder.getDenseI64ArrayAttr(high)));
    }
    case 4: {
      SmallVector<int64_t> other(shape);
      int64_t axis = axisOf(x);
      other[axis] = 1 + random.below(9);
      SmallVector<Value> operands{x, parameter(other)};
      if (random.chance(40))
        operands.push_back(x);
      return graph::ConcatOp::create(builder, loc, ValueRange(operands), builder.getI64IntegerAttr(axis));
    }
    default: {
      SmallVector<int64_t> wider(shape);
      int64_t size = 1 + random.below(4);
      if (ShapedType::getNumElements(shape) * size > kMostElements)
        return x;
      wider.insert(wider.begin(), size);
      return build().broadcastTo(x, wider);
    }
    }
  }

  /// Convolution, pooling, rotation: what has places and then channels.
  Value randomSliding(Value x) {
    ArrayRef<int64_t> shape = shapeOf(x);
    if (shape.back() % 2 == 0 && random.chance(40))
      return graph::RotaryOp::create(builder, loc, x.getType(), x, builder.getF64FloatAttr(random.chance(50) ? 10000 : 10),
                                     builder.getStringAttr(random.chance(50) ? "halves" : "neighbours"),
                                     builder.getBoolAttr(random.chance(30)));
    int64_t places = shape.size() > 2 && random.chance(60) ? 2 : 1, channels = shape.back();
    bool pools = random.chance(40);
    int64_t groups = !pools && channels % 3 == 0 && random.chance(30) ? 3 : 1;
    SmallVector<int64_t> filter, strides, low, high, dilations;
    int64_t elements = ShapedType::getNumElements(shape);
    for (int64_t extent : shape.drop_back().take_back(places)) {
      filter.push_back(1 + random.below(std::min<int64_t>(extent, 4)));
      strides.push_back(random.chance(40) ? filter.back() : 1 + random.below(3));
      low.push_back(random.chance(60) ? 0 : random.below(filter.back()));
      high.push_back(random.chance(60) ? 0 : random.below(filter.back()));
      int64_t room = filter.back() > 1 ? (extent + low.back() + high.back() - 1) / (filter.back() - 1) : 1;
      dilations.push_back(1 + random.below(std::min<int64_t>(room, 3)));
      elements *= filter.back();
    }
    auto list = [&](ArrayRef<int64_t> values) { return builder.getDenseI64ArrayAttr(values); };
    if (elements > 4 * kMostElements)
      return calm(x);
    if (pools && random.chance(50))
      return graph::MaxPoolOp::create(builder, loc, x, list(filter), list(strides), list(low), list(high));
    if (pools)
      return graph::AveragePoolOp::create(builder, loc, x, list(filter), list(strides), list(low), list(high));
    int64_t outgoing = groups * (1 + random.below(random.chance(30) ? 20 : 5));
    filter.push_back(channels / groups);
    filter.push_back(outgoing);
    if (ShapedType::getNumElements(filter) > kMostElements || elements / channels * outgoing > 8 * kMostElements)
      return calm(x);
    Value weight = parameter(filter);
    return calm(graph::ConvolutionOp::create(builder, loc, x, weight, list(strides), list(low), list(high), list(dilations),
                                             builder.getI64IntegerAttr(groups)));
  }

  Value randomGather() {
    SmallVector<int64_t> shape{random.pick(kSizes)};
    if (random.chance(50))
      shape.push_back(1 + random.below(6));
    int64_t rows = 1 + random.below(20);
    Value which = ids(shape, rows);
    if (random.chance(25)) {
      shape.push_back(rows);
      Value oneHot = graph::OneHotOp::create(builder, loc, type(shape), which, builder.getI64IntegerAttr(rows));
      return build().mul(oneHot, parameter({rows}));
    }
    Value table = parameter({rows, random.pick(kSizes)});
    return graph::EmbeddingOp::create(builder, loc, which, table);
  }

  Value randomDrop(Value x) {
    double rate = random.chance(10) ? 1.0 : 0.125 * random.below(8);
    return graph::DropOp::create(builder, loc, x.getType(), x, seedArgument, stepArgument, builder.getF64FloatAttr(rate),
                                 builder.getI64IntegerAttr(drops++));
  }

  // The end.

  /// Every value nobody used goes into the loss.
  void finish() {
    Value loss;
    auto include = [&](Value value) { loss = loss ? build().add(loss, value) : value; };
    SmallVector<Value> leaves;
    for (Value value : values)
      if (value.use_empty())
        leaves.push_back(value);
    for (Value argument : function.getArguments().take_front(parameters))
      if (argument.use_empty() && !llvm::is_contained(leaves, argument))
        leaves.push_back(argument);
    for (Value leaf : leaves) {
      if (!shapeOf(leaf).empty() && random.chance(30) && shapeOf(leaf).back() <= 40) {
        Value targets = ids(shapeOf(leaf).drop_back(), shapeOf(leaf).back());
        include(graph::CrossEntropyOp::create(builder, loc, leaf, targets, builder.getStringAttr("mean"),
                                              random.chance(30) ? builder.getI64IntegerAttr(0) : IntegerAttr(),
                                              builder.getF64FloatAttr(random.chance(30) ? 0.125 : 0.0)));
        continue;
      }
      SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(leaf).size()));
      Value bounded = build().mul(leaf, calm(leaf));
      include(all.empty() ? bounded : build().mean(bounded, all));
    }
    // So that no parameter is cut off by a slice, a mask or a comparison.
    for (Value argument : function.getArguments().take_front(parameters)) {
      SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(argument).size()));
      Value small = build().mul(argument, 0.015625);
      include(build().sum(build().mul(small, small), all));
    }
    SmallVector<Value> results{loss};
    SmallVector<Type> types{loss.getType()};
    SmallVector<DictionaryAttr> attributes{named("loss", "")};
    for (int i = 0; i < 2; ++i) {
      results.push_back(random.pick(values));
      types.push_back(results.back().getType());
      attributes.push_back(named(i == 0 ? "output" : "probe", i == 0 ? "out" : "seen"));
    }
    func::ReturnOp::create(builder, loc, results);
    function.setType(builder.getFunctionType(function.getArgumentTypes(), types));
    for (auto [number, attribute] : llvm::enumerate(attributes))
      function.setResultAttrs(number, attribute);
  }

  DictionaryAttr named(StringRef role, StringRef name) {
    SmallVector<NamedAttribute> attributes{builder.getNamedAttr(graph::kRole, builder.getStringAttr(role))};
    if (!name.empty())
      attributes.push_back(builder.getNamedAttr(graph::kName, builder.getStringAttr(name)));
    return builder.getDictionaryAttr(attributes);
  }

  void addEval() {
    builder.setInsertionPointAfter(function);
    auto eval = cast<func::FuncOp>(builder.clone(*function));
    eval.setSymName(graph::kEvalFunction);
  }

  DictionaryAttr optimizer() {
    auto real = [&](StringRef name, double value) { return builder.getNamedAttr(name, builder.getF64FloatAttr(value)); };
    auto text = [&](StringRef name, StringRef value) { return builder.getNamedAttr(name, builder.getStringAttr(value)); };
    auto whole = [&](StringRef name, int64_t value) { return builder.getNamedAttr(name, builder.getI64IntegerAttr(value)); };
    static constexpr const char *kinds[] = {"sgd", "adam", "adamw"}, *schedules[] = {"constant", "cosine", "linear"};
    auto rate = builder.getDictionaryAttr({text("kind", random.pick(schedules)), real("peak", 0.01), real("floor", 0.001),
                                           whole("steps", 10), whole("warmup", random.below(4)), text("warmup_rule", "next")});
    double momentum = 0.25 * random.below(4);
    return builder.getDictionaryAttr(
        {text("kind", random.pick(kinds)), real("momentum", momentum),
         builder.getNamedAttr("nesterov", builder.getBoolAttr(momentum > 0 && random.chance(40))), real("beta1", 0.9), real("beta2", 0.99),
         real("eps", 1e-8), real("weight_decay", random.chance(50) ? 0.1 : 0.0), text("decay", random.chance(50) ? "matrices" : "all"),
         real("clip", random.chance(50) ? 0.5 : 0.0), builder.getNamedAttr("rate", rate)});
  }

  Random random;
  RandomModelOptions options;
  OpBuilder builder;
  Location loc;
  Type real;
  func::FuncOp function;
  Value seedArgument, stepArgument;
  SmallVector<Value> values;
  unsigned parameters = 0;
  int64_t drops = 0;
};

} // namespace

OwningOpRef<ModuleOp> fuzz::randomModel(MLIRContext &context, uint64_t seed, const RandomModelOptions &options) {
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  return Generator(context, seed, options).run();
}
