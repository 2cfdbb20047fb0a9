// RUN: mekik-opt -verify-each --derive-functions --canonicalize --cse %s | FileCheck %s

// The norm that clipping takes: a gradient of up to 65536 elements is one row of squares. A larger one has a row for
// each place along its leading axes, of as many trailing axes as have 64 elements together; their sums are added in f64.
// Where all axes are needed for that, it is one row again.
module @norm attributes {mekik.optimizer = {kind = "sgd", clip = 1.0 : f64,
                                            rate = {kind = "constant", peak = 0.125 : f64}}} {
  func.func @train(%small: tensor<512x128xf32> {mekik.role = "parameter", mekik.name = "small",
                                                mekik.init = {kind = "uniform", a = -1.0 : f64, b = 1.0 : f64}},
                   %matrix: tensor<513x128xf32> {mekik.role = "parameter", mekik.name = "matrix",
                                                 mekik.init = {kind = "uniform", a = -1.0 : f64, b = 1.0 : f64}},
                   %filters: tensor<2048x2x16x4xf32> {mekik.role = "parameter", mekik.name = "filters",
                                                      mekik.init = {kind = "uniform", a = -1.0 : f64, b = 1.0 : f64}},
                   %pairs: tensor<33000x2xf32> {mekik.role = "parameter", mekik.name = "pairs",
                                                mekik.init = {kind = "uniform", a = -1.0 : f64, b = 1.0 : f64}},
                   %vector: tensor<70000xf32> {mekik.role = "parameter", mekik.name = "vector",
                                               mekik.init = {kind = "uniform", a = -1.0 : f64, b = 1.0 : f64}},
                   %seed: tensor<i64> {mekik.role = "seed"}, %step: tensor<i64> {mekik.role = "step"})
      -> (tensor<f32> {mekik.role = "loss"}) {
    %0 = graph.mul %small, %small : tensor<512x128xf32>
    %1 = graph.mul %matrix, %matrix : tensor<513x128xf32>
    %2 = graph.mul %filters, %filters : tensor<2048x2x16x4xf32>
    %3 = graph.mul %pairs, %pairs : tensor<33000x2xf32>
    %4 = graph.mul %vector, %vector : tensor<70000xf32>
    %a = graph.sum %0 [0, 1] : tensor<512x128xf32>
    %b = graph.sum %1 [0, 1] : tensor<513x128xf32>
    %c = graph.sum %2 [0, 1, 2, 3] : tensor<2048x2x16x4xf32>
    %d = graph.sum %3 [0, 1] : tensor<33000x2xf32>
    %e = graph.sum %4 [0] : tensor<70000xf32>
    %5 = graph.add %a, %b : tensor<f32>
    %6 = graph.add %5, %c : tensor<f32>
    %7 = graph.add %6, %d : tensor<f32>
    %loss = graph.add %7, %e : tensor<f32>
    return %loss : tensor<f32>
  }
}

// CHECK-LABEL: func.func @train_step
// CHECK:       %[[SMALL:.*]] = graph.sum %{{.*}} [0] : tensor<65536xf32>
// CHECK:       graph.cast %[[SMALL]] : tensor<f32> to tensor<f64>
// CHECK:       %[[MATRIX:.*]] = graph.sum %{{.*}} [1] : tensor<513x128xf32>
// CHECK:       %[[OF_MATRIX:.*]] = graph.cast %[[MATRIX]] : tensor<513xf32> to tensor<513xf64>
// CHECK:       graph.sum %[[OF_MATRIX]] [0] : tensor<513xf64>
// CHECK:       %[[FILTERS:.*]] = graph.sum %{{.*}} [2, 3] : tensor<2048x2x16x4xf32>
// CHECK:       %[[OF_FILTERS:.*]] = graph.cast %[[FILTERS]] : tensor<2048x2xf32> to tensor<2048x2xf64>
// CHECK:       graph.sum %[[OF_FILTERS]] [0, 1] : tensor<2048x2xf64>
// CHECK:       graph.sum %{{.*}} [0] : tensor<66000xf32>
// CHECK:       graph.sum %{{.*}} [0] : tensor<70000xf32>
