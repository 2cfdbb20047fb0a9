// Three rewritings: sums of gradients that were padded apart are put side by side, long concats are made in steps, and
// many slices of one tensor are cut from slices of it.
#include "compiler/fusion/Unrolled.h"
#include "compiler/graph/Build.h"

using namespace mlir;
using namespace mekik;
using graph::Build;
using graph::shapeOf;

namespace {

/// Places told apart by one kernel.
constexpr size_t kStep = 4;
/// Fewer are left alone.
constexpr size_t kMany = 8;

using Box = SmallVector<std::pair<int64_t, int64_t>>; ///< from, to on every axis

struct Piece {
  Value value;
  Box box;
};

/// Builds the tensor that is zero but for the pieces within `box`; null if pieces overlap.
class Assembly {
public:
  explicit Assembly(Build &build) : build(build) {}

  Value run(MutableArrayRef<Piece> pieces, const Box &box) {
    if (pieces.size() == 1)
      return alone(pieces[0], box);
    for (size_t axis = 0; axis < box.size(); ++axis) {
      llvm::stable_sort(pieces, [&](const Piece &a, const Piece &b) { return a.box[axis].first < b.box[axis].first; });
      SmallVector<size_t> cuts{0};
      int64_t end = pieces[0].box[axis].second;
      for (size_t i = 1; i < pieces.size(); ++i) {
        if (pieces[i].box[axis].first >= end)
          cuts.push_back(i);
        end = std::max(end, pieces[i].box[axis].second);
      }
      if (cuts.size() > 1)
        return sideBySide(pieces, box, axis, cuts);
    }
    return {};
  }

private:
  Value alone(const Piece &piece, const Box &box) {
    SmallVector<int64_t> low, high;
    for (auto [inner, outer] : llvm::zip(piece.box, box)) {
      low.push_back(inner.first - outer.first);
      high.push_back(outer.second - inner.second);
    }
    if (llvm::all_of(low, [](int64_t n) { return n == 0; }) && llvm::all_of(high, [](int64_t n) { return n == 0; }))
      return piece.value;
    return graph::PadOp::create(build.builder, build.loc, piece.value, low, high);
  }

  Value sideBySide(MutableArrayRef<Piece> pieces, const Box &box, size_t axis, ArrayRef<size_t> cuts) {
    SmallVector<Value> parts;
    Box part = box;
    int64_t from = box[axis].first;
    auto zeros = [&](int64_t to) {
      if (to == from)
        return;
      part[axis] = {from, to};
      SmallVector<int64_t> shape;
      for (auto [begin, end] : part)
        shape.push_back(end - begin);
      parts.push_back(build.constant(graph::withShape(pieces[0].value, shape), 0));
    };
    for (size_t i = 0; i < cuts.size(); ++i) {
      size_t end = i + 1 < cuts.size() ? cuts[i + 1] : pieces.size();
      auto group = pieces.slice(cuts[i], end - cuts[i]);
      zeros(group[0].box[axis].first);
      from = group[0].box[axis].first;
      int64_t to = from;
      for (const Piece &piece : group)
        to = std::max(to, piece.box[axis].second);
      part[axis] = {from, to};
      Value inner = run(group, part);
      if (!inner)
        return {};
      parts.push_back(inner);
      from = to;
    }
    zeros(box[axis].second);
    return graph::ConcatOp::create(build.builder, build.loc, parts, static_cast<int64_t>(axis));
  }

  Build &build;
};

Box boxOf(graph::PadOp pad) {
  Box box;
  for (auto [low, size] : llvm::zip(pad.getLow(), shapeOf(pad.getOperand())))
    box.push_back({low, low + size});
  return box;
}

/// (((pad + pad) + pad) + ...) is what stands side by side, plus 0: where one term has its piece, the others have +0.
void putSumsSideBySide(func::FuncOp function) {
  SmallVector<graph::AddOp> roots;
  function.walk([&](graph::AddOp add) {
    auto continues = [](Operation *user) {
      auto next = dyn_cast<graph::AddOp>(user);
      return next && next.getRhs().getDefiningOp<graph::PadOp>();
    };
    if (!add->hasOneUse() || !continues(*add->getUsers().begin()))
      roots.push_back(add);
  });
  for (graph::AddOp root : roots) {
    SmallVector<Piece> pieces;
    SmallVector<Operation *> chain;
    auto take = [&](Value value) {
      auto pad = value.getDefiningOp<graph::PadOp>();
      if (pad)
        pieces.push_back({pad.getOperand(), boxOf(pad)});
      return static_cast<bool>(pad);
    };
    graph::AddOp add = root;
    while (take(add.getRhs())) {
      chain.push_back(add);
      auto before = add.getLhs().getDefiningOp<graph::AddOp>();
      if (!before || !before->hasOneUse()) {
        if (!take(add.getLhs()))
          pieces.clear();
        break;
      }
      add = before;
    }
    if (pieces.size() != chain.size() + 1 || pieces.size() < kMany)
      continue;
    OpBuilder builder(root);
    Build build(builder, root.getLoc());
    Box whole;
    for (int64_t size : shapeOf(root.getResult()))
      whole.push_back({0, size});
    Value together = Assembly(build).run(pieces, whole);
    if (!together)
      continue;
    root.getResult().replaceAllUsesWith(build.add(together, 0));
    for (Operation *op : chain)
      op->erase();
  }
}

void concatInSteps(func::FuncOp function) {
  SmallVector<graph::ConcatOp> longOnes;
  function.walk([&](graph::ConcatOp op) {
    if (op.getOperands().size() > kMany)
      longOnes.push_back(op);
  });
  for (graph::ConcatOp op : longOnes) {
    OpBuilder builder(op);
    SmallVector<Value> parts(op.getOperands());
    while (parts.size() > kMany) {
      SmallVector<Value> fewer;
      for (size_t i = 0; i < parts.size(); i += kMany) {
        auto step = ArrayRef(parts).slice(i, std::min(kMany, parts.size() - i));
        fewer.push_back(step.size() == 1
                            ? step[0]
                            : graph::ConcatOp::create(builder, op.getLoc(), step, op.getAxis()).getResult());
      }
      parts = std::move(fewer);
    }
    op.getOperandsMutable().assign(parts);
  }
}

/// Cuts the slices of `value` from at most kStep parts of it along the first axis on which they differ.
void sliceInSteps(Value value, ArrayRef<graph::SliceOp> slices) {
  ArrayRef<int64_t> shape = shapeOf(value);
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis) {
    int64_t width = (shape[axis] + static_cast<int64_t>(kStep) - 1) / static_cast<int64_t>(kStep);
    SmallVector<SmallVector<graph::SliceOp>> parts(kStep);
    size_t used = 0;
    for (graph::SliceOp slice : slices) {
      int64_t from = slice.getOffsets()[axis], to = from + slice.getSizes()[axis];
      if (from / width == (to - 1) / width) {
        auto &part = parts[from / width];
        used += part.empty();
        part.push_back(slice);
      }
    }
    if (used < 2 || slices.size() <= kStep)
      continue;
    for (auto [number, part] : llvm::enumerate(parts)) {
      if (part.size() < 2)
        continue;
      Operation *first = part[0];
      for (graph::SliceOp slice : part)
        if (slice->isBeforeInBlock(first))
          first = slice;
      OpBuilder builder(first);
      SmallVector<int64_t> offsets(shape.size(), 0), sizes(shape);
      offsets[axis] = static_cast<int64_t>(number) * width;
      sizes[axis] = std::min(width, shape[axis] - offsets[axis]);
      Value cut = graph::SliceOp::create(builder, first->getLoc(), value, offsets, sizes);
      for (graph::SliceOp slice : part) {
        SmallVector<int64_t> within(slice.getOffsets());
        within[axis] -= offsets[axis];
        slice.setOffsets(within);
        slice.getOperandMutable().assign(cut);
      }
      sliceInSteps(cut, part);
    }
    return;
  }
}

} // namespace

void fusion::shareUnrolled(func::FuncOp function) {
  putSumsSideBySide(function);
  concatInSteps(function);
  llvm::MapVector<Value, SmallVector<graph::SliceOp>> slicesOf;
  function.walk([&](graph::SliceOp slice) { slicesOf[slice.getOperand()].push_back(slice); });
  for (auto &[value, slices] : slicesOf)
    if (slices.size() > kMany)
      sliceInSteps(value, slices);
}
