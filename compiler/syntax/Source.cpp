// Reading, line starts and UTF-8 decoding.
#include "compiler/syntax/Source.h"

#include "absl/strings/str_cat.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

namespace mekik::syntax {

int decodeUtf8(absl::string_view bytes, uint32_t &codePoint) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  uint8_t first = byte(0);
  if (first < 0x80) {
    codePoint = first;
    return 1;
  }
  int length = first >= 0xC2 && first <= 0xDF   ? 2
               : first >= 0xE0 && first <= 0xEF ? 3
               : first >= 0xF0 && first <= 0xF4 ? 4
                                                : 0;
  if (length == 0 || bytes.size() < static_cast<size_t>(length))
    return 0;
  uint32_t value = first & (0xFF >> (length + 1));
  for (int i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80)
      return 0;
    value = value << 6 | (byte(i) & 0x3F);
  }
  bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF)
    return 0;
  codePoint = value;
  return length;
}

Source::Source(std::string name, std::string text) : fileName(std::move(name)), contents(std::move(text)) {
  if (contents.size() > maxBytes)
    contents.resize(maxBytes);
  if (absl::string_view(contents).substr(0, 3) == "\xEF\xBB\xBF")
    firstByte = 3;
  lineStarts.push_back(firstByte);
  for (uint32_t i = firstByte; i < contents.size(); ++i) {
    bool crLf = contents[i] == '\r' && i + 1 < contents.size() && contents[i + 1] == '\n';
    if ((contents[i] == '\n' || contents[i] == '\r') && !crLf)
      lineStarts.push_back(i + 1);
  }
}

absl::StatusOr<Source> Source::fromFile(const std::string &path) {
  auto failure = [&](const char *what) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot read the model: ", what));
  };
  struct stat information;
  if (::stat(path.c_str(), &information) != 0)
    return failure(std::strerror(errno));
  if (S_ISDIR(information.st_mode))
    return failure("it is a folder; give the .mekik file inside it");
  FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return failure(std::strerror(errno));
  std::string text;
  char buffer[1 << 16];
  size_t count;
  while (text.size() <= maxBytes && (count = std::fread(buffer, 1, sizeof buffer, file)) > 0)
    text.append(buffer, count);
  bool broken = std::ferror(file) != 0;
  std::fclose(file);
  if (broken)
    return failure("reading stopped with an error");
  if (text.size() > maxBytes)
    return failure("it is longer than 16 MiB, which no model is; is this the right file?");
  return Source(path, std::move(text));
}

Position Source::position(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, contents.size());
  auto next = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  if (next == lineStarts.begin())
    return {1, 1};
  uint32_t start = *(next - 1);
  Position result{static_cast<uint32_t>(next - lineStarts.begin()), 1};
  for (uint32_t i = start; i < offset;) {
    uint32_t ignored;
    int length = decodeUtf8(absl::string_view(contents).substr(i), ignored);
    i += std::max(length, 1);
    if (i <= offset)
      ++result.column;
  }
  return result;
}

absl::string_view Source::line(uint32_t number) const {
  if (number < 1 || number > lineStarts.size())
    return "";
  uint32_t begin = lineStarts[number - 1];
  uint32_t end = number < lineStarts.size() ? lineStarts[number] : contents.size();
  while (end > begin && (contents[end - 1] == '\n' || contents[end - 1] == '\r'))
    --end;
  return absl::string_view(contents).substr(begin, end - begin);
}

absl::string_view Source::slice(SourceRange range) const {
  uint32_t end = std::min<uint32_t>(range.end, contents.size());
  uint32_t begin = std::min(range.begin, end);
  return absl::string_view(contents).substr(begin, end - begin);
}

} // namespace mekik::syntax
