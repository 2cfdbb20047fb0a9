#include "runtime/tokenizer/SymbolText.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Json.h"
#include "runtime/base/Utf8.h"

namespace mekik::tokenizer {

std::string hexOf(std::string_view bytes) {
  std::string text;
  for (char byte : bytes)
    base::append(text, "0123456789abcdef"[static_cast<uint8_t>(byte) >> 4], "0123456789abcdef"[byte & 15]);
  return text;
}

std::string symbolJson(std::string_view bytes) {
  return base::concat("\"symbol\":", base::isValidUtf8(bytes) ? base::jsonString(bytes) : "null", ",\"bytes\":\"",
                      hexOf(bytes), "\"");
}

} // namespace mekik::tokenizer
