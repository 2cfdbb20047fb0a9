// RUN: mekik-opt -verify-each --canonicalize %s | FileCheck %s

// CHECK-LABEL: @right
// CHECK-NEXT:    graph.contract "ak,bk->ab" %arg0, %arg1
func.func @right(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) -> tensor<4x6xf32> {
  %t = graph.transpose %w [1, 0] : tensor<6x8xf32>
  %y = graph.contract "ak,kb->ab" %x, %t : tensor<4x8xf32>, tensor<8x6xf32>
  return %y : tensor<4x6xf32>
}

// CHECK-LABEL: @left
// CHECK-NEXT:    graph.contract "ka,kb->ab" %arg0, %arg1
func.func @left(%x: tensor<8x4xf32>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %t = graph.transpose %x [1, 0] : tensor<8x4xf32>
  %y = graph.contract "ak,kb->ab" %t, %w : tensor<4x8xf32>, tensor<8x6xf32>
  return %y : tensor<4x6xf32>
}

// CHECK-LABEL: @result
// CHECK-NEXT:    graph.contract "ak,kb->ba" %arg0, %arg1
func.func @result(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<6x4xf32> {
  %y = graph.contract "ak,kb->ab" %x, %w : tensor<4x8xf32>, tensor<8x6xf32>
  %t = graph.transpose %y [1, 0] : tensor<4x6xf32>
  return %t : tensor<6x4xf32>
}

// The order of a chain is that of the left operand, so its contracted axes stay as they are.
// CHECK-LABEL: @chain
// CHECK-NEXT:    graph.transpose
// CHECK-NEXT:    graph.contract "kl,klb->b"
func.func @chain(%x: tensor<3x8xf32>, %w: tensor<8x3x6xf32>) -> tensor<6xf32> {
  %t = graph.transpose %x [1, 0] : tensor<3x8xf32>
  %y = graph.contract "kl,klb->b" %t, %w : tensor<8x3xf32>, tensor<8x3x6xf32>
  return %y : tensor<6xf32>
}
