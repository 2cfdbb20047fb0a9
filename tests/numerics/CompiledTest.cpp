// The compiled form of every definition against the form that computes, bit for bit, and its accuracy on a dense
// sample.
#include "tests/numerics/Samples.h"

#include "compiler/numerics/CompiledFunction.h"
#include "compiler/numerics/Functions.h"
#include "compiler/numerics/References.h"

#include <gtest/gtest.h>

using namespace mekik::numerics;

namespace {

CompiledFunction compileUnary(const FunctionReference &function, ElementType type, unsigned lanes) {
  auto compiled = CompiledFunction::compile(
      [&](Arithmetic &arithmetic, const std::vector<Number> &operands) {
        return std::vector<Number>{function.definition(arithmetic, operands[0])};
      },
      {type}, lanes);
  EXPECT_TRUE(compiled.ok()) << function.name << ": " << compiled.status();
  return std::move(compiled).value();
}

/// Applies `compiled` to `xs`; the last block is filled up with its last value.
template <typename Float>
std::vector<Float> apply(const CompiledFunction &compiled, const std::vector<Float> &xs, unsigned lanes) {
  unsigned width = std::max(lanes, 1u);
  std::vector<Float> result(xs.size());
  alignas(128) Float x[16], y[16];
  void *buffers[] = {x, y};
  for (size_t base = 0; base < xs.size(); base += width) {
    for (unsigned i = 0; i < width; ++i)
      x[i] = xs[std::min(base + i, xs.size() - 1)];
    compiled(buffers);
    for (unsigned i = 0; i < width && base + i < xs.size(); ++i)
      result[base + i] = y[i];
  }
  return result;
}

Number wrap(float x) { return fromFloat(x); }
Number wrap(double x) { return fromDouble(x); }
void unwrap(Number number, float &x) { x = toFloat(number); }
void unwrap(Number number, double &x) { x = toDouble(number); }

template <typename Float>
void expectEqual(const std::vector<Float> &xs, ElementType type, const std::vector<unsigned> &laneCounts) {
  NumberArithmetic arithmetic;
  std::vector<FunctionReference> functions = functionReferences();
  // Judged by other measures than an error in ulp.
  functions.push_back({"normalCdf", normalCdf, nullptr, nullptr});
  functions.push_back({"expNonPositive", expNonPositive, nullptr, nullptr});
  for (const FunctionReference &function : functions) {
    std::vector<Float> want(xs.size());
    for (size_t i = 0; i < xs.size(); ++i)
      unwrap(function.definition(arithmetic, wrap(xs[i])), want[i]);
    for (unsigned lanes : laneCounts) {
      std::vector<Float> got = apply(compileUnary(function, type, lanes), xs, lanes);
      size_t unequal = 0;
      for (size_t i = 0; i < xs.size(); ++i)
        if (!sameBits(got[i], want[i]) && unequal++ == 0)
          ADD_FAILURE() << function.name << " on " << lanes << " lanes at " << std::hexfloat << xs[i] << ": compiled "
                        << got[i] << ", computed " << want[i];
      EXPECT_EQ(unequal, 0u) << function.name;
    }
  }
}

} // namespace

TEST(CompiledFunctions, FloatsAreWithinTwoUlpOnEveryFourThousandthFloat) {
  std::vector<float> xs = denseFloats();
  for (const FunctionReference &function : functionReferences()) {
    std::vector<float> got = apply(compileUnary(function, ElementType::F32, 16), xs, 16);
    double worst = 0;
    float worstAt = 0;
    for (size_t i = 0; i < xs.size(); ++i) {
      double error = ulpError(got[i], function.forSingle(xs[i]));
      if (error > worst) {
        worst = error;
        worstAt = xs[i];
      }
    }
    EXPECT_LE(worst, 2.0) << function.name << " at " << std::hexfloat << worstAt;
  }
}

TEST(CompiledFunctions, EqualTheEvaluatorInEveryBitForFloats) {
  std::vector<float> all = denseFloats(), xs;
  for (size_t i = 0; i < all.size(); i += i < 100 ? 1 : 23)
    xs.push_back(all[i]);
  expectEqual(xs, ElementType::F32, {0, 8, 16});
}

TEST(CompiledFunctions, EqualTheEvaluatorInEveryBitForDoubles) {
  expectEqual(denseDoubles(2000), ElementType::F64, {0, 8, 16});
}

TEST(CompiledFunctions, PowEqualsTheEvaluatorInEveryBit) {
  NumberArithmetic arithmetic;
  for (ElementType type : {ElementType::F32, ElementType::F64}) {
    auto compiled = CompiledFunction::compile(
        [&](Arithmetic &with, const std::vector<Number> &operands) {
          return std::vector<Number>{mekik::numerics::pow(with, operands[0], operands[1])};
        },
        {type, type}, 8);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    auto run = [&](auto example) {
      using Float = decltype(example);
      std::vector<Float> values = specialValues<Float>();
      uint64_t state = 3;
      for (int i = 0; i < 200; ++i)
        values.push_back(std::exp2(static_cast<Float>(nextRandom(state) % 4096) / 64 - 32) * (i % 3 ? 1 : -1));
      for (Float y : values)
        for (size_t base = 0; base + 8 <= values.size(); base += 8) {
          alignas(64) Float ys[8], result[8];
          std::fill_n(ys, 8, y);
          void *buffers[] = {&values[base], ys, result};
          (*compiled)(buffers);
          for (int i = 0; i < 8; ++i) {
            Float want;
            unwrap(mekik::numerics::pow(arithmetic, wrap(values[base + i]), wrap(y)), want);
            ASSERT_TRUE(sameBits(result[i], want)) << values[base + i] << " ^ " << y;
          }
        }
    };
    type == ElementType::F32 ? run(0.0f) : run(0.0);
  }
}
