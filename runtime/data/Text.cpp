// Loading, checking and unifying line ends.
#include "runtime/data/Text.h"
#include "runtime/base/Concat.h"
#include "runtime/base/File.h"
#include "runtime/base/Sha256.h"
#include "runtime/base/Utf8.h"

namespace mekik::data {

using base::concat;

namespace {

bool isBlank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

/// CR LF and CR become LF, in place.
void unifyLineEnds(std::string &bytes) {
  size_t first = bytes.find('\r');
  if (first == std::string::npos)
    return;
  size_t out = first;
  for (size_t in = first; in < bytes.size(); ++in) {
    char c = bytes[in];
    if (c == '\r') {
      c = '\n';
      if (in + 1 < bytes.size() && bytes[in + 1] == '\n')
        ++in;
    }
    bytes[out++] = c;
  }
  bytes.resize(out);
}

} // namespace

base::StatusOr<Text> Text::load(const std::string &path) {
  MEKIK_ASSIGN_OR_RETURN(std::string bytes, base::readFile(path));
  return fromBytes(std::move(bytes), path);
}

base::StatusOr<Text> Text::fromBytes(std::string bytes, std::string origin) {
  if (bytes.empty())
    return base::invalidArgumentError(concat(origin, ": expected a text to train on, found an empty file"));
  if (std::optional<base::Utf8Error> error = base::findInvalidUtf8(bytes)) {
    std::string_view known;
    if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))
      known = " (it looks like UTF-16)";
    return base::invalidArgumentError(concat(origin, ":", error->line, ":", error->column, ": the text is not valid ",
                                             "UTF-8 at byte ", error->offset, known,
                                             "; save it as UTF-8, for example with iconv -f CHARSET -t UTF-8"));
  }
  if (bytes.starts_with(base::byteOrderMark))
    bytes.erase(0, base::byteOrderMark.size());
  unifyLineEnds(bytes);
  if (bytes.empty())
    return base::invalidArgumentError(concat(origin, ": expected a text to train on, found only a byte-order mark"));
  if (bytes.find_first_not_of(" \t\n") == std::string::npos)
    return base::invalidArgumentError(concat(origin, ": expected a text to train on, found only blanks and line ends"));
  return Text(std::move(bytes), std::move(origin));
}

std::vector<TextLine> Text::lines() const {
  std::vector<TextLine> result;
  std::string_view rest = bytes;
  for (uint64_t number = 1; !rest.empty(); ++number) {
    size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    if (!isBlank(line))
      result.push_back({line, number});
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return result;
}

std::string Text::hash() const { return base::sha256Hex(bytes); }

} // namespace mekik::data
