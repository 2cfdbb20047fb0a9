// The duties of an op. Engines (autodiff, fusion, lowering, evaluation) see only these and name no op.
//
//   GradientOpInterface     how a gradient flows from the result to the operands
//   ElementOpInterface      one element of the result as a function of operand elements    } exactly one of
//   ReductionOpInterface    folding along axes                                             } these six says what
//   ContractionOpInterface  sums of products over shared labels                            } the op computes, for
//   StandaloneOpInterface   a kernel of its own                                            } lowering and for the
//   ViewOpInterface         the same bytes under another shape                             } evaluator alike
//   CompositeOpInterface    an abbreviation for other graph ops                            }
#ifndef MEKIK_GRAPH_INTERFACES
#define MEKIK_GRAPH_INTERFACES

include "mlir/IR/OpBase.td"

def GradientOpInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::mekik::graph";
  let description = "How the gradient of a scalar flows backwards through the op.";
  let methods = [InterfaceMethod<
    [{Builds, from graph ops, the gradient of each operand given `upstream`, the gradient of the result (same type as
      the result). One entry per operand, of the operand's type; null where no gradient flows (integers, booleans).}],
    "::llvm::SmallVector<::mlir::Value>", "gradient", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$upstream)>];
}

def ElementOpInterface : OpInterface<"ElementOpInterface"> {
  let cppNamespace = "::mekik::graph";
  let description = "Each element of the result is computed from single elements of the operands.";
  let methods = [InterfaceMethod<
    [{The element of the result at `index` (one entry per axis of the result). Read operand elements through `reader`.}],
    "::mekik::numerics::Number", "element",
    (ins "::mekik::graph::ElementReader &":$reader, "::llvm::ArrayRef<::mekik::graph::Index>":$index)>,
  InterfaceMethod<
    [{True if every operand is read at the very index of the result and nowhere else, so that the result may overwrite
      an operand of the same type.}],
    "bool", "readsInPlace", (ins), "", [{ return false; }]>,
  InterfaceMethod<
    [{Floating-point operations per element, for statistics; transcendental functions count as one.}],
    "double", "operationsPerElement", (ins), "", [{ return 0; }]>];
}

def ReductionOpInterface : OpInterface<"ReductionOpInterface"> {
  let cppNamespace = "::mekik::graph";
  let description = [{Folds one operand along axes. The axes are either the trailing ones (a row: sixteen lanes, chunks of
    4096) or do not include the last one (a chain in ascending order); see docs/numerics.md.}];
  let methods = [
    InterfaceMethod<"Axes folded, ascending.", "::llvm::ArrayRef<int64_t>", "getAxes", (ins)>,
    InterfaceMethod<"What every accumulator starts from; folding it in changes nothing.", "::mekik::numerics::Number",
                    "identity", (ins "::mekik::numerics::Arithmetic &":$arithmetic)>,
    InterfaceMethod<"One step of the fold.", "::mekik::numerics::Number", "combine",
                    (ins "::mekik::numerics::Arithmetic &":$arithmetic, "::mekik::numerics::Number":$accumulator,
                         "::mekik::numerics::Number":$element)>];
}

def ContractionOpInterface : OpInterface<"ContractionOpInterface"> {
  let cppNamespace = "::mekik::graph";
  let description = [{A sum of products of two operands over shared labels, one letter an axis. Each result element is one
    chain: acc = 0; for the contracted labels in the order of the left operand, ascending: acc = fma(left, right, acc).
    Of a triangle "tu" only products at u <= t are links of a chain; an element without any is 0.}];
  let methods = [
    InterfaceMethod<"Labels of the left operand, as in \"btw\".", "::llvm::StringRef", "leftLabels", (ins)>,
    InterfaceMethod<"Labels of the right operand.", "::llvm::StringRef", "rightLabels", (ins)>,
    InterfaceMethod<"Labels of the result.", "::llvm::StringRef", "resultLabels", (ins)>,
    InterfaceMethod<[{Empty, or two labels "tu": only positions u <= t take part. At least one of them stands in each
      operand and in the result.}],
      "::llvm::StringRef", "triangle", (ins), "", [{ return ""; }]>,
    InterfaceMethod<[{How the left operand is read: for each of its labels the number of positions and the distance of
      neighbours, in elements. All of it lies inside the operand; the same element may be read at several positions.}],
      "::mekik::graph::Layout", "leftLayout", (ins), "",
      [{ return ::mekik::graph::denseLayout($_op->getOperand(0)); }]>];
}

def StandaloneOpInterface : OpInterface<"StandaloneOpInterface"> {
  let cppNamespace = "::mekik::graph";
  let description = "An op that is a kernel of its own and joins no other.";
  let methods = [
    InterfaceMethod<"Computes the result, plainly.", "void", "evaluate",
                    (ins "::llvm::ArrayRef<const ::mekik::reference::Tensor *>":$operands,
                         "::mekik::reference::Tensor &":$result)>,
    InterfaceMethod<"Number of independent tiles; depends on shapes alone.", "int64_t", "kernelTiles", (ins)>,
    InterfaceMethod<"True if the tiles, in their order, write equal parts of the result, in theirs.", "bool",
                    "tilesAreEqualParts", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{Emits the loops for tiles [first, last). Operands and result are memrefs of the tensors' shapes.}],
                    "void", "emitKernel",
                    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands, "::mlir::Value":$result,
                         "::mlir::Value":$firstTile, "::mlir::Value":$lastTile)>];
}

def ViewOpInterface : OpInterface<"ViewOpInterface"> {
  let cppNamespace = "::mekik::graph";
  let description = "The result is the first operand's bytes under another shape.";
}

def CompositeOpInterface : OpInterface<"CompositeOpInterface"> {
  let cppNamespace = "::mekik::graph";
  let description = [{An abbreviation: the op is defined as what it expands into, and its bits are those of the expansion.
    It is differentiated before it is expanded, by its own gradient if it has one and through its expansion otherwise.}];
  let methods = [InterfaceMethod<"Builds the definition; the value has the type of the result.", "::mlir::Value", "expand",
                                 (ins "::mlir::OpBuilder &":$builder)>];
}

#endif
