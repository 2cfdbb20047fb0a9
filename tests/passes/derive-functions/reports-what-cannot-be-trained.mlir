// RUN: mekik-opt --derive-functions --split-input-file --verify-diagnostics %s

// An op that has no gradient stands between parameter and loss.
module attributes {mekik.optimizer = {kind = "sgd", rate = {peak = 0.1 : f64}}} {
  func.func private @opaque(tensor<f32>) -> tensor<f32>
  func.func @train(%a: tensor<f32> {mekik.role = "parameter", mekik.name = "a", mekik.init = {kind = "ones"}})
      -> (tensor<f32> {mekik.role = "loss"}) {
    // expected-error @below {{'call' has no gradient, so nothing before it can be trained through it; the loss depends on a parameter this way}}
    %through = func.call @opaque(%a) : (tensor<f32>) -> tensor<f32>
    %loss = graph.mul %through, %through : tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// Off the way to the loss the same op is no trouble, but here the loss is no number.
module attributes {mekik.optimizer = {kind = "sgd", rate = {peak = 0.1 : f64}}} {
  func.func @train(%a: tensor<2xf32> {mekik.role = "parameter", mekik.name = "a", mekik.init = {kind = "ones"}})
      -> (tensor<2xf32> {mekik.role = "loss"}) {
    // expected-error @below {{expects a loss that is one floating-point number, got 'tensor<2xf32>'}}
    %loss = graph.mul %a, %a : tensor<2xf32>
    return %loss : tensor<2xf32>
  }
}

// -----

module attributes {mekik.optimizer = {kind = "sgd", momentum = 2.0 : f64, rate = {peak = 0.1 : f64}}} {
  // expected-error @below {{optimizer expects 'momentum' to be a number from 0 to below 1, got 2.0}}
  func.func @train(%a: tensor<f32> {mekik.role = "parameter", mekik.name = "a", mekik.init = {kind = "ones"}})
      -> (tensor<f32> {mekik.role = "loss"}) {
    return %a : tensor<f32>
  }
}

// -----

module {
  // expected-error @below {{argument 0 of @train has no mekik.role}}
  func.func @train(%a: tensor<f32>) -> (tensor<f32> {mekik.role = "loss"}) {
    return %a : tensor<f32>
  }
}

// -----

module {
  // expected-error @below {{expects mekik.init of kind zeros, ones, constant, normal or uniform, got {kind = "fancy"}}}
  func.func @eval(%a: tensor<f32> {mekik.role = "parameter", mekik.name = "a", mekik.init = {kind = "fancy"}})
      -> (tensor<f32> {mekik.role = "output"}) {
    return %a : tensor<f32>
  }
}
