// RUN: mekik-opt -verify-each --form-kernels --rematerialize=large-bytes=0 %s | FileCheck %s

// %a and %s wait at the peak, both made of %h, which nobody reads later. Keeping %h instead of the two takes less: one
// kernel computes both again before the first that reads one.
func.func @step(%x: tensor<64x64xf32> {mekik.role = "input"},
                %w: tensor<64x64xf32> {mekik.role = "parameter", mekik.name = "a"},
                %up: tensor<64x256xf32> {mekik.role = "parameter", mekik.name = "b"},
                %down: tensor<256x64xf32> {mekik.role = "parameter", mekik.name = "c"})
    -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %h = graph.contract "ak,kb->ab" %x, %w : tensor<64x64xf32>, tensor<64x64xf32>
  %a = graph.tanh %h : tensor<64x64xf32>
  %s = graph.exp %a : tensor<64x64xf32>
  %y = graph.contract "ab,bc->ac" %a, %up : tensor<64x64xf32>, tensor<64x256xf32>
  %z = graph.contract "ac,cb->ab" %y, %down : tensor<64x256xf32>, tensor<256x64xf32>
  %g = graph.contract "ab,ac->bc" %a, %z : tensor<64x64xf32>, tensor<64x64xf32>
  %d = graph.contract "ab,ac->bc" %s, %z : tensor<64x64xf32>, tensor<64x64xf32>
  return %g, %d : tensor<64x64xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func.func @step
// CHECK:         %[[H:.*]] = call @contraction_0(
// CHECK-NEXT:    %[[A:.*]] = call @rows_1(%[[H]])
// CHECK-NEXT:    call @contraction_2(%[[A]],
// CHECK-NEXT:    call @contraction_3(
// CHECK-NEXT:    %[[BOTH:.*]]:2 = call @rows_1_again(%[[H]])
// CHECK-NEXT:    call @contraction_4(%[[BOTH]]#0,
// CHECK-NEXT:    call @contraction_5(%[[BOTH]]#1,
// CHECK:       func.func private @rows_1(
// CHECK-SAME:    mekik.operations = 4.096000e+03
// CHECK-NEXT:    graph.tanh
// CHECK-NEXT:    return
// CHECK:       func.func private @rows_1_again(
// CHECK-SAME:    mekik.operations = 8.192000e+03
// CHECK-NEXT:    graph.tanh
// CHECK-NEXT:    graph.exp
// CHECK-NEXT:    return
