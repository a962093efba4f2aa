// Functions with the axis as a named option, in PyTorch's or Chainer's name, and cat.
#pragma once

#include <optional>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>

namespace autograd {

// concat along the axis 0 unless another one is given. Variables of several dtypes are converted to their common one:
// the widest floating dtype, if there is one, else the common integer dtype.
CATENA_EXPORT Variable cat(const Variables& xs, int dim = 0);
inline Variable cat(const Variables& xs, const AxisOption& o) { return cat(xs, o.value_or(0)); }
inline Variable concat(const Variables& xs, const AxisOption& o) { return concat(xs, o.value_or(1)); }
inline Variable stack(const Variables& xs, const AxisOption& o) { return stack(xs, o.value_or(0)); }
inline Variables separate(const Variable& x, const AxisOption& o) { return separate(x, o.value_or(0)); }
inline Variables split_axis(const Variable& x, const Sections& indices_or_sections, const AxisOption& o) {
  return split_axis(x, indices_or_sections, o.value_or(0));
}
inline Variables unbind(const Variable& x, const AxisOption& o) { return x.unbind(o); }
inline Variables chunk(const Variable& x, std::int64_t chunks, const AxisOption& o) { return x.chunk(chunks, o); }
inline Variables split(const Variable& x, std::int64_t length, const AxisOption& o) { return x.split(length, o); }
inline Variables split(const Variable& x, const std::vector<std::int64_t>& lengths, const AxisOption& o) {
  return x.split(lengths, o);
}
template <std::same_as<AxisOption> O = AxisOption> Variable cumsum(const Variable& x, const O& o) {
  return x.cumsum(o);
}
template <std::same_as<AxisOption> O = AxisOption> Variable cumprod(const Variable& x, const O& o) {
  return x.cumprod(o);
}
inline Sorted sort(const Variable& x, const SortOptions& o) { return x.sort(o); }
inline Variable argsort(const Variable& x, const SortOptions& o) { return x.argsort(o); }
inline Sorted topk(const Variable& x, std::int64_t k, const TopKOptions& o) { return x.topk(k, o); }
template <std::same_as<ExtremumOptions> O = ExtremumOptions> Variable argmax(const Variable& x, const O& o) {
  return x.argmax(o);
}
template <std::same_as<ExtremumOptions> O = ExtremumOptions> Variable argmin(const Variable& x, const O& o) {
  return x.argmin(o);
}

// The gradient of one variable with respect to another, as a list of one: grad(y, x, {.create_graph = true})[0].
inline Variables grad(const Variable& output, const Variable& input, const GradOptions& options = {}) {
  return grad(Variables{output}, Variables{input}, options);
}

}  // namespace autograd
