// RUN: mekik-opt -verify-each %s | mekik-opt | FileCheck %s

// CHECK-LABEL: func.func @elementwise(
func.func @elementwise(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %i: tensor<2x3xi32>, %c: tensor<2x3xi1>) {
  // CHECK: graph.neg %{{.*}} : tensor<2x3xf32>
  %0 = graph.neg %x : tensor<2x3xf32>
  // CHECK: graph.neg %{{.*}} : tensor<2x3xi32>
  %1 = graph.neg %i : tensor<2x3xi32>
  // CHECK: graph.abs
  %2 = graph.abs %x : tensor<2x3xf32>
  // CHECK: graph.sqrt
  %3 = graph.sqrt %x : tensor<2x3xf32>
  // CHECK: graph.rsqrt
  %4 = graph.rsqrt %x : tensor<2x3xf32>
  // CHECK: graph.exp
  %5 = graph.exp %x : tensor<2x3xf32>
  // CHECK: graph.log
  %6 = graph.log %x : tensor<2x3xf32>
  // CHECK: graph.tanh
  %7 = graph.tanh %x : tensor<2x3xf32>
  // CHECK: graph.sigmoid
  %8 = graph.sigmoid %x : tensor<2x3xf32>
  // CHECK: graph.softplus
  %9 = graph.softplus %x : tensor<2x3xf32>
  // CHECK: graph.erf
  %10 = graph.erf %x : tensor<2x3xf32>
  // CHECK: graph.sin
  %11 = graph.sin %x : tensor<2x3xf32>
  // CHECK: graph.cos
  %12 = graph.cos %x : tensor<2x3xf32>
  // CHECK: graph.relu
  %13 = graph.relu %x : tensor<2x3xf32>
  // CHECK: graph.add %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %14 = graph.add %x, %y : tensor<2x3xf32>
  // CHECK: graph.sub
  %15 = graph.sub %x, %y : tensor<2x3xf32>
  // CHECK: graph.mul
  %16 = graph.mul %x, %y : tensor<2x3xf32>
  // CHECK: graph.div
  %17 = graph.div %x, %y : tensor<2x3xf32>
  // CHECK: graph.pow
  %18 = graph.pow %x, %y : tensor<2x3xf32>
  // CHECK: graph.maximum
  %19 = graph.maximum %x, %y : tensor<2x3xf32>
  // CHECK: graph.minimum
  %20 = graph.minimum %x, %y : tensor<2x3xf32>
  // CHECK: graph.compare "lt" %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %21 = graph.compare "lt" %x, %y : tensor<2x3xf32>
  // CHECK: graph.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x3xi1>, tensor<2x3xf32>
  %22 = graph.select %21, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  // CHECK: graph.and
  %23 = graph.and %21, %c : tensor<2x3xi1>
  // CHECK: graph.or
  %24 = graph.or %21, %c : tensor<2x3xi1>
  // CHECK: graph.not
  %25 = graph.not %c : tensor<2x3xi1>
  // CHECK: graph.cast %{{.*}} : tensor<2x3xi32> to tensor<2x3xf32>
  %26 = graph.cast %i : tensor<2x3xi32> to tensor<2x3xf32>
  // CHECK: graph.exp_nonpositive %{{.*}} : tensor<2x3xf32>
  %27 = graph.exp_nonpositive %x : tensor<2x3xf32>
  // CHECK: graph.normal_cdf %{{.*}} : tensor<2x3xf32>
  %28 = graph.normal_cdf %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @shapes(
func.func @shapes(%x: tensor<2x3xf32>) {
  // CHECK: graph.constant 2.500000e+00 : f32 : tensor<2x3xf32>
  %0 = graph.constant 2.5 : f32 : tensor<2x3xf32>
  // CHECK: graph.constant true : tensor<4xi1>
  %1 = graph.constant true : tensor<4xi1>
  // CHECK: graph.iota 1 : tensor<2x3xi32>
  %2 = graph.iota 1 : tensor<2x3xi32>
  // CHECK: graph.broadcast %{{.*}} [0, 2] : tensor<2x3xf32> to tensor<2x4x3xf32>
  %3 = graph.broadcast %x [0, 2] : tensor<2x3xf32> to tensor<2x4x3xf32>
  // CHECK: graph.reshape %{{.*}} : tensor<2x3xf32> to tensor<6xf32>
  %4 = graph.reshape %x : tensor<2x3xf32> to tensor<6xf32>
  // CHECK: graph.transpose %{{.*}} [1, 0] : tensor<2x3xf32>
  %5 = graph.transpose %x [1, 0] : tensor<2x3xf32>
  // CHECK: graph.slice %{{.*}} [0, 1] [2, 2] : tensor<2x3xf32>
  %6 = graph.slice %x [0, 1] [2, 2] : tensor<2x3xf32>
  // CHECK: graph.pad %{{.*}} [1, 0] [0, 2] : tensor<2x3xf32>
  %7 = graph.pad %x [1, 0] [0, 2] : tensor<2x3xf32>
  // CHECK: graph.concat 1 of %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<2x2xf32>
  %8 = graph.concat 1 of %x, %6 : tensor<2x3xf32>, tensor<2x2xf32>
  return
}

// CHECK-LABEL: func.func @folds(
func.func @folds(%x: tensor<2x3x4xf32>, %w: tensor<5x4xf64>, %v: tensor<4x2xf64>) {
  // CHECK: graph.sum %{{.*}} [1, 2] : tensor<2x3x4xf32>
  %0 = graph.sum %x [1, 2] : tensor<2x3x4xf32>
  // CHECK: graph.max %{{.*}} [0, 1] : tensor<2x3x4xf32>
  %1 = graph.max %x [0, 1] : tensor<2x3x4xf32>
  // CHECK: graph.peak %{{.*}} [0, 1] : tensor<2x3x4xf32>
  %peak = graph.peak %x [0, 1] : tensor<2x3x4xf32>
  // CHECK: graph.mean %{{.*}} [0, 2] : tensor<2x3x4xf32>
  %2 = graph.mean %x [0, 2] : tensor<2x3x4xf32>
  // CHECK: graph.contract "ik,kj->ji" %{{.*}}, %{{.*}} : tensor<5x4xf64>, tensor<4x2xf64>
  %3 = graph.contract "ik,kj->ji" %w, %v : tensor<5x4xf64>, tensor<4x2xf64>
  // CHECK: graph.contract "ik,kj->ij" triangle "ik" %{{.*}}, %{{.*}} : tensor<5x4xf64>, tensor<4x2xf64>
  %4 = graph.contract "ik,kj->ij" triangle "ik" %w, %v : tensor<5x4xf64>, tensor<4x2xf64>
  return
}

// CHECK-LABEL: func.func @rows_and_random(
func.func @rows_and_random(%ids: tensor<2x3xi32>, %table: tensor<7x4xf32>, %seed: tensor<i64>, %step: tensor<i64>) {
  // CHECK: graph.embedding %{{.*}}, %{{.*}} : tensor<2x3xi32>, tensor<7x4xf32>
  %0 = graph.embedding %ids, %table : tensor<2x3xi32>, tensor<7x4xf32>
  // CHECK: graph.scatter_add %{{.*}}, %{{.*}} rows 7 : tensor<2x3xi32>, tensor<2x3x4xf32>
  %1 = graph.scatter_add %ids, %0 rows 7 : tensor<2x3xi32>, tensor<2x3x4xf32>
  // CHECK: graph.one_hot %{{.*}} classes 7 : tensor<2x3xi32> to tensor<2x3x7xf32>
  %2 = graph.one_hot %ids classes 7 : tensor<2x3xi32> to tensor<2x3x7xf32>
  // CHECK: graph.random %{{.*}}, %{{.*}} stream %{{.*}} : tensor<100xf32>
  %3 = graph.random %seed, %step stream %step : tensor<100xf32>
  // CHECK: graph.random_normal %{{.*}}, %{{.*}} stream 4 : tensor<100xf64>
  %4 = graph.random_normal %seed, %step stream 4 : tensor<100xf64>
  // CHECK: graph.drop %{{.*}}, %{{.*}}, %{{.*}} rate 2.000000e-01 stream 5 : tensor<7x4xf32>
  %5 = graph.drop %table, %seed, %step rate 0.2 stream 5 : tensor<7x4xf32>
  return
}
