// The text of one model: bytes as the file holds them, and the way from a byte offset to the line and column an editor
// shows. Lines end with LF, CR LF or a lone CR; columns count code points, from 1. A byte-order mark at the start
// belongs to no line.
#ifndef MEKIK_SYNTAX_SOURCE_H
#define MEKIK_SYNTAX_SOURCE_H

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mekik::syntax {

/// Bytes [begin, end) of a Source.
struct SourceRange {
  uint32_t begin = 0;
  uint32_t end = 0;
};

struct Position {
  uint32_t line = 1;
  uint32_t column = 1;
};

class Source {
public:
  static constexpr size_t maxBytes = 16 << 20;

  /// `text` longer than maxBytes is cut there; fromFile refuses such files.
  Source(std::string name, std::string text);

  /// Errors: the file cannot be read, is a directory, or is longer than maxBytes.
  static absl::StatusOr<Source> fromFile(const std::string &path);

  const std::string &name() const { return fileName; }
  absl::string_view text() const { return contents; }
  /// Where the program starts: behind a byte-order mark, if there is one.
  uint32_t start() const { return firstByte; }

  Position position(uint32_t offset) const;
  uint32_t lineCount() const { return static_cast<uint32_t>(lineStarts.size()); }
  /// The text of a line without its line end; empty for lines that do not exist.
  absl::string_view line(uint32_t number) const;
  absl::string_view slice(SourceRange range) const;

private:
  std::string fileName;
  std::string contents;
  std::vector<uint32_t> lineStarts;
  uint32_t firstByte = 0;
};

/// Length of the well-formed UTF-8 sequence at the start of `bytes`, which is not empty, or 0 if there is none
/// (overlong forms, surrogates and values above U+10FFFF are not well-formed). `codePoint` is set if the length is not
/// 0.
int decodeUtf8(absl::string_view bytes, uint32_t &codePoint);

} // namespace mekik::syntax

#endif
