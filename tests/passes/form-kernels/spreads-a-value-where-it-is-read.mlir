// RUN: mekik-opt -verify-each --form-kernels %s | FileCheck %s

// A value that a broadcast only spreads out goes from kernel to kernel as it was, and a mask made of positions is no
// buffer at all: both readers compute it.
func.func @loss(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %b: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %spread = graph.broadcast %b [1] : tensor<16xf32> to tensor<8x16xf32>
  %row = graph.iota 0 : tensor<8x16xi32>
  %column = graph.iota 1 : tensor<8x16xi32>
  %past = graph.compare "le" %column, %row : tensor<8x16xi32>
  %sum = graph.add %x, %spread : tensor<8x16xf32>
  %first = graph.select %past, %sum, %x : tensor<8x16xi1>, tensor<8x16xf32>
  %product = graph.contract "ak,kb->ab" %first, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %scaled = graph.mul %product, %spread : tensor<8x16xf32>
  %second = graph.select %past, %scaled, %product : tensor<8x16xi1>, tensor<8x16xf32>
  return %first, %second : tensor<8x16xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: func.func private @rows_0
// CHECK-SAME:    -> tensor<8x16xf32> attributes
// CHECK:         graph.compare
// CHECK-LABEL: func.func private @contraction_1
// CHECK-LABEL: func.func private @rows_2
// CHECK-SAME:    tensor<16xf32>, %{{.*}}: tensor<8x16xf32>) -> tensor<8x16xf32>
// CHECK-DAG:     graph.broadcast
// CHECK-DAG:     graph.compare
