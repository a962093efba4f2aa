// Parts of functions that call other functions: their checks, their compute dtype, and steps that need care at the ends
// of their range. Internal.
#pragma once

#include <initializer_list>
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

// Checks the inputs as a function node of this label does before forward: TypeError for a null input, ValueError for
// inputs on several devices, and InvalidType, with the node's text, if `check` throws it. `names` are as in
// FunctionNode::input_names.
CATENA_EXPORT void check_inputs(std::string_view label, std::string_view names, const Variables& inputs,
                                const catena::Function<void(const TypeInfoTuple&)>& check);
// Checks that all inputs have one floating dtype and one shape.
CATENA_EXPORT void expect_alike(const TypeInfoTuple& in_types);
// Returns the number of axes after the first two of a floating x; InvalidType unless there is at least one.
CATENA_EXPORT int spatial_axes(std::string_view label, const Variable& x);
// InvalidType unless x has this rank and a floating dtype.
CATENA_EXPORT void expect_rank(std::string_view label, const Variable& x, int ndim);
// Checks that the inputs `first` to `last` have one floating dtype.
CATENA_EXPORT void expect_floats(const TypeInfoTuple& in_types, int first, int last);

// Converts to the compute dtype: 16-bit floats to float32, so that a composition of functions rounds once.
inline Variable wide(const Variable& x) { return cast(x, catena::compute_dtype(x.dtype())); }
inline Variable narrowed(const Variable& y, Dtype dtype) { return cast(y, dtype); }

// Returns a constant as an operand of kernels.
inline autograd::Operand constant(const autograd::Constant& c) {
  return c.is_array() ? autograd::Operand(c.array()) : autograd::Operand(c.scalar());
}

// Returns the root of a sum of squares; its derivative at 0 is taken as 0.
CATENA_EXPORT Variable root(const Variable& squares);
// Returns log(exp(x) + exp(y)) for finite numbers.
CATENA_EXPORT Variable log_add_exp(const Variable& x, const Variable& y);

// ---- comparisons of arrays ----
// These and the other functions of arrays below become nodes of a graph that is made for a file, see
// autograd/recorded.h.
CATENA_EXPORT Array compared(const catena::KernelDef& kernel, const Array& a, const autograd::Operand& b);
inline Array equal(const Array& a, const autograd::Operand& b) { return compared(catena::kernels::equal, a, b); }
inline Array not_equal(const Array& a, const autograd::Operand& b) {
  return compared(catena::kernels::not_equal, a, b);
}
inline Array less(const Array& a, const autograd::Operand& b) { return compared(catena::kernels::less, a, b); }
inline Array less_equal(const Array& a, const autograd::Operand& b) {
  return compared(catena::kernels::less_equal, a, b);
}
inline Array greater(const Array& a, const autograd::Operand& b) { return compared(catena::kernels::greater, a, b); }
inline Array greater_equal(const Array& a, const autograd::Operand& b) {
  return compared(catena::kernels::greater_equal, a, b);
}
inline Array both(const Array& a, const Array& b) { return compared(catena::kernels::logical_and, a, b); }
// The array in another dtype; a itself if it has it.
CATENA_EXPORT Array converted(const Array& a, Dtype dtype);
CATENA_EXPORT Array expanded(const Array& a, int axis);  // with an axis of length 1
CATENA_EXPORT Array complement(const Array& a);          // 1 - a

// ---- reduce ----
// Throws a ValueError unless `reduce` is one of `allowed`; the message lists them.
CATENA_EXPORT void check_reduce(std::string_view op, const std::string& reduce,
                                std::initializer_list<std::string_view> allowed);
// Returns PyTorch's `reduction` in the words of `reduce`: "none" is "no". ValueError unless it is one of `allowed`.
CATENA_EXPORT std::string reduce_of(std::string_view op, const std::string& reduction,
                                    std::initializer_list<std::string_view> allowed = {"mean", "sum", "none"});
// Returns options in which `reduction`, where it is given, has the place of `reduce`.
template <class O>
O with_reduction(std::string_view op, O options,
                 std::initializer_list<std::string_view> allowed = {"mean", "sum", "none"}) {
  if (options.reduction) options.reduce = reduce_of(op, *options.reduction, allowed);
  return options;
}
// Returns the dtype of a loss for inputs of this dtype: the same one, or, in a scope of autocast, its compute dtype.
CATENA_EXPORT Dtype loss_dtype(Dtype dtype) noexcept;
// Returns the losses themselves ("no"), their sum, or their sum divided by `count` ("mean"), in loss_dtype(dtype).
CATENA_EXPORT Variable reduced(const Variable& losses, const std::string& reduce, double count, Dtype dtype);
// The same for a count on the device: a 0-d array of the dtype of the losses.
CATENA_EXPORT Variable reduced(const Variable& losses, const std::string& reduce, const Array& count, Dtype dtype);

// Returns max(number of true elements, 1) as a 0-d array, which is not copied to the host.
CATENA_EXPORT Array count_of(const Array& condition, Dtype dtype);

}  // namespace nn::internal
