// The stages a model goes through, in order: what `--emit` can show and where a compilation can start or stop.
#ifndef MEKIK_DRIVER_STAGE_H
#define MEKIK_DRIVER_STAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mekik::driver {

enum class Stage { Ast, Graph, Gradient, Kernels, Vector, Llvm, Asm, Obj, Lib, Exe };

struct StageInfo {
  Stage stage;
  llvm::StringLiteral name;        ///< as in --emit=NAME
  llvm::StringLiteral extension;   ///< of a file that holds it
  llvm::StringLiteral description;
  bool isMlir;                     ///< printed as MLIR, and accepted as input again
  bool isText;
};

/// Every stage, in order.
llvm::ArrayRef<StageInfo> allStages();
const StageInfo &info(Stage stage);
std::optional<Stage> stageByName(llvm::StringRef name);
/// "ast, graph, ..., exe": for messages.
std::string stageNames();

} // namespace mekik::driver

#endif
