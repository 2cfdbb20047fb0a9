// RUN: mekik-opt -verify-each --form-kernels --rematerialize=large-bytes=0 %s | FileCheck %s

// Most is alive while %z is computed: %h and %a only wait then. The last reader of %h comes behind that of %a, so %a is
// computed from it again.
func.func @step(%x: tensor<64x64xf32> {mekik.role = "input"}, %w: tensor<64x64xf32> {mekik.role = "parameter"},
                %up: tensor<64x256xf32> {mekik.role = "parameter"}, %down: tensor<256x64xf32> {mekik.role = "parameter"})
    -> (tensor<64x64xf32> {mekik.role = "output"}, tensor<64x64xf32> {mekik.role = "output"}) {
  %h = graph.contract "ak,kb->ab" %x, %w : tensor<64x64xf32>, tensor<64x64xf32>
  %t = graph.tanh %h : tensor<64x64xf32>
  %a = graph.mul %t, %h : tensor<64x64xf32>
  %y = graph.contract "ab,bc->ac" %a, %up : tensor<64x64xf32>, tensor<64x256xf32>
  %z = graph.contract "ac,cb->ab" %y, %down : tensor<64x256xf32>, tensor<256x64xf32>
  %g = graph.contract "ab,ac->bc" %a, %z : tensor<64x64xf32>, tensor<64x64xf32>
  %d = graph.mul %h, %z : tensor<64x64xf32>
  return %g, %d : tensor<64x64xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func.func @step
// CHECK:         %[[H:.*]] = call @contraction_0(
// CHECK-NEXT:    %[[A:.*]] = call @rows_1(%[[H]])
// CHECK-NEXT:    %[[Y:.*]] = call @contraction_2(%[[A]],
// CHECK-NEXT:    %[[Z:.*]] = call @contraction_3(%[[Y]],
// CHECK-NEXT:    %[[AGAIN:.*]] = call @rows_1_again(%[[H]])
// CHECK-NEXT:    call @contraction_4(%[[AGAIN]], %[[Z]])
// CHECK-NEXT:    call @rows_5(%[[H]], %[[Z]])
// CHECK:       func.func private @rows_1_again
// CHECK-SAME:    mekik.kernel, mekik.operations = 8.192000e+03
// CHECK-NEXT:    %[[T:.*]] = graph.tanh %[[X:.*]] : tensor<64x64xf32>
// CHECK-NEXT:    %[[AGAIN:.*]] = graph.mul %[[T]], %[[X]]
// CHECK-NEXT:    return %[[AGAIN]]
