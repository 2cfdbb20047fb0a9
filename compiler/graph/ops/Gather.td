// Rows picked by number, and the other way round.
#ifndef MEKIK_GRAPH_GATHER
#define MEKIK_GRAPH_GATHER

include "compiler/graph/GraphBase.td"

def Graph_EmbeddingOp : Graph_Op<"embedding", [DeclareOpInterfaceMethods<ElementOpInterface>, Differentiable, InfersType]> {
  let summary = "Row ids[...] of `table`; ids must lie in [0, rows), which is checked where data enters";
  let arguments = (ins IdTensor:$ids, FloatTensor:$table);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$ids `,` $table attr-dict `:` type($ids) `,` type($table)";
}

def Graph_ScatterAddOp : Graph_Op<"scatter_add", [DeclareOpInterfaceMethods<StandaloneOpInterface>, Differentiable, InfersType]> {
  let summary = "Row r of the result is the sum of the updates whose id is r, added in ascending position, from +0";
  let arguments = (ins IdTensor:$ids, FloatTensor:$updates, I64Attr:$rows);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$ids `,` $updates `rows` $rows attr-dict `:` type($ids) `,` type($updates)";
}

def Graph_OneHotOp : Graph_Op<"one_hot", [DeclareOpInterfaceMethods<CompositeOpInterface>, Differentiable]> {
  let summary = "A new last axis of size `classes`: 1 at the id, 0 elsewhere; an id outside gives zeros";
  let arguments = (ins IdTensor:$ids, I64Attr:$classes);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = "$ids `classes` $classes attr-dict `:` type($ids) `to` type($result)";
  let hasVerifier = 1;
}

#endif
