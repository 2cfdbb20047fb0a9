// RUN: mekik-opt -verify-each --plan-memory %s | FileCheck %s

// A parameter's new value goes straight into storage (arena 0) if every reader of the old one has run by then and the
// kernel that computes it may read where it writes; otherwise it is copied there at the end.
func.func private @halve(%x: tensor<16xf32>) -> tensor<16xf32> attributes {mekik.kernel, mekik.in_place = array<i64: 0>} {
  %half = graph.constant 0.5 : f32 : tensor<16xf32>
  %y = graph.mul %x, %half : tensor<16xf32>
  return %y : tensor<16xf32>
}
func.func private @turn(%x: tensor<16xf32>) -> tensor<16xf32> attributes {mekik.kernel} {
  %y = graph.reverse %x [0] : tensor<16xf32>
  return %y : tensor<16xf32>
}

// CHECK: mekik.parameter_bytes = 128
// CHECK-SAME: mekik.storage = [{name = "w", offset = 0 : i64, role = "parameter", type = tensor<16xf32>}, {name = "v", offset = 64 : i64

// CHECK-LABEL: graph.schedule @train_step
// CHECK-NEXT:    graph.dispatch @halve arenas [0, 0] offsets [0, 0]
// CHECK-NEXT:    graph.dispatch @turn arenas [0, 2] offsets [64, [[NEW:[0-9]+]]]
// CHECK-NEXT:    graph.dispatch @copy_{{[0-9]+}} arenas [2, 0] offsets [[[NEW]], 64]
func.func @train_step(%w: tensor<16xf32> {mekik.name = "w", mekik.role = "parameter"}, %v: tensor<16xf32> {mekik.name = "v", mekik.role = "parameter"})
    -> (tensor<16xf32> {mekik.name = "w", mekik.role = "parameter"}, tensor<16xf32> {mekik.name = "v", mekik.role = "parameter"}) {
  %halved = call @halve(%w) : (tensor<16xf32>) -> tensor<16xf32>
  %turned = call @turn(%v) : (tensor<16xf32>) -> tensor<16xf32>
  return %halved, %turned : tensor<16xf32>, tensor<16xf32>
}

// The old value of w is read after the new one is known.
// CHECK-LABEL: graph.schedule @readLater
// CHECK-NEXT:    graph.dispatch @halve arenas [0, 2] offsets [0, [[HALVED:[0-9]+]]]
// CHECK-NEXT:    graph.dispatch @turn arenas [0, 2] offsets [0, {{[0-9]+}}]
// CHECK-NEXT:    graph.dispatch @copy_{{[0-9]+}} arenas [2, 0] offsets [[[HALVED]], 0]
func.func @readLater(%w: tensor<16xf32> {mekik.name = "w", mekik.role = "parameter"})
    -> (tensor<16xf32> {mekik.name = "w", mekik.role = "parameter"}, tensor<16xf32> {mekik.name = "y", mekik.role = "output"}) {
  %halved = call @halve(%w) : (tensor<16xf32>) -> tensor<16xf32>
  %turned = call @turn(%w) : (tensor<16xf32>) -> tensor<16xf32>
  return %halved, %turned : tensor<16xf32>, tensor<16xf32>
}
