// RUN: mekik-opt -verify-each --plan-memory %s | FileCheck %s

// A small tensor keeps its place for some dispatches after its last reader, so that a thread may go on writing others
// while a slower one still reads it. A large one does not.
func.func private @turn(%x: tensor<16xf32>) -> tensor<16xf32> attributes {mekik.kernel} {
  %y = graph.reverse %x [0] : tensor<16xf32>
  return %y : tensor<16xf32>
}
func.func private @turnLarge(%x: tensor<32768xf32>) -> tensor<32768xf32> attributes {mekik.kernel} {
  %y = graph.reverse %x [0] : tensor<32768xf32>
  return %y : tensor<32768xf32>
}

// CHECK-LABEL: graph.schedule @small work 256
// CHECK-NEXT:    graph.dispatch @turn arenas [2, 2] offsets [[[X:.*]], [[A:.*]]]
// CHECK-NEXT:    graph.dispatch @turn arenas [2, 2] offsets [[[A]], [[B:.*]]]
// CHECK-NEXT:    graph.dispatch @turn arenas [2, 2] offsets [[[B]], [[C:.*]]]
func.func @small(%x: tensor<16xf32> {mekik.name = "x", mekik.role = "input"}) -> (tensor<16xf32> {mekik.name = "y", mekik.role = "output"}) {
  %a = call @turn(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %b = call @turn(%a) : (tensor<16xf32>) -> tensor<16xf32>
  %c = call @turn(%b) : (tensor<16xf32>) -> tensor<16xf32>
  return %c : tensor<16xf32>
}

// CHECK-LABEL: graph.schedule @large work 262144
func.func @large(%x: tensor<32768xf32> {mekik.name = "x", mekik.role = "input"}) -> (tensor<32768xf32> {mekik.name = "y", mekik.role = "output"}) {
  %a = call @turnLarge(%x) : (tensor<32768xf32>) -> tensor<32768xf32>
  %b = call @turnLarge(%a) : (tensor<32768xf32>) -> tensor<32768xf32>
  %c = call @turnLarge(%b) : (tensor<32768xf32>) -> tensor<32768xf32>
  return %c : tensor<32768xf32>
}
