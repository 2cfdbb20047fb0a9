// Loops and folding index arithmetic.
#include "compiler/lowering/LoopBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace mekik::lowering {

using mlir::Value;

std::optional<int64_t> LoopBuilder::constant(Value value) {
  llvm::APInt bits;
  if (mlir::matchPattern(value, mlir::m_ConstantInt(&bits)))
    return bits.getSExtValue();
  return std::nullopt;
}

Value LoopBuilder::index(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder, loc, value); }

Value LoopBuilder::add(Value a, Value b) {
  auto x = constant(a), y = constant(b);
  if (x && y)
    return index(*x + *y);
  if (x && *x == 0)
    return b;
  if (y && *y == 0)
    return a;
  return mlir::arith::AddIOp::create(builder, loc, a, b);
}

Value LoopBuilder::add(Value a, int64_t b) { return b == 0 ? a : add(a, index(b)); }

Value LoopBuilder::sub(Value a, Value b) {
  auto x = constant(a), y = constant(b);
  if (x && y)
    return index(*x - *y);
  if (y && *y == 0)
    return a;
  return mlir::arith::SubIOp::create(builder, loc, a, b);
}

Value LoopBuilder::mul(Value a, int64_t b) {
  if (b == 1)
    return a;
  if (b == 0)
    return index(0);
  if (auto x = constant(a))
    return index(*x * b);
  return mlir::arith::MulIOp::create(builder, loc, a, index(b));
}

Value LoopBuilder::div(Value a, int64_t b) {
  if (b == 1)
    return a;
  if (auto x = constant(a))
    return index(*x / b);
  return mlir::arith::DivUIOp::create(builder, loc, a, index(b));
}

Value LoopBuilder::rem(Value a, int64_t b) {
  if (b == 1)
    return index(0);
  if (auto x = constant(a))
    return index(*x % b);
  return mlir::arith::RemUIOp::create(builder, loc, a, index(b));
}

Value LoopBuilder::min(Value a, int64_t b) { return min(a, index(b)); }

Value LoopBuilder::min(Value a, Value b) {
  auto x = constant(a), y = constant(b);
  if (x && y)
    return index(std::min(*x, *y));
  return mlir::arith::MinSIOp::create(builder, loc, a, b);
}

Value LoopBuilder::clamp(Value a, Value limit) {
  auto x = constant(a);
  return min(x ? index(std::max<int64_t>(0, *x)) : mlir::arith::MaxSIOp::create(builder, loc, a, index(0)).getResult(),
             limit);
}

Value LoopBuilder::equal(Value a, int64_t b) { return equal(a, index(b)); }

Value LoopBuilder::equal(Value a, Value b) {
  auto x = constant(a), y = constant(b);
  if (x && y)
    return mlir::arith::ConstantIntOp::create(builder, loc, *x == *y, 1);
  return mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::eq, a, b);
}

Value LoopBuilder::select(Value condition, Value yes, Value no) {
  if (auto known = constant(condition))
    return *known ? yes : no;
  return mlir::arith::SelectOp::create(builder, loc, condition, yes, no);
}

void LoopBuilder::loop(Value from, Value to, int64_t step, llvm::function_ref<void(Value)> body) {
  loop(from, to, step, {}, [&](Value i, Values) {
    body(i);
    return Values();
  });
}

LoopBuilder::Values LoopBuilder::loop(Value from, Value to, int64_t step, Values carried,
                                      llvm::function_ref<Values(Value, Values)> body) {
  auto x = constant(from), y = constant(to);
  if (x && y && *x >= *y)
    return carried;
  if (x && y && *x + step >= *y)
    return body(from, carried);
  auto loop = mlir::scf::ForOp::create(builder, loc, from, to, index(step), carried);
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Values results = body(loop.getInductionVar(), Values(loop.getRegionIterArgs()));
  if (!results.empty()) // a loop that carries nothing comes with its terminator
    mlir::scf::YieldOp::create(builder, loc, results);
  return Values(loop.getResults());
}

void LoopBuilder::loopBySteps(Value from, Value to, llvm::function_ref<Value(Value)> body) {
  auto loop = mlir::scf::WhileOp::create(builder, loc, mlir::TypeRange{from.getType()}, mlir::ValueRange{from});
  mlir::OpBuilder::InsertionGuard guard(builder);
  mlir::Block *before = builder.createBlock(&loop.getBefore(), {}, from.getType(), loc);
  Value more = mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::ult, before->getArgument(0), to);
  mlir::scf::ConditionOp::create(builder, loc, more, before->getArguments());
  mlir::Block *after = builder.createBlock(&loop.getAfter(), {}, from.getType(), loc);
  Value next = body(after->getArgument(0));
  mlir::scf::YieldOp::create(builder, loc, next);
}

void LoopBuilder::when(Value condition, llvm::function_ref<void()> body, llvm::function_ref<void()> otherwise) {
  if (auto known = constant(condition)) {
    if (*known)
      body();
    else if (otherwise)
      otherwise();
    return;
  }
  auto branch = mlir::scf::IfOp::create(builder, loc, condition, bool(otherwise));
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
  if (otherwise) {
    builder.setInsertionPointToStart(branch.elseBlock());
    otherwise();
  }
}

LoopBuilder::Values LoopBuilder::delinearize(Value linear, llvm::ArrayRef<int64_t> sizes) {
  Values position(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0;) {
    position[axis] = axis == 0 ? linear : rem(linear, sizes[axis]);
    linear = div(linear, sizes[axis]);
  }
  return position;
}

} // namespace mekik::lowering
