// RUN: mekik-opt -verify-each --mark-unread %s | FileCheck %s

// Squares of squares: as many paths from the scores to the select as no machine can follow, but few values.
// CHECK-LABEL: func.func private @scores
// CHECK-SAME: mekik.read_up_to_diagonal = array<i64: 0>
func.func private @scores(%x: tensor<200x8xf32>) -> tensor<200x200xf32> attributes {mekik.kernel, mekik.operations = 1.0 : f64} {
  %0 = graph.contract "ik,jk->ij" %x, %x {triangle = "ij"} : tensor<200x8xf32>, tensor<200x8xf32>
  return %0 : tensor<200x200xf32>
}
func.func private @squares(%a: tensor<200x200xf32>) -> tensor<200x200xf32> attributes {mekik.kernel, mekik.operations = 1.0 : f64} {
  %m0 = graph.mul %a, %a : tensor<200x200xf32>
  %m1 = graph.mul %m0, %m0 : tensor<200x200xf32>
  %m2 = graph.mul %m1, %m1 : tensor<200x200xf32>
  %m3 = graph.mul %m2, %m2 : tensor<200x200xf32>
  %m4 = graph.mul %m3, %m3 : tensor<200x200xf32>
  %m5 = graph.mul %m4, %m4 : tensor<200x200xf32>
  %m6 = graph.mul %m5, %m5 : tensor<200x200xf32>
  %m7 = graph.mul %m6, %m6 : tensor<200x200xf32>
  %m8 = graph.mul %m7, %m7 : tensor<200x200xf32>
  %m9 = graph.mul %m8, %m8 : tensor<200x200xf32>
  %m10 = graph.mul %m9, %m9 : tensor<200x200xf32>
  %m11 = graph.mul %m10, %m10 : tensor<200x200xf32>
  %m12 = graph.mul %m11, %m11 : tensor<200x200xf32>
  %m13 = graph.mul %m12, %m12 : tensor<200x200xf32>
  %m14 = graph.mul %m13, %m13 : tensor<200x200xf32>
  %m15 = graph.mul %m14, %m14 : tensor<200x200xf32>
  %m16 = graph.mul %m15, %m15 : tensor<200x200xf32>
  %m17 = graph.mul %m16, %m16 : tensor<200x200xf32>
  %m18 = graph.mul %m17, %m17 : tensor<200x200xf32>
  %m19 = graph.mul %m18, %m18 : tensor<200x200xf32>
  %m20 = graph.mul %m19, %m19 : tensor<200x200xf32>
  %m21 = graph.mul %m20, %m20 : tensor<200x200xf32>
  %m22 = graph.mul %m21, %m21 : tensor<200x200xf32>
  %m23 = graph.mul %m22, %m22 : tensor<200x200xf32>
  %m24 = graph.mul %m23, %m23 : tensor<200x200xf32>
  %m25 = graph.mul %m24, %m24 : tensor<200x200xf32>
  %m26 = graph.mul %m25, %m25 : tensor<200x200xf32>
  %m27 = graph.mul %m26, %m26 : tensor<200x200xf32>
  %m28 = graph.mul %m27, %m27 : tensor<200x200xf32>
  %m29 = graph.mul %m28, %m28 : tensor<200x200xf32>
  %m30 = graph.mul %m29, %m29 : tensor<200x200xf32>
  %m31 = graph.mul %m30, %m30 : tensor<200x200xf32>
  %m32 = graph.mul %m31, %m31 : tensor<200x200xf32>
  %m33 = graph.mul %m32, %m32 : tensor<200x200xf32>
  %m34 = graph.mul %m33, %m33 : tensor<200x200xf32>
  %m35 = graph.mul %m34, %m34 : tensor<200x200xf32>
  %m36 = graph.mul %m35, %m35 : tensor<200x200xf32>
  %m37 = graph.mul %m36, %m36 : tensor<200x200xf32>
  %m38 = graph.mul %m37, %m37 : tensor<200x200xf32>
  %m39 = graph.mul %m38, %m38 : tensor<200x200xf32>
  %m40 = graph.mul %m39, %m39 : tensor<200x200xf32>
  %m41 = graph.mul %m40, %m40 : tensor<200x200xf32>
  %m42 = graph.mul %m41, %m41 : tensor<200x200xf32>
  %m43 = graph.mul %m42, %m42 : tensor<200x200xf32>
  %m44 = graph.mul %m43, %m43 : tensor<200x200xf32>
  %m45 = graph.mul %m44, %m44 : tensor<200x200xf32>
  %m46 = graph.mul %m45, %m45 : tensor<200x200xf32>
  %m47 = graph.mul %m46, %m46 : tensor<200x200xf32>
  %i = graph.iota 1 : tensor<200x200xi32>
  %j = graph.iota 0 : tensor<200x200xi32>
  %le = graph.compare "le" %i, %j : tensor<200x200xi32>
  %z = graph.constant 0.0 : f32 : tensor<200x200xf32>
  %s = graph.select %le, %m47, %z : tensor<200x200xi1>, tensor<200x200xf32>
  return %s : tensor<200x200xf32>
}
func.func @eval(%x: tensor<200x8xf32>) -> tensor<200x200xf32> {
  %0 = call @scores(%x) : (tensor<200x8xf32>) -> tensor<200x200xf32>
  %1 = call @squares(%0) : (tensor<200x200xf32>) -> tensor<200x200xf32>
  return %1 : tensor<200x200xf32>
}

// What is no kernel may read everything.
// CHECK-LABEL: func.func private @others
// CHECK-NOT: read_up_to_diagonal
func.func private @others(%x: tensor<200x8xf32>) -> tensor<200x200xf32> attributes {mekik.kernel, mekik.operations = 2.0 : f64} {
  %0 = graph.contract "ik,jk->ij" %x, %x {triangle = "ij"} : tensor<200x8xf32>, tensor<200x8xf32>
  return %0 : tensor<200x200xf32>
}
func.func private @anything(%a: tensor<200x200xf32>) -> tensor<200x200xf32> {
  return %a : tensor<200x200xf32>
}
func.func @give(%x: tensor<200x8xf32>) -> tensor<200x200xf32> {
  %0 = call @others(%x) : (tensor<200x8xf32>) -> tensor<200x200xf32>
  %1 = call @anything(%0) : (tensor<200x200xf32>) -> tensor<200x200xf32>
  return %1 : tensor<200x200xf32>
}
