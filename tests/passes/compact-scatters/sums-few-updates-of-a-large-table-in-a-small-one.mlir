// RUN: mekik-opt -verify-each --compact-scatters=large-bytes=0 %s | FileCheck %s
// RUN: mekik-opt -verify-each --compact-scatters=large-bytes=0 --form-kernels %s | FileCheck --check-prefix=KERNELS %s

// Three ids among a hundred: their rows are summed in a table of four, the first of which stays zero, and the sum with
// another contribution reads that table. No buffer has a hundred rows but the contribution and the result.
func.func @step(%ids: tensor<1x3xi32>, %updates: tensor<1x3x8xf32>, %other: tensor<100x8xf32>) -> tensor<100x8xf32> {
  %scattered = graph.scatter_add %ids, %updates rows 100 : tensor<1x3xi32>, tensor<1x3x8xf32>
  %sum = graph.add %other, %scattered : tensor<100x8xf32>
  return %sum : tensor<100x8xf32>
}

// CHECK-LABEL: func.func @step
// CHECK:         %[[SLOT:.*]] = graph.max %{{.*}} [1] : tensor<3x3xf32>
// CHECK:         %[[FIRST:.*]] = graph.select
// CHECK:         %[[TO:.*]] = graph.cast %[[SLOT]] : tensor<3xf32> to tensor<3xi32>
// CHECK:         %[[SMALL:.*]] = graph.scatter_add %[[TO]], %{{.*}} rows 4
// CHECK:         graph.reshape %[[FIRST]]
// CHECK:         graph.scatter_add %{{.*}} rows 100 : tensor<3xi32>, tensor<3x1xf32>
// CHECK:         %[[WHERE:.*]] = graph.cast %{{.*}} : tensor<100xf32> to tensor<100xi32>
// CHECK:         %[[ROWS:.*]] = graph.embedding %[[WHERE]], %[[SMALL]]
// CHECK:         graph.add %{{.*}}, %[[ROWS]]

// KERNELS-LABEL: func.func @step
// KERNELS-NOT:     tensor<100x8xf32>, tensor<100x8xf32>
// KERNELS:         call @[[LAST:rows_[0-9]+]](%{{.*}}) : ({{.*}}) -> tensor<100x8xf32>
// KERNELS-NEXT:    return
// KERNELS:       func.func private @[[LAST]]
// KERNELS:         graph.embedding
// KERNELS-NEXT:    graph.add
