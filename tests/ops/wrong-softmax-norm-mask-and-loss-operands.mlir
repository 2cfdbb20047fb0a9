// RUN: mekik-opt --split-input-file --verify-diagnostics %s

func.func @axis(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects an axis from -2 to 1 of shape [2, 3], got 2}}
  %0 = graph.softmax %x {axis = 2 : i64} : tensor<2x3xf32>
  return
}

// -----

func.func @causalAxis(%x: tensor<2x3xf32>) {
  // expected-error @below {{is causal along the last of at least two axes, got axis 0 of shape [2, 3]}}
  %0 = graph.softmax %x {axis = 0 : i64, causal = true} : tensor<2x3xf32>
  return
}

// -----

func.func @causalRow(%x: tensor<3xf32>) {
  // expected-error @below {{is causal along the last of at least two axes, got axis -1 of shape [3]}}
  %0 = graph.softmax %x {causal = true} : tensor<3xf32>
  return
}

// -----

func.func @negativeAxis(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects an axis from -2 to 1 of shape [2, 3], got -3}}
  %0 = graph.log_softmax %x {axis = -3 : i64} : tensor<2x3xf32>
  return
}

// -----

func.func @scalar(%x: tensor<f32>) {
  // expected-error @below {{expects a tensor with at least one axis, got a scalar}}
  %0 = graph.normalize %x : tensor<f32>
  return
}

// -----

func.func @eps(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects eps of 0 or more, got -1.0}}
  %0 = graph.rms_normalize %x {eps = -1.0 : f64} : tensor<2x3xf32>
  return
}

// -----

func.func @eps(%x: tensor<2x3xf32>) {
  // expected-error @below {{expects eps of 0 or more, got}}
  %0 = graph.normalize %x {eps = 0x7FF8000000000000 : f64} : tensor<2x3xf32>
  return
}

// -----

func.func @form(%x: tensor<2xf32>) {
  // expected-error @below {{expects form "tanh" or "erf", got "exact"}}
  %0 = graph.gelu %x {form = "exact"} : tensor<2xf32>
  return
}

// -----

func.func @causal(%x: tensor<3xf32>) {
  // expected-error @below {{expects scores with at least two axes (query, key), got shape [3]}}
  %0 = graph.causal %x : tensor<3xf32>
  return
}

// -----

func.func @targets(%x: tensor<2x4x7xf32>, %t: tensor<2x5xi32>) {
  // expected-error @below {{cross_entropy expects targets of shape [2, 4], the shape of the logits [2, 4, 7] without its last axis, got [2, 5]}}
  %0 = graph.cross_entropy %x, %t : tensor<2x4x7xf32>, tensor<2x5xi32>
  return
}

// -----

func.func @reduction(%x: tensor<2x7xf32>, %t: tensor<2xi32>) {
  // expected-error @below {{cross_entropy expects reduction "mean", "sum" or "none", got "average"}}
  %0 = graph.cross_entropy %x, %t {reduction = "average"} : tensor<2x7xf32>, tensor<2xi32>
  return
}

// -----

func.func @smoothing(%x: tensor<2x7xf32>, %t: tensor<2xi32>) {
  // expected-error @below {{cross_entropy expects smoothing from 0 to 1, got 1.5}}
  %0 = graph.cross_entropy %x, %t {smoothing = 1.5 : f64} : tensor<2x7xf32>, tensor<2xi32>
  return
}

// -----

func.func @scalarLogits(%x: tensor<f32>, %t: tensor<i32>) {
  // expected-error @below {{cross_entropy expects logits whose last axis holds the classes, got a scalar}}
  %0 = graph.cross_entropy %x, %t : tensor<f32>, tensor<i32>
  return
}
