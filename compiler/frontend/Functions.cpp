// The built-in functions whose call says more than operands and attributes: defaults, result shapes, checks of ids.
// Every other op of the graph dialect is called by its mnemonic without an entry here.
#include "compiler/frontend/Arguments.h"

#include "absl/strings/str_cat.h"
#include <algorithm>
#include <cmath>

namespace mekik::frontend {

using namespace syntax;

namespace {

constexpr int kSum = 0, kMean = 1, kMax = 2;
constexpr int kMse = 0, kBinaryCrossEntropy = 1;

const std::vector<std::string> &reductions() {
  static const std::vector<std::string> names = {"mean", "sum", "none"};
  return names;
}

/// Names of the axes that stay when `axes` are folded; with `keep` the folded ones stay as axes of size 1.
Names namesWithout(const Names &names, llvm::ArrayRef<int64_t> axes, bool keep) {
  Names result;
  for (size_t i = 0; i < names.size(); ++i) {
    bool folded = llvm::is_contained(axes, static_cast<int64_t>(i));
    if (!folded)
      result.push_back(names[i]);
    else if (keep)
      result.push_back("");
  }
  return result;
}

std::vector<int64_t> shapeKeeping(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes) {
  std::vector<int64_t> result(shape.begin(), shape.end());
  for (int64_t axis : axes)
    result[axis] = 1;
  return result;
}

std::vector<int64_t> allAxes(mlir::Value tensor) {
  std::vector<int64_t> axes(graph::shapeOf(tensor).size());
  for (size_t i = 0; i < axes.size(); ++i)
    axes[i] = static_cast<int64_t>(i);
  return axes;
}

} // namespace

template <int which> Term Elaborator::callReduction(Arguments &a) {
  // max and min have a second operand before the axes.
  constexpr size_t axis = which == kMax ? 2 : 1;
  mlir::Value x = a.floatTensor(0);
  if (!x)
    return {};
  auto axes = a.axes(axis, graph::shapeOf(x).size());
  auto keep = a.boolean(axis + 1, false);
  if (!axes || !keep)
    return {};
  if (axes->empty())
    return x;
  graph::Build build = at(a.range());
  mlir::Value value = which == kSum    ? build.sum(x, *axes)
                      : which == kMean ? graph::MeanOp::create(builder, build.loc, x, *axes).getResult()
                                       : build.max(x, *axes);
  if (*keep)
    value = build.reshape(value, shapeKeeping(graph::shapeOf(x), *axes));
  return result(value, namesWithout(dimensions.of(x), *axes, *keep), a.range());
}

/// With a second operand elements are compared, without one axes are folded.
template <bool largest> Term Elaborator::callExtreme(Arguments &a) {
  const std::string &name = a.call.callee.text;
  graph::Build build = at(a.range());
  if (a.has(1)) {
    if (a.has(2) || a.has(3))
      return fail(a.range(), absl::StrCat(name, ": either a second operand or axes to fold, not both"));
    auto [x, y] = sameElements(a.term(0), a.term(1), a.range(), name);
    mlir::Value both[] = {x, y};
    if (!x || !broadcastTogether(both, a.range(), name))
      return {};
    if (!isFloatTensor(both[0]))
      return fail(a.range(),
                  absl::StrCat(name, " works on tensors of floats; cast(x, float) makes floats of integers"));
    mlir::Value value = largest ? build.maximum(both[0], both[1]) : build.minimum(both[0], both[1]);
    return result(value, dimensions.of(both[0]), a.range());
  }
  if (largest)
    return callReduction<kMax>(a);
  // The smallest is minus the largest of the negated: exact, ties and NaN included.
  mlir::Value x = a.floatTensor(0);
  if (!x)
    return {};
  a.values[0]->term = result(build.unary<graph::NegOp>(x), dimensions.of(x), a.range());
  Term negated = callReduction<kMax>(a);
  if (negated.isPoison())
    return {};
  mlir::Value value = negated.tensor();
  return result(build.unary<graph::NegOp>(value), dimensions.of(value), a.range());
}

Term Elaborator::callEinsum(Arguments &a) {
  if (!a.term(0).isText())
    return fail(
        a.rangeOf(0),
        absl::StrCat("einsum: the first argument is the equation in quotes, such as \"a b, b c -> a c\", found ",
                     kindOf(a.term(0))));
  std::vector<mlir::Value> operands;
  std::vector<SourceRange> ranges;
  for (const Arguments::Given &given : a.rest) {
    if (!given.term.isTensor())
      return fail(given.range, absl::StrCat("einsum works on tensors, found ", kindOf(given.term)));
    operands.push_back(given.term.tensor());
    ranges.push_back(given.range);
  }
  if (operands.empty())
    return fail(a.range(), "einsum needs a tensor behind the equation");
  return einsum(a.term(0).text(), a.rangeOf(0), operands, ranges, a.range());
}

Term Elaborator::callMatmul(Arguments &a) {
  mlir::Value x = a.floatTensor(0), y = x ? a.floatTensor(1) : mlir::Value();
  return x && y ? matmul(x, y, a.range()) : Term();
}

Term Elaborator::callReshape(Arguments &a) {
  mlir::Value x = a.tensor(0);
  auto shape = x ? a.integers(1) : std::nullopt;
  if (!shape)
    return {};
  int64_t elements = 1, known = 1;
  for (int64_t size : graph::shapeOf(x))
    elements *= size;
  int64_t *open = nullptr;
  for (int64_t &size : *shape) {
    if (size == -1 && !open) {
      open = &size;
      continue;
    }
    if (size == -1)
      return a.fail(1, absl::StrCat("only one size may be -1 (what is left over for it), found ", show(a.term(1)))), Term();
    if (size < 1)
      return a.fail(1,
                    absl::StrCat("the size of an axis must be at least 1 (one of them may be -1: what is left), found ",
                                 size)),
             Term();
    if (__builtin_mul_overflow(known, size, &known))
      return a.fail(1, absl::StrCat("the sizes ", show(a.term(1)), " multiply to more than 64 bits hold")), Term();
  }
  if (open && elements % known == 0)
    *open = elements / known;
  else if (open || known != elements)
    return a.fail(1, absl::StrCat(describe(x), " has ", elements, " elements, which cannot be arranged as ",
                                  show(a.term(1)))),
           Term();
  if (!checkSize(*shape, {}, a.rangeOf(1)))
    return {};
  return result(at(a.range()).reshape(x, *shape), Names(shape->size()), a.range());
}

Term Elaborator::callTranspose(Arguments &a) {
  mlir::Value x = a.tensor(0);
  if (!x)
    return {};
  int64_t rank = graph::shapeOf(x).size();
  std::vector<int64_t> order;
  if (!a.has(1)) {
    if (rank < 2)
      return a.fail(0, absl::StrCat("without an order of axes the last two are swapped, but this tensor has ", rank)),
             Term();
    order = allAxes(x);
    std::swap(order[rank - 1], order[rank - 2]);
  } else {
    auto given = a.integers(1);
    if (!given)
      return {};
    for (int64_t axis : *given)
      if (auto normal = normalizedAxis(axis, rank))
        order.push_back(*normal);
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != allAxes(x))
      return a.fail(1, absl::StrCat("the order must name each of the ", rank, " axes of ", describe(x), " once, found ",
                                    show(a.term(1)))),
             Term();
  }
  Names names;
  for (int64_t axis : order)
    names.push_back(dimensions.of(x)[axis]);
  return result(at(a.range()).transpose(x, order), names, a.range());
}

Term Elaborator::callBroadcast(Arguments &a) {
  auto shape = a.integers(1);
  if (!shape)
    return {};
  mlir::Value x = toTensor(a.term(0), floatType, a.rangeOf(0));
  if (!x)
    return {};
  for (int64_t size : *shape)
    if (size < 1)
      return a.fail(1, absl::StrCat("the size of an axis must be at least 1, found ", size)), Term();
  auto fitted = graph::broadcastShapes(graph::shapeOf(x), *shape);
  if (!fitted || llvm::ArrayRef<int64_t>(*fitted) != llvm::ArrayRef<int64_t>(*shape))
    return a.fail(1,
                  absl::StrCat(describe(x), " cannot be repeated to ", show(a.term(1)),
                               "; axes are compared from the last to the first, and only axes of size 1 are repeated")),
           Term();
  Names names(shape->size()), own = dimensions.of(x);
  for (size_t i = 0; i < own.size(); ++i)
    if (graph::shapeOf(x)[i] != 1)
      names[names.size() - own.size() + i] = own[i];
  if (!checkSize(*shape, names, a.rangeOf(1)))
    return {};
  return result(at(a.range()).broadcastTo(x, *shape), names, a.range());
}

Term Elaborator::callFull(Arguments &a) {
  auto shape = a.integers(0);
  if (!shape)
    return {};
  for (int64_t size : *shape)
    if (size < 1)
      return a.fail(0, absl::StrCat("the size of an axis must be at least 1, found ", size)), Term();
  if (!checkSize(*shape, {}, a.rangeOf(0)))
    return {};
  if (!a.number(1))
    return {};
  mlir::Value value = toTensor(Term(a.term(1).number()), floatType, a.rangeOf(1));
  if (!value || shape->empty())
    return value ? Term(value) : Term();
  mlir::Value one[] = {value};
  auto constant = value.getDefiningOp<graph::ConstantOp>();
  value = graph::ConstantOp::create(builder, constant.getLoc(), graph::withShape(one[0], *shape), constant.getValue());
  constant->erase();
  return result(value, {}, a.range());
}

Term Elaborator::callPositions(Arguments &a) {
  auto count = a.integer(0);
  if (!count)
    return {};
  if (*count < 1 || *count > INT32_MAX)
    return a.fail(0, absl::StrCat("expected a count from 1 to 2147483647, found ", *count)), Term();
  return result(at(a.range()).iota({*count}, 0), {}, a.range());
}

Term Elaborator::callCast(Arguments &a) {
  mlir::Value x = a.tensor(0);
  if (!x)
    return {};
  std::string type = a.term(1).isText() ? a.term(1).text() : "";
  if (type != "float" && type != "int" && type != "bool")
    return a.fail(1, "the type must be float, int or bool, without quotes: cast(x, float)"), Term();
  graph::Build build = at(a.range());
  if (type == "bool") {
    auto element = llvm::cast<mlir::RankedTensorType>(x.getType()).getElementType();
    return element.isInteger(1) ? Term(x)
                                : result(build.compare("ne", x, build.constantLike(x, 0)), dimensions.of(x), a.range());
  }
  return result(build.cast(x, type == "float" ? mlir::Type(floatType) : mlir::Type(builder.getI32Type())),
                dimensions.of(x), a.range());
}

Term Elaborator::callSelect(Arguments &a) {
  mlir::Value condition = a.tensor(0);
  if (!condition)
    return {};
  if (!llvm::cast<mlir::RankedTensorType>(condition.getType()).getElementType().isInteger(1))
    return a.fail(0, "'condition' must hold bools, as comparisons give; write for instance x > 0"), Term();
  auto [x, y] = sameElements(a.term(1), a.term(2), a.range(), "select");
  mlir::Value all[] = {condition, x, y};
  if (!x || !broadcastTogether(all, a.range(), "select"))
    return {};
  return result(at(a.range()).select(all[0], all[1], all[2]), dimensions.of(all[1]), a.range());
}

bool Elaborator::requireIds(mlir::Value ids, int64_t classes, const std::string &classesName, SourceRange range,
                            const std::string &what, std::optional<int64_t> ignored) {
  llvm::SmallVector<mlir::Value> pending{ids};
  while (!pending.empty()) {
    mlir::Value value = pending.pop_back_val();
    mlir::Operation *op = value.getDefiningOp();
    if (op &&
        llvm::isa<graph::ReshapeOp, graph::SliceOp, graph::TransposeOp, graph::BroadcastOp, graph::ConcatOp>(op)) {
      pending.append(op->operand_begin(), op->operand_end());
      continue;
    }
    if (auto iota = llvm::dyn_cast_or_null<graph::IotaOp>(op)) {
      int64_t count = graph::shapeOf(value)[iota.getAxis()];
      if (count <= classes)
        continue;
      error(range, absl::StrCat(what, ": positions go up to ", count - 1, ", but there are only ", classesName));
      return false;
    }
    if (op) {
      error(range,
            absl::StrCat(what,
                         ": ids must come from an input or target (whose values are checked when data is read) or from "
                         "positions(n), not from a computation"));
      return false;
    }
    for (auto *list : {&inputs, &targets})
      for (Interface &entry : *list) {
        if (entry.argument != value)
          continue;
        if (ignored && (*ignored < 0 || *ignored >= classes)) {
          entry.unchecked = true;
          continue;
        }
        if (entry.classesDeclared && entry.classes && *entry.classes > classes) {
          error(range, absl::StrCat(what, ": '", entry.name, "' holds ids below ", *entry.classes,
                                    ", but there are only ", classesName))
              .note(entry.declared, "it is declared here");
          return false;
        }
        if (!entry.classesDeclared)
          entry.classes = std::min(entry.classes.value_or(classes), classes);
      }
  }
  return true;
}

Term Elaborator::callEmbedding(Arguments &a) {
  mlir::Value ids = a.intTensor(0), table = ids ? a.floatTensor(1) : mlir::Value();
  if (!table)
    return {};
  auto shape = graph::shapeOf(table);
  if (shape.size() != 2)
    return a.fail(1, absl::StrCat("'table' must have two axes, rows and columns, found ", describe(table))), Term();
  if (!requireIds(ids, shape[0], absl::StrCat(dimensions.describeAxis(table, 0), " rows in the table"), a.rangeOf(0),
                  "embedding"))
    return {};
  Names names = dimensions.of(ids);
  names.push_back(dimensions.of(table)[1]);
  std::vector<int64_t> full(graph::shapeOf(ids));
  full.push_back(shape[1]);
  if (!checkSize(full, names, a.range()))
    return {};
  mlir::Value value =
      graph::EmbeddingOp::create(builder, location(a.range()), graph::withShape(table, full), ids, table);
  return result(value, names, a.range());
}

Term Elaborator::callOneHot(Arguments &a) {
  mlir::Value ids = a.intTensor(0);
  auto classes = ids ? a.integer(1) : std::nullopt;
  if (!classes)
    return {};
  if (*classes < 1)
    return a.fail(1, absl::StrCat("the number of classes must be at least 1, found ", *classes)), Term();
  std::vector<int64_t> shape(graph::shapeOf(ids));
  shape.push_back(*classes);
  Names names = dimensions.of(ids);
  names.push_back("");
  if (!checkSize(shape, names, a.range()))
    return {};
  mlir::Value value =
      graph::OneHotOp::create(builder, location(a.range()), mlir::RankedTensorType::get(shape, floatType), ids,
                              builder.getI64IntegerAttr(*classes));
  return result(value, names, a.range());
}

Term Elaborator::callMask(Arguments &a) {
  mlir::Value x = a.floatTensor(0), keep = x ? a.tensor(1) : mlir::Value();
  if (!keep)
    return {};
  if (!llvm::cast<mlir::RankedTensorType>(keep.getType()).getElementType().isInteger(1))
    return a.fail(1, "'keep' must hold bools (true where a score may be looked at), as comparisons give"), Term();
  auto shape = graph::broadcastShapes(graph::shapeOf(x), graph::shapeOf(keep));
  if (!shape || llvm::ArrayRef<int64_t>(*shape) != graph::shapeOf(x))
    return a.fail(1, absl::StrCat("a mask of shape ", describe(keep), " does not fit scores of shape ", describe(x))),
           Term();
  graph::Build build = at(a.range());
  mlir::Value value = graph::MaskOp::create(builder, build.loc, x.getType(), x, build.broadcastTo(keep, *shape));
  return result(value, dimensions.of(x), a.range());
}

Term Elaborator::callDrop(Arguments &a) {
  mlir::Value x = a.floatTensor(0);
  auto rate = x ? a.number(1) : std::nullopt;
  if (!rate)
    return {};
  if (!(*rate >= 0 && *rate <= 1))
    return a.fail(1, absl::StrCat("the share to drop must lie between 0 and 1, found ", showFloat(*rate))), Term();
  int64_t stream = drops++;
  if (mode == Mode::Eval || *rate == 0)
    return x;
  mlir::Value value = graph::DropOp::create(builder, location(a.range()), x.getType(), x, seed, step,
                                            builder.getF64FloatAttr(*rate), builder.getI64IntegerAttr(stream));
  return result(value, dimensions.of(x), a.range());
}

Term Elaborator::callCrossEntropy(Arguments &a) {
  mlir::Value logits = a.floatTensor(0), target = logits ? a.intTensor(1) : mlir::Value();
  auto reduction = target ? a.choice(2, "mean", reductions()) : std::nullopt;
  auto smoothing = reduction ? a.number(4, 0.0) : std::nullopt;
  if (!smoothing)
    return {};
  auto shape = graph::shapeOf(logits);
  if (shape.empty() || shape.drop_back() != graph::shapeOf(target))
    return fail(a.range(),
                absl::StrCat(
                    "cross_entropy: the targets must have the shape of the logits without the last axis, found logits ",
                    describe(logits), " and targets ", describe(target)));
  if (!(*smoothing >= 0 && *smoothing <= 1))
    return a.fail(4, absl::StrCat("'smoothing' must lie between 0 and 1, found ", showFloat(*smoothing))), Term();
  mlir::IntegerAttr ignore;
  std::optional<int64_t> ignored;
  if (a.has(3)) {
    ignored = a.integer(3);
    if (!ignored)
      return {};
    if (*ignored < INT32_MIN || *ignored > INT32_MAX)
      return a.fail(3, absl::StrCat("'ignore' must fit into 32 bits, found ", *ignored)), Term();
    ignore = builder.getI64IntegerAttr(*ignored);
  }
  int64_t classes = shape.back();
  if (!requireIds(target, classes, absl::StrCat(dimensions.describeAxis(logits, shape.size() - 1), " logits"),
                  a.rangeOf(1), "cross_entropy", ignored))
    return {};
  bool none = *reduction == "none";
  auto type = graph::withShape(logits, none ? shape.drop_back() : llvm::ArrayRef<int64_t>());
  mlir::Value value =
      graph::CrossEntropyOp::create(builder, location(a.range()), type, logits, target,
                                    builder.getStringAttr(*reduction), ignore, builder.getF64FloatAttr(*smoothing));
  return result(value, none ? dimensions.of(target) : Names(), a.range());
}

template <int which> Term Elaborator::callPairLoss(Arguments &a) {
  auto reduction = a.choice(2, "mean", reductions());
  if (!reduction)
    return {};
  auto [x, y] = sameElements(a.term(0), a.term(1), a.range(), a.call.callee.text);
  if (!x)
    return {};
  if (!isFloatTensor(x))
    return a.fail(0, "both tensors must hold floats; cast(x, float) makes floats of integers"), Term();
  if (graph::shapeOf(x) != graph::shapeOf(y))
    return fail(a.range(), absl::StrCat(a.call.callee.text, ": both tensors must have the same shape, found ",
                                        describe(x), " and ", describe(y)));
  bool none = *reduction == "none";
  auto type = graph::withShape(x, none ? graph::shapeOf(x) : llvm::ArrayRef<int64_t>());
  auto how = builder.getStringAttr(*reduction);
  mlir::Location place = location(a.range());
  mlir::Value value = which == kMse ? graph::MseOp::create(builder, place, type, x, y, how).getResult()
                                    : graph::BinaryCrossEntropyOp::create(builder, place, type, x, y, how).getResult();
  return result(value, none ? dimensions.of(x) : Names(), a.range());
}

const std::vector<Signature> &signatures() {
  using E = Elaborator;
  static const std::vector<Signature> all = {
      {"sum", "x, axis?, keep?", &E::callReduction<kSum>},
      {"mean", "x, axis?, keep?", &E::callReduction<kMean>},
      {"max", "x, y?, axis?, keep?", &E::callExtreme<true>},
      {"min", "x, y?, axis?, keep?", &E::callExtreme<false>},
      {"einsum", "equation, operands...", &E::callEinsum},
      {"matmul", "x, y", &E::callMatmul},
      {"reshape", "x, shape", &E::callReshape},
      {"transpose", "x, order?", &E::callTranspose},
      {"concat", "tensors, axis", &E::callConcat},
      {"stack", "tensors, axis?", &E::callStacked},
      {"reverse", "x, axis?", &E::callReverse},
      {"broadcast", "x, shape", &E::callBroadcast},
      {"full", "shape, value", &E::callFull},
      {"positions", "count", &E::callPositions},
      {"cast", "x, type", &E::callCast},
      {"select", "condition, x, y", &E::callSelect},
      {"embedding", "ids, table", &E::callEmbedding},
      {"one_hot", "ids, classes", &E::callOneHot},
      {"convolution", "x, filter, stride?, padding?, dilation?, groups?", &E::callConvolution},
      {"max_pool", "x, size, stride?, padding?", &E::callMaxPool},
      {"average_pool", "x, size, stride?, padding?", &E::callAveragePool},
      {"mask", "scores, keep", &E::callMask},
      {"drop", "x, share", &E::callDrop},
      {"cross_entropy", "logits, target, reduction?, ignore?, smoothing?", &E::callCrossEntropy},
      {"binary_cross_entropy", "logits, target, reduction?", &E::callPairLoss<kBinaryCrossEntropy>},
      {"mse", "x, y, reduction?", &E::callPairLoss<kMse>},
  };
  return all;
}

} // namespace mekik::frontend
