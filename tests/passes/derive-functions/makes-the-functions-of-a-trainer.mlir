// RUN: mekik-opt -verify-each --derive-functions=gradient-function --canonicalize --cse %s | FileCheck %s

// One parameter, plain gradient descent: every function at its smallest.
module @line attributes {mekik.optimizer = {kind = "sgd", momentum = 0.5 : f64,
                                            rate = {kind = "constant", peak = 0.125 : f64}}} {
  func.func @train(%w: tensor<2xf32> {mekik.role = "parameter", mekik.name = "w",
                                      mekik.init = {kind = "uniform", a = -1.0 : f64, b = 1.0 : f64}},
                   %x: tensor<2xf32> {mekik.role = "input", mekik.name = "x"},
                   %y: tensor<2xf32> {mekik.role = "target", mekik.name = "y"},
                   %seed: tensor<i64> {mekik.role = "seed"}, %step: tensor<i64> {mekik.role = "step"})
      -> (tensor<f32> {mekik.role = "loss"}, tensor<2xf32> {mekik.role = "output", mekik.name = "out"}) {
    %out = graph.mul %w, %x : tensor<2xf32>
    %loss = graph.mse %out, %y {reduction = "sum"} : tensor<2xf32>
    return %loss, %out : tensor<f32>, tensor<2xf32>
  }
  func.func @eval(%w: tensor<2xf32> {mekik.role = "parameter", mekik.name = "w"},
                  %x: tensor<2xf32> {mekik.role = "input", mekik.name = "x"},
                  %y: tensor<2xf32> {mekik.role = "target", mekik.name = "y"},
                  %seed: tensor<i64> {mekik.role = "seed"}, %step: tensor<i64> {mekik.role = "step"})
      -> (tensor<f32> {mekik.role = "loss"}, tensor<2xf32> {mekik.role = "output", mekik.name = "out"},
          tensor<2xf32> {mekik.role = "probe", mekik.name = "error"}) {
    %out = graph.mul %w, %x : tensor<2xf32>
    %error = graph.sub %out, %y : tensor<2xf32>
    %loss = graph.mse %out, %y : tensor<2xf32>
    return %loss, %out, %error : tensor<f32>, tensor<2xf32>, tensor<2xf32>
  }
}

// CHECK-NOT: @train(
// CHECK-NOT: @eval(

// CHECK-LABEL: func.func @init(
// CHECK-SAME:    %[[SEED:.*]]: tensor<i64> {mekik.role = "seed"}, %[[STEP:.*]]: tensor<i64> {mekik.role = "step"})
// CHECK-SAME:    -> (tensor<2xf32> {mekik.name = "w", mekik.role = "parameter"})
// CHECK:         %[[STREAM:.*]] = graph.constant 1073741824 : i64
// CHECK:         %[[U:.*]] = graph.random %[[SEED]], %[[STEP]] stream %[[STREAM]]
// CHECK:         %[[WIDE:.*]] = graph.mul %[[U]]
// CHECK:         %[[W:.*]] = graph.add %[[WIDE]]
// CHECK:         return %[[W]]

// The probe needs the target, which is not there where the model is used.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    tensor<2xf32> {mekik.name = "w", mekik.role = "parameter"}
// CHECK-SAME:    tensor<2xf32> {mekik.name = "x", mekik.role = "input"})
// CHECK-SAME:    -> (tensor<2xf32> {mekik.name = "out", mekik.role = "output"})

// CHECK-LABEL: func.func @loss(
// CHECK-SAME:    mekik.role = "target"})
// CHECK-SAME:    -> (tensor<f32> {mekik.role = "loss"})

// CHECK-LABEL: func.func @gradient(
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<2xf32> {{{.*}}mekik.role = "parameter"}, %[[X:.*]]: tensor<2xf32> {{{.*}}"input"}, %[[Y:.*]]: tensor
// CHECK-SAME:    -> (tensor<f32> {mekik.role = "loss"}, tensor<2xf32> {mekik.name = "w", mekik.role = "gradient"})
// CHECK-DAG:     %[[TWO:.*]] = graph.constant 2.0{{.*}} : tensor<2xf32>
// CHECK:         %[[OUT:.*]] = graph.mul %[[W]], %[[X]]
// CHECK:         %[[LOSS:.*]] = graph.mse %[[OUT]], %[[Y]]
// CHECK:         %[[ERROR:.*]] = graph.sub %[[OUT]], %[[Y]]
// CHECK:         %[[SLOPE:.*]] = graph.mul %[[ERROR]], %[[TWO]]
// CHECK:         %[[G:.*]] = graph.mul %[[SLOPE]], %[[X]]
// CHECK:         return %[[LOSS]], %[[G]]

// CHECK-LABEL: func.func @train_step(
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<2xf32> {mekik.init = {{{[^}]*}}}, mekik.name = "w", mekik.role = "parameter"}
// CHECK-SAME:    %[[V:[a-z0-9]*]]: tensor<2xf32> {mekik.name = "momentum/w", mekik.role = "state"}
// CHECK-SAME:    -> (tensor<f32> {mekik.role = "loss"}, tensor<f64> {mekik.role = "rate"}
// CHECK-SAME:    tensor<2xf32> {mekik.name = "w", mekik.role = "parameter"}
// CHECK-SAME:    tensor<2xf32> {mekik.name = "momentum/w", mekik.role = "state"})
// CHECK-DAG:     %[[RATE:.*]] = graph.constant 1.25{{.*}} : tensor<f64>
// CHECK-DAG:     %[[HALF:.*]] = graph.constant 5.0{{.*}} : tensor<2xf32>
// CHECK:         %[[KEPT:.*]] = graph.mul %[[V]], %[[HALF]]
// CHECK:         %[[V2:.*]] = graph.add %[[KEPT]]
// CHECK:         %[[BY:.*]] = graph.mul %[[V2]]
// CHECK:         %[[W2:.*]] = graph.sub %[[W]], %[[BY]]
// CHECK:         return %{{.*}}, %[[RATE]], %[[W2]], %[[V2]]
