// Windows that slide along axes. The sum of products over windows is a contraction whose left operand is read in other
// steps than it lies in memory, so it runs in the same loops as any other and copies nothing.
#include "compiler/graph/Build.h"
#include "compiler/graph/Graph.h"
#include "llvm/ADT/StringExtras.h"
#include <limits>

using namespace mlir;
using namespace mekik;
using namespace mekik::graph;
using numerics::Number;

namespace {

/// Windows along one axis.
struct Sliding {
  int64_t axis, size, stride, dilation;

  /// Positions from the first to behind the last of a window.
  int64_t reach() const { return (size - 1) * dilation + 1; }
  int64_t count(int64_t extent) const { return (extent - reach()) / stride + 1; }
};

struct Windows : SmallVector<Sliding> {
  /// Entry i of all lists describes one axis; nullopt if the lists differ in length.
  static std::optional<Windows> of(ArrayRef<int64_t> axes, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                                   ArrayRef<int64_t> dilations) {
    if (sizes.size() != axes.size() || strides.size() != axes.size() || dilations.size() != axes.size())
      return std::nullopt;
    Windows windows;
    for (size_t i = 0; i < axes.size(); ++i)
      windows.push_back({axes[i], sizes[i], strides[i], dilations[i]});
    return windows;
  }
  template <typename Op> static Windows of(Op op) {
    return *of(op.getAxes(), op.getSizes(), op.getStrides(), op.getDilations());
  }
  const Sliding *at(int64_t axis) const {
    for (const Sliding &sliding : *this)
      if (sliding.axis == axis)
        return &sliding;
    return nullptr;
  }
  SmallVector<int64_t> list(int64_t Sliding::*field) const {
    SmallVector<int64_t> values;
    for (const Sliding &sliding : *this)
      values.push_back(sliding.*field);
    return values;
  }
  Layout layout(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) const {
    Layout result;
    for (auto [axis, extent] : llvm::enumerate(shape)) {
      const Sliding *sliding = at(axis);
      result.shape.push_back(sliding ? sliding->count(extent) : extent);
      result.strides.push_back(sliding ? sliding->stride * strides[axis] : strides[axis]);
      if (!sliding)
        continue;
      result.shape.push_back(sliding->size);
      result.strides.push_back(sliding->dilation * strides[axis]);
    }
    return result;
  }
};

/// The operand's type and its windows, checked; failure after a message.
FailureOr<std::pair<RankedTensorType, Windows>> checked(std::optional<Location> location, StringRef op, Value operand,
                                                        ArrayRef<int64_t> axes, ArrayRef<int64_t> sizes,
                                                        ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!type || !type.hasStaticShape())
    return emitOptionalError(location, op, " takes a tensor of static shape, got ", operand.getType());
  auto windows = Windows::of(axes, sizes, strides, dilations);
  if (!windows || axes.empty())
    return emitOptionalError(location, op, ": sizes ", shapeText(sizes), ", strides ", shapeText(strides),
                             " and dilations ", shapeText(dilations),
                             " must have one entry for each of the sliding axes ", shapeText(axes));
  int64_t previous = -1;
  for (const Sliding &sliding : *windows) {
    if (sliding.axis <= previous || sliding.axis >= type.getRank())
      return emitOptionalError(location, op, ": axes ", shapeText(axes), " must ascend and lie within shape ",
                               shapeText(type.getShape()));
    previous = sliding.axis;
    if (sliding.size < 1 || sliding.stride < 1 || sliding.dilation < 1)
      return emitOptionalError(location, op, ": sizes, strides and dilations must be at least 1, got ", sliding.size,
                               ", ", sliding.stride, " and ", sliding.dilation, " along axis ", sliding.axis);
    // Compared by division, since the reach of absurd settings may overflow.
    int64_t extent = type.getDimSize(sliding.axis);
    if (sliding.size > extent || (sliding.size > 1 && sliding.dilation > (extent - 1) / (sliding.size - 1)))
      return emitOptionalError(location, op, ": a window of ", sliding.size,
                               sliding.dilation > 1 ? " elements, " + std::to_string(sliding.dilation) + " apart,"
                                                    : std::string(" elements"),
                               " does not fit into axis ", sliding.axis, " of size ", extent);
  }
  return std::pair(type, *windows);
}

Value windowsOf(Build &build, Value x, const Windows &windows) {
  return WindowsOp::create(build.builder, build.loc, x, windows.list(&Sliding::axis), windows.list(&Sliding::size),
                           windows.list(&Sliding::stride), windows.list(&Sliding::dilation));
}

Value contractWindows(Build &build, const Twine &equation, Value left, const Windows &windows, Value right) {
  return ContractWindowsOp::create(build.builder, build.loc, left, right, build.builder.getStringAttr(equation),
                                   windows.list(&Sliding::axis), windows.list(&Sliding::size),
                                   windows.list(&Sliding::stride), windows.list(&Sliding::dilation));
}

/// x cut or filled up with zeros along `axis`: `low` zeros before it, `size` elements in all.
Value fitted(Build &build, Value x, int64_t axis, int64_t low, int64_t size) {
  SmallVector<int64_t> before(shapeOf(x).size(), 0), behind(before), kept(shapeOf(x));
  if (low + kept[axis] > size) {
    SmallVector<int64_t> offsets(before);
    kept[axis] = size - low;
    x = SliceOp::create(build.builder, build.loc, x, offsets, kept);
  }
  before[axis] = low;
  behind[axis] = size - low - kept[axis];
  if (before[axis] == 0 && behind[axis] == 0)
    return x;
  return PadOp::create(build.builder, build.loc, x, before, behind);
}

/// x with stride - 1 zeros behind every position of `axis`.
Value spread(Build &build, Value x, int64_t axis, int64_t stride) {
  if (stride == 1)
    return x;
  SmallVector<int64_t> shape(shapeOf(x));
  shape.insert(shape.begin() + axis + 1, 1);
  x = fitted(build, build.reshape(x, shape), axis + 1, 0, stride);
  shape.erase(shape.begin() + axis + 1);
  shape[axis] *= stride;
  return build.reshape(x, shape);
}

/// The windows as `windows` gives them, out of ops that move nothing where windows lie side by side.
Value cheapWindows(Build &build, Value x, const Windows &windows) {
  bool apart = llvm::all_of(windows, [](const Sliding &s) { return s.stride == s.size && s.dilation == 1; });
  if (!apart)
    return windowsOf(build, x, windows);
  SmallVector<int64_t> kept(shapeOf(x)), offsets(kept.size(), 0), shape;
  for (const Sliding &sliding : windows)
    kept[sliding.axis] = sliding.count(kept[sliding.axis]) * sliding.size;
  if (ArrayRef<int64_t>(kept) != shapeOf(x))
    x = SliceOp::create(build.builder, build.loc, x, offsets, kept);
  for (auto [axis, size] : llvm::enumerate(kept)) {
    const Sliding *sliding = windows.at(axis);
    shape.push_back(sliding ? size / sliding->size : size);
    if (sliding)
      shape.push_back(sliding->size);
  }
  return build.reshape(x, shape);
}

} // namespace

// Windows.

LogicalResult WindowsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                          DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                          SmallVectorImpl<Type> &types) {
  WindowsOp::Adaptor a(operands, attributes, properties, regions);
  auto known = checked(location, "windows", a.getOperand(), a.getAxes(), a.getSizes(), a.getStrides(), a.getDilations());
  if (failed(known))
    return failure();
  auto [type, windows] = *known;
  SmallVector<int64_t> none(type.getRank(), 0);
  types.push_back(type.clone(windows.layout(type.getShape(), none).shape));
  return success();
}

Number WindowsOp::element(ElementReader &reader, ArrayRef<Index> index) {
  Windows windows = Windows::of(*this);
  SmallVector<Index> from;
  for (size_t axis = 0, next = 0; axis < shapeOf(getOperand()).size(); ++axis) {
    const Sliding *sliding = windows.at(axis);
    if (!sliding) {
      from.push_back(index[next++]);
      continue;
    }
    Index start = index[next++], within = index[next++];
    if (sliding->dilation != 1)
      within = reader.combineIndices(within, sliding->dilation, reader.constantIndex(0));
    from.push_back(reader.combineIndices(start, sliding->stride, within));
  }
  return reader.read(0, from);
}

/// Each position of the windows sends its gradient to where it was read: one term for each, ascending.
SmallVector<Value> WindowsOp::gradient(OpBuilder &builder, Value upstream) {
  if (!isa<FloatType>(cast<RankedTensorType>(getOperand().getType()).getElementType()))
    return {Value()};
  Build build(builder, getLoc());
  Windows windows = Windows::of(*this);
  // The axis of the positions within a window, and that of the windows before it, by sliding axis.
  SmallVector<int64_t> within;
  for (size_t axis = 0, next = 0; axis < shapeOf(getOperand()).size(); ++axis)
    if (windows.at(axis))
      within.push_back((next += 2) - 1);
    else
      ++next;
  for (auto [sliding, axis] : llvm::zip(windows, within))
    upstream = spread(build, upstream, axis - 1, sliding.stride);

  int64_t terms = 1;
  for (const Sliding &sliding : windows)
    terms *= sliding.size;
  Value sum;
  for (int64_t term = 0; term < terms; ++term) {
    SmallVector<int64_t> offsets(shapeOf(upstream).size(), 0), sizes(shapeOf(upstream)), shape, positions(windows.size());
    for (int64_t i = windows.size() - 1, rest = term; i >= 0; --i) {
      positions[i] = rest % windows[i].size;
      rest /= windows[i].size;
      offsets[within[i]] = positions[i];
      sizes[within[i]] = 1;
    }
    for (auto [axis, size] : llvm::enumerate(sizes))
      if (!llvm::is_contained(within, static_cast<int64_t>(axis)))
        shape.push_back(size);
    Value part = build.reshape(SliceOp::create(builder, getLoc(), upstream, offsets, sizes), shape);
    for (auto [sliding, position] : llvm::zip(windows, positions))
      part = fitted(build, part, sliding.axis, position * sliding.dilation, shapeOf(getOperand())[sliding.axis]);
    sum = sum ? build.add(sum, part) : part;
  }
  return {sum};
}

// Sums of products over windows.

namespace {

struct Labels {
  StringRef left, right, result;

  explicit Labels(StringRef equation) {
    auto [operands, after] = equation.split("->");
    std::tie(left, right) = operands.split(',');
    result = after;
  }
};

} // namespace

StringRef ContractWindowsOp::leftLabels() { return Labels(getEquation()).left; }
StringRef ContractWindowsOp::rightLabels() { return Labels(getEquation()).right; }
StringRef ContractWindowsOp::resultLabels() { return Labels(getEquation()).result; }
Layout ContractWindowsOp::leftLayout() {
  Layout dense = denseLayout(getLhs());
  return Windows::of(*this).layout(dense.shape, dense.strides);
}

LogicalResult ContractWindowsOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                                  ValueRange operands, DictionaryAttr attributes,
                                                  OpaqueProperties properties, RegionRange regions,
                                                  SmallVectorImpl<Type> &types) {
  ContractWindowsOp::Adaptor a(operands, attributes, properties, regions);
  auto known = checked(location, "contract_windows", a.getLhs(), a.getAxes(), a.getSizes(), a.getStrides(),
                       a.getDilations());
  if (failed(known))
    return failure();
  auto [type, windows] = *known;
  auto right = dyn_cast<RankedTensorType>(a.getRhs().getType());
  Labels labels(a.getEquation());
  auto error = [&](const Twine &message) {
    return emitOptionalError(location, "contraction of windows \"", a.getEquation(), "\": ", message);
  };
  SmallVector<int64_t> shape = windows.layout(type.getShape(), type.getShape()).shape;
  if (!right || !right.hasStaticShape() || right.getElementType() != type.getElementType())
    return error("the operands must be tensors of static shape and of one element type");
  if (labels.left.size() != shape.size() || static_cast<int64_t>(labels.right.size()) != right.getRank())
    return error("the windows have " + Twine(shape.size()) + " axes, the right operand " + Twine(right.getRank()) +
                 "; each is one letter");
  llvm::SmallDenseMap<char, int64_t> sizes;
  for (auto [label, size] : llvm::zip(labels.left, shape))
    if (!llvm::isAlpha(label) || !sizes.try_emplace(label, size).second)
      return error("'" + Twine(label) + "' is no letter or stands twice");
  bool contracted = false;
  for (auto [position, label, size] : llvm::enumerate(labels.right, right.getShape())) {
    if (!llvm::isAlpha(label) || labels.right.find(label) != position)
      return error("'" + Twine(label) + "' is no letter or stands twice");
    auto [entry, isNew] = sizes.try_emplace(label, size);
    if (entry->second != size)
      return error("'" + Twine(label) + "' has size " + Twine(entry->second) + " in the windows and size " +
                   Twine(size) + " in the right operand");
    if (isNew && !labels.result.contains(label))
      return error("'" + Twine(label) + "' stands in the right operand alone; sum that axis before");
    contracted |= !isNew && !labels.result.contains(label);
  }
  SmallVector<int64_t> result;
  for (auto [position, label] : llvm::enumerate(labels.result)) {
    auto entry = sizes.find(label);
    if (entry == sizes.end() || labels.result.find(label) != position)
      return error("'" + Twine(label) + "' of the result stands in neither operand, or twice");
    result.push_back(entry->second);
  }
  for (char label : labels.left)
    if (!labels.right.contains(label) && !labels.result.contains(label))
      return error("'" + Twine(label) + "' stands in the windows alone; sum that axis before");
  if (!contracted)
    return error("no axis is summed; multiply the operands instead");
  std::optional<bool> firstInResult;
  for (int64_t axis = 0, next = 0; axis < type.getRank(); ++axis, ++next) {
    if (!windows.at(axis))
      continue;
    char which = labels.left[next], within = labels.left[++next];
    bool inResult = labels.result.contains(which);
    if (inResult == labels.right.contains(which) || inResult != labels.right.contains(within) ||
        inResult == labels.result.contains(within) || firstInResult.value_or(inResult) != inResult)
      return error("of the two letters of a windowed axis one stands in the right operand and one in the result, and "
                   "the first ones all in the same of the two; that is not so for '" + Twine(which) + Twine(within) +
                   "'");
    firstInResult = inResult;
  }
  types.push_back(type.clone(result));
  return success();
}

/// The gradient of the windows' operand slides, too: the tensor that knows which window a term belonged to is spread by
/// the stride, and windows of it as long as the first ones meet the other tensor in the opposite order.
SmallVector<Value> ContractWindowsOp::gradient(OpBuilder &builder, Value upstream) {
  Build build(builder, getLoc());
  Windows windows = Windows::of(*this);
  Labels labels(getEquation());
  Value ofRight = contractWindows(build, labels.left + "," + labels.result + "->" + labels.right, getLhs(), windows,
                                  upstream);

  bool firstInResult = false;
  std::string first, second, kept; // letters of windows; of the gradient
  for (int64_t axis = 0, next = 0, rank = shapeOf(getLhs()).size(); axis < rank; ++axis, ++next) {
    kept += labels.left[next];
    if (!windows.at(axis))
      continue;
    firstInResult = labels.result.contains(labels.left[next]);
    first += labels.left[next];
    second += labels.left[++next];
  }
  Value moving = firstInResult ? upstream : getRhs(), fixed = firstInResult ? getRhs() : upstream;
  StringRef movingLabels = firstInResult ? labels.result : labels.right;
  StringRef fixedLabels = firstInResult ? labels.right : labels.result;

  std::string spreadLabels;
  Windows back;
  for (auto [axis, label] : llvm::enumerate(movingLabels)) {
    spreadLabels += label;
    size_t number = first.find(label);
    if (number == std::string::npos)
      continue;
    spreadLabels += second[number];
    const Sliding &sliding = windows[number];
    int64_t before = sliding.reach() - 1, extent = shapeOf(getLhs())[sliding.axis];
    moving = fitted(build, spread(build, moving, axis, sliding.stride), axis, before, extent + before);
    back.push_back({static_cast<int64_t>(axis), sliding.size, 1, sliding.dilation});
  }
  SmallVector<int64_t> turned;
  for (auto [axis, label] : llvm::enumerate(fixedLabels))
    if (StringRef(second).contains(label))
      turned.push_back(axis);
  fixed = ReverseOp::create(builder, getLoc(), fixed, turned);
  Value ofLeft = contractWindows(build, spreadLabels + "," + fixedLabels + "->" + kept, moving, back, fixed);
  return {ofLeft, ofRight};
}

// Convolution.

LogicalResult ConvolutionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                              DictionaryAttr attributes, OpaqueProperties properties,
                                              RegionRange regions, SmallVectorImpl<Type> &types) {
  ConvolutionOp::Adaptor a(operands, attributes, properties, regions);
  auto error = [&](const Twine &message) { return emitOptionalError(location, "convolution: ", message); };
  auto x = dyn_cast<RankedTensorType>(a.getOperand().getType());
  auto filter = dyn_cast<RankedTensorType>(a.getFilter().getType());
  if (!x || !filter || !x.hasStaticShape() || !filter.hasStaticShape() || x.getElementType() != filter.getElementType())
    return error("the operands must be tensors of static shape and of one element type");
  int64_t places = filter.getRank() - 2, groups = a.getGroups();
  if (places < 1 || x.getRank() < places + 1)
    return error("a filter has its sliding axes, then channels in and channels out, and the operand as many sliding "
                 "axes and then channels; got a filter of shape " + shapeText(filter.getShape()) +
                 " and an operand of shape " + shapeText(x.getShape()));
  for (ArrayRef<int64_t> list : {a.getStrides(), a.getLow(), a.getHigh(), a.getDilations()})
    if (static_cast<int64_t>(list.size()) != places)
      return error("strides, paddings and dilations have one entry for each of the " + Twine(places) +
                   " sliding axes, got " + shapeText(list));
  int64_t in = filter.getDimSize(places), out = filter.getDimSize(places + 1), channels = x.getShape().back();
  if (groups < 1 || channels % groups != 0 || out % groups != 0)
    return error(Twine(groups) + " groups must divide the channels, " + Twine(channels) + " in and " + Twine(out) +
                 " out");
  if (in != channels / groups)
    return error("the filter of shape " + shapeText(filter.getShape()) + " takes " + Twine(in) +
                 " channels, but the operand of shape " + shapeText(x.getShape()) + " has " + Twine(channels) +
                 (groups > 1 ? " in " + Twine(groups) + " groups" : Twine()));
  SmallVector<int64_t> shape(x.getShape());
  shape.back() = out;
  for (int64_t i = 0; i < places; ++i) {
    int64_t axis = x.getRank() - 1 - places + i;
    Sliding sliding{axis, filter.getDimSize(i), a.getStrides()[i], a.getDilations()[i]};
    if (sliding.stride < 1 || sliding.dilation < 1 || a.getLow()[i] < 0 || a.getHigh()[i] < 0)
      return error("strides and dilations must be at least 1, paddings at least 0");
    int64_t extent = shape[axis] + a.getLow()[i] + a.getHigh()[i];
    if (sliding.size > extent || (sliding.size > 1 && sliding.dilation > (extent - 1) / (sliding.size - 1)))
      return error("a filter of " + Twine(sliding.size) +
                   (sliding.dilation > 1 ? ", " + Twine(sliding.dilation) + " apart," : Twine()) +
                   " does not fit into axis " + Twine(axis) + " of size " + Twine(extent));
    shape[axis] = sliding.count(extent);
  }
  types.push_back(x.clone(shape));
  return success();
}

Value ConvolutionOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  Value x = getOperand(), filter = getFilter();
  int64_t rank = shapeOf(x).size(), places = shapeOf(filter).size() - 2, first = rank - 1 - places;
  int64_t groups = getGroups();
  Windows windows;
  for (int64_t i = 0; i < places; ++i) {
    int64_t axis = first + i;
    x = fitted(build, x, axis, getLow()[i], shapeOf(x)[axis] + getLow()[i] + getHigh()[i]);
    windows.push_back({axis, shapeOf(filter)[i], getStrides()[i], getDilations()[i]});
  }
  // Letters: capitals for the axes of x and of the windows, small ones for places within; g, i, o for channels.
  std::string left, right, result;
  for (int64_t axis = 0; axis < rank - 1; ++axis) {
    left += static_cast<char>('A' + axis);
    result += static_cast<char>('A' + axis);
    if (axis >= first) {
      left += static_cast<char>('p' + (axis - first));
      right += static_cast<char>('p' + (axis - first));
    }
  }
  if (groups > 1) {
    SmallVector<int64_t> split(shapeOf(x)), splitFilter(shapeOf(filter));
    split.back() /= groups;
    split.insert(split.end() - 1, groups);
    x = build.reshape(x, split);
    splitFilter.back() /= groups;
    splitFilter.insert(splitFilter.end() - 1, groups);
    filter = build.reshape(filter, splitFilter);
  }
  StringRef group = groups > 1 ? "g" : "";
  left += (group + "i").str();
  right += ("i" + group + "o").str();
  result += (group + "o").str();
  Value sums = contractWindows(build, left + "," + right + "->" + result, x, windows, filter);
  return build.reshape(sums, shapeOf(getResult()));
}

// Pooling.

namespace {

template <typename Op>
LogicalResult inferPool(StringRef name, typename Op::Adaptor a, std::optional<Location> location,
                        SmallVectorImpl<Type> &types) {
  auto error = [&](const Twine &message) { return emitOptionalError(location, name, ": ", message); };
  auto x = dyn_cast<RankedTensorType>(a.getOperand().getType());
  int64_t places = a.getSizes().size();
  if (!x || !x.hasStaticShape() || places < 1 || x.getRank() < places + 1)
    return error("takes a tensor of static shape with " + Twine(places) + " sliding axes and then channels");
  for (ArrayRef<int64_t> list : {a.getStrides(), a.getLow(), a.getHigh()})
    if (static_cast<int64_t>(list.size()) != places)
      return error("strides and paddings have one entry for each of the " + Twine(places) + " sliding axes, got " +
                   shapeText(list));
  SmallVector<int64_t> shape(x.getShape());
  for (int64_t i = 0; i < places; ++i) {
    int64_t axis = x.getRank() - 1 - places + i, low = a.getLow()[i], high = a.getHigh()[i];
    Sliding sliding{axis, a.getSizes()[i], a.getStrides()[i], 1};
    // So that every window holds an element of the operand.
    if (sliding.size < 1 || sliding.stride < 1 || low < 0 || high < 0 || low >= sliding.size || high >= sliding.size)
      return error("sizes and strides must be at least 1, paddings at least 0 and below the size");
    if (sliding.size > shape[axis] + low + high)
      return error("a window of " + Twine(sliding.size) + " does not fit into axis " + Twine(axis) + " of size " +
                   Twine(shape[axis] + low + high));
    shape[axis] = sliding.count(shape[axis] + low + high);
  }
  types.push_back(x.clone(shape));
  return success();
}

/// The windows of a pool, and which of their axes are folded.
template <typename Op> Windows windowsOfPool(Op op, SmallVector<int64_t> &folded) {
  Windows windows;
  int64_t places = op.getSizes().size(), first = shapeOf(op.getOperand()).size() - 1 - places;
  for (int64_t i = 0; i < places; ++i) {
    windows.push_back({first + i, op.getSizes()[i], op.getStrides()[i], 1});
    folded.push_back(first + 2 * i + 1);
  }
  return windows;
}

} // namespace

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                          DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                          SmallVectorImpl<Type> &types) {
  return inferPool<MaxPoolOp>("max_pool", {operands, attributes, properties, regions}, location, types);
}
LogicalResult AveragePoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                              DictionaryAttr attributes, OpaqueProperties properties,
                                              RegionRange regions, SmallVectorImpl<Type> &types) {
  return inferPool<AveragePoolOp>("average_pool", {operands, attributes, properties, regions}, location, types);
}

Value MaxPoolOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  SmallVector<int64_t> folded;
  Windows windows = windowsOfPool(*this, folded);
  Value x = getOperand();
  for (auto [sliding, low, high] : llvm::zip(windows, getLow(), getHigh())) {
    SmallVector<Value> parts;
    auto never = [&](int64_t size) {
      SmallVector<int64_t> shape(shapeOf(x));
      shape[sliding.axis] = size;
      if (size > 0)
        parts.push_back(build.constant(withShape(x, shape), -std::numeric_limits<double>::infinity()));
    };
    never(low);
    parts.push_back(x);
    never(high);
    if (parts.size() > 1)
      x = ConcatOp::create(builder, getLoc(), parts, sliding.axis);
  }
  return build.max(cheapWindows(build, x, windows), folded);
}

Value AveragePoolOp::expand(OpBuilder &builder) {
  Build build(builder, getLoc());
  SmallVector<int64_t> folded;
  Windows windows = windowsOfPool(*this, folded);
  Value x = getOperand();
  for (auto [sliding, low, high] : llvm::zip(windows, getLow(), getHigh()))
    x = fitted(build, x, sliding.axis, low, shapeOf(x)[sliding.axis] + low + high);
  return build.mean(cheapWindows(build, x, windows), folded);
}
