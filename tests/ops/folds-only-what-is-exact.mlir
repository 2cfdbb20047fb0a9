// RUN: mekik-opt -verify-each --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @neutral(
// CHECK-SAME:    %[[X:.*]]: tensor<2xf32>
// CHECK-NEXT:    return %[[X]], %[[X]], %[[X]], %[[X]]
func.func @neutral(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %one = graph.constant 1.0 : f32 : tensor<2xf32>
  %zero = graph.constant 0.0 : f32 : tensor<2xf32>
  %a = graph.mul %one, %x : tensor<2xf32>
  %b = graph.div %x, %one : tensor<2xf32>
  %c = graph.sub %x, %zero : tensor<2xf32>
  %d = graph.neg %x : tensor<2xf32>
  %e = graph.neg %d : tensor<2xf32>
  return %a, %b, %c, %e : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -0 + 0 is +0, 0 * -1 is -0, and inf * 0 is no number: these stay.
// CHECK-LABEL: func.func @notNeutral(
// CHECK:         graph.add
// CHECK:         graph.sub
// CHECK:         graph.mul
// CHECK:         graph.sub
func.func @notNeutral(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %zero = graph.constant 0.0 : f32 : tensor<2xf32>
  %negative = graph.constant -0.0 : f32 : tensor<2xf32>
  %a = graph.add %x, %zero : tensor<2xf32>
  %b = graph.sub %x, %negative : tensor<2xf32>
  %c = graph.mul %x, %zero : tensor<2xf32>
  %d = graph.sub %x, %x : tensor<2xf32>
  return %a, %b, %c, %d : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @chains(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3x4xf32>
// CHECK-DAG:     %[[T:.*]] = graph.transpose %[[X]] [1, 2, 0] : tensor<2x3x4xf32>
// CHECK-DAG:     %[[R:.*]] = graph.reshape %[[X]] : tensor<2x3x4xf32> to tensor<4x6xf32>
// CHECK-DAG:     %[[S:.*]] = graph.slice %[[X]] [0, 1, 2] [1, 1, 2] : tensor<2x3x4xf32>
// CHECK-DAG:     %[[B:.*]] = graph.broadcast %[[X]] [1, 3, 4] : tensor<2x3x4xf32> to tensor<5x2x6x3x4xf32>
// CHECK:         return %[[X]], %[[T]], %[[R]], %[[S]], %[[B]]
func.func @chains(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<4x6xf32>, tensor<1x1x2xf32>,
                                             tensor<5x2x6x3x4xf32>) {
  %0 = graph.transpose %x [2, 0, 1] : tensor<2x3x4xf32>
  %1 = graph.transpose %0 [1, 2, 0] : tensor<4x2x3xf32>
  %2 = graph.transpose %0 [2, 0, 1] : tensor<4x2x3xf32>
  %3 = graph.reshape %x : tensor<2x3x4xf32> to tensor<24xf32>
  %4 = graph.reshape %3 : tensor<24xf32> to tensor<4x6xf32>
  %5 = graph.slice %x [0, 1, 1] [2, 2, 3] : tensor<2x3x4xf32>
  %6 = graph.slice %5 [0, 0, 1] [1, 1, 2] : tensor<2x2x3xf32>
  %7 = graph.broadcast %x [0, 2, 3] : tensor<2x3x4xf32> to tensor<2x6x3x4xf32>
  %8 = graph.broadcast %7 [1, 2, 3, 4] : tensor<2x6x3x4xf32> to tensor<5x2x6x3x4xf32>
  return %1, %2, %4, %6, %8 : tensor<2x3x4xf32>, tensor<3x4x2xf32>, tensor<4x6xf32>, tensor<1x1x2xf32>, tensor<5x2x6x3x4xf32>
}

// CHECK-LABEL: func.func @constants(
// CHECK-DAG:     %[[E:.*]] = graph.constant 2.71828175 : f32 : tensor<2x3xf32>
// CHECK-DAG:     %[[T:.*]] = graph.constant true : tensor<2xi1>
// CHECK-DAG:     %[[P:.*]] = graph.constant 0.000000e+00 : f32 : tensor<4xf32>
// CHECK:         return %[[E]], %[[T]], %[[P]]
func.func @constants() -> (tensor<2x3xf32>, tensor<2xi1>, tensor<4xf32>) {
  %one = graph.constant 1.0 : f32 : tensor<3x1xf32>
  %e = graph.exp %one : tensor<3x1xf32>
  %t = graph.transpose %e [1, 0] : tensor<3x1xf32>
  %b = graph.broadcast %t [0, 1] : tensor<1x3xf32> to tensor<2x3xf32>
  %i = graph.constant 3 : i32 : tensor<2xi32>
  %j = graph.constant -4 : i32 : tensor<2xi32>
  %c = graph.compare "gt" %i, %j : tensor<2xi32>
  %zero = graph.constant 0.0 : f32 : tensor<2xf32>
  %p = graph.pad %zero [1] [1] : tensor<2xf32>
  return %b, %c, %p : tensor<2x3xf32>, tensor<2xi1>, tensor<4xf32>
}

// CHECK-LABEL: func.func @choices(
// CHECK-SAME:    %[[X:.*]]: tensor<2xf32>, %[[Y:.*]]: tensor<2xf32>, %[[C:.*]]: tensor<2xi1>
// CHECK-NEXT:    return %[[Y]], %[[X]], %[[C]], %[[X]]
func.func @choices(%x: tensor<2xf32>, %y: tensor<2xf32>, %c: tensor<2xi1>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi1>, tensor<2xf32>) {
  %never = graph.constant false : tensor<2xi1>
  %a = graph.select %never, %x, %y : tensor<2xi1>, tensor<2xf32>
  %b = graph.select %c, %x, %x : tensor<2xi1>, tensor<2xf32>
  %n = graph.not %c : tensor<2xi1>
  %m = graph.not %n : tensor<2xi1>
  %wide = graph.cast %x : tensor<2xf32> to tensor<2xf64>
  %back = graph.cast %wide : tensor<2xf64> to tensor<2xf32>
  return %a, %b, %m, %back : tensor<2xf32>, tensor<2xf32>, tensor<2xi1>, tensor<2xf32>
}

// f64 -> f32 -> f64 rounds, so it stays.
// CHECK-LABEL: func.func @narrowed(
// CHECK-COUNT-2: graph.cast
func.func @narrowed(%x: tensor<2xf64>) -> tensor<2xf64> {
  %narrow = graph.cast %x : tensor<2xf64> to tensor<2xf32>
  %back = graph.cast %narrow : tensor<2xf32> to tensor<2xf64>
  return %back : tensor<2xf64>
}
