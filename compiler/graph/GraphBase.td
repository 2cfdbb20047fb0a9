// The dialect itself and the vocabulary its op families share.
#ifndef MEKIK_GRAPH_BASE
#define MEKIK_GRAPH_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "compiler/graph/GraphInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let summary = "Static compute graphs: pure tensor operations with fixed shapes";
  let description = [{
    Every op is pure, has one result, takes and gives tensors of static shape, and has exactly one numeric result,
    defined by the numerics contract. An op carries its duties as interfaces: how it is differentiated, and either how
    one element of its result is computed, how it reduces, or into which other ops it expands.
  }];
  let cppNamespace = "::mekik::graph";
  let hasConstantMaterializer = 1;
}

def FloatElement : AnyTypeOf<[F32, F64]>;
def NumberElement : AnyTypeOf<[F32, F64, I32, I64]>;
def AnyElement : AnyTypeOf<[F32, F64, I32, I64, I1]>;

def FloatTensor : StaticShapeTensorOf<[F32, F64]>;
def NumberTensor : StaticShapeTensorOf<[F32, F64, I32, I64]>;
def IdTensor : StaticShapeTensorOf<[I32, I64]>;
def BoolTensor : StaticShapeTensorOf<[I1]>;
def AnyStaticTensor : StaticShapeTensorOf<[F32, F64, I32, I64, I1]>;
def ScalarI64 : Type<CPred<"$_self == ::mlir::RankedTensorType::get({}, ::mlir::IntegerType::get($_self.getContext(), 64))">,
                     "i64 scalar tensor", "::mlir::RankedTensorType">,
                BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getIntegerType(64))">;

class Graph_Op<string mnemonic, list<Trait> traits = []> : Op<Graph_Dialect, mnemonic, !listconcat([Pure], traits)>;

/// Differentiable: `gradient` is written in ops/<Family>.cpp.
def Differentiable : DeclareOpInterfaceMethods<GradientOpInterface>;
/// The result type follows from operands and attributes; errors name what was expected and what was found.
def InfersType : DeclareOpInterfaceMethods<InferTypeOpInterface>;

#endif
