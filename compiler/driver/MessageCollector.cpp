// MLIR diagnostics -> text.
#include "compiler/driver/MessageCollector.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Location.h"

namespace mekik::driver {

/// The innermost place in a file, as the line that was written rather than where it was called from.
static mlir::FileLineColLoc place(mlir::Location location) {
  mlir::FileLineColLoc found;
  location->walk([&](mlir::Location part) {
    if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(part)) {
      found = file;
      return mlir::WalkResult::interrupt();
    }
    return mlir::WalkResult::advance();
  });
  return found;
}

MessageCollector::MessageCollector(mlir::MLIRContext *context, std::string &messages, const syntax::Source *source)
    : ScopedDiagnosticHandler(context), messages(messages), source(source) {
  setHandler([this](mlir::Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    errorCount += isError;
    append(diagnostic, isError                                                        ? "error"
                       : diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning ? "warning"
                                                                                       : "note");
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      append(note, "note");
    return mlir::success();
  });
}

void MessageCollector::append(mlir::Diagnostic &diagnostic, llvm::StringRef kind) {
  llvm::raw_string_ostream out(messages);
  mlir::FileLineColLoc at = place(diagnostic.getLocation());
  if (at)
    out << at.getFilename().getValue() << ":" << at.getLine() << ":" << at.getColumn() << ": ";
  out << kind << ": " << diagnostic.str() << "\n";
  if (!at || !source || at.getFilename().getValue() != source->name() || at.getLine() == 0)
    return;
  absl::string_view line = source->line(at.getLine());
  std::string number = std::to_string(at.getLine());
  out << llvm::StringRef("     ").drop_back(std::min<size_t>(number.size(), 5)) << number << " | "
      << llvm::StringRef(line.data(), line.size()) << "\n      | ";
  // Tabs stay tabs, so that the caret stands under its column whatever their width.
  unsigned column = 1;
  for (size_t i = 0; i < line.size() && column < at.getColumn(); ++column) {
    uint32_t codePoint;
    out << (line[i] == '\t' ? '\t' : ' ');
    i += std::max(1, syntax::decodeUtf8(line.substr(i), codePoint));
  }
  out << "^\n";
}

} // namespace mekik::driver
