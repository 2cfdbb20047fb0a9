// `train`: which optimizer, with which numbers, along which schedule.
#include "compiler/frontend/Elaborator.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/syntax/Spelling.h"
#include <algorithm>

namespace mekik::frontend {

using namespace syntax;

namespace {

/// A number of an optimizer or schedule: its default, and the interval it must lie in.
struct Setting {
  const char *name;
  double value;
  double low, high;
  bool highAllowed = true;
  bool required = false;
  bool isInteger = false;
};

constexpr double most = 1.7976931348623157e308;

const std::map<std::string, std::vector<Setting>> &optimizers() {
  static const Setting decay{"weight_decay", 0, 0, most}, clip{"clip", 0, 0, most}, beta1{"beta1", 0.9, 0, 1, false},
      beta2{"beta2", 0.999, 0, 1, false}, eps{"eps", 1e-8, 0, most};
  static const std::map<std::string, std::vector<Setting>> all = {
      {"sgd", {decay, clip}},
      {"momentum", {{"momentum", 0.9, 0, 1, false}, decay, clip}},
      {"nesterov", {{"momentum", 0.9, 0, 1, false}, decay, clip}},
      {"adam", {beta1, beta2, eps, decay, clip}},
      {"adamw", {beta1, beta2, eps, {"weight_decay", 0.01, 0, most}, clip}},
  };
  return all;
}

const std::map<std::string, std::vector<Setting>> &schedules() {
  static const Setting peak{"peak", 0, 0, most, true, true}, warmup{"warmup", 0, 0, 9e18, true, false, true},
      steps{"steps", 0, 1, 9e18, true, true, true}, floor{"floor", 0, 0, most};
  static const std::map<std::string, std::vector<Setting>> all = {
      {"constant", {peak, warmup}},
      {"cosine", {peak, steps, floor, warmup}},
      {"linear", {peak, steps, floor, warmup}},
  };
  return all;
}

std::vector<std::string> keys(const std::map<std::string, std::vector<Setting>> &map) {
  std::vector<std::string> names;
  for (const auto &[name, settings] : map)
    names.push_back(name);
  return names;
}

} // namespace

bool Elaborator::readSettings(const CallExpr &call, std::vector<std::pair<std::string, std::optional<Term>>> &settings,
                              const std::string &handledElsewhere) {
  bool good = true;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument &argument = call.arguments[i];
    std::string name = argument.keyword ? argument.keyword->text : i == 0 ? settings[0].first : "";
    if (!handledElsewhere.empty() && (name == handledElsewhere || (!argument.keyword && i == 0)))
      continue;
    if (name.empty()) {
      error(argument.value->range,
            absl::StrCat("only the first argument of '", call.callee.text, "' may stand without its name"));
      good = false;
      continue;
    }
    auto entry =
        std::find_if(settings.begin(), settings.end(), [&](const auto &setting) { return setting.first == name; });
    if (entry == settings.end()) {
      std::vector<std::string> known;
      for (const auto &setting : settings)
        known.push_back(setting.first);
      if (!handledElsewhere.empty())
        known.insert(known.begin(), handledElsewhere);
      error(argument.keyword->range, absl::StrCat("'", call.callee.text, "' has no setting '", name, "'; it has ",
                                                  absl::StrJoin(known, ", "), suggestion(name, known)));
      good = false;
      continue;
    }
    if (entry->second) {
      error(argument.value->range, absl::StrCat("setting '", name, "' is given twice"));
      good = false;
    }
    entry->second = eval(*argument.value);
    good &= !entry->second->isPoison();
  }
  return good;
}

namespace {

using Given = std::vector<std::pair<std::string, std::optional<Term>>>;

Given emptySettings(const std::vector<Setting> &settings) {
  Given given;
  for (const Setting &setting : settings)
    given.emplace_back(setting.name, std::nullopt);
  return given;
}

/// "" or what is wrong with a value.
std::string problemOf(const Setting &setting, const std::optional<Term> &term) {
  if (!term)
    return setting.required ? absl::StrCat("needs '", setting.name, "'") : "";
  if (setting.isInteger ? !term->isInteger() : !term->isNumber())
    return absl::StrCat("'", setting.name, "' must be ", setting.isInteger ? "an int" : "a number",
                        " known at compile time, found ", kindOf(*term));
  double value = term->number();
  if (value >= setting.low && (setting.highAllowed ? value <= setting.high : value < setting.high))
    return "";
  std::string range = setting.high < 1e18 ? absl::StrCat("from ", setting.low,
                                                         setting.highAllowed ? " to " : " to below ", setting.high)
                                          : absl::StrCat("at least ", setting.low);
  return absl::StrCat("'", setting.name, "' must be ", range, ", found ", show(*term));
}

} // namespace

mlir::DictionaryAttr Elaborator::rateSchedule(const Expr &expr) {
  const CallExpr *call = expr.kind == ExprKind::Call ? static_cast<const CallExpr *>(&expr) : nullptr;
  mlir::NamedAttrList list;
  std::string kind = "constant", rule = "next";
  double peak = 0, floor = 0;
  int64_t steps = 0, warmup = 0;
  if (!call || call->callee.text == "sqrt" || call->callee.text == "min" || call->callee.text == "max") {
    Term rate = eval(expr);
    if (rate.isPoison())
      return {};
    if (!rate.isNumber() || rate.number() < 0) {
      error(expr.range, absl::StrCat("expected a rate of at least 0 or a schedule (constant, cosine or linear), found ",
                                     rate.isNumber() ? show(rate) : kindOf(rate)));
      return {};
    }
    peak = rate.number();
  } else {
    auto found = schedules().find(call->callee.text);
    if (found == schedules().end()) {
      error(call->callee.range, absl::StrCat("there is no schedule '", call->callee.text,
                                             "'; the schedules are constant, cosine and linear",
                                             suggestion(call->callee.text, keys(schedules()))));
      return {};
    }
    kind = found->first;
    Given given = emptySettings(found->second);
    given.emplace_back("warmup_rule", std::nullopt);
    if (!readSettings(*call, given, ""))
      return {};
    for (size_t i = 0; i < found->second.size(); ++i) {
      const Setting &setting = found->second[i];
      const std::optional<Term> &term = given[i].second;
      std::string problem = problemOf(setting, term);
      if (!problem.empty()) {
        error(call->range, absl::StrCat(kind, ": ", problem));
        return {};
      }
      std::string name = setting.name;
      if (name == "peak")
        peak = term->number();
      else if (name == "floor" && term)
        floor = term->number();
      else if (name == "steps" && term)
        steps = term->integer();
      else if (name == "warmup" && term)
        warmup = term->integer();
    }
    if (const auto &term = given.back().second) {
      bool known =
          term->isText() && (term->text() == "next" || term->text() == "next_open" || term->text() == "current");
      if (!known) {
        error(call->range, absl::StrCat(kind, ": 'warmup_rule' must be \"next\", \"next_open\" or \"current\", found ",
                                        show(*term)));
        return {};
      }
      rule = term->text();
    }
    if (floor > peak) {
      error(call->range, absl::StrCat(kind, ": 'floor' (", showFloat(floor), ") must not be above the peak (",
                                      showFloat(peak), ")"));
      return {};
    }
    if (kind != "constant" && warmup > steps) {
      error(call->range, absl::StrCat(kind, ": 'warmup' (", warmup, ") must not be more than 'steps' (", steps, ")"));
      return {};
    }
  }
  list.set("kind", builder.getStringAttr(kind));
  list.set("peak", builder.getF64FloatAttr(peak));
  list.set("floor", builder.getF64FloatAttr(floor));
  list.set("steps", builder.getI64IntegerAttr(steps));
  list.set("warmup", builder.getI64IntegerAttr(warmup));
  list.set("warmup_rule", builder.getStringAttr(rule));
  return list.getDictionary(builder.getContext());
}

void Elaborator::setOptimizer(const ValueStmt &statement) {
  if (optimizerPlace) {
    error(statement.range, "a second 'train'; a model has one").note(*optimizerPlace, "the first is here");
    return;
  }
  optimizerPlace = statement.range;
  const Expr &expr = *statement.value;
  std::vector<std::string> known = keys(optimizers());
  if (expr.kind != ExprKind::Call) {
    error(expr.range, absl::StrCat("expected an optimizer (", absl::StrJoin(known, ", "),
                                   ") with its settings, such as adam(rate = 0.001)"));
    return;
  }
  const auto &call = static_cast<const CallExpr &>(expr);
  auto found = optimizers().find(call.callee.text);
  if (found == optimizers().end()) {
    error(call.callee.range, absl::StrCat("there is no optimizer '", call.callee.text, "'; the optimizers are ",
                                          absl::StrJoin(known, ", "), suggestion(call.callee.text, known)));
    return;
  }
  Given given = emptySettings(found->second);
  given.emplace_back("decay", std::nullopt);
  if (!readSettings(call, given, "rate"))
    return;
  const Expr *rate = nullptr;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument &argument = call.arguments[i];
    bool isRate = argument.keyword ? argument.keyword->text == "rate" : i == 0;
    if (isRate && rate) {
      error(argument.value->range, "setting 'rate' is given twice");
      return;
    }
    if (isRate)
      rate = argument.value.get();
  }
  if (!rate) {
    error(call.range, absl::StrCat(found->first, " needs a rate, such as ", found->first, "(rate = 0.001)"));
    return;
  }
  mlir::DictionaryAttr schedule = rateSchedule(*rate);
  if (!schedule)
    return;
  std::map<std::string, double> values = {{"momentum", 0}, {"weight_decay", 0}, {"clip", 0},
                                          {"beta1", 0},    {"beta2", 0},        {"eps", 0}};
  for (size_t i = 0; i < found->second.size(); ++i) {
    const Setting &setting = found->second[i];
    std::string problem = problemOf(setting, given[i].second);
    if (!problem.empty()) {
      error(call.range, absl::StrCat(found->first, ": ", problem));
      return;
    }
    values[setting.name] = given[i].second ? given[i].second->number() : setting.value;
  }
  std::string decay = "matrices";
  if (const auto &term = given.back().second) {
    if (!term->isText() || (term->text() != "matrices" && term->text() != "all")) {
      error(call.range, absl::StrCat(found->first, ": 'decay' must be \"matrices\" or \"all\", found ", show(*term)));
      return;
    }
    decay = term->text();
  }
  if (found->first == "nesterov" && values["momentum"] == 0) {
    error(call.range, "nesterov: 'momentum' must be above 0; without momentum use sgd");
    return;
  }
  bool adam = found->first == "adam" || found->first == "adamw";
  mlir::NamedAttrList list;
  list.set("kind", builder.getStringAttr(adam ? found->first : "sgd"));
  list.set("nesterov", builder.getBoolAttr(found->first == "nesterov"));
  for (const auto &[name, value] : values)
    list.set(name, builder.getF64FloatAttr(value));
  list.set("decay", builder.getStringAttr(decay));
  list.set("rate", schedule);
  optimizer = list.getDictionary(builder.getContext());
}

} // namespace mekik::frontend
