// RUN: mekik-opt -split-input-file -verify-diagnostics %s

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{sum: axis 2 does not exist in a tensor of shape [2, 3], whose axes are 0 to 1}}
  %0 = graph.sum %x [2] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{max: axes [1, 0] must ascend, each named once}}
  %0 = graph.max %x [1, 0] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{sum: axes [0, 2] of a tensor of shape [2, 3, 4] take the last axis and leave a gap before it; fold the trailing axes first and the others after}}
  %0 = graph.sum %x [0, 2] : tensor<2x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{mean needs at least one axis to fold}}
  %0 = graph.mean %x [] : tensor<2x3xf32>
  return
}
