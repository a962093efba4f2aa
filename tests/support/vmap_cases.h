// For tests of vmap: functions of one example, and their inputs for several.
#pragma once

#include <functional>
#include <vector>

#include <catena/autograd/variable.h>
#include <catena/tests/support/framework_derivatives.h>

namespace test {

// `Result`: Variable or Variables.
template <class Result> struct VmapCase {
  const char* name;
  std::function<Result(const autograd::Variables&)> f;
  std::vector<autograd::Shape> shapes;  // of one example
  double low = -1, high = 1;            // between which the inputs are
};

// Input k has n examples along a first axis where batched[k] is true.
template <class Result>
autograd::Variables inputs_of(const VmapCase<Result>& c, std::int64_t n, const std::vector<bool>& batched) {
  autograd::Variables xs;
  for (std::size_t k = 0; k < c.shapes.size(); ++k) {
    autograd::Shape shape;
    if (batched[k]) shape.push_back(n);
    for (const std::int64_t d : c.shapes[k]) shape.push_back(d);
    xs.push_back(autograd::Variable(spread(shape, c.low, c.high, int(k))));
  }
  return xs;
}

}  // namespace test
