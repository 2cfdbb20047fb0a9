// SHA-256 (FIPS 180-4), for recognising tokenizers, data and sources by content.
#ifndef MEKIK_RUNTIME_BASE_SHA256_H
#define MEKIK_RUNTIME_BASE_SHA256_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace mekik::base {

class Sha256 {
public:
  void update(std::string_view bytes);
  /// 64 lower-case hexadecimal digits. The object is used up.
  std::string finishHex();

private:
  void compress(const uint8_t *block);
  std::array<uint32_t, 8> state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> buffer{};
  uint64_t length = 0; // bytes so far
};

std::string sha256Hex(std::string_view bytes);

} // namespace mekik::base

#endif
