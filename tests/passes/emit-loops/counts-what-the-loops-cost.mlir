// RUN: mekik-opt -verify-each --emit-loops=cpu=x86-64-v4 %s | FileCheck %s
// RUN: mekik-opt -verify-each --emit-loops=cpu=x86-64-v3 %s | FileCheck %s --check-prefix=NARROW

// 256 vectors of 16 elements: two loads, an addition and a store each, two a cycle. Three tensors of 16 KiB.
// CHECK: func.func private @add
// CHECK-SAME: mekik.cycles = 5.120000e+02
// CHECK-SAME: mekik.traffic = 4.915200e+04
// NARROW: func.func private @add
// NARROW-SAME: mekik.cycles = 1.024000e+03
func.func private @add(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {mekik.kernel, mekik.operations = 4096.0 : f64} {
  %z = graph.add %x, %y : tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}

// A division takes sixteen cycles a vector.
// CHECK: func.func private @divide
// CHECK-SAME: mekik.cycles = 4.480000e+03
func.func private @divide(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {mekik.kernel, mekik.operations = 4096.0 : f64} {
  %z = graph.div %x, %y : tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}

// 64 * 64 * 64 multiply-adds, 32 a cycle.
// CHECK: func.func private @multiply
// CHECK-SAME: mekik.contraction
// CHECK-SAME: mekik.cycles = 8.192000e+03
// CHECK-SAME: mekik.traffic = 4.915200e+04
func.func private @multiply(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {mekik.kernel, mekik.operations = 524288.0 : f64} {
  %z = graph.contract "ij,jk->ik" %x, %y : tensor<64x64xf32>, tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}
