// RUN: mekik-opt -verify-each --compact-scatters %s | FileCheck %s

// 1.9 MiB are not large.
// CHECK-LABEL: func.func @small
// CHECK-NEXT:    graph.scatter_add
// CHECK-NEXT:    return
func.func @small(%ids: tensor<3xi32>, %updates: tensor<3x8xf32>) -> tensor<62500x8xf32> {
  %table = graph.scatter_add %ids, %updates rows 62500 : tensor<3xi32>, tensor<3x8xf32>
  return %table : tensor<62500x8xf32>
}

// Half as many updates as rows: the small table would not be small.
// CHECK-LABEL: func.func @filled
// CHECK-NEXT:    graph.scatter_add
// CHECK-NEXT:    return
func.func @filled(%ids: tensor<500xi32>, %updates: tensor<500x1000xf32>) -> tensor<1000x1000xf32> {
  %table = graph.scatter_add %ids, %updates rows 1000 : tensor<500xi32>, tensor<500x1000xf32>
  return %table : tensor<1000x1000xf32>
}

// Comparing every id with every other would cost more than a pass over the table.
// CHECK-LABEL: func.func @many
// CHECK-NEXT:    graph.scatter_add
// CHECK-NEXT:    return
func.func @many(%ids: tensor<4000xi32>, %updates: tensor<4000x4xf32>) -> tensor<200000x4xf32> {
  %table = graph.scatter_add %ids, %updates rows 200000 : tensor<4000xi32>, tensor<4000x4xf32>
  return %table : tensor<200000x4xf32>
}

// CHECK-LABEL: func.func @compacted
// CHECK:         graph.embedding
func.func @compacted(%ids: tensor<499xi32>, %updates: tensor<499x1000xf32>) -> tensor<1000x1000xf32> {
  %table = graph.scatter_add %ids, %updates rows 1000 : tensor<499xi32>, tensor<499x1000xf32>
  return %table : tensor<1000x1000xf32>
}
