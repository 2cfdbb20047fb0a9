// Tree -> graph dialect: evaluates everything that is known at compile time (configuration, loops, blocks, shapes) and
// builds @train and @eval as compiler/graph/ModelConventions.h describes them.
#ifndef MEKIK_FRONTEND_FRONTEND_H
#define MEKIK_FRONTEND_FRONTEND_H

#include "compiler/syntax/Ast.h"
#include "compiler/syntax/Diagnostics.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mekik::frontend {

enum class Precision { F32, F64 };

struct Options {
  /// Values given with -D, as written: {"width", "64"}. "precision" may be among them.
  std::map<std::string, std::string> overrides;
  /// Wins over the file and over `overrides`.
  std::optional<Precision> precision;
};

/// What a `config` line declares, before anything is evaluated.
struct ConfigDeclaration {
  std::string name;
  std::string type; ///< "int", "float", "bool" or "string"
  bool required;    ///< has no default
};
std::vector<ConfigDeclaration> configDeclarations(const syntax::Model &model);

/// The module, or null after errors, all of which are in `diagnostics` (warnings may be there in any case). `model`
/// must have been parsed from `diagnostics.source()` without errors. Loads the dialects it needs into `context`. The
/// module is verified; attribute mekik.source_hash is left to the caller. A model without `loss` has no @train.
mlir::OwningOpRef<mlir::ModuleOp> elaborate(const syntax::Model &model, const Options &options,
                                            syntax::Diagnostics &diagnostics, mlir::MLIRContext &context);

} // namespace mekik::frontend

#endif
