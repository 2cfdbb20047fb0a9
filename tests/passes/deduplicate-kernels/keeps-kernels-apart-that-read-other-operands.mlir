// RUN: mekik-opt -verify-each --deduplicate-kernels %s | FileCheck %s

// The same ops on the same operands under another name are one kernel. An exchange of operands, another constant or
// another attribute of the kernel makes two.
// CHECK:     func.func private @minus(
// CHECK-NOT: @minusToo(
// CHECK:     func.func private @turned(
// CHECK:     func.func private @half(
// CHECK:     func.func private @third(
// CHECK:     func.func private @inPlace(
func.func private @minus(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {mekik.kernel} {
  %0 = graph.sub %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @minusToo(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {mekik.kernel} {
  %0 = graph.sub %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @turned(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {mekik.kernel} {
  %0 = graph.sub %y, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @half(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mekik.kernel} {
  %c = graph.constant 0.5 : f32 : tensor<4xf32>
  %0 = graph.mul %x, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @third(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mekik.kernel} {
  %c = graph.constant 0.3 : f32 : tensor<4xf32>
  %0 = graph.mul %x, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @inPlace(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {mekik.kernel, mekik.in_place = array<i64: 0>} {
  %0 = graph.sub %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @forward
// CHECK-NEXT:  call @minus(
// CHECK-NEXT:  call @minus(
// CHECK-NEXT:  call @turned(
// CHECK-NEXT:  call @half(
// CHECK-NEXT:  call @third(
// CHECK-NEXT:  call @inPlace(
func.func @forward(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = call @minus(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = call @minusToo(%a, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = call @turned(%b, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = call @half(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %e = call @third(%d) : (tensor<4xf32>) -> tensor<4xf32>
  %f = call @inPlace(%e, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %f : tensor<4xf32>
}
