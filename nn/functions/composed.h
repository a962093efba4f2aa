// Parts of functions that are compositions of others: their checks, the dtype in which they compute, and steps that
// need care at the ends of their range. Internal.
#pragma once

#include <string>
#include <string_view>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>

namespace nn::internal {

using autograd::Array;
using autograd::Axes;
using autograd::Dtype;
using autograd::Shape;
using autograd::Variable;
using autograd::Variables;
using autograd::type_check::TypeInfoTuple;

// The checks that a function node of this label makes before forward: TypeError for a null input, ValueError for inputs
// on several devices, and InvalidType, with the node's text, where `check` throws it. `names` are those of
// FunctionNode's input_names.
CATENA_EXPORT void check_inputs(std::string_view label, std::string_view names, const Variables& inputs,
                                const catena::Function<void(const TypeInfoTuple&)>& check);
// A check: one floating dtype and one shape.
CATENA_EXPORT void expect_alike(const TypeInfoTuple& in_types);
// The number of axes behind the first two of a floating x; InvalidType unless it has one at least.
CATENA_EXPORT int spatial_axes(std::string_view label, const Variable& x);
// One floating dtype for the inputs `first` to `last`.
CATENA_EXPORT void expect_floats(const TypeInfoTuple& in_types, int first, int last);

// In the dtype of computations: 16-bit floats as float32, so that a composition rounds once.
inline Variable wide(const Variable& x) { return cast(x, catena::compute_dtype(x.dtype())); }
inline Variable narrowed(const Variable& y, Dtype dtype) { return cast(y, dtype); }

// The root of a sum of squares, whose derivative at 0 is taken as 0.
CATENA_EXPORT Variable root(const Variable& squares);
// log(exp(x) + exp(y)) of finite numbers.
CATENA_EXPORT Variable log_add_exp(const Variable& x, const Variable& y);

// ---- comparisons of arrays ----
inline Array equal(const Array& a, const autograd::Operand& b) {
  return autograd::apply(catena::kernels::equal, {a, b});
}
inline Array not_equal(const Array& a, const autograd::Operand& b) {
  return autograd::apply(catena::kernels::not_equal, {a, b});
}
inline Array less(const Array& a, const autograd::Operand& b) { return autograd::apply(catena::kernels::less, {a, b}); }
inline Array less_equal(const Array& a, const autograd::Operand& b) {
  return autograd::apply(catena::kernels::less_equal, {a, b});
}
inline Array greater(const Array& a, const autograd::Operand& b) {
  return autograd::apply(catena::kernels::greater, {a, b});
}
inline Array greater_equal(const Array& a, const autograd::Operand& b) {
  return autograd::apply(catena::kernels::greater_equal, {a, b});
}
inline Array both(const Array& a, const Array& b) { return autograd::apply(catena::kernels::logical_and, {a, b}); }

// ---- reduce ----
// "no", "mean", "sum" and names of a loss's own: ValueError for any other, naming the ones that `allowed` has.
CATENA_EXPORT void check_reduce(std::string_view op, const std::string& reduce,
                                std::initializer_list<std::string_view> allowed);
// The losses themselves ("no"), their sum, or their sum over `count` ("mean"), in `dtype`.
CATENA_EXPORT Variable reduced(const Variable& losses, const std::string& reduce, double count, Dtype dtype);
// The same for a count that was computed on the device: a 0-d array of the losses' dtype.
CATENA_EXPORT Variable reduced(const Variable& losses, const std::string& reduce, const Array& count, Dtype dtype);

// max(number of true elements, 1) as a 0-d array, which is not copied to the host.
CATENA_EXPORT Array count_of(const Array& condition, Dtype dtype);

}  // namespace nn::internal
