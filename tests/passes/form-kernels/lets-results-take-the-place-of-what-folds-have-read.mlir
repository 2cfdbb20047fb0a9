// RUN: mekik-opt -verify-each --form-kernels %s | FileCheck %s

// Folds of a row are done before anything of it is written. What is read at another place stays.
func.func @loss(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %peak = graph.peak %x [1] : tensor<8x16xf32>
  %wide = graph.broadcast %peak [0] : tensor<8xf32> to tensor<8x16xf32>
  %less = graph.sub %x, %wide : tensor<8x16xf32>
  %total = graph.sum %y [1] : tensor<8x16xf32>
  %spread = graph.broadcast %total [0] : tensor<8xf32> to tensor<8x16xf32>
  %turned = graph.reverse %y [1] : tensor<8x16xf32>
  %sum = graph.add %turned, %spread : tensor<8x16xf32>
  return %less, %sum : tensor<8x16xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: func.func private @rows_0
// CHECK-SAME:    mekik.in_place = array<i64: 0>
// CHECK-LABEL: func.func private @rows_1
// CHECK-NOT:     in_place
