// The two floating-point formats seen by definitions that take numbers apart: widths, biases and the constants that
// differ between F32 and F64.
#ifndef MEKIK_NUMERICS_FORMAT_H
#define MEKIK_NUMERICS_FORMAT_H

#include "compiler/numerics/Expression.h"

namespace mekik::numerics {

struct Format {
  ElementType type;
  ElementType integer;   ///< of the same width
  unsigned fractionBits; ///< stored ones: 23 or 52
  int64_t bias;
  double roundToInteger; ///< 1.5 * 2^fractionBits: adding it leaves the nearest integer in the low bits of the sum

  static Format of(ElementType type) {
    if (type == ElementType::F32)
      return {type, ElementType::I32, 23, 127, 0x1.8p23};
    return {type, ElementType::I64, 52, 1023, 0x1.8p52};
  }

  bool isSingle() const { return type == ElementType::F32; }
  double pick(double single, double twice) const { return isSingle() ? single : twice; }

  /// The sign bit of x as an integer, and `magnitude` (which has sign +) given that sign.
  Expression signBit(Expression x) const {
    return x.bitcast(integer) & static_cast<int64_t>(uint64_t(1) << (isSingle() ? 31 : 63));
  }
  Expression withSignOf(Expression x, Expression magnitude) const {
    return (magnitude.bitcast(integer) | signBit(x)).bitcast(type);
  }
};

} // namespace mekik::numerics

#endif
