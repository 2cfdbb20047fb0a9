// RUN: mekik-opt -verify-each --form-kernels %s | FileCheck %s

// The sum of all squares is a fold of one row. Large squares are computed inside it, from the tensor seen as one row;
// small ones, and those that something else reads, have a buffer.
func.func @step(%large: tensor<1024x512xf32>, %small: tensor<8x16xf32>, %read: tensor<1024x512xf32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<1024x512xf32>) {
  %0 = graph.mul %large, %large : tensor<1024x512xf32>
  %1 = graph.sum %0 [0, 1] : tensor<1024x512xf32>
  %2 = graph.mul %small, %small : tensor<8x16xf32>
  %3 = graph.sum %2 [0, 1] : tensor<8x16xf32>
  %4 = graph.mul %read, %read : tensor<1024x512xf32>
  %5 = graph.sum %4 [0, 1] : tensor<1024x512xf32>
  return %1, %3, %5, %4 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<1024x512xf32>
}

// CHECK-LABEL: func.func @step
// CHECK-DAG:     call @[[FOLD:rows_[0-9]+]](%{{.*}}) : (tensor<524288xf32>) -> tensor<f32>
// CHECK-DAG:     call @{{rows_[0-9]+}}(%{{.*}}) : (tensor<8x16xf32>) -> tensor<8x16xf32>
// CHECK-DAG:     call @{{rows_[0-9]+}}(%{{.*}}) : (tensor<1024x512xf32>) -> tensor<1024x512xf32>
// CHECK:       func.func private @[[FOLD]](%[[X:.*]]: tensor<524288xf32>)
// CHECK-NEXT:    %[[SQUARE:.*]] = graph.mul %[[X]], %[[X]]
// CHECK-NEXT:    graph.sum %[[SQUARE]] [0]
