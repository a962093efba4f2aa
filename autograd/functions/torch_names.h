// Functions with the axis as a named option, in PyTorch's or Chainer's name, and cat.
#pragma once

#include <optional>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/grad.h>

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
// With the dtype of the sums: cumsum(x, 0, {.dtype = Dtype::float64}).
struct DtypeAxisOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> dim = {}, axis = {};
  std::optional<Dtype> dtype = {};
  Variable converted(const Variable& x) const { return dtype ? cast(x, *dtype) : x; }
  std::optional<int> value() const { return internal::given_axis(axis, dim); }
};
#define CATENA_RUNNING(name)                                                                                    \
  template <std::same_as<DtypeAxisOptions> O = DtypeAxisOptions> Variable name(const Variable& x, const O& o) { \
    return name(o.converted(x), o.value());                                                                     \
  }                                                                                                             \
  template <std::same_as<DtypeAxisOptions> O = DtypeAxisOptions>                                                \
  Variable name(const Variable& x, int dim, const O& o) {                                                       \
    return name(o.converted(x), dim);                                                                           \
  }
CATENA_RUNNING(cumsum)
CATENA_RUNNING(cumprod)
#undef CATENA_RUNNING
inline Sorted sort(const Variable& x, const SortOptions& o) { return x.sort(o); }
inline Variable argsort(const Variable& x, const SortOptions& o) { return x.argsort(o); }
inline Sorted topk(const Variable& x, std::int64_t k, const TopKOptions& o) { return x.topk(k, o); }
// The positions of the greatest and of the least elements along an axis, or in the flattened variable without one:
// argmax(x, {.dim = 1, .keepdim = true}). They are int32, count the first of equal elements, and have no gradient.
// ValueError if there are no elements.
template <std::same_as<ExtremumOptions> O = ExtremumOptions> Variable argmax(const Variable& x, const O& o) {
  return x.argmax(o);
}
template <std::same_as<ExtremumOptions> O = ExtremumOptions> Variable argmin(const Variable& x, const O& o) {
  return x.argmin(o);
}

// The gradient of one variable with respect to another, as a list of one: auto [g] = grad(y, x, {.create_graph =
// true}), grad(y, x)[0]. With inputs in braces, one gradient for each: auto [gx, gw] = grad(y, {x, w}).
inline VariablesOf<1> grad(const Variable& output, const Variable& input, const GradOptions& options = {}) {
  return VariablesOf<1>(grad(Variables{output}, Variables{input}, options));
}
template <PlainVariable G> VariablesOf<1> grad(const Variable& output, const Variable& input, const G& grad_output) {
  return grad(output, input, GradOptions{.grad_outputs = grad_output});
}
inline Variables grad(const Variable& output, const Variables& inputs, const GradOptions& options = {}) {
  return grad(Variables{output}, inputs, options);
}
template <std::size_t N>
VariablesOf<N> grad(const Variable& output, const Variable (&inputs)[N], const GradOptions& options = {}) {
  return VariablesOf<N>(grad(Variables{output}, VariablesOf<N>(inputs), options));
}
template <std::size_t N, PlainVariable G>
VariablesOf<N> grad(const Variable& output, const Variable (&inputs)[N], const G& grad_output) {
  return grad(output, inputs, GradOptions{.grad_outputs = grad_output});
}
template <std::size_t N>
VariablesOf<N> grad(const Variables& outputs, const Variable (&inputs)[N], const GradOptions& options = {}) {
  return VariablesOf<N>(grad(outputs, VariablesOf<N>(inputs), options));
}
// Lengths in braces: auto [a, b] = split(x, {2, 3}, 1).
template <std::size_t N> VariablesOf<N> split(const Variable& x, const std::int64_t (&lengths)[N], int axis = 0) {
  return x.split(lengths, axis);
}
template <std::size_t N>
VariablesOf<N> split(const Variable& x, const std::int64_t (&lengths)[N], const AxisOption& o) {
  return x.split(lengths, o);
}

}  // namespace autograd
