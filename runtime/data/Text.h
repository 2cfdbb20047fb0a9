// A text file as training data. Refused: a missing file, a directory, a device, bytes that are not UTF-8 (with offset
// and line), a text with nothing in it. A byte-order mark at the start is dropped, and line ends CR LF and CR become
// LF, as text files are read in Python; nothing else is changed.
#ifndef MEKIK_RUNTIME_DATA_TEXT_H
#define MEKIK_RUNTIME_DATA_TEXT_H

#include "runtime/base/Status.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mekik::data {

struct TextLine {
  std::string_view text; // without its line end
  uint64_t number;       // in the file, from 1
};

class Text {
public:
  static base::StatusOr<Text> load(const std::string &path);
  /// The same for bytes already at hand; `origin` stands for the path in messages.
  static base::StatusOr<Text> fromBytes(std::string bytes, std::string origin);

  const std::string &origin() const { return name; }
  /// Valid UTF-8 with LF line ends and no leading byte-order mark; not blank.
  std::string_view content() const { return bytes; }
  /// The lines that hold more than spaces and tabs, in order. Views into this object.
  std::vector<TextLine> lines() const;
  /// SHA-256 of content(), hexadecimal.
  std::string hash() const;

private:
  Text(std::string bytes, std::string name) : bytes(std::move(bytes)), name(std::move(name)) {}
  std::string bytes;
  std::string name;
};

} // namespace mekik::data

#endif
