// RUN: mekik-opt -split-input-file -verify-diagnostics %s

func.func @f(%x: tensor<2x3xi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of 32-bit float or 64-bit float values, but got 'tensor<2x3xi32>'}}
  %0 = graph.exp %x : tensor<2x3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x?xf32>) {
  // expected-error @+1 {{but got 'tensor<2x?xf32>'}}
  %0 = graph.exp %x : tensor<2x?xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.compare' op cannot compare by "less"; expected one of "eq", "ne", "lt", "le", "gt", "ge"}}
  %0 = graph.compare "less" %x, %x : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.cast' op cannot turn 'tensor<2x3xf32>' into booleans; compare it with something}}
  %0 = graph.cast %x : tensor<2x3xf32> to tensor<2x3xi1>
  return
}

// -----

func.func @f(%ids: tensor<2xi32>, %table: tensor<f32>) {
  // expected-error @+1 {{embedding: the table must have at least one axis, its rows, but is a scalar}}
  %0 = graph.embedding %ids, %table : tensor<2xi32>, tensor<f32>
  return
}

// -----

func.func @f(%ids: tensor<2xi32>, %updates: tensor<3x4xf32>) {
  // expected-error @+1 {{scatter_add: updates of shape [3, 4] must begin with the axes of the ids, [2]}}
  %0 = graph.scatter_add %ids, %updates rows 5 : tensor<2xi32>, tensor<3x4xf32>
  return
}

// -----

func.func @f(%ids: tensor<2xi32>, %updates: tensor<2x4xf32>) {
  // expected-error @+1 {{scatter_add: the number of rows must be positive, but is 0}}
  %0 = graph.scatter_add %ids, %updates rows 0 : tensor<2xi32>, tensor<2x4xf32>
  return
}

// -----

func.func @f(%ids: tensor<2xi32>) {
  // expected-error @+1 {{'graph.one_hot' op of ids of shape [2] and 5 classes has shape [2, 5], not [2, 4]}}
  %0 = graph.one_hot %ids classes 5 : tensor<2xi32> to tensor<2x4xf32>
  return
}

// -----

func.func @f(%seed: tensor<i64>) {
  %stream = graph.constant -1 : i64 : tensor<i64>
  // expected-error @+1 {{'graph.random' op draws from stream -1; streams are numbers from 0 to 4294967295}}
  %0 = graph.random %seed, %seed stream %stream : tensor<4xf32>
  return
}

// -----

func.func @f(%seed: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.drop' op drops with probability 1.500000e+00; expected a number from 0 to 1}}
  %0 = graph.drop %x, %seed, %seed rate 1.5 stream 0 : tensor<4xf32>
  return
}

// -----

func.func @f(%seed: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'graph.drop' op drops with probability nan; expected a number from 0 to 1}}
  %0 = graph.drop %x, %seed, %seed rate 0x7FF8000000000000 stream 0 : tensor<4xf32>
  return
}
