// Training and validation streams of ids and the windows a model sees of them. Which windows a step sees is a pure
// function of (seed, step, example): nothing to save, nothing that threads or batch splits could change.
#ifndef MEKIK_RUNTIME_DATA_TEXTDATA_H
#define MEKIK_RUNTIME_DATA_TEXTDATA_H

#include "runtime/base/Status.h"
#include "runtime/data/Text.h"
#include "runtime/tokenizer/Tokenizer.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mekik::data {

enum class Layout {
  Lines,   // every non-blank line is an example; a part's stream is END line END line ... line END
  Stream,  // the whole text is one stream
  Examples // as Lines, but a window never holds more than one line: END line END, or a part of it
};

/// "lines", "stream", "examples".
std::optional<Layout> layoutFromName(std::string_view name);

struct TextOptions {
  Layout layout = Layout::Lines;
  /// The share for validation in millionths, 0 .. 999999. Of n lines (or symbols) the first
  /// floor(n * (1000000 - validation) / 1000000) train and the rest validate.
  int64_t validation = 100000;
};

/// "0.1" -> 100000. Errors: not in [0, 1), finer than a millionth.
base::StatusOr<int64_t> parseValidationShare(std::string_view what, std::string_view text);

/// The tokenizer kind by name ("characters" or "bytes"), built for this text and layout. For characters in lines `end`
/// is the symbol between examples. Errors as of makeCharacterTokenizer, with the option --end as the way out.
base::StatusOr<std::unique_ptr<tokenizer::Tokenizer>> makeTokenizer(std::string_view kind, const Text &text,
                                                                    Layout layout, std::string_view end = ".");

/// `input` and `target` are `context` ids long, or shorter for a line of Layout::Examples that has no more; the target is
/// the input shifted by one.
struct Window {
  std::span<const int32_t> input;
  std::span<const int32_t> target;
};

class TextData {
public:
  /// Errors: a character outside the vocabulary, an END symbol inside a line, no lines to train with.
  static base::StatusOr<TextData> create(const Text &text, const tokenizer::Tokenizer &tokenizer,
                                         const TextOptions &options);

  const std::vector<int32_t> &train() const { return trainIds; }
  /// Empty if the share for validation is 0.
  const std::vector<int32_t> &validation() const { return validationIds; }
  Layout layoutUsed() const { return layout; }
  uint64_t trainLines() const { return trainLineCount; } // 0 for Layout::Stream
  uint64_t validationLines() const { return validationLineCount; }

  /// OK if both parts (validation unless empty by request) hold at least one window: context + 1 ids. Otherwise
  /// "<path>: the training part has N tokens, context C needs at least C+1".
  base::Status checkContext(int64_t context) const;

  /// The window of training example `example` of step `step`, its start uniform over all starts. Of Layout::Examples
  /// first the line is drawn and then, if it is longer than the context, the start, uniform over the line; a window
  /// that starts near its end is short. checkContext is OK.
  Window windowAt(uint64_t seed, uint64_t step, uint64_t example, int64_t context) const;
  /// Number of starts of the training part, and the window at one of them.
  int64_t startCount(int64_t context) const { return static_cast<int64_t>(trainIds.size()) - context; }
  Window windowFrom(int64_t start, int64_t context) const;

  /// Windows of `ids` that do not overlap: starts s = 0, context, 2 context, ... while
  /// s + context + 1 <= min(size, limit). A limit of 0 is no limit.
  static int64_t evaluationWindowCount(std::span<const int32_t> ids, int64_t context, int64_t limit);
  static Window evaluationWindow(std::span<const int32_t> ids, int64_t context, int64_t index);
  /// The same for any layout: of Layout::Examples the windows of one line after the other, as long as they end within
  /// the limit, and the first one in any case.
  std::vector<Window> evaluationWindows(bool ofValidation, int64_t context, int64_t limit) const;

  /// For models that predict only the symbol behind a window: every symbol that follows another one is a target. With
  /// lines a window reaches back to the start of its line and is filled with end symbols before that; with a stream only
  /// symbols behind a whole window are targets. A limit of 0 is no limit; otherwise targets are among the first `limit`.
  int64_t targetCount(std::span<const int32_t> ids, int64_t context, int64_t limit = 0) const;
  /// Place of the first target, counted from 0.
  int64_t firstTarget(int64_t context) const { return end ? 1 : context; }
  /// Target number `index`; the symbols before it go to `window`.
  int32_t targetAt(std::span<const int32_t> ids, int64_t index, std::span<int32_t> window) const;
  /// The target that training example `example` of step `step` sees, uniform over all of the training part.
  int64_t targetIndexAt(uint64_t seed, uint64_t step, uint64_t example, int64_t context) const;
  /// checkContext for such models.
  base::Status checkTargets(int64_t context) const { return checkContext(end && context >= 1 ? 1 : context); }

private:
  std::string origin;
  std::optional<int32_t> end; // of Layout::Lines and Layout::Examples
  std::vector<int32_t> trainIds, validationIds;
  uint64_t trainLineCount = 0, validationLineCount = 0;
  Layout layout = Layout::Lines;
  std::vector<uint64_t> trainStarts; // of Layout::Examples: where lines start, at the END before them
  bool hasValidation = true;
};

} // namespace mekik::data

#endif
