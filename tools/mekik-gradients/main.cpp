// Writes docs/gradients.md from the definitions: for every op its summary, from the dialect's records, and the gradient
// its own definition builds for a smallest sample. An op without a sample is an error, so that none is forgotten.
//
//   mekik-gradients OPS.json SAMPLES.mlir > docs/gradients.md
#include "compiler/autodiff/Gradient.h"
#include "compiler/graph/Build.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mekik;

namespace {

constexpr llvm::StringLiteral kIntroduction = R"(# Gradients

This page is made by `mekik-gradients` from the definitions of the ops (`compiler/graph/ops/`): it is what the compiler
does, not what somebody wrote down about it.

**How a gradient is made.** The walk (`compiler/autodiff/Gradient.cpp`) starts with 1 at the loss and visits the ops on
the way from the parameters to the loss, last one first. An op is given the gradient of its result, `%upstream`, and
builds the gradients of its operands out of graph ops; so a gradient can be differentiated again. The contributions to a
value that is used several times are added as the walk meets them, from its last user to its first, and within one user
from the first operand to the last: ((c1 + c2) + c3) + ... This order is part of the definition, since sums are rounded.
Integers and booleans have no gradient, and nothing flows through them. A parameter that does not influence the loss has a
gradient of zeros, and a warning says so; an op on the way that has no gradient is an error that names its place.

**Where a function has a kink** the summary says which value is taken: 0 for `abs`, `relu` and `sqrt` at 0; equal shares
for `max`, `maximum` and `minimum` at ties. No gradient reaches the side of a `select` that was not taken; but what flows
there is multiplied by what stands on the way, so guard the argument too: `log(select(x > 0, x, 1))`.

**How to read it.** Each function below holds one op and returns the gradients of its operands, in order, those without
left out. Ops that abbreviate others, such as `softmax`, are expanded after differentiation; where definition and gradient
build the same values, one of them is left afterwards. For an abbreviation without a gradient of its own its definition
stands here, which is differentiated in its place. The shapes are those of the smallest sample, no more.
)";

/// Summaries by op name without the dialect.
std::map<std::string, std::string> readSummaries(const char *path) {
  std::map<std::string, std::string> summaries;
  std::ifstream file(path);
  nlohmann::json records = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (records.is_object())
    for (const auto &record : records)
      if (record.is_object() && record.contains("opName") && record["opName"].is_string())
        summaries[record["opName"]] = record["summary"];
  return summaries;
}

/// The only op of the dialect in the sample.
Operation *sampleOf(func::FuncOp function) {
  for (Operation &op : function.getBody().front())
    if (isa<graph::GraphDialect>(op.getDialect()))
      return &op;
  return nullptr;
}

/// Turns the sample into the function of its gradients. Returns how many it has.
size_t appendGradient(func::FuncOp function, Operation *op) {
  auto differentiable = dyn_cast<graph::GradientOpInterface>(op);
  Block &body = function.getBody().front();
  OpBuilder builder(body.getTerminator());
  Value result = op->getResult(0);
  if (!differentiable || !isa<FloatType>(cast<RankedTensorType>(result.getType()).getElementType()))
    return 0;
  MLIRContext *context = function.getContext();
  Value upstream = body.addArgument(result.getType(), NameLoc::get(StringAttr::get(context, "upstream")));
  Operation *before = op;
  SmallVector<Value> gradients = differentiable.gradient(builder, upstream);
  llvm::erase_if(gradients, [](Value gradient) { return !gradient; });
  for (Operation *built = before->getNextNode(); built; built = built->getNextNode())
    built->setLoc(UnknownLoc::get(context));
  body.getTerminator()->setOperands(gradients);
  function.setType(builder.getFunctionType(body.getArgumentTypes(), TypeRange(ValueRange(gradients))));
  autodiff::eraseUnused(body);
  return gradients.size();
}

/// Turns the sample of an abbreviation without a gradient of its own into its definition. False if it is none.
bool showDefinition(func::FuncOp function, Operation *op) {
  auto composite = dyn_cast<graph::CompositeOpInterface>(op);
  if (!composite || isa<graph::GradientOpInterface>(op))
    return false;
  OpBuilder builder(op);
  Operation *before = op->getPrevNode();
  Value definition = composite.expand(builder);
  for (Operation *built = before ? before->getNextNode() : &op->getBlock()->front(); built != op;
       built = built->getNextNode())
    built->setLoc(UnknownLoc::get(function.getContext()));
  op->getResult(0).replaceAllUsesWith(definition);
  op->erase();
  return true;
}

int fail(const llvm::Twine &message) {
  llvm::errs() << "mekik-gradients: " << message << "\n";
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return fail("expects the records of the dialect (JSON) and the samples (MLIR)"), 2;
  std::map<std::string, std::string> summaries = readSummaries(argv[1]);
  MLIRContext context;
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> samples = parseSourceFile<ModuleOp>(argv[2], &context);
  if (!samples)
    return 1;

  llvm::StringSet<> shown;
  llvm::outs() << kIntroduction;
  for (ModuleOp section : samples->getOps<ModuleOp>()) {
    llvm::outs() << "\n## " << section.getSymName().value_or("") << "\n";
    for (func::FuncOp function : section.getOps<func::FuncOp>()) {
      Operation *op = sampleOf(function);
      if (!op)
        return fail("sample '" + function.getName() + "' holds no graph op");
      StringRef name = op->getName().stripDialect();
      if (!function.getName().starts_with(name))
        return fail("sample '" + function.getName() + "' holds the op '" + name + "'");
      auto summary = summaries.find(name.str());
      if (summary == summaries.end())
        return fail("no record of '" + name + "' in " + argv[1]);
      llvm::outs() << "\n### " << function.getName() << "\n\n";
      if (shown.insert(name).second)
        llvm::outs() << summary->second << "\n\n";
      size_t operands = op->getNumOperands();
      bool defined = showDefinition(function, op);
      if (!defined && appendGradient(function, op) == 0) {
        llvm::outs() << (operands == 0 ? "Has no operands, so nothing flows on.\n" : "No gradient flows on.\n");
        continue;
      }
      if (failed(verify(function)))
        return 1;
      function.setName(defined ? "definition" : "gradient");
      llvm::outs() << "```mlir\n";
      function->print(llvm::outs(), OpPrintingFlags().printNameLocAsPrefix().useLocalScope());
      llvm::outs() << "\n```\n";
    }
  }
  for (RegisteredOperationName op : context.getRegisteredOperationsByDialect("graph"))
    if ((op.hasInterface<graph::GradientOpInterface>() || op.hasInterface<graph::CompositeOpInterface>()) &&
        !shown.contains(op.stripDialect()))
      return fail("no sample of '" + op.stripDialect() + "' in " + argv[2]);
  return 0;
}
