// Schedules to constants. The structs here mirror runtime/abi/MekikAbi.h field by field.
#include "compiler/emit/Descriptor.h"
#include "absl/strings/str_cat.h"
#include "compiler/graph/ModelConventions.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "runtime/abi/MekikAbi.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"
#include <optional>

namespace mekik::emit {
namespace {

constexpr llvm::StringLiteral kSchedule = "graph.schedule";
constexpr llvm::StringLiteral kDispatch = "graph.dispatch";

int32_t roleNumber(llvm::StringRef role) {
  static const llvm::StringMap<int32_t> numbers = {{"parameter", MEKIK_PARAMETER},
                                                   {"state", MEKIK_OPTIMIZER_STATE},
                                                   {"input", MEKIK_INPUT},
                                                   {"target", MEKIK_TARGET},
                                                   {"step", MEKIK_STEP},
                                                   {"seed", MEKIK_SEED},
                                                   {"output", MEKIK_OUTPUT},
                                                   {"probe", MEKIK_PROBE},
                                                   {"loss", MEKIK_LOSS},
                                                   {"gradient", MEKIK_GRADIENT},
                                                   {"rate", MEKIK_RATE}};
  return numbers.lookup(role);
}

/// Element type and bytes of an element; nullopt if it has no place in the ABI.
std::optional<std::pair<MekikElementType, uint64_t>> elementNumber(mlir::Type type) {
  if (type.isF32())
    return std::pair(MEKIK_F32, 4);
  if (type.isF64())
    return std::pair(MEKIK_F64, 8);
  if (type.isInteger(32))
    return std::pair(MEKIK_I32, 4);
  if (type.isInteger(64))
    return std::pair(MEKIK_I64, 8);
  if (type.isInteger(1))
    return std::pair(MEKIK_BOOL, 1);
  return std::nullopt;
}

/// Line of the model source; 0 if the location knows none.
int32_t lineOf(mlir::Location loc) {
  int32_t line = 0;
  loc->walk([&](mlir::Location each) {
    auto place = llvm::dyn_cast<mlir::FileLineColLoc>(each);
    if (!place)
      return mlir::WalkResult::advance();
    line = int32_t(place.getLine());
    return mlir::WalkResult::interrupt();
  });
  return line;
}

class DescriptorWriter {
public:
  DescriptorWriter(mlir::ModuleOp module, llvm::Module &ir) : module(module), ir(ir), context(ir.getContext()) {
    pointer = llvm::PointerType::getUnqual(context);
    i32 = llvm::Type::getInt32Ty(context);
    i64 = llvm::Type::getInt64Ty(context);
    auto shape = llvm::ArrayType::get(i64, MEKIK_MAX_RANK);
    tensorType = llvm::StructType::get(context, {pointer, i32, i32, i32, i32, shape, i64, i64, i64});
    bufferType = llvm::StructType::get(context, {i64, i64, i32, i32, i64});
    f64 = llvm::Type::getDoubleTy(context);
    costType = llvm::StructType::get(context, {f64, f64, i64});
    dispatchType = llvm::StructType::get(context, {pointer, pointer, pointer, i64, i32, i32, f64, costType});
    functionType = llvm::StructType::get(context, {pointer, pointer, pointer, i64, i64, i64, i64});
  }

  absl::Status write(const lowering::Target &target) {
    llvm::SmallVector<llvm::Constant *> tensors, functions;
    for (mlir::Attribute entry : attribute<mlir::ArrayAttr>(module, graph::kStorage, {}))
      tensors.push_back(tensor(llvm::cast<mlir::DictionaryAttr>(entry)));
    uint64_t workBytes = 0, scratchBytes = 0;
    for (mlir::Operation &op : module.getOps())
      if (op.getName().getStringRef() == kSchedule)
        functions.push_back(function(op, workBytes, scratchBytes));
    if (!error.ok())
      return error;
    llvm::Constant *fields[] = {number(i64, MEKIK_ABI_MAGIC),
                                number(i32, MEKIK_ABI_VERSION),
                                number(i32, sizeof(MekikModel)),
                                text(module.getName().value_or("model")),
                                text(string(module, graph::kSourceHash)),
                                text(MEKIK_COMPILER_VERSION),
                                text(target.name),
                                text(string(module, graph::kConfiguration)),
                                array(tensorType, tensors, "tensors"),
                                array(functionType, functions, "functions"),
                                number(i64, tensors.size()),
                                number(i64, functions.size()),
                                number(i64, integer(module, graph::kParameterBytes)),
                                number(i64, integer(module, graph::kStateBytes)),
                                number(i64, workBytes),
                                number(i64, scratchBytes)};
    llvm::Constant *model = llvm::ConstantStruct::getAnon(context, fields);
    auto *global = new llvm::GlobalVariable(ir, model->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::ExternalLinkage, model, "mekik_model");
    global->setAlignment(llvm::Align(8));
    return absl::OkStatus();
  }

private:
  template <typename Attribute> Attribute attribute(mlir::Operation *op, llvm::StringRef name, Attribute otherwise) {
    auto value = op->getAttrOfType<Attribute>(name);
    if (value)
      return value;
    return otherwise ? otherwise : Attribute::get(op->getContext(), {});
  }
  static std::string string(mlir::Operation *op, llvm::StringRef name) {
    auto value = op->getAttrOfType<mlir::StringAttr>(name);
    return value ? value.str() : "";
  }
  static int64_t integer(mlir::Operation *op, llvm::StringRef name) {
    auto value = op->getAttrOfType<mlir::IntegerAttr>(name);
    return value ? value.getInt() : 0;
  }

  void fail(const std::string &message) {
    if (error.ok())
      error = absl::InvalidArgumentError(message);
  }

  llvm::Constant *number(llvm::Type *type, uint64_t value) { return llvm::ConstantInt::get(type, value); }
  llvm::Constant *real(mlir::Operation *op, llvm::StringRef name) {
    auto value = op->getAttrOfType<mlir::FloatAttr>(name);
    return llvm::ConstantFP::get(f64, value ? value.getValueAsDouble() : 0);
  }

  llvm::Constant *text(llvm::StringRef value) {
    llvm::Constant *&known = texts[value];
    if (!known) {
      llvm::Constant *bytes = llvm::ConstantDataArray::getString(context, value, /*AddNull=*/true);
      auto *global = new llvm::GlobalVariable(ir, bytes->getType(), /*isConstant=*/true,
                                              llvm::GlobalValue::PrivateLinkage, bytes, "mekik.text");
      global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
      known = global;
    }
    return known;
  }

  llvm::Constant *array(llvm::Type *type, llvm::ArrayRef<llvm::Constant *> values, llvm::StringRef name) {
    if (values.empty())
      return llvm::ConstantPointerNull::get(llvm::cast<llvm::PointerType>(pointer));
    auto *content = llvm::ConstantArray::get(llvm::ArrayType::get(type, values.size()), values);
    auto *global = new llvm::GlobalVariable(ir, content->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::PrivateLinkage, content, "mekik." + name.str());
    global->setAlignment(llvm::Align(8));
    return global;
  }

  /// {name, role, type, offset} and, in a schedule, {arena, classes}. Storage lies in the arena of its role.
  llvm::Constant *tensor(mlir::DictionaryAttr entry) {
    auto name = entry.getAs<mlir::StringAttr>("name"), role = entry.getAs<mlir::StringAttr>("role");
    auto typeAttribute = entry.getAs<mlir::TypeAttr>("type");
    auto type =
        typeAttribute ? llvm::dyn_cast<mlir::RankedTensorType>(typeAttribute.getValue()) : mlir::RankedTensorType();
    auto integer = [&](llvm::StringRef key, int64_t otherwise) {
      auto value = entry.getAs<mlir::IntegerAttr>(key);
      return value ? value.getInt() : otherwise;
    };
    auto element = type ? elementNumber(type.getElementType()) : std::nullopt;
    if (!name || !role || !element || !roleNumber(role) || type.getRank() > int64_t(MEKIK_MAX_RANK)) {
      std::string shown;
      llvm::raw_string_ostream(shown) << entry;
      fail("the schedule describes a tensor that has no place in a compiled model: " + shown);
      return llvm::Constant::getNullValue(tensorType);
    }
    int32_t roleValue = roleNumber(role);
    int64_t home = roleValue == MEKIK_PARAMETER         ? MEKIK_PARAMETERS
                   : roleValue == MEKIK_OPTIMIZER_STATE ? MEKIK_STATE
                                                        : MEKIK_WORK;
    llvm::SmallVector<uint64_t> shape(MEKIK_MAX_RANK, 0);
    for (auto [axis, size] : llvm::enumerate(type.getShape()))
      shape[axis] = uint64_t(size);
    return llvm::ConstantStruct::get(
        tensorType,
        {text(name), number(i32, roleValue), number(i32, element->first), number(i32, integer("arena", home)),
         number(i32, type.getRank()), llvm::ConstantDataArray::get(context, shape), number(i64, integer("offset", 0)),
         number(i64, uint64_t(type.getNumElements()) * element->second), number(i64, integer("classes", 0))});
  }

  llvm::Constant *function(mlir::Operation &schedule, uint64_t &mostWork, uint64_t &mostScratch) {
    llvm::SmallVector<llvm::Constant *> tensors, dispatches;
    for (mlir::Attribute entry : attribute<mlir::ArrayAttr>(&schedule, "tensors", {}))
      tensors.push_back(tensor(llvm::cast<mlir::DictionaryAttr>(entry)));
    uint64_t scratch = 0;
    for (mlir::Operation &op : schedule.getRegion(0).front())
      if (op.getName().getStringRef() == kDispatch)
        dispatches.push_back(dispatch(op, scratch));
    uint64_t work = integer(&schedule, "work_bytes");
    mostWork = std::max(mostWork, work);
    mostScratch = std::max(mostScratch, scratch);
    std::string name = string(&schedule, "sym_name");
    return llvm::ConstantStruct::get(llvm::cast<llvm::StructType>(functionType),
                                     {text(name), array(tensorType, tensors, name + ".tensors"),
                                      array(dispatchType, dispatches, name + ".dispatches"),
                                      number(i64, tensors.size()), number(i64, dispatches.size()), number(i64, work),
                                      number(i64, scratch)});
  }

  llvm::Constant *dispatch(mlir::Operation &op, uint64_t &mostScratch) {
    auto symbol = op.getAttrOfType<mlir::FlatSymbolRefAttr>("kernel");
    mlir::Operation *kernel = symbol ? module.lookupSymbol(symbol.getValue()) : nullptr;
    auto arenas = op.getAttrOfType<mlir::DenseI64ArrayAttr>("arenas");
    auto offsets = op.getAttrOfType<mlir::DenseI64ArrayAttr>("offsets");
    if (!kernel || !arenas || !offsets || arenas.size() != offsets.size()) {
      fail("a dispatch names a kernel that is not in the module, or buffers without a place");
      return llvm::Constant::getNullValue(dispatchType);
    }
    mostScratch = std::max<uint64_t>(mostScratch, integer(kernel, graph::kScratch));
    auto bytes = kernel->getAttrOfType<mlir::DenseI64ArrayAttr>(graph::kBytes);
    auto parts = kernel->getAttrOfType<mlir::DenseI64ArrayAttr>(graph::kParts);
    if (!bytes || !parts || bytes.size() != arenas.size() || parts.size() != arenas.size()) {
      fail("a kernel does not say which parts of its buffers its tiles touch");
      return llvm::Constant::getNullValue(dispatchType);
    }
    int64_t firstResult = arenas.size() - integer(kernel, graph::kResults);
    llvm::SmallVector<llvm::Constant *> buffers;
    for (int64_t b = 0; b < arenas.size(); ++b)
      buffers.push_back(
          llvm::ConstantStruct::get(bufferType, {number(i64, offsets[b]), number(i64, bytes[b]), number(i32, arenas[b]),
                                                 number(i32, b >= firstResult), number(i64, parts[b])}));
    auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer, i64, i64}, false);
    bool here = ir.getFunction(symbol.getValue());
    auto *code = llvm::cast<llvm::Function>(ir.getOrInsertFunction(symbol.getValue(), type).getCallee());
    if (!here) {
      code->setVisibility(llvm::GlobalValue::HiddenVisibility);
      code->setDSOLocal(true);
    }
    return llvm::ConstantStruct::get(
        dispatchType, {code, text(symbol.getValue()), array(bufferType, buffers, "buffers"),
                       number(i64, integer(kernel, graph::kTiles)), number(i32, buffers.size()),
                       number(i32, lineOf(op.getLoc())), real(kernel, graph::kOperations),
                       llvm::ConstantStruct::get(costType, {real(kernel, graph::kCycles), real(kernel, graph::kTraffic),
                                                            number(i64, kernel->hasAttr(graph::kContraction))})});
  }

  mlir::ModuleOp module;
  llvm::Module &ir;
  llvm::LLVMContext &context;
  llvm::Type *pointer, *i32, *i64, *f64;
  llvm::StructType *tensorType, *bufferType, *costType, *dispatchType, *functionType;
  llvm::StringMap<llvm::Constant *> texts;
  absl::Status error;
};

} // namespace

bool hasDescriptor(mlir::ModuleOp module) {
  for (mlir::Operation &op : module.getOps())
    if (op.getName().getStringRef() == kSchedule)
      return true;
  return false;
}

absl::Status addDescriptor(mlir::ModuleOp module, const lowering::Target &target, llvm::Module &ir) {
  return DescriptorWriter(module, ir).write(target);
}

} // namespace mekik::emit
