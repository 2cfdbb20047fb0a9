// RUN: mekik-opt -verify-each --derive-functions %s | FileCheck %s

// A module of a later stage is accepted as input: there is nothing left to derive.
// CHECK:      module {
// CHECK-NEXT:   func.func @forward(
// CHECK-NOT:    func.func
func.func @forward(%x: tensor<2xf32> {mekik.role = "input", mekik.name = "x"})
    -> (tensor<2xf32> {mekik.role = "output", mekik.name = "y"}) {
  return %x : tensor<2xf32>
}
