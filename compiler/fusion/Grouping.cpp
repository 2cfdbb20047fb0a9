// Greedy grouping in program order with an exact check against cycles.
#include "compiler/fusion/Grouping.h"
#include "compiler/graph/Access.h"
#include "compiler/graph/Build.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <queue>

using namespace mlir;
using namespace mekik;
using namespace mekik::fusion;
using namespace mekik::graph;
using graph::shapeOf;

namespace {

/// More ops than this would spill every register of a row held whole.
constexpr size_t kMostOps = 120;

class Grouping {
public:
  explicit Grouping(Block &block) : block(block) {}

  KernelPlan run() {
    markPrologues();
    markCarried();
    for (Operation &op : block.without_terminator())
      if (!isFree(&op) && !prologueOf.count(&op) && !carried.contains(&op))
        place(&op);
    return order();
  }

private:
  /// A group or a view, with everything it transitively needs.
  struct Node {
    KernelGroup group;
    Operation *view = nullptr;
    bool merged = false; ///< its ops are in another node
    bool needed = false; ///< by any other node
    llvm::BitVector needs;
    size_t lastPosition = 0;
  };
  struct Membership {
    size_t node;
    bool perRow; ///< computed once per row of a rows group
  };

  /// Element ops whose value goes, element for element, into one fold over leading axes and nowhere else.
  void markPrologues() {
    for (Operation &op : llvm::reverse(block.without_terminator())) {
      if (!isa<graph::ElementOpInterface>(op) || isFree(&op) || op.use_empty())
        continue;
      Operation *fold = nullptr;
      bool feedsOneFold = true;
      for (Operation *user : op.getUsers()) {
        Operation *target = reducesLeadingAxes(user) ? user : prologueOf.lookup(user);
        bool same = target && shapeOf(op.getResult(0)) == shapeOf(target->getOperand(0)) &&
                    (user == target || readsSame(user, op.getResult(0)));
        feedsOneFold &= same && (!fold || fold == target);
        fold = target;
      }
      if (feedsOneFold) {
        prologueOf[&op] = fold;
        prologuesFromLast[fold].push_back(&op);
      }
    }
  }

  /// Ops that only spread a value go where their only reader goes, not where the value comes from.
  void markCarried() {
    for (Operation &op : block.without_terminator()) {
      if (!op.hasOneUse() || prologueOf.count(&op) || !spreads(&op))
        continue;
      Operation *user = *op.getUsers().begin();
      bool element = isa<graph::ElementOpInterface>(user) && readsSame(user, op.getResult(0));
      if ((element || reducesLastAxis(user)) && !prologueOf.count(user))
        carried.insert(&op);
    }
  }

  /// The op and what it carries, in program order.
  SmallVector<Operation *> withCarried(Operation *op) const {
    SmallVector<Operation *> ops;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && carried.contains(producer))
        ops.append(withCarried(producer));
    ops.push_back(op);
    return ops;
  }

  static bool readsSame(Operation *user, Value value) {
    Accesses accesses = accessesOf(cast<graph::ElementOpInterface>(user));
    for (auto [operand, access] : llvm::zip(user->getOperands(), accesses.operands))
      if (operand == value && access != Access::Same)
        return false;
    return true;
  }

  void place(Operation *op) {
    if (isa<graph::ViewOpInterface>(op)) {
      start(op, KernelKind::Rows, {}).view = op;
    } else if (isa<graph::ContractionOpInterface>(op)) {
      start(op, KernelKind::Contraction, {});
    } else if (isa<graph::StandaloneOpInterface>(op)) {
      start(op, KernelKind::Standalone, {});
    } else if (reducesLeadingAxes(op)) {
      startColumns(op);
    } else if (!joinProducer(op)) {
      bool perRow = reducesLastAxis(op);
      ArrayRef<int64_t> domain = shapeOf(perRow ? op->getOperand(0) : op->getResult(0));
      start(op, KernelKind::Rows, domain);
      member[op].perRow = perRow;
    }
  }

  Node &start(Operation *op, KernelKind kind, ArrayRef<int64_t> domain) {
    nodes.emplace_back();
    nodes.back().group.kind = kind;
    nodes.back().group.domain.assign(domain.begin(), domain.end());
    add(op, nodes.size() - 1, false);
    return nodes.back();
  }

  void startColumns(Operation *fold) {
    start(fold, KernelKind::Columns, shapeOf(fold->getOperand(0)));
    size_t node = nodes.size() - 1;
    for (Operation *op : llvm::reverse(prologuesFromLast[fold]))
      add(op, node, false);
    auto &ops = nodes[node].group.ops;
    std::rotate(ops.begin(), ops.begin() + 1, ops.end());
  }

  void add(Operation *op, size_t node, bool perRow) {
    for (Operation *each : withCarried(op))
      addAlone(each, node,
               each == op ? perRow : shapeOf(each->getResult(0)) != ArrayRef<int64_t>(nodes[node].group.domain));
  }

  void addAlone(Operation *op, size_t node, bool perRow) {
    member[op] = {node, perRow};
    nodes[node].group.ops.push_back(op);
    nodes[node].lastPosition = std::max(nodes[node].lastPosition, positionOf(op));
    llvm::BitVector needs(nodes.size());
    for (Value operand : op->getOperands())
      if (auto producer = memberOf(operand); producer && producer->node != node) {
        needs.set(producer->node);
        needs |= nodes[producer->node].needs;
        nodes[producer->node].needed = true;
      }
    if (!needs.test(nodes[node].needs))
      return;
    nodes[node].needs |= needs;
    if (!nodes[node].needed)
      return;
    for (Node &other : nodes)
      if (node < other.needs.size() && other.needs.test(node))
        other.needs |= needs;
  }

  bool joinProducer(Operation *op) {
    SmallVector<size_t> candidates;
    for (Operation *each : withCarried(op))
      for (Value operand : each->getOperands())
        if (auto producer = memberOf(operand); producer && !llvm::is_contained(candidates, producer->node))
          candidates.push_back(producer->node);
    llvm::sort(candidates, std::greater<size_t>());
    for (size_t node : candidates) {
      bool perRow = false;
      if (fits(op, node, perRow) && !closesCycle(op, node)) {
        add(op, node, perRow);
        for (size_t other : candidates)
          if (other != node && mergeable(op, node, other))
            merge(node, other);
        return true;
      }
    }
    return false;
  }

  /// True if `op`, now in `node`, could as well have joined `other`, and neither group needs the other but through it.
  bool mergeable(Operation *op, size_t node, size_t other) {
    bool perRow = false;
    if (nodes[node].group.domain != nodes[other].group.domain || !fits(op, other, perRow) ||
        perRow != member[op].perRow || nodes[node].group.ops.size() + nodes[other].group.ops.size() > kMostOps ||
        reaches(node, other))
      return false;
    // `node` needs `other` for `op`; it must not need it for anything else.
    SmallVector<Operation *> joining = withCarried(op);
    for (Operation *each : nodes[node].group.ops)
      for (Value operand : each->getOperands()) {
        auto producer = memberOf(operand);
        if (!producer || producer->node == node)
          continue;
        if (producer->node == other ? !llvm::is_contained(joining, each) : reaches(other, producer->node))
          return false;
      }
    return true;
  }

  /// True if `user` transitively needs `producer`.
  bool reaches(size_t producer, size_t user) const {
    return producer < nodes[user].needs.size() && nodes[user].needs.test(producer);
  }

  void merge(size_t node, size_t other) {
    Node &from = nodes[other], &into = nodes[node];
    for (Operation *op : from.group.ops)
      member[op].node = node;
    into.group.ops.append(from.group.ops.begin(), from.group.ops.end());
    into.lastPosition = std::max(into.lastPosition, from.lastPosition);
    into.needs |= from.needs;
    into.needs.reset(other);
    from.merged = true;
    from.group.ops.clear();
    for (Node &user : nodes)
      if (other < user.needs.size() && user.needs.test(other)) {
        user.needs.reset(other);
        if (&user == &into)
          continue;
        if (user.needs.size() <= node)
          user.needs.resize(node + 1);
        user.needs.set(node);
        user.needs |= into.needs;
        into.needed = true;
      }
    from.needs.clear();
  }

  bool fits(Operation *op, size_t node, bool &perRow) {
    KernelGroup &group = nodes[node].group;
    if (nodes[node].view || group.kind != KernelKind::Rows || group.ops.size() >= kMostOps)
      return false;
    ArrayRef<int64_t> domain = group.domain;
    for (Operation *each : withCarried(op))
      if (each != op && !readsWhatIsThere(cast<graph::ElementOpInterface>(each), node))
        return false;
    if (reducesLastAxis(op)) {
      perRow = true;
      return shapeOf(op->getOperand(0)) == domain;
    }
    auto element = dyn_cast<graph::ElementOpInterface>(op);
    perRow = shapeOf(op->getResult(0)) != domain;
    return element && readsWhatIsThere(element, node);
  }

  /// True if the op computes one value an element or one a row of the group, and its operands inside the group are
  /// known at the element, or the row, at hand.
  bool readsWhatIsThere(graph::ElementOpInterface op, size_t node) {
    ArrayRef<int64_t> domain = nodes[node].group.domain, shape = shapeOf(op->getResult(0));
    if (shape != domain && (domain.empty() || shape != domain.drop_back()))
      return false;
    bool perRow = shape != domain;
    Accesses accesses = accessesOf(op);
    for (auto [operand, access] : llvm::zip(op->getOperands(), accesses.operands)) {
      auto producer = memberOf(operand);
      if (!producer || producer->node != node)
        continue;
      Access needed = producer->perRow == perRow ? Access::Same : Access::Row;
      if (access != needed || (perRow && !producer->perRow))
        return false;
    }
    return true;
  }

  /// True if some operand from outside the group itself needs the group.
  bool closesCycle(Operation *op, size_t node) {
    for (Operation *each : withCarried(op))
      for (Value operand : each->getOperands())
        if (auto producer = memberOf(operand); producer && producer->node != node && reaches(node, producer->node))
          return true;
    return false;
  }

  std::optional<Membership> memberOf(Value value) {
    auto found = member.find(value.getDefiningOp());
    return found == member.end() ? std::nullopt : std::optional<Membership>(found->second);
  }

  size_t positionOf(Operation *op) {
    if (positions.empty()) {
      size_t next = 0;
      for (Operation &each : block)
        positions[&each] = next++;
    }
    return positions[op];
  }

  /// Kahn's algorithm; among what can run, the node whose last op came first in the program. So nodes stay near their
  /// place, and parameters are overwritten after the last op that reads them wherever the program says so.
  KernelPlan order() {
    std::vector<SmallVector<size_t>> users(nodes.size());
    std::vector<size_t> missing(nodes.size(), 0);
    for (size_t node = 0; node < nodes.size(); ++node) {
      llvm::SmallDenseSet<size_t> direct;
      for (Operation *op : nodes[node].group.ops)
        for (Value operand : op->getOperands())
          if (auto producer = memberOf(operand); producer && producer->node != node)
            direct.insert(producer->node);
      missing[node] = direct.size();
      for (size_t producer : direct)
        users[producer].push_back(node);
    }
    using Entry = std::pair<size_t, size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
    size_t alive = 0;
    for (const Node &node : nodes)
      alive += !node.merged;
    for (size_t node = 0; node < nodes.size(); ++node)
      if (missing[node] == 0 && !nodes[node].merged)
        ready.push({nodes[node].lastPosition, node});
    std::vector<size_t> sorted;
    while (!ready.empty()) {
      size_t node = ready.top().second;
      ready.pop();
      sorted.push_back(node);
      for (size_t user : users[node])
        if (--missing[user] == 0)
          ready.push({nodes[user].lastPosition, user});
    }
    assert(sorted.size() == alive && "groups form no cycle");

    KernelPlan plan;
    plan.groups.reserve(nodes.size());
    for (size_t node : sorted) {
      if (nodes[node].view) {
        plan.steps.push_back({nullptr, nodes[node].view});
        continue;
      }
      llvm::sort(nodes[node].group.ops, [&](Operation *a, Operation *b) { return positionOf(a) < positionOf(b); });
      plan.groups.push_back(std::move(nodes[node].group));
      plan.steps.push_back({&plan.groups.back(), nullptr});
    }
    return plan;
  }

  Block &block;
  std::vector<Node> nodes;
  llvm::DenseMap<Operation *, Membership> member;
  llvm::DenseMap<Operation *, Operation *> prologueOf;
  llvm::DenseMap<Operation *, SmallVector<Operation *>> prologuesFromLast; ///< by fold
  llvm::DenseSet<Operation *> carried;
  llvm::DenseMap<Operation *, size_t> positions;
};

} // namespace

KernelPlan fusion::planKernels(Block &block) { return Grouping(block).run(); }

StringRef fusion::nameOf(KernelKind kind) {
  switch (kind) {
  case KernelKind::Rows:
    return "rows";
  case KernelKind::Columns:
    return "columns";
  case KernelKind::Contraction:
    return "contraction";
  case KernelKind::Standalone:
    return "standalone";
  }
  llvm_unreachable("all kinds are named");
}
