// What the compiler has to say about a model: errors and warnings with their place, the source line and a caret, notes
// at other places. One run collects several errors, but no more than maxErrors.
#ifndef MEKIK_SYNTAX_DIAGNOSTICS_H
#define MEKIK_SYNTAX_DIAGNOSTICS_H

#include "compiler/syntax/Source.h"
#include <optional>

namespace mekik::syntax {

enum class Severity : uint8_t { Error, Warning };

struct Note {
  std::optional<SourceRange> range; ///< none: the note is about no place in the text
  std::string message;
};

struct Diagnostic {
  Severity severity;
  std::optional<SourceRange> range; ///< none: about the whole run, e.g. an option
  std::string message;
  std::vector<Note> notes;
  bool isUsage = false; ///< the text is right; the options given with it are not

  Diagnostic &note(SourceRange place, std::string text);
  Diagnostic &note(std::string text);
  Diagnostic &usage() {
    isUsage = true;
    return *this;
  }
};

class Diagnostics {
public:
  static constexpr int maxErrors = 20;

  /// `source` must outlive the object.
  explicit Diagnostics(const Source &source) : text(source) {}

  /// The reference is good until the next call of error or warning. Behind the limit, and for a message already given
  /// at the same place, the diagnostic is accepted and forgotten.
  Diagnostic &error(std::optional<SourceRange> range, std::string message);
  Diagnostic &warning(std::optional<SourceRange> range, std::string message);

  const Source &source() const { return text; }
  const std::vector<Diagnostic> &all() const { return diagnostics; }
  int errorCount() const { return errors; }
  bool hasErrors() const { return errors > 0; }
  /// There are errors, and every one of them is about options.
  bool onlyUsageErrors() const;
  /// The limit is reached: further work only costs time.
  bool full() const { return errors >= maxErrors; }

  /// Every diagnostic in the order it was found:
  ///   gpt.mekik:12:9: error: message
  ///     12 | let q = einsum("b t w")
  ///        |         ^~~~~~~~~~~~~~~
  /// `colour` adds terminal escapes. Ends with a newline unless empty.
  std::string print(bool colour = false) const;

private:
  Diagnostic &add(Severity severity, std::optional<SourceRange> range, std::string message);

  const Source &text;
  std::vector<Diagnostic> diagnostics;
  Diagnostic discarded{Severity::Error, {}, "", {}, false};
  int errors = 0;
};

} // namespace mekik::syntax

#endif
