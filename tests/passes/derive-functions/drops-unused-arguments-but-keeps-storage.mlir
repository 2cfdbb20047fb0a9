// RUN: mekik-opt -verify-each --derive-functions %s | FileCheck %s

// @loss here needs neither the input, the seed nor the step; parameters stay even where they are not read.
module {
  func.func @eval(%a: tensor<f32> {mekik.role = "parameter", mekik.name = "a", mekik.init = {kind = "zeros"}},
                  %b: tensor<f32> {mekik.role = "parameter", mekik.name = "b", mekik.init = {kind = "zeros"}},
                  %x: tensor<f32> {mekik.role = "input", mekik.name = "x"},
                  %seed: tensor<i64> {mekik.role = "seed"}, %step: tensor<i64> {mekik.role = "step"})
      -> (tensor<f32> {mekik.role = "loss"}, tensor<f32> {mekik.role = "output", mekik.name = "y"}) {
    %loss = graph.mul %a, %a : tensor<f32>
    %y = graph.mul %b, %x : tensor<f32>
    return %loss, %y : tensor<f32>, tensor<f32>
  }
}

// Zeros need no random numbers.
// CHECK-LABEL: func.func @init() ->
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    mekik.name = "a"{{.*}}mekik.name = "b"{{.*}}mekik.name = "x", mekik.role = "input"}) ->
// CHECK-LABEL: func.func @loss(
// CHECK-SAME:    mekik.name = "a"{{.*}}mekik.name = "b", mekik.role = "parameter"}) ->
