// Reading models, recognising stages, running passes between them.
#include "compiler/driver/Compiler.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/driver/Dialects.h"
#include "compiler/driver/MessageCollector.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/Version.h"
#include "compiler/emit/Object.h"
#include "compiler/graph/Graph.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/lowering/Target.h"
#include "compiler/syntax/AstPrinter.h"
#include "compiler/syntax/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <thread>

namespace mekik::driver {

using absl::Status;
using absl::StatusOr;
using absl::StrCat;

static std::shared_ptr<mlir::MLIRContext> makeContext() {
  auto context = std::make_shared<mlir::MLIRContext>(dialects());
  context->loadAllAvailableDialects();
  return context;
}

static emit::ObjectOptions objectOptions() {
  emit::ObjectOptions options;
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  return options;
}

/// What a text must be that is no model and no MLIR; empty if it may well be one.
static std::string foreignKind(llvm::StringRef text) {
  if (text.starts_with("\x7F" "ELF"))
    return "an object file or a program";
  if (text.starts_with("!<arch>"))
    return "a library";
  if (text.starts_with("; ModuleID") || text.starts_with("source_filename =") || text.starts_with("target datalayout"))
    return "LLVM IR";
  llvm::StringRef word = text.ltrim();
  if (word.starts_with(".text") || word.starts_with(".file") || word.starts_with(".section"))
    return "assembly";
  return "";
}

/// LLVM IR and what comes behind it print, but are not read again.
static Status checkKind(const std::string &path, llvm::StringRef text) {
  std::string kind = foreignKind(text);
  if (!kind.empty())
    return absl::InvalidArgumentError(StrCat(path, ": this is ", kind, ", which cannot be compiled further here; expected a "
                                             "model (.mekik) or MLIR of a stage from graph to vector (.mlir)"));
  if (!absl::EndsWith(path, ".mlir") && (text.starts_with("module {") || text.starts_with("module @") ||
                                         text.starts_with("module attributes") || text.starts_with("#loc")))
    return absl::InvalidArgumentError(StrCat(path, ": this looks like MLIR; give the file a name that ends in .mlir"));
  return absl::OkStatus();
}

/// The functions of a model, at any stage before LLVM's.
static Status checkHoldsModel(const std::string &name, mlir::ModuleOp module) {
  for (mlir::Operation &op : module.getOps())
    if (!op.hasAttr(graph::kKernel) && !op.hasAttr(graph::kTiles) && !llvm::isa<mlir::LLVM::LLVMFuncOp>(op))
      return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(name, ": there is no model in this module; expected functions such as @train "
                                           "and @eval, as mekik compile --emit=graph prints them"));
}

static Status countErrors(const std::string &name, int errors) {
  return absl::InvalidArgumentError(StrCat(name, ": ", errors, errors == 1 ? " error" : " errors"));
}

/// Hash of all that decides what a model computes: source text, configuration, compiler.
static std::string hashOf(const syntax::Source &source, mlir::ModuleOp module) {
  llvm::SHA256 hash;
  auto add = [&](llvm::StringRef part) {
    hash.update(part);
    hash.update(llvm::StringRef("\0", 1));
  };
  add(llvm::StringRef(source.text().data(), source.text().size()));
  if (auto configuration = module->getAttrOfType<mlir::StringAttr>(graph::kConfiguration))
    add(configuration.getValue());
  add(kVersion);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

/// What the module holds tells its stage.
static Stage stageOf(mlir::ModuleOp module) {
  bool hasKernels = false, hasLoops = false, isLlvm = false, isDerived = false;
  for (mlir::Operation &op : module.getOps()) {
    isLlvm |= llvm::isa<mlir::LLVM::LLVMFuncOp>(op);
    hasKernels |= op.hasAttr(graph::kKernel);
    hasLoops |= op.hasAttr(graph::kTiles);
    if (auto function = llvm::dyn_cast<mlir::FunctionOpInterface>(op))
      isDerived |= function.getName() != graph::kTrainFunction && function.getName() != graph::kEvalFunction;
  }
  return isLlvm ? Stage::Llvm : hasLoops ? Stage::Vector : hasKernels ? Stage::Kernels : isDerived ? Stage::Gradient : Stage::Graph;
}

StatusOr<std::unique_ptr<Compiler>> Compiler::fromFile(const std::string &path, CompilerOptions options,
                                                       std::string &messages) {
  if (!absl::EndsWith(path, ".mlir")) {
    StatusOr<syntax::Source> source = syntax::Source::fromFile(path);
    if (!source.ok())
      return source.status();
    if (Status status = checkKind(path, llvm::StringRef(source->text().data(), source->text().size())); !status.ok())
      return status;
    return fromSource(std::move(*source), std::move(options), messages);
  }
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return absl::NotFoundError(StrCat(path, ": ", buffer.getError().message()));
  if (Status status = checkKind(path, (*buffer)->getBuffer()); !status.ok())
    return status;
  return fromMlir(path, (*buffer)->getBuffer().str(), std::move(options), messages);
}

StatusOr<std::unique_ptr<Compiler>> Compiler::fromSource(syntax::Source source, CompilerOptions options,
                                                         std::string &messages) {
  std::unique_ptr<Compiler> compiler(new Compiler(makeContext(), std::move(options)));
  compiler->source = std::make_shared<syntax::Source>(std::move(source));
  compiler->name = compiler->source->name();
  syntax::Diagnostics diagnostics(*compiler->source);
  syntax::Model model = syntax::parse(*compiler->source, diagnostics);
  if (!diagnostics.hasErrors()) {
    compiler->astText = syntax::print(model);
    MessageCollector collector(compiler->context.get(), messages, compiler->source.get());
    compiler->owned = frontend::elaborate(model, compiler->settings.frontend, diagnostics, *compiler->context);
    if (!compiler->owned && !diagnostics.hasErrors())
      return countErrors(compiler->name, std::max(1, collector.errors()));
  }
  absl::StrAppend(&messages, diagnostics.print());
  if (diagnostics.hasErrors()) {
    Status errors = countErrors(compiler->name, diagnostics.errorCount());
    return diagnostics.onlyUsageErrors() ? absl::OutOfRangeError(errors.message()) : errors;
  }
  mlir::ModuleOp module = *compiler->owned;
  module->setAttr(graph::kSourceHash,
                  mlir::StringAttr::get(compiler->context.get(), hashOf(*compiler->source, module)));
  return compiler;
}

StatusOr<std::unique_ptr<Compiler>> Compiler::fromMlir(std::string name, const std::string &text,
                                                       CompilerOptions options, std::string &messages) {
  if (!options.frontend.overrides.empty())
    return absl::OutOfRangeError(StrCat("-D ", options.frontend.overrides.begin()->first,
                                             ": the configuration of ", name,
                                             " is fixed, since it is MLIR; give -D when compiling from source"));
  std::unique_ptr<Compiler> compiler(new Compiler(makeContext(), std::move(options)));
  compiler->name = std::move(name);
  MessageCollector collector(compiler->context.get(), messages);
  mlir::ParserConfig config(compiler->context.get());
  compiler->owned = mlir::parseSourceString<mlir::ModuleOp>(text, config, compiler->name);
  if (!compiler->owned)
    return countErrors(compiler->name, std::max(1, collector.errors()));
  compiler->at = stageOf(*compiler->owned);
  if (Status status = checkHoldsModel(compiler->name, *compiler->owned); !status.ok())
    return status;
  return compiler;
}

Status Compiler::behind(Stage stage) const {
  return absl::InvalidArgumentError(StrCat(name, " is at stage ", info(at).name.str(), " already; there is no way back to ",
                                           info(stage).name.str()));
}

Status Compiler::advanceTo(Stage stage, std::string &messages) {
  if (stage < at)
    return behind(stage);
  PipelineOptions pipeline;
  pipeline.cpu = settings.cpu;
  pipeline.gradientFunction = settings.gradientFunction;
  while (at < stage) {
    Stage next = static_cast<Stage>(static_cast<int>(at) + 1);
    mlir::PassManager passes(context.get(), mlir::ModuleOp::getOperationName());
    passes.enableVerifier(settings.verifyEach);
    addPassesTo(next, passes, pipeline);
    MessageCollector collector(context.get(), messages, source.get());
    if (mlir::failed(passes.run(*owned)) || (!settings.verifyEach && mlir::failed(mlir::verify(*owned)))) {
      if (collector.errors() > 0)
        return countErrors(name, collector.errors());
      return absl::InternalError(StrCat(name, ": the way to stage ", info(next).name.str(), " failed without a reason"));
    }
    at = next;
  }
  return absl::OkStatus();
}

StatusOr<std::string> Compiler::text(Stage stage, std::string &messages) {
  if (stage == Stage::Ast) {
    if (!source)
      return behind(stage);
    return astText;
  }
  if (Status status = advanceTo(std::min(stage, Stage::Llvm), messages); !status.ok())
    return status;
  if (stage > Stage::Vector) {
    MessageCollector collector(context.get(), messages, source.get());
    auto target = lowering::Target::parse(settings.cpu);
    if (!target.ok())
      return target.status();
    return stage == Stage::Llvm ? emit::emitLlvmIr(*owned, *target, objectOptions())
                                : emit::emitAssembly(*owned, *target, objectOptions());
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(true, /*prettyForm=*/false);
  (*owned).print(out, flags);
  return text;
}

StatusOr<std::string> Compiler::object(std::string &messages, const std::string &modelSymbol) {
  if (Status status = advanceTo(Stage::Llvm, messages); !status.ok())
    return status;
  MessageCollector collector(context.get(), messages, source.get());
  auto target = lowering::Target::parse(settings.cpu);
  if (!target.ok())
    return target.status();
  emit::ObjectOptions options = objectOptions();
  options.modelSymbol = modelSymbol;
  return emit::emitObject(*owned, *target, options);
}

std::unique_ptr<Compiler> Compiler::clone() const {
  std::unique_ptr<Compiler> copy(new Compiler(context, settings));
  copy->source = source;
  copy->name = name;
  copy->astText = astText;
  copy->owned = mlir::OwningOpRef<mlir::ModuleOp>((*owned).clone());
  copy->at = at;
  return copy;
}

} // namespace mekik::driver
