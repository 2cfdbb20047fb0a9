// The function being built: configuration first, then the statements, then its results and attributes.
#include "compiler/frontend/Elaborator.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/syntax/Parser.h"
#include "compiler/syntax/Spelling.h"
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace mekik::frontend {

using namespace syntax;

namespace {
/// A model that needs more statements and expressions than this to be built is a loop gone wrong.
constexpr int64_t maxWork = 500'000;

std::string pythonicName(const std::string &text) { return absl::StrCat("'", text, "'"); }
} // namespace

Elaborator::Elaborator(const Model &model, const Options &options, Diagnostics &diagnostics, mlir::ModuleOp module,
                       Usage &usage, Mode mode)
    : model(model), options(options), diagnostics(diagnostics), module(module), builder(module.getContext()),
      usage(usage), mode(mode), fileFrame(usage) {
  naming.emplace_back();
}

Diagnostic &Elaborator::error(SourceRange range, std::string message) {
  Diagnostic &diagnostic = diagnostics.error(range, std::move(message));
  // A recursion passes the same place again and again; it is shown once.
  constexpr size_t mostPlaces = 3;
  std::vector<uint32_t> shown;
  size_t told = 0;
  for (auto call = callStack.rbegin(); call != callStack.rend(); ++call) {
    bool known = std::find(shown.begin(), shown.end(), call->range.begin) != shown.end();
    if (!known && shown.size() == mostPlaces)
      break;
    ++told;
    if (known)
      continue;
    shown.push_back(call->range.begin);
    diagnostic.note(call->range, absl::StrCat("in the block ", pythonicName(call->block), ", called here"));
  }
  if (size_t left = callStack.size() - told; left > 0)
    diagnostic.note(absl::StrCat("and ", left, " more ", left == 1 ? "call" : "calls", " around these"));
  if (mode == Mode::Eval)
    diagnostic.note("this happens in the evaluation form of the model, in which 'batch' is 1");
  return diagnostic;
}

Term Elaborator::fail(SourceRange range, std::string message) {
  error(range, std::move(message));
  return {};
}

mlir::Location Elaborator::location(SourceRange range) {
  Position position = diagnostics.source().position(range.begin);
  return mlir::FileLineColLoc::get(builder.getContext(), diagnostics.source().name(), position.line, position.column);
}

bool Elaborator::spend(SourceRange range) {
  if (!stopped && (++spent > maxWork || diagnostics.full())) {
    stopped = true;
    if (!diagnostics.full())
      error(range, absl::StrCat("building the model takes more than ", maxWork,
                                " steps here; is a 'repeat' counting further than meant?"));
  }
  return !stopped;
}

void Elaborator::readFileHeader() {
  std::map<std::string, SourceRange> seen;
  bool f64 = false;
  for (const StmtPtr &statement : model.body) {
    auto once = [&](const std::string &what) {
      auto [entry, isNew] = seen.emplace(what, statement->range);
      if (!isNew)
        diagnostics.error(statement->range, absl::StrCat("a second '", what, "'; only one may stand in a file"))
            .note(entry->second, "the first is here");
    };
    if (statement->kind == StmtKind::Model) {
      once("model");
      name = static_cast<NameStmt &>(*statement).name;
    } else if (statement->kind == StmtKind::Precision) {
      once("precision");
      f64 = static_cast<NameStmt &>(*statement).name.text == "f64";
    } else if (statement->kind == StmtKind::Config) {
      auto &config = static_cast<ConfigStmt &>(*statement);
      auto [entry, isNew] = configStatements.emplace(config.name.text, &config);
      if (!isNew)
        diagnostics.error(config.name.range, absl::StrCat("a second config ", pythonicName(config.name.text)))
            .note(entry->second->name.range, "the first is here");
    } else if (statement->kind == StmtKind::Block) {
      auto &block = static_cast<BlockStmt &>(*statement);
      auto [entry, isNew] = blocks.emplace(block.name.text, &block);
      if (!isNew)
        diagnostics.error(block.name.range, absl::StrCat("a second block ", pythonicName(block.name.text)))
            .note(entry->second->name.range, "the first is here");
    }
  }
  if (name.text.empty())
    diagnostics.error(SourceRange{diagnostics.source().start(), diagnostics.source().start()},
                      "the file does not say the name of its model; begin it with a line such as: model gpt");
  auto given = options.overrides.find("precision");
  if (given != options.overrides.end() && !configStatements.count("precision")) {
    if (given->second != "f32" && given->second != "f64")
      diagnostics.error(std::nullopt, absl::StrCat("-D precision=", given->second, ": expected f32 or f64")).usage();
    f64 = given->second == "f64";
  }
  if (options.precision)
    f64 = *options.precision == Precision::F64;
  floatType = f64 ? mlir::FloatType(builder.getF64Type()) : mlir::FloatType(builder.getF32Type());
}

void Elaborator::checkOverrideNames() {
  std::vector<std::string> known;
  for (const auto &[configName, statement] : configStatements)
    known.push_back(configName);
  for (const auto &[configName, value] : options.overrides)
    if (!configStatements.count(configName) && configName != "precision")
      diagnostics
          .error(std::nullopt, absl::StrCat("-D ", configName, "=", value, ": the model has no config '",
                                                   configName, "'", suggestion(configName, known)))
          .usage();
}

std::optional<Term> Elaborator::overrideValue(const ConfigStmt &config, const std::string &text) {
  const std::string &type = config.type.text;
  int64_t integer;
  double number;
  if (type == "string")
    return Term(text);
  if (type == "bool" && (text == "true" || text == "false"))
    return Term(text == "true");
  if (type == "int" && absl::SimpleAtoi(text, &integer))
    return Term(integer);
  if (type == "float" && absl::SimpleAtod(text, &number) && std::isfinite(number))
    return Term(number);
  diagnostics
      .error(std::nullopt, absl::StrCat("-D ", config.name.text, "=", text, ": '", text, "' is not ",
                                        type == "int"     ? "an int (a whole number of at most 64 bits)"
                                        : type == "float" ? "a float (a finite number)"
                                                          : "a bool (true or false)"))
      .note(config.range, "the config is declared here")
      .usage();
  return std::nullopt;
}

void Elaborator::configure(const ConfigStmt &config) {
  auto given = options.overrides.find(config.name.text);
  bool forced = mode == Mode::Eval && config.name.text == "batch" && config.type.text == "int";
  bool fromOption = given != options.overrides.end();
  Term value;
  if (fromOption) {
    if (auto parsed = overrideValue(config, given->second))
      value = *parsed;
  } else if (config.value) {
    value = eval(*config.value);
    bool fits = config.type.text == "int"     ? value.isInteger()
                : config.type.text == "float" ? value.isNumber()
                : config.type.text == "bool"  ? value.isBool()
                                              : value.isText();
    if (fits && config.type.text == "float")
      value = Term(value.number());
    if (!fits && !value.isPoison()) {
      error(config.value->range,
            absl::StrCat("config ", pythonicName(config.name.text), " is of type ", config.type.text,
                         ", but its default ", show(value), " is ", kindOf(value)));
      value = {};
    }
  } else {
    error(config.name.range,
          absl::StrCat("config ", pythonicName(config.name.text), " has no value; give it one with -D ",
                       config.name.text, "=...",
                       config.name.text == "vocab" ? " or a text with --data FILE" : "", ", or a default here"))
        .usage();
  }
  if (!value.isPoison() && !checkConfigRange(config, value, fromOption))
    value = {};
  if (!value.isPoison())
    configValues.emplace_back(config.name.text, value);
  if (forced)
    value = Term(int64_t(1));
  fileFrame.declare(config.name, value, NameKind::Config);
}

bool Elaborator::checkConfigRange(const ConfigStmt &config, const Term &value, bool fromOption) {
  std::string problem;
  bool inside = true;
  auto complain = [&](SourceRange place, const std::string &expected) {
    std::string what =
        absl::StrCat("config ", pythonicName(config.name.text), " is ", show(value), ", but must be ", expected);
    if (fromOption)
      diagnostics
          .error(std::nullopt,
                 absl::StrCat("-D ", config.name.text, "=", options.overrides.at(config.name.text), ": ", what))
          .note(place, "the range is declared here")
          .usage();
    else
      error(place, what);
  };
  if (config.hasRange) {
    for (const ExprPtr *bound : {&config.low, &config.high}) {
      if (!*bound)
        continue;
      Term limit = eval(**bound);
      if (limit.isPoison())
        return false;
      bool isLow = bound == &config.low;
      auto holds = evaluate(isLow ? Operator::GreaterEqual : Operator::LessEqual, value, limit, problem);
      if (!holds)
        error((*bound)->range,
              absl::StrCat("this bound is ", kindOf(limit), ", but the config is of type ", config.type.text));
      else if (!holds->boolean())
        complain((*bound)->range, absl::StrCat(isLow ? "at least " : "at most ", show(limit)));
      inside &= holds && holds->boolean();
    }
  }
  if (config.choices.empty())
    return inside;
  std::string list;
  for (const ExprPtr &choice : config.choices) {
    Term term = eval(*choice);
    if (term.isPoison())
      return false;
    auto equal = evaluate(Operator::Equal, value, term, problem);
    if (equal && equal->boolean())
      return true;
    absl::StrAppend(&list, list.empty() ? "" : ", ", show(term));
  }
  complain(config.choices.front()->range, absl::StrCat("one of ", list));
  return false;
}

mlir::Value Elaborator::addArgument(std::vector<Interface> &list, size_t position, Interface entry, mlir::Type type) {
  entry.argument = function.getBody().front().insertArgument(position, type, location(entry.declared));
  list.push_back(std::move(entry));
  return list.back().argument;
}

void Elaborator::createFunction() {
  builder.setInsertionPointToEnd(module.getBody());
  mlir::Location place = location(name.range);
  function =
      mlir::func::FuncOp::create(builder, place, mode == Mode::Train ? graph::kTrainFunction : graph::kEvalFunction,
                                 builder.getFunctionType({}, {}));
  mlir::Block *entry = function.addEntryBlock();
  auto scalar = mlir::RankedTensorType::get({}, builder.getI64Type());
  seed = entry->addArgument(scalar, place);
  step = entry->addArgument(scalar, place);
  builder.setInsertionPointToEnd(entry);
}

void Elaborator::finishFunction() {
  std::vector<mlir::Value> results;
  std::vector<mlir::DictionaryAttr> resultAttributes, argumentAttributes;
  auto attributes = [&](llvm::StringRef role, const std::string &tensorName) {
    mlir::NamedAttrList list;
    list.set(graph::kRole, builder.getStringAttr(role));
    list.set(graph::kName, builder.getStringAttr(tensorName));
    return list;
  };
  auto addResult = [&](llvm::StringRef role, const NamedResult &entry) {
    results.push_back(entry.value);
    resultAttributes.push_back(attributes(role, entry.name).getDictionary(builder.getContext()));
  };
  if (loss)
    addResult("loss", *loss);
  for (const NamedResult &output : outputs)
    addResult("output", output);
  for (const NamedResult &probe : probes)
    addResult("probe", probe);
  mlir::func::ReturnOp::create(builder, location(name.range), results);

  auto addArguments = [&](llvm::StringRef role, const std::vector<Interface> &list) {
    for (const Interface &entry : list) {
      mlir::NamedAttrList all = attributes(role, entry.name);
      if (entry.initializer)
        all.set(graph::kInit, entry.initializer);
      if (!entry.block.empty())
        all.set(graph::kBlock, builder.getStringAttr(entry.block));
      if (entry.classes && !entry.unchecked)
        all.set(graph::kClasses, builder.getI64IntegerAttr(*entry.classes));
      argumentAttributes.push_back(all.getDictionary(builder.getContext()));
    }
  };
  addArguments("parameter", params);
  addArguments("input", inputs);
  addArguments("target", targets);
  for (llvm::StringRef role : {"seed", "step"})
    argumentAttributes.push_back(attributes(role, role.str()).getDictionary(builder.getContext()));

  mlir::Block &entry = function.getBody().front();
  std::vector<mlir::Type> resultTypes;
  for (mlir::Value value : results)
    resultTypes.push_back(value.getType());
  function.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(), resultTypes));
  function.setAllArgAttrs(argumentAttributes);
  function.setAllResultAttrs(resultAttributes);
}

static nlohmann::ordered_json toJson(const Term &term) {
  if (term.isInteger())
    return term.integer();
  if (term.isFloat())
    return term.number();
  if (term.isBool())
    return term.boolean();
  return term.text();
}

bool Elaborator::run() {
  int before = diagnostics.errorCount();
  readFileHeader();
  checkOverrideNames();
  createFunction();
  executeBody(model.body);
  if (diagnostics.errorCount() > before || stopped)
    return false;
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto &[configName, value] : configValues)
    json[configName] = toJson(value);
  // Override texts come from the command line and need not be UTF-8.
  configuration = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (!loss && outputs.empty()) {
    error(name.range, "the model computes nothing; it needs a 'loss' or an 'output'");
    return false;
  }
  if (optimizer && !loss) {
    error(*optimizerPlace, "there is a 'train' but no 'loss'; add a line such as: loss cross_entropy(logits, next)");
    return false;
  }
  finishFunction();
  return true;
}

void Elaborator::warnAboutUnreached() {
  if (!loss)
    return;
  llvm::DenseSet<mlir::Value> reached;
  llvm::SmallVector<mlir::Value> pending{loss->value};
  while (!pending.empty()) {
    mlir::Value value = pending.pop_back_val();
    if (!isFloatTensor(value) || !reached.insert(value).second)
      continue;
    if (mlir::Operation *op = value.getDefiningOp())
      pending.append(op->operand_begin(), op->operand_end());
  }
  for (const Interface &param : params)
    if (!reached.contains(param.argument))
      diagnostics.warning(
          param.declared,
          absl::StrCat("parameter '", param.name, "' has no influence on the loss, so its gradient is zero"));
}

} // namespace mekik::frontend
