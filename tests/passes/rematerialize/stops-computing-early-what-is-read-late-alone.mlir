// RUN: mekik-opt -verify-each --form-kernels --rematerialize=large-bytes=0 %s | FileCheck %s

// %s is made with %b but read for itself behind the peak alone, through a view; the kernel of %b no longer gives it.
func.func @step(%x: tensor<64x64xf32> {mekik.role = "input"},
                %w: tensor<64x64xf32> {mekik.role = "parameter", mekik.name = "a"},
                %up: tensor<64x256xf32> {mekik.role = "parameter", mekik.name = "b"},
                %down: tensor<256x64xf32> {mekik.role = "parameter", mekik.name = "c"})
    -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %h = graph.contract "ak,kb->ab" %x, %w : tensor<64x64xf32>, tensor<64x64xf32>
  %a = graph.tanh %h : tensor<64x64xf32>
  %s = graph.exp %h : tensor<64x64xf32>
  %b = graph.add %a, %s : tensor<64x64xf32>
  %seen = graph.reshape %s : tensor<64x64xf32> to tensor<4x16x64xf32>
  %y = graph.contract "ab,bc->ac" %b, %up : tensor<64x64xf32>, tensor<64x256xf32>
  %z = graph.contract "ac,cb->ab" %y, %down : tensor<64x256xf32>, tensor<256x64xf32>
  %zs = graph.reshape %z : tensor<64x64xf32> to tensor<4x16x64xf32>
  %g = graph.contract "dab,dac->bc" %seen, %zs : tensor<4x16x64xf32>, tensor<4x16x64xf32>
  %d = graph.mul %h, %z : tensor<64x64xf32>
  return %g, %d, %z : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func.func @step
// CHECK:         %[[H:.*]] = call @contraction_0(
// CHECK-NEXT:    %[[B:.*]] = call @rows_1(%[[H]]) : (tensor<64x64xf32>) -> tensor<64x64xf32>
// CHECK-NEXT:    call @contraction_2(%[[B]],
// CHECK-NEXT:    call @contraction_3(
// CHECK:         %[[AGAIN:.*]] = call @rows_1_again(%[[H]])
// CHECK-NEXT:    %[[SEEN:.*]] = graph.reshape %[[AGAIN]]
// CHECK-NEXT:    call @contraction_4(%[[SEEN]],
// CHECK:       func.func private @rows_1_again
// CHECK-NEXT:    graph.exp
// CHECK-NEXT:    return
