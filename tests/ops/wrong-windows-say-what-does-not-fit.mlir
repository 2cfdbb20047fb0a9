// RUN: mekik-opt -split-input-file -verify-diagnostics %s

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{windows: a window of 4 elements does not fit into axis 1 of size 3}}
  %0 = graph.windows %x [1] sizes [4] strides [1] dilations [1] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{windows: a window of 2 elements, 3 apart, does not fit into axis 1 of size 3}}
  %0 = graph.windows %x [1] sizes [2] strides [1] dilations [3] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{windows: sizes [2], strides [1, 1] and dilations [1] must have one entry for each of the sliding axes [1]}}
  %0 = graph.windows %x [1] sizes [2] strides [1, 1] dilations [1] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x5x3xf32>, %y: tensor<5x3xf32>) {
  // expected-error @+1 {{contraction of windows "bwpi,pi->wb": of the two letters of a windowed axis one stands in the right operand and one in the result, and the first ones all in the same of the two; that is not so for 'bw'}}
  %0 = graph.contract_windows "bwpi,pi->wb" %x [0] sizes [2] strides [1] dilations [1], %y : tensor<2x5x3xf32>, tensor<5x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x5x3xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error @+1 {{contraction of windows "bwpi,pio->bwo": 'i' has size 3 in the windows and size 4 in the right operand}}
  %0 = graph.contract_windows "bwpi,pio->bwo" %x [1] sizes [2] strides [1] dilations [1], %y : tensor<2x5x3xf32>, tensor<2x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x5x3xf32>, %y: tensor<2x4x5xf32>) {
  // expected-error @+1 {{convolution: the filter of shape [2, 4, 5] takes 4 channels, but the operand of shape [2, 5, 3] has 3}}
  %0 = graph.convolution %x, %y strides [1] low [0] high [0] dilations [1] groups 1 : tensor<2x5x3xf32>, tensor<2x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x5x3xf32>) {
  // expected-error @+1 {{max_pool: sizes and strides must be at least 1, paddings at least 0 and below the size}}
  %0 = graph.max_pool %x sizes [2] strides [2] low [2] high [0] : tensor<2x5x3xf32>
  return
}

// -----

func.func @f(%x: tensor<5x3xf32>) {
  // expected-error @+1 {{turns pairs of elements, so the last axis must be even, got shape [5, 3]}}
  %0 = graph.rotary %x : tensor<5x3xf32>
  return
}

// -----

func.func @f(%x: tensor<5x4xf32>) {
  // expected-error @+1 {{expects pairs "halves" or "neighbours", got "thirds"}}
  %0 = graph.rotary %x {pairs = "thirds"} : tensor<5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<5x3xf32>) {
  // expected-error @+1 {{reverse: axes [2] must ascend and lie within the operand of shape [5, 3]}}
  %0 = graph.reverse %x [2] : tensor<5x3xf32>
  return
}
