// RUN: mekik-opt -split-input-file -verify-diagnostics %s

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{contraction "ik": expected the labels of the left operand, a comma, those of the right, "->" and those of the result, as in "ik,kj->ij"}}
  %0 = graph.contract "ik" %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{contraction "i1,1j->ij": '1' is not a letter; every axis is one letter}}
  %0 = graph.contract "i1,1j->ij" %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{contraction "ii,ik->k": 'i' stands twice in "ii"}}
  %0 = graph.contract "ii,ik->k" %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{contraction "ik,kj->ij": 'k' has size 3 in the left operand of shape [2, 3] and size 2 in the right one of shape [2, 3]}}
  %0 = graph.contract "ik,kj->ij" %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{contraction "bik,kj->bij": "bik" names 3 axes, but the left operand has shape [2, 3]}}
  %0 = graph.contract "bik,kj->bij" %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{contraction "ik,ij->j": 'k' stands in the left operand alone; sum that axis before}}
  %0 = graph.contract "ik,ij->j" %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{contraction "ik,ik->z": 'z' of the result stands in neither operand}}
  %0 = graph.contract "ik,ik->z" %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{contraction "ik,ik->ik": no axis is summed; multiply the operands instead}}
  %0 = graph.contract "ik,ik->ik" %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x2xf64>) {
  // expected-error @+1 {{contraction "ik,kj->ij": the left operand has elements of type 'f32', the right one of type 'f64'}}
  %0 = graph.contract "ik,kj->ij" %x, %y : tensor<2x3xf32>, tensor<3x2xf64>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+1 {{contraction "ik,kj->ij": the triangle "ii" is not two letters of it}}
  %0 = graph.contract "ik,kj->ij" triangle "ii" %x, %y : tensor<2x3xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+1 {{contraction "ik,kj->ij": 'z' of the triangle "kz" does not stand in it}}
  %0 = graph.contract "ik,kj->ij" triangle "kz" %x, %y : tensor<2x3xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x5x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+1 {{contraction "abk,kc->abc": neither letter of the triangle "ab" stands in "kc"}}
  %0 = graph.contract "abk,kc->abc" triangle "ab" %x, %y : tensor<2x5x3xf32>, tensor<3x4xf32>
  return
}
