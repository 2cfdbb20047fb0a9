// RUN: mekik-opt -verify-each --form-kernels --deduplicate-kernels %s | FileCheck %s

// Twelve rounds of a loop cut twelve rows from a tensor and send twelve gradients back. Cut from parts of four, put side by
// side in steps, they need a few kernels and not one a round.
func.func @train_step(%x: tensor<12x16xf32>, %w: tensor<12x16xf32>) -> (tensor<12x16xf32>, tensor<12x16xf32>) {
  %r0 = graph.slice %x [0, 0] [1, 16] : tensor<12x16xf32>
  %v0 = graph.reshape %r0 : tensor<1x16xf32> to tensor<16xf32>
  %t0 = graph.tanh %v0 : tensor<16xf32>
  %u0 = graph.reshape %t0 : tensor<16xf32> to tensor<1x16xf32>
  %p0 = graph.pad %u0 [0, 0] [11, 0] : tensor<1x16xf32>
  %r1 = graph.slice %x [1, 0] [1, 16] : tensor<12x16xf32>
  %v1 = graph.reshape %r1 : tensor<1x16xf32> to tensor<16xf32>
  %t1 = graph.tanh %v1 : tensor<16xf32>
  %u1 = graph.reshape %t1 : tensor<16xf32> to tensor<1x16xf32>
  %p1 = graph.pad %u1 [1, 0] [10, 0] : tensor<1x16xf32>
  %r2 = graph.slice %x [2, 0] [1, 16] : tensor<12x16xf32>
  %v2 = graph.reshape %r2 : tensor<1x16xf32> to tensor<16xf32>
  %t2 = graph.tanh %v2 : tensor<16xf32>
  %u2 = graph.reshape %t2 : tensor<16xf32> to tensor<1x16xf32>
  %p2 = graph.pad %u2 [2, 0] [9, 0] : tensor<1x16xf32>
  %r3 = graph.slice %x [3, 0] [1, 16] : tensor<12x16xf32>
  %v3 = graph.reshape %r3 : tensor<1x16xf32> to tensor<16xf32>
  %t3 = graph.tanh %v3 : tensor<16xf32>
  %u3 = graph.reshape %t3 : tensor<16xf32> to tensor<1x16xf32>
  %p3 = graph.pad %u3 [3, 0] [8, 0] : tensor<1x16xf32>
  %r4 = graph.slice %x [4, 0] [1, 16] : tensor<12x16xf32>
  %v4 = graph.reshape %r4 : tensor<1x16xf32> to tensor<16xf32>
  %t4 = graph.tanh %v4 : tensor<16xf32>
  %u4 = graph.reshape %t4 : tensor<16xf32> to tensor<1x16xf32>
  %p4 = graph.pad %u4 [4, 0] [7, 0] : tensor<1x16xf32>
  %r5 = graph.slice %x [5, 0] [1, 16] : tensor<12x16xf32>
  %v5 = graph.reshape %r5 : tensor<1x16xf32> to tensor<16xf32>
  %t5 = graph.tanh %v5 : tensor<16xf32>
  %u5 = graph.reshape %t5 : tensor<16xf32> to tensor<1x16xf32>
  %p5 = graph.pad %u5 [5, 0] [6, 0] : tensor<1x16xf32>
  %r6 = graph.slice %x [6, 0] [1, 16] : tensor<12x16xf32>
  %v6 = graph.reshape %r6 : tensor<1x16xf32> to tensor<16xf32>
  %t6 = graph.tanh %v6 : tensor<16xf32>
  %u6 = graph.reshape %t6 : tensor<16xf32> to tensor<1x16xf32>
  %p6 = graph.pad %u6 [6, 0] [5, 0] : tensor<1x16xf32>
  %r7 = graph.slice %x [7, 0] [1, 16] : tensor<12x16xf32>
  %v7 = graph.reshape %r7 : tensor<1x16xf32> to tensor<16xf32>
  %t7 = graph.tanh %v7 : tensor<16xf32>
  %u7 = graph.reshape %t7 : tensor<16xf32> to tensor<1x16xf32>
  %p7 = graph.pad %u7 [7, 0] [4, 0] : tensor<1x16xf32>
  %r8 = graph.slice %x [8, 0] [1, 16] : tensor<12x16xf32>
  %v8 = graph.reshape %r8 : tensor<1x16xf32> to tensor<16xf32>
  %t8 = graph.tanh %v8 : tensor<16xf32>
  %u8 = graph.reshape %t8 : tensor<16xf32> to tensor<1x16xf32>
  %p8 = graph.pad %u8 [8, 0] [3, 0] : tensor<1x16xf32>
  %r9 = graph.slice %x [9, 0] [1, 16] : tensor<12x16xf32>
  %v9 = graph.reshape %r9 : tensor<1x16xf32> to tensor<16xf32>
  %t9 = graph.tanh %v9 : tensor<16xf32>
  %u9 = graph.reshape %t9 : tensor<16xf32> to tensor<1x16xf32>
  %p9 = graph.pad %u9 [9, 0] [2, 0] : tensor<1x16xf32>
  %r10 = graph.slice %x [10, 0] [1, 16] : tensor<12x16xf32>
  %v10 = graph.reshape %r10 : tensor<1x16xf32> to tensor<16xf32>
  %t10 = graph.tanh %v10 : tensor<16xf32>
  %u10 = graph.reshape %t10 : tensor<16xf32> to tensor<1x16xf32>
  %p10 = graph.pad %u10 [10, 0] [1, 0] : tensor<1x16xf32>
  %r11 = graph.slice %x [11, 0] [1, 16] : tensor<12x16xf32>
  %v11 = graph.reshape %r11 : tensor<1x16xf32> to tensor<16xf32>
  %t11 = graph.tanh %v11 : tensor<16xf32>
  %u11 = graph.reshape %t11 : tensor<16xf32> to tensor<1x16xf32>
  %p11 = graph.pad %u11 [11, 0] [0, 0] : tensor<1x16xf32>
  %s10 = graph.add %p11, %p10 : tensor<12x16xf32>
  %s9 = graph.add %s10, %p9 : tensor<12x16xf32>
  %s8 = graph.add %s9, %p8 : tensor<12x16xf32>
  %s7 = graph.add %s8, %p7 : tensor<12x16xf32>
  %s6 = graph.add %s7, %p6 : tensor<12x16xf32>
  %s5 = graph.add %s6, %p5 : tensor<12x16xf32>
  %s4 = graph.add %s5, %p4 : tensor<12x16xf32>
  %s3 = graph.add %s4, %p3 : tensor<12x16xf32>
  %s2 = graph.add %s3, %p2 : tensor<12x16xf32>
  %s1 = graph.add %s2, %p1 : tensor<12x16xf32>
  %s0 = graph.add %s1, %p0 : tensor<12x16xf32>
  %all = graph.concat 0 of %u0, %u1, %u2, %u3, %u4, %u5, %u6, %u7, %u8, %u9, %u10, %u11 : tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>
  return %s0, %all : tensor<12x16xf32>, tensor<12x16xf32>
}

// CHECK-COUNT-8: func.func private @rows_
// CHECK-NOT:     func.func private
