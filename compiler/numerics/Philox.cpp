// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#include "compiler/numerics/Philox.h"

#include "compiler/numerics/Expression.h"

namespace mekik::numerics {

std::array<Number, 4> philox(Arithmetic &arithmetic, std::array<Number, 4> counter, Number key0, Number key1) {
  auto word = [&](uint32_t value) -> Expression {
    return {arithmetic, arithmetic.constant(ElementType::I32, static_cast<int64_t>(value))};
  };
  auto high = [&](Expression a, Expression b) -> Expression { return {arithmetic, arithmetic.mulHighUnsigned(a, b)}; };
  Expression multiplier0 = word(0xD2511F53u), multiplier1 = word(0xCD9E8D57u);
  Expression c0(arithmetic, counter[0]), c1(arithmetic, counter[1]), c2(arithmetic, counter[2]),
      c3(arithmetic, counter[3]), k0(arithmetic, key0), k1(arithmetic, key1);
  for (int round = 0; round < 10; ++round) {
    Expression next0 = high(multiplier1, c2) ^ c1 ^ k0;
    Expression next1 = multiplier1 * c2;
    Expression next2 = high(multiplier0, c0) ^ c3 ^ k1;
    Expression next3 = multiplier0 * c0;
    c0 = next0;
    c1 = next1;
    c2 = next2;
    c3 = next3;
    k0 = k0 + word(0x9E3779B9u);
    k1 = k1 + word(0xBB67AE85u);
  }
  return {c0, c1, c2, c3};
}

Number uniform(Arithmetic &arithmetic, Number bits, ElementType type) {
  // 24 bits, so the signed conversion is exact.
  Expression top = Expression(arithmetic, bits).shiftRightUnsigned(8);
  return top.convert(type) * 0x1p-24;
}

} // namespace mekik::numerics
