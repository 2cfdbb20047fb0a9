// Nothing flows through integers, so the loss does not depend on %b as far as gradients go. Its update is one by zeros.
// RUN: mekik-opt --derive-functions=gradient-function %s | FileCheck %s

module attributes {mekik.optimizer = {kind = "sgd", rate = {peak = 0.1 : f64}}} {
  func.func @train(%a: tensor<f32> {mekik.role = "parameter", mekik.name = "a", mekik.init = {kind = "ones"}},
                   %b: tensor<2xf32> {mekik.role = "parameter", mekik.name = "layer.0.b", mekik.init = {kind = "ones"}})
      -> (tensor<f32> {mekik.role = "loss"}) {
    %cut = graph.cast %b : tensor<2xf32> to tensor<2xi32>
    %back = graph.cast %cut : tensor<2xi32> to tensor<2xf32>
    %sum = graph.sum %back [0] : tensor<2xf32>
    %loss = graph.mul %a, %sum : tensor<f32>
    return %loss : tensor<f32>
  }
}

// CHECK-LABEL: func.func @gradient
// CHECK: %[[ZEROS:.*]] = graph.constant 0.000000e+00 : f32 : tensor<2xf32>
// CHECK: return {{.*}}, {{.*}}, %[[ZEROS]] :
// CHECK-LABEL: func.func @train_step
// CHECK: graph.constant 0.000000e+00 : f32 : tensor<2xf32>
