// RUN: mekik-opt -verify-each --expand-composites %s | FileCheck %s

// CHECK-LABEL: func.func @softmax(
// CHECK-NOT:     graph.softmax
// CHECK:         %[[MAX:.*]] = graph.peak %arg0 [1]
// CHECK:         %[[MASKED:.*]] = graph.compare "eq" %[[MAX]]
// CHECK:         %[[TAKEN:.*]] = graph.select %[[MASKED]], %{{.*}}, %[[MAX]]
// CHECK:         %[[WIDE:.*]] = graph.broadcast %[[TAKEN]] [0]
// CHECK:         %[[REST:.*]] = graph.sub %arg0, %[[WIDE]]
// CHECK:         %[[EXP:.*]] = graph.exp_nonpositive %[[REST]]
// CHECK:         %[[SUM:.*]] = graph.sum %[[EXP]] [1]
// CHECK:         graph.div %[[EXP]]
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = graph.softmax %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// What folds meet behind the diagonal changes nothing in them, and the result there is 0.
// CHECK-LABEL: func.func @causalSoftmax(
// CHECK:         %[[NEVER:.*]] = graph.constant 0xFF800000 : f32 : tensor<3x3xf32>
// CHECK:         %[[SEEN:.*]] = graph.select %{{.*}}, %arg0, %[[NEVER]]
// CHECK:         graph.peak %[[SEEN]] [1]
// CHECK:         %[[EXP:.*]] = graph.exp_nonpositive
// CHECK:         %[[NOTHING:.*]] = graph.constant -0.000000e+00 : f32 : tensor<3x3xf32>
// CHECK:         %[[ADDED:.*]] = graph.select %{{.*}}, %[[EXP]], %[[NOTHING]]
// CHECK:         graph.sum %[[ADDED]] [1]
// CHECK:         %[[SHARE:.*]] = graph.div %[[EXP]]
// CHECK:         %[[ZERO:.*]] = graph.constant 0.000000e+00 : f32 : tensor<3x3xf32>
// CHECK:         %[[RESULT:.*]] = graph.select %{{.*}}, %[[SHARE]], %[[ZERO]]
// CHECK:         return %[[RESULT]]
func.func @causalSoftmax(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %y = graph.softmax %x {causal = true} : tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}

// A negative axis is its positive form.
// CHECK-LABEL: func.func @axis(
// CHECK:         graph.sum %{{.*}} [1] : tensor<2x3x4xf32>
func.func @axis(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %y = graph.softmax %x {axis = -2 : i64} : tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @causal(
// CHECK:         %[[QUERY:.*]] = graph.iota 2
// CHECK:         %[[KEY:.*]] = graph.iota 1
// CHECK:         %[[SEEN:.*]] = graph.compare "le" %[[QUERY]], %[[KEY]]
// CHECK:         graph.select %[[SEEN]], %arg0
func.func @causal(%x: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %y = graph.causal %x : tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}
