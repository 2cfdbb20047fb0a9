// RUN: mekik-opt -verify-each %s | mekik-opt | FileCheck %s

// CHECK-LABEL: func.func @windows(
func.func @windows(%x: tensor<2x9x4xf32>, %f: tensor<3x4x5xf32>, %i: tensor<9xi32>) {
  // CHECK: graph.windows %{{.*}} [1] sizes [3] strides [2] dilations [1] : tensor<2x9x4xf32>
  %0 = graph.windows %x [1] sizes [3] strides [2] dilations [1] : tensor<2x9x4xf32>
  // CHECK: graph.windows %{{.*}} [0] sizes [2] strides [1] dilations [8] : tensor<9xi32>
  %1 = graph.windows %i [0] sizes [2] strides [1] dilations [8] : tensor<9xi32>
  // CHECK: graph.contract_windows "bwpi,pio->bwo" %{{.*}} [1] sizes [3] strides [2] dilations [1], %{{.*}} : tensor<2x9x4xf32>, tensor<3x4x5xf32>
  %2 = graph.contract_windows "bwpi,pio->bwo" %x [1] sizes [3] strides [2] dilations [1], %f : tensor<2x9x4xf32>, tensor<3x4x5xf32>
  // CHECK: graph.convolution %{{.*}}, %{{.*}} strides [1] low [0] high [1] dilations [2] groups 1 : tensor<2x9x4xf32>, tensor<3x4x5xf32>
  %3 = graph.convolution %x, %f strides [1] low [0] high [1] dilations [2] groups 1 : tensor<2x9x4xf32>, tensor<3x4x5xf32>
  // CHECK: graph.max_pool %{{.*}} sizes [2] strides [2] low [0] high [1] : tensor<2x9x4xf32>
  %4 = graph.max_pool %x sizes [2] strides [2] low [0] high [1] : tensor<2x9x4xf32>
  // CHECK: graph.average_pool %{{.*}} sizes [9] strides [1] low [0] high [0] : tensor<2x9x4xf32>
  %5 = graph.average_pool %x sizes [9] strides [1] low [0] high [0] : tensor<2x9x4xf32>
  return
}

// CHECK-LABEL: func.func @turned(
func.func @turned(%x: tensor<2x9x4xf32>) {
  // CHECK: graph.rotary %{{.*}} : tensor<2x9x4xf32>
  %0 = graph.rotary %x : tensor<2x9x4xf32>
  // CHECK: graph.rotary %{{.*}} {back = true, base = 1.000000e+02 : f64, pairs = "neighbours"} : tensor<2x9x4xf32>
  %1 = graph.rotary %x {back = true, base = 1.000000e+02 : f64, pairs = "neighbours"} : tensor<2x9x4xf32>
  // CHECK: graph.reverse %{{.*}} [0, 2] : tensor<2x9x4xf32>
  %2 = graph.reverse %x [0, 2] : tensor<2x9x4xf32>
  return
}
