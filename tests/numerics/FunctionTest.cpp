// Accuracy of the elementary functions in the form that computes.
#include "tests/numerics/Samples.h"

#include "compiler/numerics/Functions.h"
#include "compiler/numerics/References.h"

#include <gtest/gtest.h>

using namespace mekik::numerics;

namespace {

float single(Number (*definition)(Arithmetic &, Number), float x) {
  NumberArithmetic arithmetic;
  return toFloat(definition(arithmetic, fromFloat(x)));
}

double twice(Number (*definition)(Arithmetic &, Number), double x) {
  NumberArithmetic arithmetic;
  return toDouble(definition(arithmetic, fromDouble(x)));
}

constexpr float infinity = std::numeric_limits<float>::infinity();

} // namespace

TEST(Functions, DoublesAreWithinFourUlp) {
  std::vector<double> samples = denseDoubles(20000);
  for (const FunctionReference &function : functionReferences()) {
    double worst = 0, worstAt = 0;
    for (double x : samples) {
      double error = ulpError(twice(function.definition, x), function.forDouble(x));
      if (error > worst) {
        worst = error;
        worstAt = x;
      }
    }
    EXPECT_LE(worst, 4.0) << function.name << " at " << std::hexfloat << worstAt;
    RecordProperty(function.name, std::to_string(worst));
  }
}

TEST(Functions, ZeroKeepsItsSignInOddFunctions) {
  for (auto definition : {mekik::numerics::sin, mekik::numerics::tanh, mekik::numerics::erf, mekik::numerics::expm1,
                          mekik::numerics::log1p}) {
    EXPECT_TRUE(sameBits(single(definition, 0.0f), 0.0f));
    EXPECT_TRUE(sameBits(single(definition, -0.0f), -0.0f));
    EXPECT_TRUE(sameBits(twice(definition, 0.0), 0.0));
    EXPECT_TRUE(sameBits(twice(definition, -0.0), -0.0));
  }
}

TEST(Functions, ZeroKeepsItsSignOfResultWhereTheResultIsZero) {
  EXPECT_TRUE(sameBits(single(mekik::numerics::exp, -infinity), 0.0f));
  EXPECT_TRUE(sameBits(single(mekik::numerics::sigmoid, -infinity), 0.0f));
  EXPECT_TRUE(sameBits(single(mekik::numerics::softplus, -infinity), 0.0f));
  EXPECT_TRUE(sameBits(single(mekik::numerics::log, 1.0f), 0.0f));
  EXPECT_TRUE(sameBits(twice(mekik::numerics::log, 1.0), 0.0));
}

TEST(Functions, ExpOfAnArgumentBelowTheNormalRangeIsTheCorrectDenormal) {
  for (float x = -104.5f; x < -87.0f; x += 0.0625f) {
    double want = std::exp(static_cast<double>(x));
    EXPECT_LE(ulpError(single(mekik::numerics::exp, x), want), 1.0) << x;
  }
  EXPECT_EQ(single(mekik::numerics::exp, -103.0f), static_cast<float>(std::exp(-103.0)));
  EXPECT_GT(single(mekik::numerics::exp, -103.0f), 0.0f);
}

TEST(Functions, ExpOfNonPositiveArgumentsHasTheBitsOfExp) {
  NumberArithmetic arithmetic;
  for (float x : denseFloats())
    if (!(x > 0)) {
      ASSERT_TRUE(sameBits(single(expNonPositive, x), single(mekik::numerics::exp, x))) << x;
    }
  for (float x = -106.0f; x < -86.0f; x += 0.001f)
    ASSERT_TRUE(sameBits(single(expNonPositive, x), single(mekik::numerics::exp, x))) << x;
  for (double x : denseDoubles(20000))
    if (!(x > 0)) {
      ASSERT_TRUE(sameBits(twice(expNonPositive, x), twice(mekik::numerics::exp, x))) << x;
    }
}

TEST(Functions, NormalCdfIsRightToLessThanTwoRoundingsOfOneAndNeverNegative) {
  auto want = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  auto errorOf = [&](float x) { return std::fabs(single(normalCdf, x) - want(x)); };
  for (float x : denseFloats())
    if (!std::isnan(x)) {
      ASSERT_LE(errorOf(x), 0x1.8p-24) << x;
      ASSERT_GE(single(normalCdf, x), 0.0f) << x;
    }
  for (float x = -15.0f; x < 15.0f; x += 0.0001f)
    ASSERT_LE(errorOf(x), 0x1.8p-24) << x;
  for (double x = -40.0; x < 40.0; x += 0.001)
    ASSERT_LE(std::fabs(twice(normalCdf, x) - want(x)), 0x1.8p-53) << x;
  EXPECT_EQ(single(normalCdf, 0.0f), 0.5f);
  EXPECT_EQ(single(normalCdf, -infinity), 0.0f);
  EXPECT_EQ(single(normalCdf, infinity), 1.0f);
  EXPECT_TRUE(std::isnan(single(normalCdf, std::numeric_limits<float>::quiet_NaN())));
}

TEST(Functions, LogOfADenormalIsAccurate) {
  for (uint32_t bits : {1u, 2u, 3u, 0x1234u, 0x7fffffu}) {
    float x = std::bit_cast<float>(bits);
    EXPECT_LE(ulpError(single(mekik::numerics::log, x), std::log(static_cast<double>(x))), 1.0) << bits;
  }
}

TEST(Functions, SoftplusKeepsItsDigitsForVeryNegativeArguments) {
  EXPECT_NEAR(single(mekik::numerics::softplus, -12.3392f) / 4.376758446e-6, 1.0, 1e-5);
  for (float x = -103.0f; x < 20.0f; x += 0.37f)
    EXPECT_LE(ulpError(single(mekik::numerics::softplus, x), std::log1p(std::exp(static_cast<double>(x)))), 2.0) << x;
}

TEST(Functions, SigmoidOfVeryNegativeArgumentsIsADenormalAndNotZero) {
  EXPECT_LE(ulpError(single(mekik::numerics::sigmoid, -100.0f), 1 / (1 + std::exp(100.0))), 1.0);
}

TEST(Functions, SinAndCosKeepTheirDigitsNextToMultiplesOfHalfPi) {
  // The floats and doubles known to come closest to a multiple of pi/2 (J.-M. Muller, Elementary Functions, 11).
  float closestFloat = std::ldexp(16367173.0f, 72);
  EXPECT_LE(ulpError(single(mekik::numerics::sin, closestFloat), std::sin(static_cast<double>(closestFloat))), 2.0);
  EXPECT_LE(ulpError(single(mekik::numerics::cos, closestFloat), std::cos(static_cast<double>(closestFloat))), 2.0);
  double closestDouble = std::ldexp(6381956970095103.0, 797);
  EXPECT_LE(ulpError(twice(mekik::numerics::sin, closestDouble), std::sin(static_cast<long double>(closestDouble))), 4);
  EXPECT_LE(ulpError(twice(mekik::numerics::cos, closestDouble), std::cos(static_cast<long double>(closestDouble))), 4);
  for (int k = 1; k < 2000; ++k) {
    double x = k * 1.5707963267948966;
    EXPECT_LE(ulpError(twice(mekik::numerics::sin, x), std::sin(static_cast<long double>(x))), 4) << k;
    EXPECT_LE(ulpError(twice(mekik::numerics::cos, x), std::cos(static_cast<long double>(x))), 4) << k;
  }
}

TEST(Functions, PowAgreesWithTheCLibraryOnSpecialCases) {
  NumberArithmetic arithmetic;
  for (float x : specialValues<float>())
    for (float y : {0.0f,   -0.0f,       1.0f,        -1.0f,      2.0f,
                    -2.0f,  3.0f,        -3.0f,       0.5f,       -0.5f,
                    1.5f,   16777215.0f, 16777216.0f, 8388607.5f, -8388607.0f,
                    1e-40f, 1e20f,       infinity,    -infinity,  std::numeric_limits<float>::quiet_NaN()}) {
      float got = toFloat(mekik::numerics::pow(arithmetic, fromFloat(x), fromFloat(y)));
      double want = std::pow(static_cast<double>(x), static_cast<double>(y));
      EXPECT_LE(ulpError(got, want), 1.0) << x << " ^ " << y << " gave " << got << ", want " << want;
      EXPECT_TRUE(std::isnan(want) || std::signbit(got) == std::signbit(want)) << x << " ^ " << y;
      double twiceGot = toDouble(mekik::numerics::pow(arithmetic, fromDouble(x), fromDouble(y)));
      EXPECT_LE(ulpError(twiceGot, std::pow(static_cast<long double>(x), static_cast<long double>(y))), 4.0)
          << x << " ^ " << y << " gave " << twiceGot << ", want " << want;
      EXPECT_TRUE(std::isnan(want) || std::signbit(twiceGot) == std::signbit(want)) << x << " ^ " << y;
    }
}

TEST(Functions, PowKnowsOddIntegersUpToTheLastOne) {
  NumberArithmetic arithmetic;
  for (double y : {0x1p52 - 1, 0x1p52 + 1, 0x1p53 - 1, 0x1p52, 0x1p53, 0x1p52 - 0.5})
    for (double x : {-1.0, -0x1.fffffffffffffp-1, -0x1.0000000000001p0}) {
      double got = toDouble(mekik::numerics::pow(arithmetic, fromDouble(x), fromDouble(y)));
      EXPECT_LE(ulpError(got, std::pow(static_cast<long double>(x), static_cast<long double>(y))), 1.5)
          << x << "^" << y;
    }
}

TEST(Functions, PowIsAccurateOverTheRangeOfItsResults) {
  NumberArithmetic arithmetic;
  uint64_t state = 7;
  double worstSingle = 0, worstTwice = 0;
  for (int i = 0; i < 200000; ++i) {
    // log2 of the result spread over the whole range of the format.
    double lx = static_cast<double>(nextRandom(state) >> 11) * 0x1p-53 * (i % 2 ? 200 : 2) - (i % 2 ? 100 : 1);
    double result = static_cast<double>(nextRandom(state) >> 11) * 0x1p-53 * 2100 - 1050;
    double x = std::exp2(lx), y = result / lx;
    double got = toDouble(mekik::numerics::pow(arithmetic, fromDouble(x), fromDouble(y)));
    worstTwice =
        std::max(worstTwice, ulpError(got, std::pow(static_cast<long double>(x), static_cast<long double>(y))));
    float xs = static_cast<float>(x), ys = static_cast<float>(y / 8);
    float gotSingle = toFloat(mekik::numerics::pow(arithmetic, fromFloat(xs), fromFloat(ys)));
    worstSingle =
        std::max(worstSingle, ulpError(gotSingle, std::pow(static_cast<double>(xs), static_cast<double>(ys))));
  }
  EXPECT_LE(worstSingle, 1.0);
  EXPECT_LE(worstTwice, 1.5); // what pairs of doubles give; a log of one double would be off by hundreds
}
