// RUN: mekik-opt -verify-each --form-kernels --rematerialize %s | FileCheck %s --implicit-check-not=again
// RUN: mekik-opt -verify-each --form-kernels --rematerialize=large-bytes=16384 %s | FileCheck %s --check-prefix=LARGE

// 16 KiB are not large, unless the pass is told so.
func.func @step(%x: tensor<64x64xf32> {mekik.role = "input"},
                %w: tensor<64x64xf32> {mekik.role = "parameter", mekik.name = "a"},
                %up: tensor<64x256xf32> {mekik.role = "parameter", mekik.name = "b"},
                %down: tensor<256x64xf32> {mekik.role = "parameter", mekik.name = "c"})
    -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %h = graph.contract "ak,kb->ab" %x, %w : tensor<64x64xf32>, tensor<64x64xf32>
  %a = graph.tanh %h : tensor<64x64xf32>
  %y = graph.contract "ab,bc->ac" %a, %up : tensor<64x64xf32>, tensor<64x256xf32>
  %z = graph.contract "ac,cb->ab" %y, %down : tensor<64x256xf32>, tensor<256x64xf32>
  %g = graph.contract "ab,ac->bc" %a, %z : tensor<64x64xf32>, tensor<64x64xf32>
  %d = graph.mul %h, %z : tensor<64x64xf32>
  return %g, %d : tensor<64x64xf32>, tensor<64x64xf32>
}

// CHECK: func.func @step
// LARGE: call @rows_1_again
