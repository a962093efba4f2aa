// A bias along some axes.
#pragma once

#include <optional>

#include <catena/nn/link.h>

namespace nn {

// x + b, where the axes of b correspond to those of x from `axis` on; see bias().
//
//   nn::Bias(1, {3})    b (3) is a parameter, at first 0: link(x)
//   nn::Bias(1)         no parameter: link(x, b)
//
// ValueError for a call with one argument if two are needed, and vice versa.
class CATENA_EXPORT Bias : public Link {
 public:
  explicit Bias(int along = 1) : axis(along) {}
  Bias(int along, const Shape& shape);

  NN_MEMBERS(b)
  Variable operator()(const Variable& x);
  Variable operator()(const Variable& x, const Variable& y);

  OptionalParameter b;
  int axis;
};

}  // namespace nn
