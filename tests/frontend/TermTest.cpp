// Arithmetic at compile time.
#include "compiler/frontend/Term.h"

#include <gtest/gtest.h>

namespace mekik::frontend {
namespace {

using syntax::Operator;

std::string compute(Operator op, Term a, Term b) {
  std::string problem;
  auto result = evaluate(op, a, b, problem);
  return result ? show(*result) : problem;
}

int64_t largest = INT64_MAX, smallest = INT64_MIN;
Term whole(int64_t value) { return Term(value); }

TEST(Term, DividesIntsExactlyOrNotAtAll) {
  EXPECT_EQ(compute(Operator::Divide, whole(32), whole(4)), "8");
  EXPECT_EQ(compute(Operator::Divide, whole(1), whole(3)),
            "1 / 3 is not a whole number; write // to round down, or 1.0 / 3 for a float");
  EXPECT_EQ(compute(Operator::Divide, whole(1), Term(4.0)), "0.25");
  EXPECT_EQ(compute(Operator::Divide, whole(1), whole(0)), "1 / 0 is a division by zero");
}

TEST(Term, RoundsFloorDivisionDownAndGivesTheRemainderTheSignOfTheDivisor) {
  EXPECT_EQ(compute(Operator::FloorDivide, whole(7), whole(2)), "3");
  EXPECT_EQ(compute(Operator::FloorDivide, whole(-7), whole(2)), "-4");
  EXPECT_EQ(compute(Operator::FloorDivide, whole(7), whole(-2)), "-4");
  EXPECT_EQ(compute(Operator::Remainder, whole(-7), whole(2)), "1");
  EXPECT_EQ(compute(Operator::Remainder, whole(7), whole(-2)), "-1");
  EXPECT_EQ(compute(Operator::Remainder, whole(smallest), whole(-1)), "0");
}

TEST(Term, ReportsEveryOverflow) {
  for (auto [op, a, b] :
       {std::tuple(Operator::Add, largest, int64_t(1)), std::tuple(Operator::Subtract, smallest, int64_t(1)),
        std::tuple(Operator::Multiply, largest, int64_t(2)), std::tuple(Operator::Power, int64_t(10), int64_t(19)),
        std::tuple(Operator::Divide, smallest, int64_t(-1)), std::tuple(Operator::FloorDivide, smallest, int64_t(-1))})
    EXPECT_NE(compute(op, whole(a), whole(b)).find("does not fit into 64 bits"), std::string::npos)
        << compute(op, whole(a), whole(b));
  EXPECT_EQ(compute(Operator::Power, whole(2), whole(62)), "4611686018427387904");
  EXPECT_EQ(compute(Operator::Power, whole(-2), whole(63)), "-9223372036854775808");
  EXPECT_EQ(compute(Operator::Power, Term(10.0), whole(400)), "the result of 10.0 ** 400.0 is infinite");
}

TEST(Term, ComparesNumbersOfBothKindsAndEqualsOfOneKind) {
  EXPECT_EQ(compute(Operator::Less, whole(1), Term(1.5)), "true");
  EXPECT_EQ(compute(Operator::Equal, Term(std::string("a")), Term(std::string("a"))), "true");
  EXPECT_EQ(compute(Operator::Equal, Term(std::string("a")), whole(1)),
            "'==' has no meaning between a string and an int");
  EXPECT_EQ(compute(Operator::And, Term(true), whole(1)), "'and' has no meaning between a bool and an int");
}

TEST(Term, ShowsFloatsAsTheShortestDecimalWithAPoint) {
  EXPECT_EQ(showFloat(0.1), "0.1");
  EXPECT_EQ(showFloat(3), "3.0");
  EXPECT_EQ(showFloat(1e-5), "1e-05");
}

} // namespace
} // namespace mekik::frontend
