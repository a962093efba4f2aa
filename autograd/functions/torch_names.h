// Functions with the axis as a named option, in PyTorch's or Chainer's name, and cat.
#pragma once

#include <optional>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>

namespace autograd {

// {.dim = 1}, {.axis = 1}
struct AxisOption {
  std::optional<int> dim = {}, axis = {};  // one of the two
  int value_or(int by_default) const { return axis ? *axis : dim.value_or(by_default); }
};

// concat along the axis 0 unless another one is given.
inline Variable cat(const Variables& xs, int dim = 0) { return concat(xs, dim); }
inline Variable cat(const Variables& xs, const AxisOption& o) { return concat(xs, o.value_or(0)); }
inline Variable concat(const Variables& xs, const AxisOption& o) { return concat(xs, o.value_or(1)); }
inline Variable stack(const Variables& xs, const AxisOption& o) { return stack(xs, o.value_or(0)); }
inline Variables separate(const Variable& x, const AxisOption& o) { return separate(x, o.value_or(0)); }
inline Variables split_axis(const Variable& x, const Sections& indices_or_sections, const AxisOption& o) {
  return split_axis(x, indices_or_sections, o.value_or(0));
}

// The gradient of one variable with respect to another, as a list of one: grad(y, x, {.create_graph = true})[0].
inline Variables grad(const Variable& output, const Variable& input, const GradOptions& options = {}) {
  return grad(Variables{output}, Variables{input}, options);
}

}  // namespace autograd
