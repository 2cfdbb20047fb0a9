// What a function of the model is once memory is planned: an ordered list of kernel dispatches over fixed buffers.
#ifndef MEKIK_GRAPH_SCHEDULE
#define MEKIK_GRAPH_SCHEDULE

include "compiler/graph/GraphBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Graph_ScheduleOp : Op<Graph_Dialect, "schedule", [Symbol, NoTerminator, SingleBlock, IsolatedFromAbove]> {
  let summary = "The dispatches of one function, in order, and where its inputs and outputs lie";
  let description = [{
    `tensors` holds one dictionary per input and output: name, role (strings), type (of the tensor), arena (MekikArena),
    offset (bytes), classes (0 if unchecked).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$work_bytes, ArrayAttr:$tensors);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `work` $work_bytes `tensors` $tensors attr-dict-with-keyword $body";
}

def Graph_DispatchOp : Op<Graph_Dialect, "dispatch", [HasParent<"ScheduleOp">]> {
  let summary = "One kernel over buffers given as (arena, byte offset), operands first, then results";
  let arguments = (ins FlatSymbolRefAttr:$kernel, DenseI64ArrayAttr:$arenas, DenseI64ArrayAttr:$offsets);
  let assemblyFormat = "$kernel `arenas` $arenas `offsets` $offsets attr-dict";
}

#endif
