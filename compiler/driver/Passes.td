// Every pass of the compiler, in pipeline order. A pass is one file in its own folder; passes do not include each other
// and meet in Pipeline.cpp alone. The file of a pass opens its base class with
//   namespace mekik {
//   #define GEN_PASS_DEF_FORMKERNELS
//   #include "compiler/driver/Passes.h.inc"
//   }
// and its library depends on the target mekik_passes_tablegen.
#ifndef MEKIK_DRIVER_PASSES
#define MEKIK_DRIVER_PASSES

include "mlir/Pass/PassBase.td"

/// Tests set it to 0, so that small tensors count as large.
def LargeBytes : Option<"largeBytes", "large-bytes", "int64_t", "kLargeBytes",
                        "tensors of at least this many bytes are large">;

// graph -> gradient

def DeriveFunctions : Pass<"derive-functions", "::mlir::ModuleOp"> {
  let summary = "From @train and @eval to the functions the runtime calls: @init, @forward, @loss, @train_step";
  let description = [{
    Walks the loss backwards, accumulates gradients, appends the optimizer update. See compiler/graph/ModelConventions.h
    for the functions made.
  }];
  let options = [Option<"gradientFunction", "gradient-function", "bool", "false",
                        "also make @gradient: loss and the gradient of every parameter">];
  let dependentDialects = ["::mekik::graph::GraphDialect", "::mlir::func::FuncDialect"];
}

// canonicalize, cse

// gradient -> kernels

def ExpandComposites : Pass<"expand-composites", "::mlir::ModuleOp"> {
  let summary = "Replaces abbreviations (softmax, normalize, cross_entropy, ...) by their definitions";
  let dependentDialects = ["::mekik::graph::GraphDialect"];
}

def CompactScatters : Pass<"compact-scatters", "::mlir::ModuleOp"> {
  let summary = "Sums large tables of few updates in a small table, from which the rows are picked where they are read";
  let options = [LargeBytes];
  let dependentDialects = ["::mekik::graph::GraphDialect"];
}

// canonicalize, cse

def FormKernels : Pass<"form-kernels", "::mlir::ModuleOp"> {
  let summary = "Groups ops into kernels and leaves functions that are straight lists of kernel calls";
  let options = [LargeBytes];
  let dependentDialects = ["::mekik::graph::GraphDialect", "::mlir::func::FuncDialect"];
}

def Rematerialize : Pass<"rematerialize", "::mlir::ModuleOp"> {
  let summary = "Computes large values a second time where they are needed late, if that lowers the peak of memory";
  let options = [LargeBytes];
  let dependentDialects = ["::mekik::graph::GraphDialect", "::mlir::func::FuncDialect"];
}

def MarkUnread : Pass<"mark-unread", "::mlir::ModuleOp"> {
  let summary = "Tells kernels of attention which halves of their results nobody reads, so that they leave them alone";
}

def DeduplicateKernels : Pass<"deduplicate-kernels", "::mlir::ModuleOp"> {
  let summary = "Makes kernels with the same body one function";
}

// kernels -> vector

def PlanMemory : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "Gives every buffer its place in an arena and turns functions into schedules of dispatches";
  let dependentDialects = ["::mekik::graph::GraphDialect"];
}

def EmitLoops : Pass<"emit-loops", "::mlir::ModuleOp"> {
  let summary = "Emits the loops of every kernel from its ops' own definitions";
  let options = [Option<"cpu", "cpu", "std::string", "\"x86-64-v3\"", "target: x86-64-v3, x86-64-v4 or native">,
                 // Tests set it low, so that small tensors have several tiles.
                 Option<"tileElements", "tile-elements", "int64_t", "kTileElements",
                        "about how many elements a tile computes">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

// vector -> llvm

def LowerToLlvm : Pass<"lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Kernels and schedules to the LLVM dialect";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif
