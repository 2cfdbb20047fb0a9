// RUN: mekik-opt -verify-each --form-kernels %s | FileCheck %s
// RUN: mekik-opt -verify-each --form-kernels=large-bytes=5000000 %s | FileCheck %s --check-prefix=SMALL

// A large tensor that is a product but for rows of a small table: what folds its squares adds those rows itself, and so
// does what reads it once the fold is known. No buffer holds it. A small one is computed once.
func.func @step(%a: tensor<4096x16xf32>, %b: tensor<16x256xf32>, %where: tensor<4096xi32>, %rows: tensor<9x256xf32>)
    -> tensor<4096x256xf32> {
  %product = graph.contract "ak,kb->ab" %a, %b : tensor<4096x16xf32>, tensor<16x256xf32>
  %picked = graph.embedding %where, %rows : tensor<4096xi32>, tensor<9x256xf32>
  %gradient = graph.add %product, %picked : tensor<4096x256xf32>
  %squares = graph.mul %gradient, %gradient : tensor<4096x256xf32>
  %ofRows = graph.sum %squares [1] : tensor<4096x256xf32>
  %norm = graph.sum %ofRows [0] : tensor<4096xf32>
  %spread = graph.broadcast %norm [] : tensor<f32> to tensor<4096x256xf32>
  %scaled = graph.mul %gradient, %spread : tensor<4096x256xf32>
  return %scaled : tensor<4096x256xf32>
}

// CHECK-LABEL: func.func @step
// CHECK:         %[[PRODUCT:.*]] = call @contraction_0
// CHECK-DAG:     call @rows_{{[0-9]}}(%{{.*}}, %{{.*}}, %[[PRODUCT]]) : ({{.*}}) -> tensor<4096xf32>
// CHECK-DAG:     call @rows_{{[0-9]}}(%{{.*}}%[[PRODUCT]]{{.*}}) : ({{.*}}) -> tensor<4096x256xf32>
// CHECK:       return
// CHECK-COUNT-2: graph.embedding
// SMALL-LABEL: func.func @step
// SMALL:         call @rows_1(%{{.*}}) : ({{.*}}) -> (tensor<4096x256xf32>, tensor<4096xf32>)
// SMALL:       return
// SMALL-COUNT-1: graph.embedding
// SMALL-NOT:   graph.embedding
