// Checks a differentiable function in one call: gradients and gradients of gradients against central differences in
// float64, values and gradients in the narrow dtypes against float64, strided inputs, repeated backward.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <catena/autograd/variable.h>

namespace test {

// Floating inputs are differentiated; integer inputs (labels) must have no gradient.
using DifferentiableFunction = std::function<autograd::Variables(const autograd::Variables&)>;

struct DerivativeOptions {
  double eps = 1e-5, atol = 1e-6, rtol = 1e-5;  // for the numerical checks
  bool twice = true;                            // check the second derivatives as well
  // Tolerances of float32 and float16 compared with float64; those of bfloat16 are 8 times those of float16.
  double atol32 = 1e-5, rtol32 = 1e-4, atol16 = 5e-4, rtol16 = 5e-3;
  bool narrow = true;
};

// `inputs` are float64 (or integers). Failures are Boost.Test errors in the context `name`.
void check_derivatives(const std::string& name, const DifferentiableFunction& f, const autograd::Arrays& inputs,
                       const DerivativeOptions& options = {});

// Returns deterministic, distinct values in [low, high]; `seed` selects the set.
autograd::Array spread(const autograd::Shape& shape, double low = -1, double high = 1, int seed = 0);

}  // namespace test
