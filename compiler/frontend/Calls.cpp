// Calls: which block, function or op a name means, and how arguments meet parameters.
#include "compiler/frontend/Arguments.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/syntax/Spelling.h"
#include "mlir/IR/Verifier.h"
#include <algorithm>
#include <cmath>

namespace mekik::frontend {

using namespace syntax;

namespace {

constexpr size_t maxBlockDepth = 64;

/// How many operands an op always has; nothing if that varies or the op is not one of the language.
std::optional<unsigned> operandCount(mlir::RegisteredOperationName op) {
  if (op.hasTrait<mlir::OpTrait::OneOperand>())
    return 1;
  if (op.hasTrait<mlir::OpTrait::NOperands<2>::Impl>())
    return 2;
  if (op.hasTrait<mlir::OpTrait::NOperands<3>::Impl>())
    return 3;
  return std::nullopt;
}

std::optional<mlir::RegisteredOperationName> findOp(mlir::MLIRContext *context, const std::string &name) {
  auto op = mlir::RegisteredOperationName::lookup(absl::StrCat("graph.", name), context);
  // Ops without the trait need to be told their result type, so they stand in the list of functions instead.
  if (op && op->hasTrait<mlir::OpTrait::SameOperandsAndResultType>() && operandCount(*op))
    return op;
  return std::nullopt;
}

} // namespace

Term Elaborator::evalCall(const CallExpr &call) {
  const std::string &name = call.callee.text;
  usage.calledBlocks.insert(name);
  if (auto block = blocks.find(name); block != blocks.end())
    return callBlock(call, *block->second);
  if (call.label)
    error(call.label->range, absl::StrCat("a name behind 'as' is for calls of blocks, whose parameters it names; '",
                                          name, "' is no block"));
  const Signature *signature = nullptr;
  for (const Signature &candidate : signatures())
    if (candidate.name == name)
      signature = &candidate;
  auto op = signature ? std::nullopt : findOp(builder.getContext(), name);
  bool rounds = name == "floor" || name == "ceil";
  if (!signature && !op && !rounds)
    return unknownFunction(call);
  GivenArguments given;
  bool poisoned = false, numbers = !call.arguments.empty();
  for (const Argument &argument : call.arguments) {
    // The second argument of cast is the name of a type.
    bool isType = name == "cast" && (given.size() == 1 || argument.keyword) && argument.value->kind == ExprKind::Name;
    Term term = isType ? Term(static_cast<const NameExpr &>(*argument.value).name) : eval(*argument.value);
    poisoned |= term.isPoison();
    numbers &= term.isNumber() && !argument.keyword;
    given.push_back({argument.keyword ? &*argument.keyword : nullptr, std::move(term), argument.value->range});
  }
  if (poisoned)
    return {};
  if (rounds || (numbers && (name == "sqrt" || name == "abs" || name == "min" || name == "max")))
    return callCompileTime(call, given);
  return signature ? callFunction(call, *signature, std::move(given))
                   : callOp(call, *op, *operandCount(*op), std::move(given));
}

Term Elaborator::unknownFunction(const CallExpr &call) {
  std::vector<std::string> known = {"floor", "ceil"};
  for (const auto &[name, block] : blocks)
    known.push_back(name);
  for (const Signature &signature : signatures())
    known.push_back(signature.name);
  for (mlir::RegisteredOperationName op : builder.getContext()->getRegisteredOperationsByDialect("graph")) {
    std::string name = op.stripDialect().str();
    if (findOp(builder.getContext(), name))
      known.push_back(name);
  }
  const std::string &name = call.callee.text;
  std::string hint;
  for (const char *training : {"sgd", "momentum", "nesterov", "adam", "adamw", "constant", "cosine", "linear"})
    if (name == training)
      hint = "; optimizers and schedules stand behind 'train' only";
  for (const char *initializer : {"zeros", "ones", "normal", "uniform"})
    if (name == initializer)
      hint = "; initializers stand behind the '=' of a 'param' only (full(shape, c) makes a constant tensor)";
  if (frame->find(name))
    hint = absl::StrCat("; '", name, "' is a value, which cannot be called");
  return fail(call.callee.range, absl::StrCat("there is no function or block '", name, "'",
                                              hint.empty() ? suggestion(name, known) : hint));
}

std::string Elaborator::callName(const CallExpr &call, const std::string &block) {
  NamingScope &scope = naming.back();
  if (!call.label) {
    int number = ++scope.calls[block];
    return number == 1 ? block : absl::StrCat(block, number);
  }
  auto [entry, isNew] = scope.labels.emplace(call.label->text, call.label->range);
  if (!isNew) {
    Diagnostic &diagnostic =
        error(call.label->range, absl::StrCat("a second call named '", call.label->text, "' in one scope; give it another name"));
    if (entry->second.begin != call.label->range.begin)
      diagnostic.note(entry->second, "the first is here");
  }
  return call.label->text;
}

Term Elaborator::callBlock(const CallExpr &call, const BlockStmt &block) {
  const std::string &name = block.name.text;
  std::vector<std::optional<Term>> given(block.parameters.size());
  bool good = true;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument &argument = call.arguments[i];
    Term value = eval(*argument.value);
    size_t position = i;
    if (argument.keyword) {
      std::vector<std::string> known;
      for (const BlockParameter &parameter : block.parameters)
        known.push_back(parameter.name.text);
      position = std::find(known.begin(), known.end(), argument.keyword->text) - known.begin();
      if (position == known.size()) {
        error(argument.keyword->range, absl::StrCat("block '", name, "' has no parameter '", argument.keyword->text,
                                                    "'", suggestion(argument.keyword->text, known)))
            .note(block.name.range, "the block is declared here");
        good = false;
        continue;
      }
    } else if (position >= block.parameters.size()) {
      error(argument.value->range,
            absl::StrCat("block '", name, "' takes ", block.parameters.size(), " argument",
                         block.parameters.size() == 1 ? "" : "s", ", found ", call.arguments.size()))
          .note(block.name.range, "the block is declared here");
      return {};
    }
    if (given[position]) {
      error(argument.value->range, absl::StrCat("parameter '", block.parameters[position].name.text, "' of block '",
                                                name, "' is given twice"));
      good = false;
    }
    given[position] = std::move(value);
  }
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i] && !block.parameters[i].defaultValue) {
      error(call.range,
            absl::StrCat("block '", name, "' is called without its parameter '", block.parameters[i].name.text, "'"))
          .note(block.parameters[i].name.range, "it is declared here, without a default");
      good = false;
    }
  if (callStack.size() >= maxBlockDepth) {
    stopped = true;
    return fail(call.range, absl::StrCat("blocks call each other more than ", maxBlockDepth, " levels deep; does '",
                                         name, "' call itself without end?"));
  }
  std::string label = callName(call, name);
  if (!good)
    return {};

  Frame inner(usage);
  Frame *outer = frame;
  frame = &inner;
  path.push_back(label);
  naming.emplace_back();
  callStack.push_back({name, call.range});
  std::optional<Term> outerReturned = std::move(returned);
  returned.reset();
  for (size_t i = 0; i < given.size(); ++i) {
    Term value = given[i] ? std::move(*given[i]) : eval(*block.parameters[i].defaultValue);
    if (inner.peek(block.parameters[i].name.text))
      error(block.parameters[i].name.range,
            absl::StrCat("a second parameter '", block.parameters[i].name.text, "' of one block"));
    inner.declare(block.parameters[i].name, std::move(value), NameKind::BlockParameter);
  }
  inner.open();
  Flow flow = executeBody(block.body);
  inner.close();
  callStack.pop_back();
  naming.pop_back();
  path.pop_back();
  frame = outer;
  Term value = returned ? std::move(*returned) : Term();
  if (!returned && flow == Flow::Next)
    error(block.name.range, absl::StrCat("block '", name, "' ends without returning a value"))
        .note(call.range, "it is called here");
  returned = std::move(outerReturned);
  return value;
}

Term Elaborator::callFunction(const CallExpr &call, const Signature &signature, GivenArguments given) {
  Arguments arguments{*this, call, {}, {}, {}};
  for (absl::string_view text : absl::StrSplit(signature.parameters, ", ")) {
    Arguments::Parameter parameter;
    parameter.optional = absl::ConsumeSuffix(&text, "?");
    parameter.variadic = absl::ConsumeSuffix(&text, "...");
    parameter.name = std::string(text);
    arguments.parameters.push_back(parameter);
  }
  arguments.values.resize(arguments.parameters.size());
  std::string shown = absl::StrCat(signature.name, "(", signature.parameters, ")");
  bool good = true;
  // A variadic parameter takes every argument without a name from its position on.
  size_t variadic = SIZE_MAX;
  for (size_t i = 0; i < arguments.parameters.size(); ++i)
    if (arguments.parameters[i].variadic)
      variadic = i;
  for (size_t i = 0; i < given.size(); ++i) {
    GivenArgument &argument = given[i];
    size_t position = i;
    if (argument.keyword) {
      std::vector<std::string> known;
      for (const auto &parameter : arguments.parameters)
        known.push_back(parameter.name);
      position = std::find(known.begin(), known.end(), argument.keyword->text) - known.begin();
      if (position == known.size()) {
        error(argument.keyword->range,
              absl::StrCat("function '", signature.name, "' has no parameter '", argument.keyword->text, "'",
                           suggestion(argument.keyword->text, known)))
            .note(absl::StrCat("it is ", shown, "; parameters with '?' may be left out"));
        good = false;
        continue;
      }
    } else if (position >= variadic) {
      arguments.rest.push_back({std::move(argument.term), argument.range});
      continue;
    } else if (position >= arguments.parameters.size()) {
      error(argument.range, absl::StrCat("function '", signature.name, "' takes at most ", arguments.parameters.size(),
                                         " arguments, found ", call.arguments.size()))
          .note(absl::StrCat("it is ", shown, "; parameters with '?' may be left out"));
      return {};
    }
    if (arguments.values[position]) {
      error(argument.range, absl::StrCat("parameter '", arguments.parameters[position].name, "' is given twice"));
      good = false;
    }
    arguments.values[position] = Arguments::Given{std::move(argument.term), argument.range};
  }
  for (size_t i = 0; i < arguments.parameters.size(); ++i)
    if (!arguments.values[i] && !arguments.parameters[i].optional && !arguments.parameters[i].variadic) {
      error(call.range, absl::StrCat("function '", signature.name, "' needs '", arguments.parameters[i].name, "'"))
          .note(absl::StrCat("it is ", shown, "; parameters with '?' may be left out"));
      return {};
    }
  return good ? (this->*signature.build)(arguments) : Term();
}

Term Elaborator::callOp(const CallExpr &call, mlir::RegisteredOperationName op, unsigned count, GivenArguments given) {
  const std::string &name = call.callee.text;
  auto attributeNames = op.getAttributeNames();
  std::vector<Term> operands;
  std::vector<std::pair<std::string, std::pair<Term, SourceRange>>> settings;
  for (GivenArgument &argument : given) {
    size_t behind = operands.size() == count ? settings.size() : 0;
    if (argument.keyword) {
      bool known = std::any_of(attributeNames.begin(), attributeNames.end(),
                               [&](mlir::StringAttr a) { return a.getValue() == argument.keyword->text; });
      if (!known) {
        std::vector<std::string> names;
        for (mlir::StringAttr attribute : attributeNames)
          names.push_back(attribute.str());
        error(argument.keyword->range,
              absl::StrCat("function '", name, "' has no parameter '", argument.keyword->text, "'",
                           names.empty() ? "" : absl::StrCat("; it has ", absl::StrJoin(names, ", ")),
                           suggestion(argument.keyword->text, names)));
        return {};
      }
      for (const auto &[known, setting] : settings)
        if (known == argument.keyword->text) {
          error(argument.keyword->range, absl::StrCat("parameter '", known, "' is given twice"));
          return {};
        }
      settings.push_back({argument.keyword->text, {std::move(argument.term), argument.range}});
    } else if (operands.size() < count) {
      operands.push_back(std::move(argument.term));
    } else if (behind < attributeNames.size()) {
      settings.push_back({attributeNames[behind].str(), {std::move(argument.term), argument.range}});
    } else {
      error(argument.range,
            absl::StrCat("function '", name, "' takes ", count, count == 1 ? " tensor" : " tensors",
                         attributeNames.empty() ? "" : absl::StrCat(" and at most ", attributeNames.size(), " more"),
                         ", found ", call.arguments.size(), " arguments"));
      return {};
    }
  }
  if (operands.size() < count)
    return fail(call.range, absl::StrCat("function '", name, "' takes ", count, count == 1 ? " tensor" : " tensors",
                                         ", found ", operands.size()));
  mlir::Type element;
  for (const Term &operand : operands)
    if (operand.isTensor() && !element)
      element = llvm::cast<mlir::RankedTensorType>(operand.tensor().getType()).getElementType();
  if (!element)
    return fail(call.range, absl::StrCat("function '", name, "' works on tensors, found ", kindOf(operands[0]),
                                         " known at compile time"));
  std::vector<mlir::Value> values;
  for (const Term &operand : operands) {
    mlir::Value value = toTensor(operand, element, call.range);
    if (!value)
      return {};
    if (!isFloatTensor(value))
      return fail(call.range, absl::StrCat("function '", name,
                                           "' works on tensors of floats; cast(x, float) makes floats of integers"));
    values.push_back(value);
  }
  if (values.size() > 1 && !broadcastTogether(values, call.range, absl::StrCat("function '", name, "'")))
    return {};
  // What the dialect has to say is shown as a message of the model, below.
  std::string complaint;
  mlir::ScopedDiagnosticHandler listen(builder.getContext(),
                                       [&](mlir::Diagnostic &diagnostic) { complaint = diagnostic.str(); });
  mlir::NamedAttrList attributes;
  int64_t rank = graph::shapeOf(values[0]).size();
  for (const auto &[setting, value] : settings) {
    const auto &[term, range] = value;
    auto silent = [&] { return mlir::emitError(location(range)); };
    mlir::SmallVector<mlir::Attribute> candidates;
    if (setting == "axis" && term.isInteger()) {
      auto axis = normalizedAxis(term.integer(), rank);
      if (!axis)
        return fail(range, absl::StrCat(name, ": there is no axis ", term.integer(),
                                        rank == 0 ? "; this is a single number"
                                                  : absl::StrCat("; the tensor's axes are 0 to ", rank - 1,
                                                                 ", or from the end -1 to -", rank)));
      candidates.push_back(builder.getI64IntegerAttr(*axis));
    } else if (term.isInteger()) {
      candidates.push_back(builder.getI64IntegerAttr(term.integer()));
    }
    if (term.isNumber())
      candidates.push_back(builder.getF64FloatAttr(term.number()));
    if (term.isText())
      candidates.push_back(builder.getStringAttr(term.text()));
    if (term.isBool())
      candidates.push_back(builder.getBoolAttr(term.boolean()));
    mlir::Attribute fitting;
    for (mlir::Attribute candidate : candidates) {
      mlir::NamedAttrList one;
      one.set(setting, candidate);
      if (!fitting && mlir::succeeded(op.verifyInherentAttrs(one, silent)))
        fitting = candidate;
    }
    if (!fitting)
      return fail(range, absl::StrCat(name, ": parameter '", setting, "' cannot be ", kindOf(term),
                                      setting == "axis" ? "; give one int" : ""));
    if (setting == "eps" && !(term.number() > 0 && std::isfinite(term.number())))
      return fail(range, absl::StrCat(name, ": 'eps' must be greater than 0, found ", show(term)));
    attributes.set(setting, fitting);
  }
  mlir::OperationState state(location(call.range), op);
  state.addOperands(values);
  state.addTypes(values[0].getType());
  state.addAttributes(attributes.getAttrs());
  mlir::Operation *made = builder.create(state);
  if (mlir::failed(mlir::verify(made))) {
    made->erase();
    // "'graph.gelu' op form must be ..." -> "form must be ..."
    if (size_t at = complaint.find("' op "); at != std::string::npos)
      complaint = complaint.substr(at + 5);
    return fail(call.range, absl::StrCat(name, ": ", complaint));
  }
  return result(made->getResult(0), dimensions.of(values[0]), call.range);
}

Term Elaborator::callCompileTime(const CallExpr &call, const GivenArguments &given) {
  const std::string &name = call.callee.text;
  if (name == "min" || name == "max") {
    Term best = given[0].term;
    for (const GivenArgument &argument : given)
      if (name == "min" ? argument.term.number() < best.number() : argument.term.number() > best.number())
        best = argument.term;
    return best;
  }
  if (given.size() != 1 || !given[0].term.isNumber())
    return fail(call.range, absl::StrCat("function '", name, "' takes one number known at compile time"));
  const Term &term = given[0].term;
  double value = term.number();
  if (name == "sqrt")
    return value < 0 ? fail(call.range, absl::StrCat("sqrt of a negative number: ", show(term)))
                     : Term(std::sqrt(value));
  if (term.isInteger()) {
    std::string problem;
    bool negate = name == "abs" && term.integer() < 0;
    auto positive = negate ? evaluate(Operator::Negate, term, problem) : term;
    return positive ? *positive : fail(call.range, problem);
  }
  if (name == "abs")
    return Term(std::fabs(value));
  double rounded = name == "floor" ? std::floor(value) : std::ceil(value);
  if (std::fabs(rounded) > 9.0e18)
    return fail(call.range, absl::StrCat(show(term), " does not fit into an int of 64 bits"));
  return Term(static_cast<int64_t>(rounded));
}

} // namespace mekik::frontend
