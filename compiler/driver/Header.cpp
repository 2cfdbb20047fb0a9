// The ABI's own text is compiled in, so that the header needs no other file.
#include "compiler/driver/Header.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/driver/Version.h"
#include "compiler/graph/ModelConventions.h"

namespace mekik::driver {

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc23-extensions"
static constexpr char kAbi[] = {
#embed "../../runtime/abi/MekikAbi.h"
    , 0};
#pragma clang diagnostic pop

std::string headerOf(const Compiler &compiler, const std::string &symbol) {
  mlir::ModuleOp module = compiler.module();
  std::string model = module.getName() ? module.getName()->str() : "model";
  auto attribute = module->getAttrOfType<mlir::StringAttr>(graph::kConfiguration);
  // A text in the configuration may hold what ends a comment.
  std::string configuration = absl::StrReplaceAll(attribute ? attribute.getValue().str() : "{}", {{"*/", "* /"}});
  return absl::StrCat("/* The model ", model, ", compiled by Mekik ", kVersion, ".\n * Configuration: ",
                      configuration,
                      "\n * Link this library and drive `", symbol, "` as described below. */\n", kAbi,
                      "\n#ifdef __cplusplus\nextern \"C\"\n#else\nextern\n#endif\nconst MekikModel ", symbol, ";\n");
}

} // namespace mekik::driver
