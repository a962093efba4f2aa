// Highway layer.
#pragma once

#include <catena/autograd/unary_function.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/link.h>
#include <catena/nn/links/linear.h>

namespace nn {

struct HighwayOptions {
  bool nobias = false;
  autograd::UnaryFunction activate = relu;
  Initializer init_Wh = {}, init_Wt = {};  // default: HeNormal(1 / sqrt 2)
  Initializer init_bh = 0.0;
  Initializer init_bt = -1.0;  // initially most of x is passed through
};

// y = a(plain(x)) g + x (1 - g) with the gate g = sigmoid(transform(x)): x (N, in_out_size) -> the same shape. The
// children plain and transform are Linear. (Srivastava, Greff, Schmidhuber: Highway Networks, 2015.)
class CATENA_EXPORT Highway : public Chain {
 public:
  using Options = HighwayOptions;
  explicit Highway(int in_out_size, const Options& options = {});

  NN_MEMBERS(plain, transform)
  Variable operator()(const Variable& x);

  autograd::UnaryFunction activate;
  Linear plain, transform;
};

}  // namespace nn
