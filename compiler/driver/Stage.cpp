// The table behind Stage.h.
#include "compiler/driver/Stage.h"

namespace mekik::driver {

static constexpr StageInfo kStages[] = {
    {Stage::Ast, "ast", "mekik", "the model as it was read, printed as source again", false, true},
    {Stage::Graph, "graph", "mlir", "pure tensor operations with static shapes, each with its source line", true, true},
    {Stage::Gradient, "gradient", "mlir", "the same with loss, backward pass and optimizer update", true, true},
    {Stage::Kernels, "kernels", "mlir", "functions that are straight lists of kernel calls; equal kernels once", true, true},
    {Stage::Vector, "vector", "mlir", "kernels as vector loops, buffers at fixed places in the arenas", true, true},
    {Stage::Llvm, "llvm", "ll", "LLVM IR", false, true},
    {Stage::Asm, "asm", "s", "assembly of the target", false, true},
    {Stage::Obj, "obj", "o", "one object file that exports mekik_model", false, false},
    {Stage::Lib, "lib", "a", "a static library, with its C header beside it", false, false},
    {Stage::Exe, "exe", "", "a program that trains, samples and evaluates the model", false, false},
};

llvm::ArrayRef<StageInfo> allStages() { return kStages; }

const StageInfo &info(Stage stage) { return kStages[static_cast<int>(stage)]; }

std::optional<Stage> stageByName(llvm::StringRef name) {
  for (const StageInfo &entry : kStages)
    if (entry.name == name)
      return entry.stage;
  return std::nullopt;
}

std::string stageNames() {
  std::string names;
  for (const StageInfo &entry : kStages)
    names += (names.empty() ? "" : ", ") + entry.name.str();
  return names;
}

} // namespace mekik::driver
