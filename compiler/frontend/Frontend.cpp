// Both functions of a model from one tree, and what can only be said once both are there.
#include "compiler/frontend/Frontend.h"
#include "compiler/frontend/CausalAttention.h"
#include "compiler/frontend/Elaborator.h"

#include "absl/strings/str_cat.h"
#include "compiler/graph/ModelConventions.h"
#include "mlir/IR/Verifier.h"

namespace mekik::frontend {

using namespace syntax;

std::vector<ConfigDeclaration> configDeclarations(const Model &model) {
  std::vector<ConfigDeclaration> result;
  for (const StmtPtr &statement : model.body)
    if (statement->kind == StmtKind::Config) {
      const auto &config = static_cast<const ConfigStmt &>(*statement);
      result.push_back({config.name.text, config.type.text, config.value == nullptr});
    }
  return result;
}

namespace {

void warnAboutUnused(const Model &model, const Usage &usage, Diagnostics &diagnostics) {
  for (const auto &[place, declaration] : usage.declarations) {
    if (usage.used.count(place) || declaration.name[0] == '_')
      continue;
    const char *word = declaration.kind == NameKind::Config  ? "config"
                       : declaration.kind == NameKind::Input ? "input or target"
                       : declaration.kind == NameKind::Let   ? "the value"
                                                             : nullptr;
    // An unused batch size still means something to @eval, the number of steps to the program that trains, the layout to
    // whoever reads the text, and probes and outputs are there to be looked at.
    bool isSetting = declaration.name == "batch" || declaration.name == "steps" || declaration.name == "layout";
    if (!word || (declaration.kind == NameKind::Config && isSetting))
      continue;
    diagnostics.warning(declaration.range,
                        absl::StrCat(word, " '", declaration.name, "' is never used",
                                     declaration.kind == NameKind::Let
                                         ? absl::StrCat("; delete it, or call it _", declaration.name, " to keep it")
                                         : ""));
  }
  for (const StmtPtr &statement : model.body)
    if (statement->kind == StmtKind::Block) {
      const auto &block = static_cast<const BlockStmt &>(*statement);
      if (!usage.calledBlocks.count(block.name.text))
        diagnostics.warning(block.name.range, absl::StrCat("block '", block.name.text, "' is never called"));
    }
}

/// Parameters are stored once, so both functions must mean the same ones.
bool sameParameters(const Elaborator &train, const Elaborator &eval, Diagnostics &diagnostics) {
  const auto &a = train.parameters(), &b = eval.parameters();
  for (size_t i = 0; i < a.size() || i < b.size(); ++i) {
    const Interface &present = i < a.size() ? a[i] : b[i];
    bool same = i < a.size() && i < b.size() && a[i].name == b[i].name &&
                a[i].argument.getType() == b[i].argument.getType() && a[i].initializer == b[i].initializer;
    if (same)
      continue;
    diagnostics.error(present.declared, absl::StrCat("parameter '", present.name,
                                                     "' depends on the size of the batch; a model keeps its "
                                                     "parameters when it is used with batch 1, so write its shape "
                                                     "without 'batch'"));
    return false;
  }
  return true;
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> elaborate(const Model &model, const Options &options, Diagnostics &diagnostics,
                                            mlir::MLIRContext &context) {
  context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
  const Source &source = diagnostics.source();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::FileLineColLoc::get(&context, source.name(), 1, 1));
  Usage usage;
  Elaborator train(model, options, diagnostics, *module, usage, Mode::Train);
  if (!train.run())
    return nullptr;
  Elaborator eval(model, options, diagnostics, *module, usage, Mode::Eval);
  if (!eval.run() || !sameParameters(train, eval, diagnostics))
    return nullptr;
  warnAboutUnused(model, usage, diagnostics);
  train.warnAboutUnreached();

  for (auto function : module->getOps<mlir::func::FuncOp>())
    restrictCausalAttention(function);
  mlir::Builder builder(&context);
  if (!train.hasLoss())
    module->lookupSymbol(graph::kTrainFunction)->erase();
  module->setSymName(train.modelName());
  (*module)->setAttr(graph::kConfiguration, builder.getStringAttr(train.configurationJson()));
  if (mlir::DictionaryAttr optimizer = train.optimizerAttribute())
    (*module)->setAttr(graph::kOptimizer, optimizer);

  // What is left for the verifier to find would be a fault of this folder; it must not pass in silence.
  std::string complaint;
  mlir::ScopedDiagnosticHandler listen(&context, [&](mlir::Diagnostic &diagnostic) {
    if (complaint.empty())
      complaint = diagnostic.str();
  });
  if (mlir::failed(mlir::verify(*module))) {
    diagnostics.error(std::nullopt,
                      absl::StrCat("internal error: the graph of this model does not verify: ", complaint));
    return nullptr;
  }
  return module;
}

} // namespace mekik::frontend
