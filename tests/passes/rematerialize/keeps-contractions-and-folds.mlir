// RUN: mekik-opt -verify-each --form-kernels --rematerialize=large-bytes=0 %s | FileCheck %s --implicit-check-not=again

// %h waits at the peak and its operands live on, but it is a contraction; %n is made of a fold of %h.
func.func @step(%x: tensor<64x64xf32> {mekik.role = "input"},
                %w: tensor<64x64xf32> {mekik.role = "parameter", mekik.name = "a"},
                %up: tensor<64x256xf32> {mekik.role = "parameter", mekik.name = "b"},
                %down: tensor<256x64xf32> {mekik.role = "parameter", mekik.name = "c"})
    -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %h = graph.contract "ak,kb->ab" %x, %w : tensor<64x64xf32>, tensor<64x64xf32>
  %m = graph.max %h [1] : tensor<64x64xf32>
  %spread = graph.broadcast %m [0] : tensor<64xf32> to tensor<64x64xf32>
  %n = graph.sub %h, %spread : tensor<64x64xf32>
  %y = graph.contract "ab,bc->ac" %n, %up : tensor<64x64xf32>, tensor<64x256xf32>
  %z = graph.contract "ac,cb->ab" %y, %down : tensor<64x256xf32>, tensor<256x64xf32>
  %g = graph.contract "ab,ac->bc" %n, %z : tensor<64x64xf32>, tensor<64x64xf32>
  %d = graph.mul %h, %z : tensor<64x64xf32>
  %e = graph.contract "ab,bc->ac" %x, %w : tensor<64x64xf32>, tensor<64x64xf32>
  return %g, %d, %e : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// CHECK: func.func @step
