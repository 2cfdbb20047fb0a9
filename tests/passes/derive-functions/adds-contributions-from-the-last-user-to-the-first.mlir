// RUN: mekik-opt -verify-each --derive-functions=gradient-function --canonicalize --cse %s | FileCheck %s

// w is used three times; its gradient is (last + middle) + first.
module {
  func.func @train(%w: tensor<f32> {mekik.role = "parameter", mekik.name = "w", mekik.init = {kind = "ones"}},
                   %a: tensor<f32> {mekik.role = "input", mekik.name = "a"},
                   %b: tensor<f32> {mekik.role = "input", mekik.name = "b"},
                   %c: tensor<f32> {mekik.role = "input", mekik.name = "c"})
      -> (tensor<f32> {mekik.role = "loss"}) {
    %first = graph.mul %w, %a : tensor<f32>
    %middle = graph.mul %w, %b : tensor<f32>
    %last = graph.mul %w, %c : tensor<f32>
    %0 = graph.add %first, %middle : tensor<f32>
    %1 = graph.add %0, %last : tensor<f32>
    return %1 : tensor<f32>
  }
}

// CHECK-LABEL: func.func @gradient(
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<f32> {{{.*}}}, %[[A:[a-z0-9]*]]: tensor<f32> {{{.*}}}, %[[B:[a-z0-9]*]]: tensor<f32> {{{.*}}}, %[[C:[a-z0-9]*]]: tensor<f32> {
// CHECK:         %[[TWO:.*]] = graph.add %[[C]], %[[B]]
// CHECK:         %[[ALL:.*]] = graph.add %[[TWO]], %[[A]]
// CHECK:         return %{{.*}}, %[[ALL]]
