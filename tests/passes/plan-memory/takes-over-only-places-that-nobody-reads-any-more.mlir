// RUN: mekik-opt -verify-each --plan-memory %s | FileCheck %s

// A result takes over the place of an operand if its kernel allows that for every operand that has it and nothing reads
// the operand later. Otherwise it lies elsewhere, and what nobody needs any more makes room.
func.func private @double(%x: tensor<32768xf32>) -> tensor<32768xf32> attributes {mekik.kernel, mekik.in_place = array<i64: 0>} {
  %y = graph.add %x, %x : tensor<32768xf32>
  return %y : tensor<32768xf32>
}
func.func private @turn(%x: tensor<32768xf32>) -> tensor<32768xf32> attributes {mekik.kernel} {
  %y = graph.reverse %x [0] : tensor<32768xf32>
  return %y : tensor<32768xf32>
}
func.func private @blend(%x: tensor<32768xf32>, %y: tensor<32768xf32>) -> tensor<32768xf32> attributes {mekik.kernel, mekik.in_place = array<i64: 0>} {
  %turned = graph.reverse %y [0] : tensor<32768xf32>
  %z = graph.add %x, %turned : tensor<32768xf32>
  return %z : tensor<32768xf32>
}

// CHECK-LABEL: graph.schedule @chain work 262144
// CHECK-NEXT:    graph.dispatch @double arenas [2, 2] offsets [0, 131072]
// CHECK-NEXT:    graph.dispatch @turn arenas [2, 2] offsets [131072, 0]
// CHECK-NEXT:    graph.dispatch @double arenas [2, 2] offsets [0, 0]
func.func @chain(%x: tensor<32768xf32> {mekik.name = "x", mekik.role = "input"}) -> (tensor<32768xf32> {mekik.name = "y", mekik.role = "output"}) {
  %a = call @double(%x) : (tensor<32768xf32>) -> tensor<32768xf32>
  %b = call @turn(%a) : (tensor<32768xf32>) -> tensor<32768xf32>
  %c = call @double(%b) : (tensor<32768xf32>) -> tensor<32768xf32>
  return %c : tensor<32768xf32>
}

// %a is read once more after %b is made of it, so %b may not take its place; an operand that stands in two places of a
// call must be allowed in both.
// CHECK-LABEL: graph.schedule @readLater work 262144
// CHECK-NEXT:    graph.dispatch @turn arenas [2, 2] offsets [0, 131072]
// CHECK-NEXT:    graph.dispatch @double arenas [2, 2] offsets [131072, 0]
// CHECK-NEXT:    graph.dispatch @blend arenas [2, 2, 2] offsets [0, 131072, 0]
// CHECK-NEXT:    graph.dispatch @blend arenas [2, 2, 2] offsets [0, 0, 131072]
func.func @readLater(%x: tensor<32768xf32> {mekik.name = "x", mekik.role = "input"}) -> (tensor<32768xf32> {mekik.name = "y", mekik.role = "output"}) {
  %a = call @turn(%x) : (tensor<32768xf32>) -> tensor<32768xf32>
  %b = call @double(%a) : (tensor<32768xf32>) -> tensor<32768xf32>
  %c = call @blend(%b, %a) : (tensor<32768xf32>, tensor<32768xf32>) -> tensor<32768xf32>
  %d = call @blend(%c, %c) : (tensor<32768xf32>, tensor<32768xf32>) -> tensor<32768xf32>
  return %d : tensor<32768xf32>
}
