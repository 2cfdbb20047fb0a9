// RUN: mekik-opt -verify-each --derive-functions=gradient-function --expand-composites --canonicalize --cse %s | FileCheck %s

// The gradient of a normalization rebuilds 1 / sqrt(variance + eps): one of the two is left.
module {
  func.func @train(%w: tensor<2x8xf32> {mekik.role = "parameter", mekik.name = "w", mekik.init = {kind = "ones"}},
                   %x: tensor<2x8xf32> {mekik.role = "input", mekik.name = "x"})
      -> (tensor<f32> {mekik.role = "loss"}) {
    %y = graph.normalize %w : tensor<2x8xf32>
    %z = graph.mul %y, %x : tensor<2x8xf32>
    %loss = graph.sum %z [0, 1] : tensor<2x8xf32>
    return %loss : tensor<f32>
  }
}

// CHECK-LABEL: func.func @gradient(
// CHECK:         graph.rsqrt
// CHECK-NOT:     graph.rsqrt
// CHECK:         return
