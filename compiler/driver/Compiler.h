// From a model, as source text or as MLIR of any stage, to any later stage.
#ifndef MEKIK_DRIVER_COMPILER_H
#define MEKIK_DRIVER_COMPILER_H

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/driver/Stage.h"
#include "compiler/frontend/Frontend.h"
#include "compiler/syntax/Source.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <memory>
#include <string>

namespace mekik::driver {

struct CompilerOptions {
  /// Values of -D, and a precision that wins over the source. Only a compilation from source may have any.
  frontend::Options frontend;
  /// "x86-64-v3", "x86-64-v4" or "native".
  std::string cpu = "native";
  /// Also derive @gradient: loss and every gradient.
  bool gradientFunction = false;
  /// Verify the module after every pass.
  bool verifyEach = false;
};

/// One compilation. What it has to say to the user collects in `messages()`: complete diagnostics with places, source
/// lines and carets. A status that is not OK then only sums up ("gpt.mekik: 2 errors") and is to be shown after them.
class Compiler {
public:
  /// Reads a model. A file whose name ends in .mlir holds MLIR, any other holds source text. Errors: the file cannot be
  /// read or is something else; diagnostics; OutOfRange if only values of -D do not fit the model.
  static absl::StatusOr<std::unique_ptr<Compiler>> fromFile(const std::string &path, CompilerOptions options,
                                                            std::string &messages);
  static absl::StatusOr<std::unique_ptr<Compiler>> fromSource(syntax::Source source, CompilerOptions options,
                                                              std::string &messages);
  /// `name` stands for the path in messages. The stage is recognised by what the module holds.
  static absl::StatusOr<std::unique_ptr<Compiler>> fromMlir(std::string name, const std::string &text,
                                                            CompilerOptions options, std::string &messages);

  /// The stage the module is at: Graph, Gradient, Kernels, Vector or Llvm (the LLVM dialect).
  Stage stage() const { return at; }
  mlir::ModuleOp module() const { return *owned; }
  const CompilerOptions &options() const { return settings; }
  /// The name of the file, for messages.
  const std::string &fileName() const { return name; }

  /// Runs the passes up to `stage`, which is one of those above. InvalidArgument if the module is behind it already;
  /// Internal, with messages, if a pass fails.
  absl::Status advanceTo(Stage stage, std::string &messages);

  /// A stage as text: MLIR with locations, LLVM IR or assembly. Advances to it first. For Ast the model must have been
  /// read from source.
  absl::StatusOr<std::string> text(Stage stage, std::string &messages);
  /// The object file, whose only global symbol is `modelSymbol`. Advances first.
  absl::StatusOr<std::string> object(std::string &messages, const std::string &modelSymbol = "mekik_model");

  /// A module like this one, in the same context, to be advanced on its own.
  std::unique_ptr<Compiler> clone() const;

private:
  Compiler(std::shared_ptr<mlir::MLIRContext> context, CompilerOptions options)
      : context(std::move(context)), settings(std::move(options)) {}
  absl::Status behind(Stage stage) const;

  std::shared_ptr<mlir::MLIRContext> context;
  CompilerOptions settings;
  std::shared_ptr<const syntax::Source> source; // null for MLIR
  std::string name;
  std::string astText; // empty for MLIR
  mlir::OwningOpRef<mlir::ModuleOp> owned;
  Stage at = Stage::Graph;
};

} // namespace mekik::driver

#endif
