// Bilinear layer.
#pragma once

#include <optional>
#include <vector>

#include <catena/nn/functions/connection.h>
#include <catena/nn/link.h>

namespace nn {

struct BilinearOptions {
  bool nobias = false;
  Initializer initialW = {};  // default: HeNormal(1 / sqrt 2), i.e. deviation 1 / sqrt(right_size out_size)
  // Initializers of V1, V2 and b: three or none (ValueError). Default: HeNormal(1 / sqrt 2) twice and 0.
  std::vector<Initializer> initial_bias = {};
};

// y[l] = sum_jk e1[j] e2[k] W[j, k, l] + e1 V1 + e2 V2 + b: W (left, right, out), and, unless nobias, V1 (left, out),
// V2 (right, out) and b (out); see bilinear().
class CATENA_EXPORT Bilinear : public Link {
 public:
  using Options = BilinearOptions;
  Bilinear(int left_size, int right_size, int out_size, const Options& options = {});
  Bilinear(int left_size, int right_size, int out_size, bool nobias)
      : Bilinear(left_size, right_size, out_size, Options{.nobias = nobias}) {}

  NN_MEMBERS(W, V1, V2, b)
  Variable operator()(const Variable& e1, const Variable& e2);

  Parameter W;
  OptionalParameter V1, V2, b;
};

}  // namespace nn
