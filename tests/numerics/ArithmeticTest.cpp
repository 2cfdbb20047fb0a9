// Each operation of the vocabulary: what NumberArithmetic gives, and that the compiled operation gives the same.
#include "tests/numerics/Samples.h"

#include "compiler/numerics/CompiledFunction.h"
#include "compiler/numerics/Expression.h"

#include <gtest/gtest.h>

using namespace mekik::numerics;

namespace {

using Binary = Number (*)(Arithmetic &, Number, Number);

const Binary floatOperations[] = {
    [](Arithmetic &with, Number a, Number b) { return with.add(a, b); },
    [](Arithmetic &with, Number a, Number b) { return with.sub(a, b); },
    [](Arithmetic &with, Number a, Number b) { return with.mul(a, b); },
    [](Arithmetic &with, Number a, Number b) { return with.div(a, b); },
    [](Arithmetic &with, Number a, Number b) { return with.fma(a, b, a); },
    [](Arithmetic &with, Number a, Number b) { return with.fma(with.constant(a.type, 1.25), a, b); },
    [](Arithmetic &with, Number a, Number b) { return with.sqrt(with.abs(with.sub(a, b))); },
    [](Arithmetic &with, Number a, Number b) { return with.neg(a); },
    [](Arithmetic &with, Number a, Number b) { return with.maximum(a, b); },
    [](Arithmetic &with, Number a, Number b) { return with.minimum(a, b); },
    [](Arithmetic &with, Number a, Number b) { return with.maximum(a, with.constant(a.type, 0.0)); },
    [](Arithmetic &with, Number a, Number b) { return with.select(with.compare(Comparison::Less, a, b), a, b); },
    [](Arithmetic &with, Number a, Number b) { return with.convert(with.compare(Comparison::NotEqual, a, b), a.type); },
    [](Arithmetic &with, Number a, Number b) { return with.convert(with.convert(a, ElementType::F32), a.type); },
    [](Arithmetic &with, Number a, Number b) { return with.convert(with.convert(a, ElementType::Bool), a.type); },
};

const Binary integerOperations[] = {
    [](Arithmetic &with, Number a, Number b) { return with.add(a, b); },
    [](Arithmetic &with, Number a, Number b) { return with.sub(a, b); },
    [](Arithmetic &with, Number a, Number b) { return with.mul(a, b); },
    [](Arithmetic &with, Number a, Number b) { return with.abs(with.neg(a)); },
    [](Arithmetic &with, Number a, Number b) { return with.maximum(a, b); },
    [](Arithmetic &with, Number a, Number b) { return with.minimum(a, b); },
    [](Arithmetic &with, Number a, Number b) { return with.bitXor(with.bitAnd(a, b), with.bitOr(a, b)); },
    [](Arithmetic &with, Number a, Number b) { return with.shiftLeft(a, 5); },
    [](Arithmetic &with, Number a, Number b) { return with.shiftRight(a, 7); },
    [](Arithmetic &with, Number a, Number b) { return with.shiftRightUnsigned(a, 7); },
    [](Arithmetic &with, Number a, Number b) { return with.convert(with.convert(a, ElementType::F64), a.type); },
    [](Arithmetic &with, Number a, Number b) {
      return with.convert(with.bitcast(with.convert(a, ElementType::F32), ElementType::I32), a.type);
    },
    [](Arithmetic &with, Number a, Number b) { return with.convert(with.convert(a, ElementType::I32), a.type); },
    [](Arithmetic &with, Number a, Number b) {
      Number low = with.convert(a, ElementType::I32), other = with.convert(b, ElementType::I32);
      return with.convert(with.mulHighUnsigned(low, other), a.type);
    },
    [](Arithmetic &with, Number a, Number b) {
      return with.select(with.compare(Comparison::GreaterEqual, a, b), a, with.constant(a.type, 3));
    },
};

template <typename Value, size_t count>
void expectCompiledEqualsComputed(const Binary (&operations)[count], ElementType type, std::vector<Value> values,
                                  Number (*wrap)(Value), Value (*unwrap)(Number)) {
  NumberArithmetic arithmetic;
  for (size_t index = 0; index < count; ++index)
    for (unsigned lanes : {0u, 8u}) {
      unsigned width = std::max(lanes, 1u);
      auto compiled = CompiledFunction::compile(
          [&](Arithmetic &with, const std::vector<Number> &operands) {
            return std::vector<Number>{operations[index](with, operands[0], operands[1])};
          },
          {type, type}, lanes);
      ASSERT_TRUE(compiled.ok()) << compiled.status();
      for (Value a : values)
        for (size_t base = 0; base + width <= values.size(); base += width) {
          Value as[8], result[8];
          std::fill_n(as, width, a);
          void *buffers[] = {as, &values[base], result};
          (*compiled)(buffers);
          for (unsigned i = 0; i < width; ++i) {
            Value want = unwrap(operations[index](arithmetic, wrap(a), wrap(values[base + i])));
            ASSERT_EQ(std::isnan(double(result[i])), std::isnan(double(want)));
            if (!std::isnan(double(want)))
              ASSERT_EQ(wrap(result[i]).bits, wrap(want).bits)
                  << "operation " << index << " of " << a << " and " << values[base + i] << " on " << lanes << " lanes";
          }
        }
    }
}

template <typename Integer> std::vector<Integer> integers() {
  using Limits = std::numeric_limits<Integer>;
  std::vector<Integer> values = {
      0, 1, -1, 2, 7, -100, Limits::max(), Limits::min(), Limits::max() - 1, Limits::min() + 1, Limits::max() / 3};
  uint64_t state = 5;
  while (values.size() < 48)
    values.push_back(static_cast<Integer>(nextRandom(state)) >> nextRandom(state) % 20);
  return values;
}

} // namespace

TEST(Arithmetic, CompiledFloatOperationsEqualComputedOnes) {
  std::vector<float> singles = specialValues<float>();
  std::vector<double> doubles = specialValues<double>();
  uint64_t state = 11;
  while (singles.size() % 8 || singles.size() < 64)
    singles.push_back(std::bit_cast<float>(static_cast<uint32_t>(nextRandom(state))));
  while (doubles.size() % 8 || doubles.size() < 64)
    doubles.push_back(std::bit_cast<double>(nextRandom(state)));
  expectCompiledEqualsComputed(floatOperations, ElementType::F32, singles, fromFloat, toFloat);
  expectCompiledEqualsComputed(floatOperations, ElementType::F64, doubles, fromDouble, toDouble);
}

TEST(Arithmetic, CompiledIntegerOperationsEqualComputedOnes) {
  // Conversions through floats must fit; the largest I32 and I64 as doubles do not, so keep away from the top bit.
  std::vector<int32_t> narrow = integers<int32_t>();
  std::vector<int64_t> wide = integers<int64_t>();
  for (int64_t &value : wide)
    value >>= 2;
  expectCompiledEqualsComputed(integerOperations, ElementType::I32, narrow, fromInt32, toInt32);
  expectCompiledEqualsComputed(integerOperations, ElementType::I64, wide, fromInt64, toInt64);
}

TEST(Arithmetic, MaximumFollowsIeee754OfTheYear2019) {
  NumberArithmetic arithmetic;
  float nan = std::numeric_limits<float>::quiet_NaN();
  auto maximum = [&](float a, float b) { return toFloat(arithmetic.maximum(fromFloat(a), fromFloat(b))); };
  auto minimum = [&](float a, float b) { return toFloat(arithmetic.minimum(fromFloat(a), fromFloat(b))); };
  EXPECT_TRUE(std::isnan(maximum(nan, 1)) && std::isnan(maximum(1, nan)));
  EXPECT_TRUE(std::isnan(minimum(nan, 1)) && std::isnan(minimum(1, nan)));
  EXPECT_FALSE(std::signbit(maximum(-0.0f, 0.0f)) || std::signbit(maximum(0.0f, -0.0f)));
  EXPECT_TRUE(std::signbit(minimum(-0.0f, 0.0f)) && std::signbit(minimum(0.0f, -0.0f)));
}

TEST(Arithmetic, FmaRoundsOnceOrTwiceAsTheClassSays) {
  float a = 1 + 0x1p-12f, c = -(1 + 0x1p-11f);
  NumberArithmetic fused, apart(FmaClass::ProductThenSum);
  EXPECT_EQ(toFloat(fused.fma(fromFloat(a), fromFloat(a), fromFloat(c))), 0x1p-24f);
  EXPECT_EQ(toFloat(apart.fma(fromFloat(a), fromFloat(a), fromFloat(c))), 0.0f);
}

TEST(Arithmetic, LargeIntegersRoundOnceOnTheWayToF32) {
  NumberArithmetic arithmetic;
  int64_t value =
      (int64_t(1) << 60) + (int64_t(1) << 36) + 1; // a detour by double would lose the last 1 and round down
  EXPECT_EQ(toFloat(arithmetic.convert(fromInt64(value), ElementType::F32)), 0x1.000002p60f);
}

TEST(Arithmetic, AScalarBesideAVectorIsSplat) {
  auto compiled = CompiledFunction::compile(
      [](Arithmetic &arithmetic, const std::vector<Number> &operands) {
        Expression x(arithmetic, operands[0]);
        Number condition = arithmetic.compare(Comparison::Less, x, arithmetic.constant(ElementType::F32, 4.0));
        Number scalarCondition = arithmetic.constant(ElementType::Bool, 1);
        Number step = arithmetic.select(condition, arithmetic.constant(ElementType::F32, 1.0),
                                        arithmetic.constant(ElementType::F32, -1.0));
        Number fused =
            arithmetic.fma(arithmetic.constant(ElementType::F32, 2.0), arithmetic.constant(ElementType::F32, 3.0), x);
        return std::vector<Number>{arithmetic.select(scalarCondition, arithmetic.add(step, fused), x), condition};
      },
      {ElementType::F32}, 8);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[8];
  uint8_t below[8];
  void *buffers[] = {x, y, below};
  (*compiled)(buffers);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(y[i], x[i] + 6 + (i < 4 ? 1 : -1));
    EXPECT_EQ(below[i], i < 4);
  }
}
