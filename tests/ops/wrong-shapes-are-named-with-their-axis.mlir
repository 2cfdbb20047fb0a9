// RUN: mekik-opt -split-input-file -verify-diagnostics %s

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.constant' op has a value of type 'f64' for a tensor of 'f32'}}
  %0 = graph.constant 1.0 : f64 : tensor<2xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'graph.iota' op counts along axis 2, but the result 'tensor<2x3xi32>' has the axes 0 to 1}}
  %0 = graph.iota 2 : tensor<2x3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.broadcast' op cannot repeat shape [2, 3] to [2, 4]: axis 1 has size 3, where 1 or 4 is expected}}
  %0 = graph.broadcast %x [0, 1] : tensor<2x3xf32> to tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.broadcast' op needs one result axis for each of the 2 axes of the operand of shape [2, 3], but dims [1] has 1}}
  %0 = graph.broadcast %x [1] : tensor<2x3xf32> to tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.broadcast' op dims [1, 0] must ascend and lie within the axes of the result of shape [3, 2]}}
  %0 = graph.broadcast %x [1, 0] : tensor<2x3xf32> to tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.reshape' op cannot give shape [7] (7 elements) to a tensor of shape [2, 3] (6 elements)}}
  %0 = graph.reshape %x : tensor<2x3xf32> to tensor<7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{transpose: permutation [0, 0] must name every axis of the operand of shape [2, 3] exactly once}}
  %0 = graph.transpose %x [0, 0] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{transpose: permutation [1] must have one entry per axis of the operand of shape [2, 3], that is 2, but has 1}}
  %0 = graph.transpose %x [1] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{slice: 2 elements from 2 on do not lie within axis 1 of size 3 of the operand of shape [2, 3]}}
  %0 = graph.slice %x [0, 2] [2, 2] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{pad: axis 0 gets -1 zeros before and 0 behind; neither may be negative}}
  %0 = graph.pad %x [-1, 0] [0, 0] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) {
  // expected-error @+1 {{concat along axis 1: operand 1 of shape [3, 3] does not fit operand 0 of shape [2, 3]; all other axes must be equal}}
  %0 = graph.concat 1 of %x, %y : tensor<2x3xf32>, tensor<3x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{concat: axis 2 does not exist in a tensor of shape [2, 3]}}
  %0 = graph.concat 2 of %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xf64>) {
  // expected-error @+1 {{concat: operand 1 has elements of type 'f64', operand 0 of type 'f32'}}
  %0 = graph.concat 0 of %x, %y : tensor<2x3xf32>, tensor<2x3xf64>
  return
}
