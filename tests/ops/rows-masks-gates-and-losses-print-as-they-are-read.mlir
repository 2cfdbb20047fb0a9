// RUN: mekik-opt -verify-each %s | mekik-opt | FileCheck %s

// CHECK-LABEL: func.func @all(
// Losses without reduction have the shape of the rows, whatever the order in which their attributes are read.
// CHECK-SAME:    -> (tensor<2xf32>, tensor<2x7xf32>, tensor<2x7xf32>, tensor<f32>)
func.func @all(%x: tensor<2x7xf32>, %t: tensor<2xi32>, %keep: tensor<2x7xi1>)
    -> (tensor<2xf32>, tensor<2x7xf32>, tensor<2x7xf32>, tensor<f32>) {
  // CHECK: graph.softmax %{{.*}} : tensor<2x7xf32>
  %0 = graph.softmax %x : tensor<2x7xf32>
  // CHECK: graph.log_softmax %{{.*}} {axis = 0 : i64} : tensor<2x7xf32>
  %1 = graph.log_softmax %x {axis = 0 : i64} : tensor<2x7xf32>
  // CHECK: graph.normalize %{{.*}} {eps = 1.250000e-01 : f64} : tensor<2x7xf32>
  %2 = graph.normalize %x {eps = 0.125 : f64} : tensor<2x7xf32>
  // CHECK: graph.rms_normalize %{{.*}} : tensor<2x7xf32>
  %3 = graph.rms_normalize %x : tensor<2x7xf32>
  // CHECK: graph.causal %{{.*}} : tensor<2x7xf32>
  %4 = graph.causal %x : tensor<2x7xf32>
  // CHECK: graph.mask %{{.*}}, %{{.*}} : tensor<2x7xf32>, tensor<2x7xi1>
  %5 = graph.mask %x, %keep : tensor<2x7xf32>, tensor<2x7xi1>
  // CHECK: graph.gelu %{{.*}} {form = "erf"} : tensor<2x7xf32>
  %6 = graph.gelu %x {form = "erf"} : tensor<2x7xf32>
  // CHECK: graph.silu %{{.*}} : tensor<2x7xf32>
  %7 = graph.silu %x : tensor<2x7xf32>
  // CHECK: graph.cross_entropy %{{.*}}, %{{.*}} {ignore = -1 : i64, reduction = "none", smoothing = 1.000000e-01 : f64}
  %8 = graph.cross_entropy %x, %t {reduction = "none", ignore = -1 : i64, smoothing = 0.1 : f64}
      : tensor<2x7xf32>, tensor<2xi32>
  // CHECK: graph.binary_cross_entropy %{{.*}}, %{{.*}} {reduction = "none"} : tensor<2x7xf32>
  %9 = graph.binary_cross_entropy %x, %x {reduction = "none"} : tensor<2x7xf32>
  // CHECK: graph.mse %{{.*}}, %{{.*}} {reduction = "none"} : tensor<2x7xf32>
  %10 = graph.mse %x, %x {reduction = "none"} : tensor<2x7xf32>
  // CHECK: graph.cross_entropy %{{.*}}, %{{.*}} : tensor<2x7xf32>, tensor<2xi32>
  %11 = graph.cross_entropy %x, %t : tensor<2x7xf32>, tensor<2xi32>
  return %8, %9, %10, %11 : tensor<2xf32>, tensor<2x7xf32>, tensor<2x7xf32>, tensor<f32>
}
