// A model text taken through parser and front end, for tests.
#ifndef MEKIK_TESTS_FRONTEND_ELABORATED_H
#define MEKIK_TESTS_FRONTEND_ELABORATED_H

#include "compiler/frontend/Frontend.h"
#include "compiler/graph/ModelConventions.h"
#include "compiler/syntax/Parser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

namespace mekik::tests {

struct Elaborated {
  explicit Elaborated(const std::string &text, std::map<std::string, std::string> overrides = {},
                      std::string name = "m")
      : context(mlir::MLIRContext::Threading::DISABLED), source(name, text), diagnostics(source),
        model(syntax::parse(source, diagnostics)) {
    frontend::Options options;
    options.overrides = std::move(overrides);
    if (!diagnostics.hasErrors())
      module = frontend::elaborate(model, options, diagnostics, context);
  }

  std::string messages() const { return diagnostics.print(); }

  mlir::func::FuncOp function(llvm::StringRef name) {
    return module ? module->lookupSymbol<mlir::func::FuncOp>(name) : mlir::func::FuncOp();
  }

  /// Names of the arguments or results of a role, in order.
  std::vector<std::string> names(llvm::StringRef function, llvm::StringRef role, bool results = false) {
    std::vector<std::string> found;
    mlir::func::FuncOp op = this->function(function);
    unsigned count = !op ? 0 : results ? op.getNumResults() : op.getNumArguments();
    for (unsigned i = 0; i < count; ++i) {
      auto attributes = results ? op.getResultAttrDict(i) : op.getArgAttrDict(i);
      if (attributes.getAs<mlir::StringAttr>(graph::kRole).getValue() == role)
        found.push_back(attributes.getAs<mlir::StringAttr>(graph::kName).str());
    }
    return found;
  }

  std::string print(bool locations = false) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    mlir::OpPrintingFlags flags;
    if (locations)
      flags.enableDebugInfo(true, false);
    if (module)
      module->print(stream, flags);
    return text;
  }

  mlir::MLIRContext context;
  syntax::Source source;
  syntax::Diagnostics diagnostics;
  syntax::Model model;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace mekik::tests

#endif
