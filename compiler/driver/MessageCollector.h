// What MLIR has to say, in the form of the product's own diagnostics: place, source line, caret.
#ifndef MEKIK_DRIVER_MESSAGE_COLLECTOR_H
#define MEKIK_DRIVER_MESSAGE_COLLECTOR_H

#include "compiler/syntax/Source.h"
#include "mlir/IR/Diagnostics.h"
#include <string>

namespace mekik::driver {

/// While it lives, appends every error and warning of the context to `messages`. Source lines are shown for places in
/// `source`, if it is given.
class MessageCollector : mlir::ScopedDiagnosticHandler {
public:
  MessageCollector(mlir::MLIRContext *context, std::string &messages, const syntax::Source *source = nullptr);

  int errors() const { return errorCount; }

private:
  void append(mlir::Diagnostic &diagnostic, llvm::StringRef kind);

  std::string &messages;
  const syntax::Source *source;
  int errorCount = 0;
};

} // namespace mekik::driver

#endif
