// One smallest use of every op of the graph dialect, in the order of docs/gradients.md. Modules are its sections,
// functions its entries, named after the op; names of operands are those of the locations. mekik-gradients fails if an
// op of the dialect is missing here.

module @"Smooth gates" {
  func.func @gelu(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.gelu %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @"gelu, form erf"(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.gelu %x {form = "erf"} : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @silu(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.silu %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
}

module @"Functions of one element" {
  func.func @neg(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.neg %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @abs(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.abs %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @sqrt(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.sqrt %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @rsqrt(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.rsqrt %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @exp(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.exp %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @exp_nonpositive(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.exp_nonpositive %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @log(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.log %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @tanh(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.tanh %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @sigmoid(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.sigmoid %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @softplus(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.softplus %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @erf(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.erf %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @normal_cdf(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.normal_cdf %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @sin(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.sin %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @cos(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.cos %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @relu(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.relu %x : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @cast(%x: tensor<2xf32> loc("x")) -> tensor<2xf64> {
    %y = graph.cast %x : tensor<2xf32> to tensor<2xf64> loc("y")
    return %y : tensor<2xf64>
  }
  func.func @not(%x: tensor<2xi1> loc("x")) -> tensor<2xi1> {
    %y = graph.not %x : tensor<2xi1> loc("y")
    return %y : tensor<2xi1>
  }
}

module @"Functions of two and three elements" {
  func.func @add(%a: tensor<2xf32> loc("a"), %b: tensor<2xf32> loc("b")) -> tensor<2xf32> {
    %y = graph.add %a, %b : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @sub(%a: tensor<2xf32> loc("a"), %b: tensor<2xf32> loc("b")) -> tensor<2xf32> {
    %y = graph.sub %a, %b : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @mul(%a: tensor<2xf32> loc("a"), %b: tensor<2xf32> loc("b")) -> tensor<2xf32> {
    %y = graph.mul %a, %b : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @div(%a: tensor<2xf32> loc("a"), %b: tensor<2xf32> loc("b")) -> tensor<2xf32> {
    %y = graph.div %a, %b : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @pow(%a: tensor<2xf32> loc("a"), %b: tensor<2xf32> loc("b")) -> tensor<2xf32> {
    %y = graph.pow %a, %b : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @maximum(%a: tensor<2xf32> loc("a"), %b: tensor<2xf32> loc("b")) -> tensor<2xf32> {
    %y = graph.maximum %a, %b : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @minimum(%a: tensor<2xf32> loc("a"), %b: tensor<2xf32> loc("b")) -> tensor<2xf32> {
    %y = graph.minimum %a, %b : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @compare(%a: tensor<2xf32> loc("a"), %b: tensor<2xf32> loc("b")) -> tensor<2xi1> {
    %y = graph.compare "lt" %a, %b : tensor<2xf32> loc("y")
    return %y : tensor<2xi1>
  }
  func.func @select(%c: tensor<2xi1> loc("c"), %a: tensor<2xf32> loc("a"), %b: tensor<2xf32> loc("b"))
      -> tensor<2xf32> {
    %y = graph.select %c, %a, %b : tensor<2xi1>, tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @and(%a: tensor<2xi1> loc("a"), %b: tensor<2xi1> loc("b")) -> tensor<2xi1> {
    %y = graph.and %a, %b : tensor<2xi1> loc("y")
    return %y : tensor<2xi1>
  }
  func.func @or(%a: tensor<2xi1> loc("a"), %b: tensor<2xi1> loc("b")) -> tensor<2xi1> {
    %y = graph.or %a, %b : tensor<2xi1> loc("y")
    return %y : tensor<2xi1>
  }
}

module @"Sums of products" {
  func.func @contract(%a: tensor<2x3xf32> loc("a"), %b: tensor<3x4xf32> loc("b")) -> tensor<2x4xf32> {
    %y = graph.contract "ij,jk->ik" triangle "ij" %a, %b : tensor<2x3xf32>, tensor<3x4xf32> loc("y")
    return %y : tensor<2x4xf32>
  }
}

module @"Folds along axes" {
  func.func @sum(%x: tensor<2x3xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.sum %x [1] : tensor<2x3xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @max(%x: tensor<2x3xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.max %x [1] : tensor<2x3xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @peak(%x: tensor<2x3xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.peak %x [1] : tensor<2x3xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @mean(%x: tensor<2x3xf32> loc("x")) -> tensor<2xf32> {
    %y = graph.mean %x [1] : tensor<2x3xf32> loc("y")
    return %y : tensor<2xf32>
  }
}

module @"Rows turned into probabilities" {
  func.func @softmax(%x: tensor<2x3xf32> loc("x")) -> tensor<2x3xf32> {
    %y = graph.softmax %x : tensor<2x3xf32> loc("y")
    return %y : tensor<2x3xf32>
  }
  func.func @log_softmax(%x: tensor<2x3xf32> loc("x")) -> tensor<2x3xf32> {
    %y = graph.log_softmax %x : tensor<2x3xf32> loc("y")
    return %y : tensor<2x3xf32>
  }
}

module @"Rows brought to a common scale" {
  func.func @normalize(%x: tensor<2x4xf32> loc("x")) -> tensor<2x4xf32> {
    %y = graph.normalize %x : tensor<2x4xf32> loc("y")
    return %y : tensor<2x4xf32>
  }
  func.func @rms_normalize(%x: tensor<2x4xf32> loc("x")) -> tensor<2x4xf32> {
    %y = graph.rms_normalize %x : tensor<2x4xf32> loc("y")
    return %y : tensor<2x4xf32>
  }
}

module @"Positions as angles" {
  func.func @rotary(%x: tensor<3x4xf32> loc("x")) -> tensor<3x4xf32> {
    %y = graph.rotary %x : tensor<3x4xf32> loc("y")
    return %y : tensor<3x4xf32>
  }
}

module @"Sliding windows" {
  func.func @convolution(%x: tensor<2x5x3xf32> loc("x"), %f: tensor<2x3x4xf32> loc("filter")) -> tensor<2x2x4xf32> {
    %y = graph.convolution %x, %f strides [3] low [1] high [0] dilations [1] groups 1
        : tensor<2x5x3xf32>, tensor<2x3x4xf32> loc("y")
    return %y : tensor<2x2x4xf32>
  }
  func.func @contract_windows(%a: tensor<2x6x3xf32> loc("a"), %b: tensor<2x3x4xf32> loc("b")) -> tensor<2x2x4xf32> {
    %y = graph.contract_windows "bwpi,pio->bwo" %a [1] sizes [2] strides [3] dilations [1], %b
        : tensor<2x6x3xf32>, tensor<2x3x4xf32> loc("y")
    return %y : tensor<2x2x4xf32>
  }
  func.func @max_pool(%x: tensor<2x5x3xf32> loc("x")) -> tensor<2x2x3xf32> {
    %y = graph.max_pool %x sizes [2] strides [3] low [0] high [0] : tensor<2x5x3xf32> loc("y")
    return %y : tensor<2x2x3xf32>
  }
  func.func @average_pool(%x: tensor<2x4x3xf32> loc("x")) -> tensor<2x2x3xf32> {
    %y = graph.average_pool %x sizes [2] strides [2] low [0] high [0] : tensor<2x4x3xf32> loc("y")
    return %y : tensor<2x2x3xf32>
  }
  func.func @windows(%x: tensor<2x5x3xf32> loc("x")) -> tensor<2x2x2x3xf32> {
    %y = graph.windows %x [1] sizes [2] strides [3] dilations [1] : tensor<2x5x3xf32> loc("y")
    return %y : tensor<2x2x2x3xf32>
  }
}

module @"Masks" {
  func.func @causal(%x: tensor<3x3xf32> loc("x")) -> tensor<3x3xf32> {
    %y = graph.causal %x : tensor<3x3xf32> loc("y")
    return %y : tensor<3x3xf32>
  }
  func.func @mask(%x: tensor<2x3xf32> loc("x"), %keep: tensor<2x3xi1> loc("keep")) -> tensor<2x3xf32> {
    %y = graph.mask %x, %keep : tensor<2x3xf32>, tensor<2x3xi1> loc("y")
    return %y : tensor<2x3xf32>
  }
}

module @"Losses" {
  func.func @cross_entropy(%x: tensor<2x3xf32> loc("logits"), %t: tensor<2xi32> loc("targets")) -> tensor<f32> {
    %y = graph.cross_entropy %x, %t : tensor<2x3xf32>, tensor<2xi32> loc("y")
    return %y : tensor<f32>
  }
  func.func @"cross_entropy, with an ignored id and smoothing"(
      %x: tensor<2x3xf32> loc("logits"), %t: tensor<2xi32> loc("targets")) -> tensor<f32> {
    %y = graph.cross_entropy %x, %t {ignore = -1 : i64, smoothing = 1.250000e-01 : f64}
        : tensor<2x3xf32>, tensor<2xi32> loc("y")
    return %y : tensor<f32>
  }
  func.func @binary_cross_entropy(%x: tensor<2xf32> loc("logits"), %t: tensor<2xf32> loc("targets")) -> tensor<f32> {
    %y = graph.binary_cross_entropy %x, %t : tensor<2xf32> loc("y")
    return %y : tensor<f32>
  }
  func.func @mse(%a: tensor<2xf32> loc("a"), %b: tensor<2xf32> loc("b")) -> tensor<f32> {
    %y = graph.mse %a, %b : tensor<2xf32> loc("y")
    return %y : tensor<f32>
  }
}

module @"Rows picked by number" {
  func.func @embedding(%ids: tensor<4xi32> loc("ids"), %table: tensor<3x2xf32> loc("table")) -> tensor<4x2xf32> {
    %y = graph.embedding %ids, %table : tensor<4xi32>, tensor<3x2xf32> loc("y")
    return %y : tensor<4x2xf32>
  }
  func.func @scatter_add(%ids: tensor<4xi32> loc("ids"), %updates: tensor<4x2xf32> loc("updates")) -> tensor<3x2xf32> {
    %y = graph.scatter_add %ids, %updates rows 3 : tensor<4xi32>, tensor<4x2xf32> loc("y")
    return %y : tensor<3x2xf32>
  }
  func.func @one_hot(%ids: tensor<4xi32> loc("ids")) -> tensor<4x3xf32> {
    %y = graph.one_hot %ids classes 3 : tensor<4xi32> to tensor<4x3xf32> loc("y")
    return %y : tensor<4x3xf32>
  }
}

module @"The same elements under another shape or order" {
  func.func @broadcast(%x: tensor<3xf32> loc("x")) -> tensor<2x3xf32> {
    %y = graph.broadcast %x [1] : tensor<3xf32> to tensor<2x3xf32> loc("y")
    return %y : tensor<2x3xf32>
  }
  func.func @reshape(%x: tensor<2x3xf32> loc("x")) -> tensor<6xf32> {
    %y = graph.reshape %x : tensor<2x3xf32> to tensor<6xf32> loc("y")
    return %y : tensor<6xf32>
  }
  func.func @transpose(%x: tensor<2x3xf32> loc("x")) -> tensor<3x2xf32> {
    %y = graph.transpose %x [1, 0] : tensor<2x3xf32> loc("y")
    return %y : tensor<3x2xf32>
  }
  func.func @reverse(%x: tensor<2x3xf32> loc("x")) -> tensor<2x3xf32> {
    %y = graph.reverse %x [1] : tensor<2x3xf32> loc("y")
    return %y : tensor<2x3xf32>
  }
  func.func @slice(%x: tensor<2x3xf32> loc("x")) -> tensor<2x2xf32> {
    %y = graph.slice %x [0, 1] [2, 2] : tensor<2x3xf32> loc("y")
    return %y : tensor<2x2xf32>
  }
  func.func @pad(%x: tensor<2x3xf32> loc("x")) -> tensor<2x4xf32> {
    %y = graph.pad %x [0, 1] [0, 0] : tensor<2x3xf32> loc("y")
    return %y : tensor<2x4xf32>
  }
  func.func @concat(%a: tensor<2x3xf32> loc("a"), %b: tensor<2x2xf32> loc("b")) -> tensor<2x5xf32> {
    %y = graph.concat 1 of %a, %b : tensor<2x3xf32>, tensor<2x2xf32> loc("y")
    return %y : tensor<2x5xf32>
  }
}

module @"Random numbers" {
  func.func @drop(%x: tensor<4xf32> loc("x"), %seed: tensor<i64> loc("seed"), %step: tensor<i64> loc("step"))
      -> tensor<4xf32> {
    %y = graph.drop %x, %seed, %step rate 2.500000e-01 stream 0 : tensor<4xf32> loc("y")
    return %y : tensor<4xf32>
  }
  func.func @random(%seed: tensor<i64> loc("seed"), %step: tensor<i64> loc("step"), %stream: tensor<i64> loc("stream"))
      -> tensor<4xf32> {
    %y = graph.random %seed, %step stream %stream : tensor<4xf32> loc("y")
    return %y : tensor<4xf32>
  }
  func.func @random_normal(%seed: tensor<i64> loc("seed"), %step: tensor<i64> loc("step")) -> tensor<4xf32> {
    %y = graph.random_normal %seed, %step stream 0 : tensor<4xf32> loc("y")
    return %y : tensor<4xf32>
  }
}

module @"Values made from nothing" {
  func.func @constant() -> tensor<2xf32> {
    %y = graph.constant 1.000000e+00 : f32 : tensor<2xf32> loc("y")
    return %y : tensor<2xf32>
  }
  func.func @iota() -> tensor<2xi32> {
    %y = graph.iota 0 : tensor<2xi32> loc("y")
    return %y : tensor<2xi32>
  }
}
