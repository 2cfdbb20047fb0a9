// LLVM's objcopy, told what to do. Hidden symbols are not enough: within one link they are still global and clash.
#include "compiler/emit/Symbols.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/raw_ostream.h"

namespace mekik::emit {

absl::StatusOr<std::string> exportOnly(llvm::StringRef object, llvm::StringRef symbol, llvm::StringRef name) {
  auto fail = [](llvm::Error error) { return absl::InternalError(llvm::toString(std::move(error))); };
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "object"));
  if (!file)
    return fail(file.takeError());
  llvm::objcopy::ConfigManager config;
  if (llvm::Error error = config.Common.SymbolsToKeepGlobal.addMatcher(llvm::objcopy::NameOrPattern::create(
          symbol, llvm::objcopy::MatchStyle::Literal, [](llvm::Error each) { return each; })))
    return fail(std::move(error));
  if (symbol != name)
    config.Common.SymbolsToRename[symbol] = name;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  if (llvm::Error error = llvm::objcopy::executeObjcopyOnBinary(config, **file, out))
    return fail(std::move(error));
  return std::string(bytes.begin(), bytes.end());
}

} // namespace mekik::emit
