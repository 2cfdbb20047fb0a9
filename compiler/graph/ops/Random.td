// Random numbers as pure functions of (seed, stream, step, element): see runtime/abi/MekikPhilox.h.
#ifndef MEKIK_GRAPH_RANDOM
#define MEKIK_GRAPH_RANDOM

include "compiler/graph/GraphBase.td"

def Graph_RandomOp : Graph_Op<"random", [DeclareOpInterfaceMethods<StandaloneOpInterface, ["tilesAreEqualParts"]>, Differentiable]> {
  let summary = "Uniform in [0, 1), multiples of 2^-24";
  let description = [{The stream is an operand so that draws from different streams are one kernel.}];
  let arguments = (ins ScalarI64:$seed, ScalarI64:$step, ScalarI64:$stream);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$seed `,` $step `stream` $stream attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_RandomNormalOp : Graph_Op<"random_normal", [DeclareOpInterfaceMethods<CompositeOpInterface>, Differentiable]> {
  let summary = "Standard normal by Box and Muller: sqrt(-2 log(1 - u)) cos(2 pi v), u and v from `stream` and `stream` + 1";
  let arguments = (ins ScalarI64:$seed, ScalarI64:$step, I64Attr:$stream);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$seed `,` $step `stream` $stream attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Graph_DropOp : Graph_Op<"drop", [DeclareOpInterfaceMethods<CompositeOpInterface>, Differentiable,
                                     AllTypesMatch<["operand", "result"]>]> {
  let summary = "0 with probability `rate`, else x / (1 - rate); rate 0 is the identity, rate 1 gives zeros";
  let arguments = (ins FloatTensor:$operand, ScalarI64:$seed, ScalarI64:$step, F64Attr:$rate, I64Attr:$stream);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$operand `,` $seed `,` $step `rate` $rate `stream` $stream attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif
