// The optimizer as the front end leaves it on the module, checked.
#include "compiler/autodiff/Optimizer.h"
#include "compiler/graph/ModelConventions.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace mekik;
using namespace mekik::autodiff;

namespace {

/// Reads entries of one dictionary; the first thing wrong is reported, and `good` turns false.
class EntryReader {
public:
  EntryReader(DictionaryAttr dictionary, Twine where, Location loc)
      : dictionary(dictionary), where(where.str()), loc(loc) {}

  /// A number in [low, high], or in [low, high) if `open`.
  void number(StringRef name, double &value, double low, double high = INFINITY, bool open = false) {
    Attribute entry = find(name);
    if (!entry)
      return;
    auto real = dyn_cast<FloatAttr>(entry);
    if (!real)
      return fail(name, "a float", entry);
    double found = real.getValueAsDouble();
    bool inside = std::isfinite(found) && found >= low && (open ? found < high : found <= high);
    if (!inside)
      return fail(name,
                  high == INFINITY ? Twine("a finite number of at least ") + text(low)
                                   : Twine("a number from ") + text(low) + (open ? " to below " : " to ") + text(high),
                  entry);
    value = found;
  }

  void count(StringRef name, int64_t &value, int64_t low) {
    Attribute entry = find(name);
    if (!entry)
      return;
    auto integer = dyn_cast<IntegerAttr>(entry);
    if (!integer || integer.getInt() < low)
      return fail(name, "an integer of at least " + Twine(low), entry);
    value = integer.getInt();
  }

  void flag(StringRef name, bool &value) {
    Attribute entry = find(name);
    if (!entry)
      return;
    auto boolean = dyn_cast<BoolAttr>(entry);
    if (!boolean)
      return fail(name, "true or false", entry);
    value = boolean.getValue();
  }

  /// One of `names`; the index is stored.
  template <typename Enum> void choice(StringRef name, Enum &value, ArrayRef<StringRef> names) {
    Attribute entry = find(name);
    if (!entry)
      return;
    auto word = dyn_cast<StringAttr>(entry);
    const auto *found = word ? llvm::find(names, word.getValue()) : names.end();
    if (found == names.end())
      return fail(name, "one of " + llvm::join(names, ", "), entry);
    value = static_cast<Enum>(found - names.begin());
  }

  DictionaryAttr nested(StringRef name) {
    Attribute entry = find(name);
    auto inner = dyn_cast_or_null<DictionaryAttr>(entry);
    if (entry && !inner)
      fail(name, "a dictionary", entry);
    return inner;
  }

  /// Everything asked for has been read: what is left is a misspelling.
  bool finish() {
    for (NamedAttribute entry : dictionary)
      if (good && !known.contains(entry.getName().getValue())) {
        emitError(loc) << where << " has an unknown entry '" << entry.getName().getValue() << "'";
        good = false;
      }
    return good;
  }

  void fail(const Twine &message) {
    if (good)
      emitError(loc) << where << " " << message;
    good = false;
  }

private:
  static std::string text(double value) {
    std::string result;
    llvm::raw_string_ostream(result) << llvm::format("%g", value);
    return result;
  }

  Attribute find(StringRef name) {
    known.insert(name);
    return good ? dictionary.get(name) : Attribute();
  }

  void fail(StringRef name, const Twine &expected, Attribute found) {
    if (good)
      emitError(loc) << where << " expects '" << name << "' to be " << expected << ", got " << found;
    good = false;
  }

  DictionaryAttr dictionary;
  std::string where;
  Location loc;
  llvm::StringSet<> known;
  bool good = true;
};

bool readSchedule(DictionaryAttr attribute, Location loc, Schedule &schedule) {
  EntryReader reader(attribute, "learning rate", loc);
  reader.choice("kind", schedule.kind, {"constant", "cosine", "linear"});
  reader.number("peak", schedule.peak, 0);
  reader.number("floor", schedule.floor, 0);
  reader.count("steps", schedule.steps, 0);
  reader.count("warmup", schedule.warmup, 0);
  reader.choice("warmup_rule", schedule.warmupRule, {"next", "next_open", "current"});
  if (!attribute.contains("peak"))
    reader.fail("has no 'peak', the rate it rises to");
  if (schedule.kind != Schedule::Kind::Constant && schedule.warmup > schedule.steps)
    reader.fail("warms up for " + Twine(schedule.warmup) + " steps, more than the " + Twine(schedule.steps) +
                " steps it has; raise steps or lower warmup");
  return reader.finish();
}

} // namespace

FailureOr<Optimizer> Optimizer::read(DictionaryAttr attribute, Location loc) {
  Optimizer result;
  EntryReader reader(attribute, "optimizer", loc);
  reader.choice("kind", result.kind, {"sgd", "adam", "adamw"});
  reader.number("momentum", result.momentum, 0, 1, /*open=*/true);
  reader.flag("nesterov", result.nesterov);
  reader.number("beta1", result.beta1, 0, 1, /*open=*/true);
  reader.number("beta2", result.beta2, 0, 1, /*open=*/true);
  reader.number("eps", result.eps, 0);
  reader.number("weight_decay", result.weightDecay, 0);
  reader.choice("decay", result.decayAll, {"matrices", "all"});
  reader.number("clip", result.clip, 0);
  if (result.nesterov && result.momentum == 0)
    reader.fail("asks for nesterov without momentum; give a momentum, such as 0.9");
  DictionaryAttr rate = reader.nested("rate");
  if (!reader.finish())
    return failure();
  if (!rate)
    return emitError(loc) << "optimizer has no learning rate; give it a 'rate'";
  if (!readSchedule(rate, loc, result.rate))
    return failure();
  return result;
}
