// What random models are drawn from: a seed means the same model on every machine and with every library.
#ifndef MEKIK_TESTS_FUZZ_RANDOM_H
#define MEKIK_TESTS_FUZZ_RANDOM_H

#include <cstdint>
#include <iterator>

namespace mekik::fuzz {

/// SplitMix64: the same numbers everywhere, which std:: distributions do not promise.
class Random {
public:
  // Seeds lie apart by another number than steps, or neighbours would draw the same numbers, one step later.
  explicit Random(uint64_t seed) : state(seed * 0xD1342543DE82EF95u + 0x1234567) {}
  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t bound) { return next() % bound; }
  bool chance(int percent) { return below(100) < percent; }
  template <typename Range> auto &pick(Range &&range) { return range[below(std::size(range))]; }

private:
  uint64_t state;
};

} // namespace mekik::fuzz

#endif
