// Every op of the dialect, one family a file.
#ifndef MEKIK_GRAPH
#define MEKIK_GRAPH

include "compiler/graph/GraphBase.td"
include "compiler/graph/ops/Elementwise.td"
include "compiler/graph/ops/Shape.td"
include "compiler/graph/ops/Reduction.td"
include "compiler/graph/ops/Contraction.td"
include "compiler/graph/ops/Gather.td"
include "compiler/graph/ops/Random.td"
include "compiler/graph/ops/Activation.td"
include "compiler/graph/ops/Softmax.td"
include "compiler/graph/ops/Normalization.td"
include "compiler/graph/ops/Rotary.td"
include "compiler/graph/ops/Window.td"
include "compiler/graph/ops/Mask.td"
include "compiler/graph/ops/Loss.td"
include "compiler/graph/ops/Schedule.td"

#endif
