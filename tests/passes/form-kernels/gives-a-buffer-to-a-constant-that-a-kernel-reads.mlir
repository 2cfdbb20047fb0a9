// RUN: mekik-opt -verify-each --form-kernels %s | FileCheck %s

// Contractions, scatters and views read memory. A constant or an iota has none, so it is computed by a kernel first;
// element ops compute it where they need it.
func.func @loss(%x: tensor<2x3xf32>, %updates: tensor<3x2xf32>) -> (tensor<2x4xf32>, tensor<5x2xf32>, tensor<2x3xf32>) {
  %ones = graph.constant 1.0 : f32 : tensor<3x4xf32>
  %product = graph.contract "ab,bc->ac" %x, %ones : tensor<2x3xf32>, tensor<3x4xf32>
  %ids = graph.iota 0 : tensor<3xi32>
  %scattered = graph.scatter_add %ids, %updates rows 5 : tensor<3xi32>, tensor<3x2xf32>
  %twos = graph.constant 2.0 : f32 : tensor<2x3xf32>
  %scaled = graph.mul %x, %twos : tensor<2x3xf32>
  return %product, %scattered, %scaled : tensor<2x4xf32>, tensor<5x2xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func private @contraction_{{[0-9]+}}(%arg0: tensor<2x3xf32>, %arg1: tensor<3x4xf32>)
// CHECK-NOT:     graph.constant
// CHECK:         graph.contract
// CHECK-LABEL: func.func private @standalone_{{[0-9]+}}(%arg0: tensor<3xi32>, %arg1: tensor<3x2xf32>)
// CHECK-NOT:     graph.iota
// CHECK:         graph.scatter_add
