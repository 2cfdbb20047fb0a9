// RUN: mekik-opt -verify-each --emit-loops=cpu=x86-64-v4 %s | FileCheck %s
// RUN: mekik-opt -verify-each --emit-loops=cpu=x86-64-v3 %s | FileCheck %s --check-prefix=NARROW

// Three megabytes, each sum done in one visit: whole lines go past the caches, and are there before others read them.
// CHECK-LABEL: func.func private @large
// CHECK: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true}
// CHECK: llvm.fence seq_cst
// CHECK-NEXT: return
// A vector of half a line would be written to memory twice.
// NARROW-LABEL: func.func private @large
// NARROW-NOT: nontemporal
func.func private @large(%x: tensor<1024x64xf32>, %y: tensor<64x768xf32>) -> tensor<1024x768xf32> attributes {mekik.kernel, mekik.operations = 1.0e8 : f64} {
  %z = graph.contract "ij,jk->ik" %x, %y : tensor<1024x64xf32>, tensor<64x768xf32>
  return %z : tensor<1024x768xf32>
}

// What stays in the second-level cache is there for its reader; sums visited again are read; lines shared by two rows
// are written in two parts.
// CHECK-LABEL: func.func private @small
// CHECK-NOT: nontemporal
// CHECK-NOT: llvm.fence
func.func private @small(%x: tensor<512x64xf32>, %y: tensor<64x768xf32>) -> tensor<512x768xf32> attributes {mekik.kernel, mekik.operations = 5.0e7 : f64} {
  %z = graph.contract "ij,jk->ik" %x, %y : tensor<512x64xf32>, tensor<64x768xf32>
  return %z : tensor<512x768xf32>
}
func.func private @long(%x: tensor<1024x1024xf32>, %y: tensor<1024x768xf32>) -> tensor<1024x768xf32> attributes {mekik.kernel, mekik.operations = 1.6e9 : f64} {
  %z = graph.contract "ij,jk->ik" %x, %y : tensor<1024x1024xf32>, tensor<1024x768xf32>
  return %z : tensor<1024x768xf32>
}
func.func private @uneven(%x: tensor<1024x64xf32>, %y: tensor<64x777xf32>) -> tensor<1024x777xf32> attributes {mekik.kernel, mekik.operations = 1.0e8 : f64} {
  %z = graph.contract "ij,jk->ik" %x, %y : tensor<1024x64xf32>, tensor<64x777xf32>
  return %z : tensor<1024x777xf32>
}
