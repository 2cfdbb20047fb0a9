// Splitting, encoding, and the windows of a step.
#include "runtime/data/TextData.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Parse.h"
#include "runtime/base/Random.h"

#include <algorithm>
#include <limits>

namespace mekik::data {

using base::concat;

namespace {

constexpr int64_t million = 1'000'000;
// The draw of a place within a line is told from that of the line by its number.
constexpr uint64_t placeDraws = uint64_t{1} << 62;

/// floor(count * (million - validation) / million) without overflow.
uint64_t trainShare(uint64_t count, int64_t validation) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(count) * static_cast<uint64_t>(million - validation) /
                               million);
}

/// END line END line ... line END.
base::StatusOr<std::vector<int32_t>> encodeLines(const Text &text, std::span<const TextLine> lines,
                                                 const tokenizer::Tokenizer &tokenizer, int32_t end) {
  std::vector<int32_t> ids{end};
  for (const TextLine &line : lines) {
    MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> encoded, tokenizer.encode(line.text, text.origin(), line.number));
    for (int32_t id : encoded)
      if (id == end)
        return base::invalidArgumentError(concat(text.origin(), ":", line.number, ": the line holds ",
                                                 base::quoted(tokenizer.bytesOf(end)),
                                                 ", the symbol that stands between examples; choose one that does not "
                                                 "occur with --end SYMBOL"));
    ids.insert(ids.end(), encoded.begin(), encoded.end());
    ids.push_back(end);
  }
  return ids;
}

/// Ids from the END at `from` to the one behind the line, both included.
size_t exampleLength(std::span<const int32_t> ids, size_t from, int32_t end) {
  size_t to = from + 1;
  while (ids[to] != end)
    ++to;
  return to + 1 - from;
}

} // namespace

std::optional<Layout> layoutFromName(std::string_view name) {
  return name == "lines"      ? std::optional(Layout::Lines)
         : name == "stream"   ? std::optional(Layout::Stream)
         : name == "examples" ? std::optional(Layout::Examples)
                              : std::nullopt;
}

base::StatusOr<int64_t> parseValidationShare(std::string_view what, std::string_view text) {
  base::StatusOr<double> share = base::parseNumber(what, text, 0, 1);
  auto refuse = [&](std::string_view expected) {
    return base::invalidArgumentError(concat(what, ": expected ", expected, ", got ", base::quoted(text)));
  };
  if (!share.ok() || *share >= 1)
    return refuse("a share from 0 to below 1, such as 0.1");
  int64_t millionths = static_cast<int64_t>(*share * million + 0.5);
  if (millionths == million || static_cast<double>(millionths) / million != *share)
    return refuse("a share of at most six digits after the point");
  return millionths;
}

base::StatusOr<std::unique_ptr<tokenizer::Tokenizer>> makeTokenizer(std::string_view kind, const Text &text,
                                                                    Layout layout, std::string_view end) {
  if (kind == "bytes")
    return tokenizer::makeByteTokenizer(layout != Layout::Stream);
  if (kind != "characters")
    return base::invalidArgumentError(concat("--tokenizer: expected characters or bytes, got ", base::quoted(kind)));
  if (layout == Layout::Stream)
    return tokenizer::makeCharacterTokenizer(text.content(), std::nullopt, text.origin());
  // Line ends are no part of the examples, so they get no id; replaced by spaces they would add one.
  std::string joined;
  for (const TextLine &line : text.lines()) {
    if (size_t at = line.text.find(end); !end.empty() && at != std::string_view::npos)
      return tokenizer::makeCharacterTokenizer(text.content(), end, text.origin()); // for its message with the place
    joined.append(line.text);
  }
  return tokenizer::makeCharacterTokenizer(joined, end, text.origin());
}

base::StatusOr<TextData> TextData::create(const Text &text, const tokenizer::Tokenizer &tokenizer,
                                          const TextOptions &options) {
  if (options.validation < 0 || options.validation >= million)
    return base::invalidArgumentError(
        concat("--validation: expected a share from 0 to below 1, got ", options.validation, " millionths"));
  TextData data;
  data.origin = text.origin();
  data.hasValidation = options.validation > 0;
  data.layout = options.layout;
  if (options.layout == Layout::Stream) {
    MEKIK_ASSIGN_OR_RETURN(std::vector<int32_t> ids, tokenizer.encode(text.content(), text.origin()));
    size_t split = static_cast<size_t>(trainShare(ids.size(), options.validation));
    data.validationIds.assign(ids.begin() + static_cast<ptrdiff_t>(split), ids.end());
    ids.resize(split);
    data.trainIds = std::move(ids);
    return data;
  }
  std::optional<int32_t> end = tokenizer.endId();
  if (!end)
    return base::failedPreconditionError(
        concat(text.origin(), ": the tokenizer has no symbol to stand between lines: it was made for a stream; read "
                              "this text with --layout stream"));
  std::vector<TextLine> lines = text.lines();
  size_t split = static_cast<size_t>(trainShare(lines.size(), options.validation));
  if (split == 0)
    return base::invalidArgumentError(
        concat(text.origin(), ": expected lines to train on, found ", lines.size(),
               lines.size() == 1 ? " line, which" : " lines, which",
               " the share for validation takes; give a smaller --validation, or compile the model with --layout "
               "stream for a text that is not a list of lines"));
  std::span<const TextLine> all = lines;
  MEKIK_ASSIGN_OR_RETURN(data.trainIds, encodeLines(text, all.first(split), tokenizer, *end));
  data.end = end;
  data.trainLineCount = split;
  data.validationLineCount = lines.size() - split;
  if (data.hasValidation) {
    MEKIK_ASSIGN_OR_RETURN(data.validationIds, encodeLines(text, all.subspan(split), tokenizer, *end));
  }
  if (options.layout == Layout::Examples)
    for (size_t at = 0; at + 1 < data.trainIds.size(); ++at)
      if (data.trainIds[at] == *end)
        data.trainStarts.push_back(at);
  return data;
}

base::Status TextData::checkContext(int64_t context) const {
  if (context < 1 || context == std::numeric_limits<int64_t>::max())
    return base::invalidArgumentError(concat("the context must be at least 1, found ", context));
  int64_t least = layout == Layout::Examples ? 1 : context; // one line is enough, however short
  auto check = [&](const std::vector<int32_t> &ids, std::string_view part, std::string_view wayOut) {
    if (static_cast<int64_t>(ids.size()) > least)
      return base::okStatus();
    return base::invalidArgumentError(concat(origin, ": the ", part, " part has ", ids.size(), " tokens, context ",
                                             context, " needs at least ", least + 1, "; ", wayOut));
  };
  MEKIK_RETURN_IF_ERROR(check(trainIds, "training", "use a longer text or a smaller context"));
  if (hasValidation)
    return check(validationIds, "validation",
                 "use a longer text, a smaller context, a larger --validation, or --validation 0 for none");
  return base::okStatus();
}

Window TextData::windowAt(uint64_t seed, uint64_t step, uint64_t example, int64_t context) const {
  if (layout == Layout::Examples) {
    size_t length = static_cast<size_t>(context);
    std::span<const int32_t> ids = trainIds;
    size_t begin = trainStarts[base::uniformIndex(seed, MEKIK_STREAM_DATA, step, example, trainStarts.size())];
    size_t pairs = exampleLength(ids, begin, *end) - 1, from = 0, to = pairs; // of an id and its successor
    if (pairs > length) {
      from = base::uniformIndex(seed, MEKIK_STREAM_DATA, step, example + placeDraws, pairs);
      to = std::min(pairs, from + length);
    }
    return {ids.subspan(begin + from, to - from), ids.subspan(begin + from + 1, to - from)};
  }
  auto starts = static_cast<uint64_t>(startCount(context));
  return windowFrom(static_cast<int64_t>(base::uniformIndex(seed, MEKIK_STREAM_DATA, step, example, starts)), context);
}

Window TextData::windowFrom(int64_t start, int64_t context) const {
  size_t first = static_cast<size_t>(start), length = static_cast<size_t>(context);
  std::span<const int32_t> ids = trainIds;
  return {ids.subspan(first, length), ids.subspan(first + 1, length)};
}

int64_t TextData::evaluationWindowCount(std::span<const int32_t> ids, int64_t context, int64_t limit) {
  int64_t size = static_cast<int64_t>(ids.size());
  if (limit > 0 && limit < size)
    size = limit;
  return size > context ? (size - 1) / context : 0;
}

Window TextData::evaluationWindow(std::span<const int32_t> ids, int64_t context, int64_t index) {
  size_t length = static_cast<size_t>(context), start = static_cast<size_t>(index) * length;
  return {ids.subspan(start, length), ids.subspan(start + 1, length)};
}

int64_t TextData::targetCount(std::span<const int32_t> ids, int64_t context, int64_t limit) const {
  int64_t size = static_cast<int64_t>(ids.size());
  if (limit > 0 && limit < size)
    size = limit;
  return std::max<int64_t>(0, size - firstTarget(context));
}

int32_t TextData::targetAt(std::span<const int32_t> ids, int64_t index, std::span<int32_t> window) const {
  size_t position = static_cast<size_t>(index + firstTarget(static_cast<int64_t>(window.size())));
  std::span<const int32_t> before = ids.first(position);
  size_t used = 0;
  while (used < window.size() && used < before.size()) {
    ++used;
    if (end && before[before.size() - used] == *end)
      break; // the line starts behind it
  }
  size_t missing = window.size() - used;
  std::fill_n(window.begin(), missing, end.value_or(0));
  std::copy(before.end() - static_cast<ptrdiff_t>(used), before.end(),
            window.begin() + static_cast<ptrdiff_t>(missing));
  return ids[position];
}

int64_t TextData::targetIndexAt(uint64_t seed, uint64_t step, uint64_t example, int64_t context) const {
  auto count = static_cast<uint64_t>(targetCount(trainIds, context));
  return static_cast<int64_t>(base::uniformIndex(seed, MEKIK_STREAM_DATA, step, example, count));
}

std::vector<Window> TextData::evaluationWindows(bool ofValidation, int64_t context, int64_t limit) const {
  std::span<const int32_t> ids = ofValidation ? validationIds : trainIds;
  std::vector<Window> windows;
  if (layout != Layout::Examples) {
    for (int64_t i = 0, count = evaluationWindowCount(ids, context, limit); i < count; ++i)
      windows.push_back(evaluationWindow(ids, context, i));
    return windows;
  }
  size_t most = limit > 0 ? static_cast<size_t>(limit) : ids.size();
  for (size_t from = 0; from + 1 < ids.size();) {
    size_t last = from + exampleLength(ids, from, *end) - 1;
    for (; from < last; from += std::min(static_cast<size_t>(context), last - from)) {
      size_t length = std::min(static_cast<size_t>(context), last - from);
      if (!windows.empty() && from + length + 1 > most)
        return windows;
      windows.push_back({ids.subspan(from, length), ids.subspan(from + 1, length)});
    }
  }
  return windows;
}

} // namespace mekik::data
