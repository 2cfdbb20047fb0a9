// The built-in functions that slide windows over axes, and those that put many tensors together.
#include "compiler/frontend/Arguments.h"

#include "absl/strings/str_cat.h"
#include <algorithm>

namespace mekik::frontend {

using namespace syntax;

namespace {

/// No setting of a window makes sense beyond it, and sums of a few cannot overflow.
constexpr int64_t kLargestSetting = int64_t{1} << 31;

/// An int for every one of `count` axes, or a list with one for each; all of at least `least`.
std::optional<llvm::SmallVector<int64_t>> perAxis(Arguments &a, size_t i, size_t count, int64_t otherwise,
                                                  int64_t least) {
  llvm::SmallVector<int64_t> values(count, otherwise);
  if (!a.has(i))
    return values;
  if (a.term(i).isInteger()) {
    values.assign(count, a.term(i).integer());
  } else if (a.term(i).isList()) {
    auto list = a.integers(i);
    if (!list)
      return std::nullopt;
    if (list->size() != count)
      return a.fail(i, absl::StrCat("'", a.parameters[i].name, "' must be an int or a list of ", count,
                                    ", one for each sliding axis, found ", show(a.term(i))));
    values.assign(list->begin(), list->end());
  } else {
    return a.fail(i, absl::StrCat("'", a.parameters[i].name, "' must be an int or a list of ints, found ",
                                  kindOf(a.term(i))));
  }
  for (int64_t value : values)
    if (value < least || value > kLargestSetting)
      return a.fail(i, absl::StrCat("'", a.parameters[i].name, "' must be at least ", least, ", found ", value));
  return values;
}

struct Padding {
  llvm::SmallVector<int64_t> low, high;
};

/// The same on both sides of every axis, or as much as makes the result the operand's size divided by the stride.
std::optional<Padding> paddingOf(Arguments &a, size_t i, llvm::ArrayRef<int64_t> extents,
                                 llvm::ArrayRef<int64_t> reaches, llvm::ArrayRef<int64_t> strides) {
  if (a.has(i) && a.term(i).isText()) {
    if (a.term(i).text() != "same")
      return a.fail(i, absl::StrCat("'padding' must be \"same\", an int or a list of ints, found ", show(a.term(i))));
    Padding padding;
    for (auto [extent, reach, stride] : llvm::zip(extents, reaches, strides)) {
      int64_t count = (extent + stride - 1) / stride;
      int64_t total = std::max<int64_t>((count - 1) * stride + reach - extent, 0);
      padding.low.push_back(total / 2);
      padding.high.push_back(total - total / 2);
    }
    return padding;
  }
  auto both = perAxis(a, i, extents.size(), 0, 0);
  return both ? std::optional(Padding{*both, *both}) : std::nullopt;
}

/// The result type of an op of the dialect, or what the dialect has to say against its operands and attributes.
template <typename Op>
mlir::Type inferred(mlir::Location location, mlir::ValueRange operands, typename Op::Properties &properties,
                    std::string &complaint) {
  mlir::ScopedDiagnosticHandler listen(location.getContext(),
                                       [&](mlir::Diagnostic &diagnostic) { complaint = diagnostic.str(); });
  llvm::SmallVector<mlir::Type> types;
  bool good = mlir::succeeded(Op::inferReturnTypes(location.getContext(), location, operands, {},
                                                   mlir::OpaqueProperties(&properties), {}, types));
  return good ? types[0] : mlir::Type();
}

} // namespace

Term Elaborator::slid(Arguments &a, mlir::Value x, mlir::Value value, const std::string &channels) {
  Names names = dimensions.of(x);
  for (size_t axis = 0; axis + 1 < names.size(); ++axis)
    if (graph::shapeOf(value)[axis] != graph::shapeOf(x)[axis])
      names[axis] = "";
  names.back() = channels;
  return result(value, names, a.range());
}

Term Elaborator::callConvolution(Arguments &a) {
  mlir::Value x = a.floatTensor(0), filter = x ? a.floatTensor(1) : mlir::Value();
  if (!filter)
    return {};
  auto shape = graph::shapeOf(x), filterShape = graph::shapeOf(filter);
  if (filterShape.size() < 3 || shape.size() + 1 < filterShape.size())
    return a.fail(1, absl::StrCat("a filter has one or more sliding axes, then channels in and channels out, and the "
                                  "tensor as many sliding axes and then channels; found a filter ",
                                  describe(filter), " for ", describe(x))),
           Term();
  size_t places = filterShape.size() - 2;
  auto strides = perAxis(a, 2, places, 1, 1);
  auto dilations = strides ? perAxis(a, 4, places, 1, 1) : std::nullopt;
  auto groups = dilations ? a.integer(5, 1) : std::nullopt;
  if (!groups)
    return {};
  llvm::SmallVector<int64_t> reaches;
  for (size_t i = 0; i < places; ++i) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(filterShape[i] - 1, (*dilations)[i], &reach) || reach > kLargestSetting)
      return a.fail(4, absl::StrCat("a filter of ", filterShape[i], ", ", (*dilations)[i], " apart, is too wide")),
             Term();
    reaches.push_back(reach + 1);
  }
  auto padding = paddingOf(a, 3, shape.drop_back().take_back(places), reaches, *strides);
  if (!padding)
    return {};
  graph::ConvolutionOp::Properties properties;
  properties.strides = builder.getDenseI64ArrayAttr(*strides);
  properties.low = builder.getDenseI64ArrayAttr(padding->low);
  properties.high = builder.getDenseI64ArrayAttr(padding->high);
  properties.dilations = builder.getDenseI64ArrayAttr(*dilations);
  properties.groups = builder.getI64IntegerAttr(*groups);
  std::string complaint;
  mlir::Location place = location(a.range());
  mlir::Type type = inferred<graph::ConvolutionOp>(place, {x, filter}, properties, complaint);
  if (!type)
    return fail(a.range(), complaint);
  if (!checkSize(llvm::cast<mlir::RankedTensorType>(type).getShape(), {}, a.range()))
    return {};
  mlir::Value value =
      graph::ConvolutionOp::create(builder, place, type, x, filter, properties.strides, properties.low,
                                   properties.high, properties.dilations, properties.groups);
  return slid(a, x, value, dimensions.of(filter).back());
}

template <typename Op> Term Elaborator::pool(Arguments &a) {
  mlir::Value x = a.floatTensor(0);
  if (!x)
    return {};
  auto shape = graph::shapeOf(x);
  size_t places = a.term(1).isList() ? a.term(1).list().size() : shape.size() - std::min<size_t>(shape.size(), 2);
  if (places < 1 || shape.size() < places + 1)
    return a.fail(0, absl::StrCat("windows slide over the axes between the first and the last (with a list as size: "
                                  "over as many before the last), found ", describe(x))),
           Term();
  auto sizes = perAxis(a, 1, places, 1, 1);
  auto strides = sizes ? a.has(2) ? perAxis(a, 2, places, 1, 1) : sizes : std::nullopt;
  auto padding =
      strides ? paddingOf(a, 3, shape.drop_back().take_back(places), *sizes, *strides) : std::nullopt;
  if (!padding)
    return {};
  typename Op::Properties properties;
  properties.sizes = builder.getDenseI64ArrayAttr(*sizes);
  properties.strides = builder.getDenseI64ArrayAttr(*strides);
  properties.low = builder.getDenseI64ArrayAttr(padding->low);
  properties.high = builder.getDenseI64ArrayAttr(padding->high);
  std::string complaint;
  mlir::Location place = location(a.range());
  mlir::Type type = inferred<Op>(place, x, properties, complaint);
  if (!type)
    return fail(a.range(), complaint);
  mlir::Value value = Op::create(builder, place, type, x, properties.sizes, properties.strides, properties.low,
                                 properties.high);
  return slid(a, x, value, dimensions.of(x).back());
}

Term Elaborator::callMaxPool(Arguments &a) { return pool<graph::MaxPoolOp>(a); }
Term Elaborator::callAveragePool(Arguments &a) { return pool<graph::AveragePoolOp>(a); }

Term Elaborator::callReverse(Arguments &a) {
  mlir::Value x = a.tensor(0);
  auto axes = x ? a.axes(1, graph::shapeOf(x).size()) : std::nullopt;
  if (!axes)
    return {};
  mlir::Value value = axes->empty() ? x : graph::ReverseOp::create(builder, location(a.range()), x, *axes).getResult();
  return result(value, dimensions.of(x), a.range());
}

bool Elaborator::listedTensors(Arguments &a, std::vector<mlir::Value> &parts) {
  const std::string &name = a.call.callee.text;
  if (a.term(0).isList() && a.term(0).list().empty()) {
    a.fail(0, absl::StrCat("the list of tensors is empty; give at least one, as in ", name, "([x, y], axis = 0)"));
    return false;
  }
  if (!a.term(0).isList()) {
    a.fail(0, absl::StrCat("expected a list of tensors, such as ", name, "([x, y], axis = 0), found ",
                           kindOf(a.term(0))));
    return false;
  }
  for (const Term &term : a.term(0).list()) {
    if (!term.isTensor()) {
      a.fail(0, absl::StrCat("the list must hold tensors, found ", kindOf(term)));
      return false;
    }
    parts.push_back(term.tensor());
  }
  return true;
}

Term Elaborator::callConcat(Arguments &a) {
  std::vector<mlir::Value> parts;
  if (!listedTensors(a, parts))
    return {};
  auto first = graph::shapeOf(parts[0]);
  auto axis = a.axis(1, first.size());
  if (!axis)
    return {};
  std::vector<int64_t> shape(first.begin(), first.end());
  for (size_t i = 1; i < parts.size(); ++i) {
    auto other = graph::shapeOf(parts[i]);
    bool fits =
        other.size() == first.size() && llvm::cast<mlir::RankedTensorType>(parts[i].getType()).getElementType() ==
                                            llvm::cast<mlir::RankedTensorType>(parts[0].getType()).getElementType();
    for (size_t j = 0; fits && j < first.size(); ++j)
      fits = static_cast<int64_t>(j) == *axis || other[j] == first[j];
    if (!fits)
      return a.fail(0, absl::StrCat("the tensors must be of one type and alike in all axes but axis ", *axis,
                                    ", found ", describe(parts[0]), " and ", describe(parts[i]))),
             Term();
    shape[*axis] += other[*axis];
  }
  Names names = dimensions.of(parts[0]);
  if (parts.size() > 1)
    names[*axis] = "";
  if (!checkSize(shape, names, a.range()))
    return {};
  mlir::Value value = graph::ConcatOp::create(builder, location(a.range()), parts, *axis);
  return result(value, names, a.range());
}

Term Elaborator::callStacked(Arguments &a) {
  std::vector<mlir::Value> parts;
  if (!listedTensors(a, parts))
    return {};
  std::vector<int64_t> shape(graph::shapeOf(parts[0]));
  auto axis = a.axis(1, shape.size() + 1, 0);
  if (!axis)
    return {};
  for (mlir::Value part : parts)
    if (part.getType() != parts[0].getType())
      return a.fail(0, absl::StrCat("the tensors must be of one type and shape, found ", describe(parts[0]), " and ",
                                    describe(part))),
             Term();
  shape.insert(shape.begin() + *axis, 1);
  Names names = dimensions.of(parts[0]);
  names.insert(names.begin() + *axis, "");
  std::vector<int64_t> whole = shape;
  whole[*axis] = static_cast<int64_t>(parts.size());
  if (!checkSize(whole, names, a.range()))
    return {};
  graph::Build build = at(a.range());
  for (mlir::Value &part : parts)
    part = build.reshape(part, shape);
  return result(graph::ConcatOp::create(builder, build.loc, parts, *axis).getResult(), names, a.range());
}

} // namespace mekik::frontend
