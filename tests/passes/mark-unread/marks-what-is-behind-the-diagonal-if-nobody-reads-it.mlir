// RUN: mekik-opt -verify-each --mark-unread %s | FileCheck %s

// Scores go through a select before the diagonal, into a product with the same triangle, or element for element into
// something that is not read behind the diagonal either. A kernel that somebody else calls, and of whose result that one
// reads all, is not marked, and short rows are computed whole anyway.

// CHECK-LABEL: func.func private @scores(
// CHECK-SAME:    mekik.read_up_to_diagonal = array<i64: 0>
func.func private @scores(%q: tensor<256x64xf32>, %k: tensor<256x64xf32>) -> tensor<256x256xf32> attributes {mekik.kernel} {
  %0 = graph.contract "ts,us->tu" triangle "tu" %q, %k : tensor<256x64xf32>, tensor<256x64xf32>
  return %0 : tensor<256x256xf32>
}

// Its second result is added up behind the diagonal too.
// CHECK-LABEL: func.func private @weights(
// CHECK-SAME:    mekik.read_up_to_diagonal = array<i64: 0, -1>
func.func private @weights(%x: tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>) attributes {mekik.kernel} {
  %key = graph.iota 1 : tensor<256x256xi32>
  %query = graph.iota 0 : tensor<256x256xi32>
  %seen = graph.compare "le" %key, %query : tensor<256x256xi32>
  %zero = graph.constant 0.0 : f32 : tensor<256x256xf32>
  %double = graph.add %x, %x : tensor<256x256xf32>
  %0 = graph.select %seen, %double, %zero : tensor<256x256xi1>, tensor<256x256xf32>
  %1 = graph.neg %0 : tensor<256x256xf32>
  return %0, %1 : tensor<256x256xf32>, tensor<256x256xf32>
}

// CHECK-LABEL: func.func private @total(
// CHECK-NOT:     read_up_to_diagonal
func.func private @total(%x: tensor<256x256xf32>) -> tensor<256xf32> attributes {mekik.kernel} {
  %0 = graph.sum %x [1] : tensor<256x256xf32>
  return %0 : tensor<256xf32>
}

// CHECK-LABEL: func.func private @product(
// CHECK-NOT:     read_up_to_diagonal
func.func private @product(%w: tensor<256x256xf32>, %v: tensor<256x64xf32>) -> tensor<256x64xf32> attributes {mekik.kernel} {
  %0 = graph.contract "tu,us->ts" triangle "tu" %w, %v : tensor<256x256xf32>, tensor<256x64xf32>
  return %0 : tensor<256x64xf32>
}

// CHECK-LABEL: func.func private @seen(
// CHECK-NOT:     read_up_to_diagonal
func.func private @seen(%q: tensor<256x32xf32>, %k: tensor<256x32xf32>) -> tensor<256x256xf32> attributes {mekik.kernel} {
  %0 = graph.contract "ts,us->tu" triangle "tu" %q, %k : tensor<256x32xf32>, tensor<256x32xf32>
  return %0 : tensor<256x256xf32>
}

// The product has the triangle of the other half.
// CHECK-LABEL: func.func private @turned(
// CHECK-NOT:     read_up_to_diagonal
func.func private @turned(%q: tensor<256x16xf32>, %k: tensor<256x16xf32>) -> tensor<256x256xf32> attributes {mekik.kernel} {
  %0 = graph.contract "ts,us->tu" triangle "tu" %q, %k : tensor<256x16xf32>, tensor<256x16xf32>
  return %0 : tensor<256x256xf32>
}
func.func private @turnedProduct(%w: tensor<256x256xf32>, %v: tensor<256x64xf32>) -> tensor<256x64xf32> attributes {mekik.kernel} {
  %0 = graph.contract "ut,us->ts" triangle "tu" %w, %v : tensor<256x256xf32>, tensor<256x64xf32>
  return %0 : tensor<256x64xf32>
}

// What is made of it, element for element, is read as a whole.
// CHECK-LABEL: func.func private @passedOn(
// CHECK-NOT:     read_up_to_diagonal
func.func private @passedOn(%q: tensor<256x4xf32>, %k: tensor<256x4xf32>) -> tensor<256x256xf32> attributes {mekik.kernel} {
  %0 = graph.contract "ts,us->tu" triangle "tu" %q, %k : tensor<256x4xf32>, tensor<256x4xf32>
  return %0 : tensor<256x256xf32>
}
func.func private @negative(%x: tensor<256x256xf32>) -> tensor<256x256xf32> attributes {mekik.kernel} {
  %0 = graph.neg %x : tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// CHECK-LABEL: func.func private @short(
// CHECK-NOT:     read_up_to_diagonal
func.func private @short(%q: tensor<128x8xf32>, %k: tensor<128x8xf32>) -> tensor<128x128xf32> attributes {mekik.kernel} {
  %0 = graph.contract "ts,us->tu" triangle "tu" %q, %k : tensor<128x8xf32>, tensor<128x8xf32>
  return %0 : tensor<128x128xf32>
}
func.func private @shortProduct(%w: tensor<128x128xf32>, %v: tensor<128x8xf32>) -> tensor<128x8xf32> attributes {mekik.kernel} {
  %0 = graph.contract "tu,us->ts" triangle "tu" %w, %v : tensor<128x128xf32>, tensor<128x8xf32>
  return %0 : tensor<128x8xf32>
}

func.func @train_step(%q: tensor<256x64xf32>, %k: tensor<256x32xf32>, %r: tensor<256x16xf32>, %s: tensor<128x8xf32>, %p: tensor<256x4xf32>)
    -> (tensor<256xf32>, tensor<256x64xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<256x256xf32>, tensor<256x64xf32>, tensor<128x8xf32>) {
  %scores = call @scores(%q, %q) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x256xf32>
  %weights:2 = call @weights(%scores) : (tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>)
  %mixed = call @product(%weights#0, %q) : (tensor<256x256xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
  %total = call @total(%weights#1) : (tensor<256x256xf32>) -> tensor<256xf32>
  %seen = call @seen(%k, %k) : (tensor<256x32xf32>, tensor<256x32xf32>) -> tensor<256x256xf32>
  %again = call @product(%seen, %q) : (tensor<256x256xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
  %turned = call @turned(%r, %r) : (tensor<256x16xf32>, tensor<256x16xf32>) -> tensor<256x256xf32>
  %other = call @turnedProduct(%turned, %q) : (tensor<256x256xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
  %short = call @short(%s, %s) : (tensor<128x8xf32>, tensor<128x8xf32>) -> tensor<128x128xf32>
  %little = call @shortProduct(%short, %s) : (tensor<128x128xf32>, tensor<128x8xf32>) -> tensor<128x8xf32>
  %passed = call @passedOn(%p, %p) : (tensor<256x4xf32>, tensor<256x4xf32>) -> tensor<256x256xf32>
  %negative = call @negative(%passed) : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %all = call @total(%negative) : (tensor<256x256xf32>) -> tensor<256xf32>
  return %all, %mixed, %total, %again, %seen, %other, %little
      : tensor<256xf32>, tensor<256x64xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<256x256xf32>, tensor<256x64xf32>, tensor<128x8xf32>
}
