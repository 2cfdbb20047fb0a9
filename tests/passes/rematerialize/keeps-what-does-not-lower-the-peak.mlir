// RUN: mekik-opt -verify-each --form-kernels --rematerialize=large-bytes=0 %s | FileCheck %s --implicit-check-not=again

// Like the model that computes %a again, but most is alive before, while %first is made of a product four times as
// large.
func.func @step(%x: tensor<64x64xf32> {mekik.role = "input"},
                %w: tensor<64x64xf32> {mekik.role = "parameter", mekik.name = "a"},
                %up: tensor<64x256xf32> {mekik.role = "parameter", mekik.name = "b"},
                %down: tensor<256x64xf32> {mekik.role = "parameter", mekik.name = "c"},
                %wide: tensor<64x1024xf32> {mekik.role = "parameter", mekik.name = "d"},
                %narrow: tensor<1024x64xf32> {mekik.role = "parameter", mekik.name = "e"})
    -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %much = graph.contract "ak,kb->ab" %x, %wide : tensor<64x64xf32>, tensor<64x1024xf32>
  %first = graph.contract "ak,kb->ab" %much, %narrow : tensor<64x1024xf32>, tensor<1024x64xf32>
  %h = graph.contract "ak,kb->ab" %first, %w : tensor<64x64xf32>, tensor<64x64xf32>
  %a = graph.tanh %h : tensor<64x64xf32>
  %y = graph.contract "ab,bc->ac" %a, %up : tensor<64x64xf32>, tensor<64x256xf32>
  %z = graph.contract "ac,cb->ab" %y, %down : tensor<64x256xf32>, tensor<256x64xf32>
  %g = graph.contract "ab,ac->bc" %a, %z : tensor<64x64xf32>, tensor<64x64xf32>
  %d = graph.mul %h, %z : tensor<64x64xf32>
  return %g, %d : tensor<64x64xf32>, tensor<64x64xf32>
}

// CHECK: func.func @step
