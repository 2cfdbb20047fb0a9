// Collecting and printing diagnostics.
#include "compiler/syntax/Diagnostics.h"

#include "absl/strings/str_cat.h"
#include <algorithm>

namespace mekik::syntax {

namespace {

bool same(std::optional<SourceRange> a, std::optional<SourceRange> b) {
  return a.has_value() == b.has_value() && (!a || (a->begin == b->begin && a->end == b->end));
}

/// Code points of `line` with what cannot be shown (control characters, broken UTF-8) replaced.
std::vector<std::string> showableCharacters(absl::string_view line) {
  std::vector<std::string> result;
  while (!line.empty()) {
    uint32_t codePoint = 0;
    int length = decodeUtf8(line, codePoint);
    bool showable = length > 0 && (codePoint == '\t' || (codePoint >= 0x20 && codePoint != 0x7F)) &&
                    !(codePoint >= 0x80 && codePoint < 0xA0) && codePoint != 0xFEFF;
    result.push_back(showable ? std::string(line.substr(0, length)) : "\xEF\xBF\xBD");
    line.remove_prefix(std::max(length, 1));
  }
  return result;
}

constexpr uint32_t widestExcerpt = 120;

struct Colours {
  const char *bold = "", *red = "", *magenta = "", *cyan = "", *green = "", *reset = "";
};

class Printer {
public:
  Printer(const Source &source, bool colour) : source(source) {
    if (colour)
      colours = {"\x1b[1m", "\x1b[1;31m", "\x1b[1;35m", "\x1b[1;36m", "\x1b[1;32m", "\x1b[0m"};
  }

  void message(const Diagnostic &diagnostic) {
    bool isError = diagnostic.severity == Severity::Error;
    entry(diagnostic.range, isError ? "error" : "warning", isError ? colours.red : colours.magenta, diagnostic.message);
    for (const Note &note : diagnostic.notes)
      entry(note.range, "note", colours.cyan, note.message);
  }

  void summary(absl::string_view text) { absl::StrAppend(&out, text, "\n"); }
  std::string take() { return std::move(out); }

private:
  void entry(std::optional<SourceRange> range, const char *kind, const char *colour, const std::string &text) {
    absl::StrAppend(&out, colours.bold, source.name());
    if (range) {
      Position at = source.position(range->begin);
      absl::StrAppend(&out, ":", at.line, ":", at.column);
    }
    absl::StrAppend(&out, ": ", colours.reset, colour, kind, ": ", colours.reset, colours.bold, text, colours.reset,
                    "\n");
    if (range)
      excerpt(*range);
  }

  void excerpt(SourceRange range) {
    Position begin = source.position(range.begin);
    Position end = source.position(std::max(range.begin, range.end));
    std::vector<std::string> line = showableCharacters(source.line(begin.line));
    uint32_t first = begin.column - 1;
    uint32_t last = end.line == begin.line ? end.column - 1 : line.size();
    last = std::max(last, first + 1);
    // A very long line is shown as a window around the place.
    uint32_t from = 0;
    uint32_t to = line.size();
    if (to > widestExcerpt) {
      from = first > widestExcerpt / 3 ? first - widestExcerpt / 3 : 0;
      to = std::min<uint32_t>(line.size(), from + widestExcerpt);
      last = std::max(first + 1, std::min(last, to));
    }
    std::string number = absl::StrCat(begin.line);
    std::string margin(std::max<size_t>(number.size(), 4), ' ');
    std::string shown, marks;
    if (from > 0) {
      shown += "...";
      marks += "   ";
    }
    for (uint32_t i = from; i < std::max(to, last); ++i) {
      if (i < to)
        shown += line[i];
      if (i < last)
        marks += i == first ? "^" : i > first ? "~" : line[i] == "\t" ? "\t" : " ";
    }
    if (to < line.size())
      shown += "...";
    absl::StrAppend(&out, margin.substr(number.size()), number, " | ", shown, "\n");
    absl::StrAppend(&out, margin, " | ", colours.green, marks, colours.reset, "\n");
  }

  const Source &source;
  Colours colours;
  std::string out;
};

} // namespace

Diagnostic &Diagnostic::note(SourceRange place, std::string text) {
  notes.push_back({place, std::move(text)});
  return *this;
}

Diagnostic &Diagnostic::note(std::string text) {
  notes.push_back({std::nullopt, std::move(text)});
  return *this;
}

bool Diagnostics::onlyUsageErrors() const {
  return hasErrors() && std::all_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic &diagnostic) {
           return diagnostic.severity != Severity::Error || diagnostic.isUsage;
         });
}

Diagnostic &Diagnostics::error(std::optional<SourceRange> range, std::string message) {
  return add(Severity::Error, range, std::move(message));
}

Diagnostic &Diagnostics::warning(std::optional<SourceRange> range, std::string message) {
  return add(Severity::Warning, range, std::move(message));
}

Diagnostic &Diagnostics::add(Severity severity, std::optional<SourceRange> range, std::string message) {
  bool known = std::any_of(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic &other) {
    return other.severity == severity && same(other.range, range) && other.message == message;
  });
  bool tooMany = severity == Severity::Error ? full() : diagnostics.size() >= 4 * maxErrors;
  if (known || tooMany) {
    discarded = {severity, range, "", {}, false};
    return discarded;
  }
  if (severity == Severity::Error)
    ++errors;
  diagnostics.push_back({severity, range, std::move(message), {}, false});
  return diagnostics.back();
}

std::string Diagnostics::print(bool colour) const {
  Printer printer(text, colour);
  for (const Diagnostic &diagnostic : diagnostics)
    printer.message(diagnostic);
  if (full())
    printer.summary(absl::StrCat(text.name(), ": stopped after ", errors, " errors"));
  return printer.take();
}

} // namespace mekik::syntax
