#include <catena/nn/functions/composed.h>

#include <algorithm>

#include <catena/autograd/autocast.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/recorded.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>

namespace nn::internal {

using autograd::Arrays;
using autograd::internal::record;
using autograd::internal::wants_elementary_nodes;

void check_inputs(std::string_view label, std::string_view names, const Variables& inputs,
                  const catena::Function<void(const TypeInfoTuple&)>& check) {
  autograd::internal::check_input_types(label, inputs, check, names);
  Arrays arrays;
  for (const Variable& v : inputs) arrays.push_back(v.data());
  autograd::check_same_device(label, arrays);
}

int spatial_axes(std::string_view label, const Variable& x) {
  check_inputs(label, "x", {x}, [](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim >= 3);
  });
  return std::max(x.ndim() - 2, 0);
}

void expect_rank(std::string_view label, const Variable& x, int ndim) {
  check_inputs(label, "x", {x}, [ndim](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim == ndim);
  });
}

void expect_floats(const TypeInfoTuple& in_types, int first, int last) {
  using namespace autograd::type_check;
  expect(in_types[first].dtype.kind() == 'f');
  for (int i = first + 1; i <= last; ++i) expect(in_types[i].dtype == in_types[first].dtype);
}

void expect_alike(const TypeInfoTuple& in_types) {
  using namespace autograd::type_check;
  expect_floats(in_types, 0, int(in_types.count()) - 1);
  for (int i = 1; i < int(in_types.count()); ++i) expect(in_types[i].shape == in_types[0].shape);
}

Variable root(const Variable& squares) {
  // sqrt(s + [s == 0]) - [s == 0]: the derivative of the root of 0 is finite, so the gradient, a multiple of 0, is 0.
  const Array none = converted(equal(squares.data(), 0), squares.dtype());
  if (wants_elementary_nodes()) {
    // The difference from an array would be a sum with its negative, a constant of its own in the graph.
    const Variable one = autograd::internal::constant_variable(none);
    return sqrt(squares + one) - one;
  }
  return sqrt(squares + none) - none;
}

namespace {
constexpr autograd::ElementwiseFunction kLogAddExp = {.label = "LogAddExp",
                                                      .kernel = &catena::kernels::logaddexp,
                                                      .retain = autograd::kRetainXs,
                                                      .gradient = [](int target, const autograd::ElementwiseValues& v) {
                                                        return v.gy * sigmoid(target == 0 ? v.x0 - v.x1 : v.x1 - v.x0);
                                                      }};
}  // namespace

Variable log_add_exp(const Variable& x, const Variable& y) { return elementwise(kLogAddExp, x, y); }

static void check_word(std::string_view op, std::string_view option, const std::string& word,
                       std::initializer_list<std::string_view> allowed) {
  if (std::find(allowed.begin(), allowed.end(), word) != allowed.end()) return;
  std::string list;
  for (const std::string_view& one : allowed) {
    if (&one != allowed.begin()) list += &one + 1 == allowed.end() ? " or " : ", ";
    ((list += '"') += one) += '"';
  }
  catena::fail<catena::ValueError>(op, option, " is \"", word, "\"; it must be ", list);
}
void check_reduce(std::string_view op, const std::string& reduce, std::initializer_list<std::string_view> allowed) {
  check_word(op, "reduce", reduce, allowed);
}
std::string reduce_of(std::string_view op, const std::string& reduction,
                      std::initializer_list<std::string_view> allowed) {
  check_word(op, "reduction", reduction, allowed);
  return reduction == "none" ? "no" : reduction;
}

Dtype loss_dtype(Dtype dtype) noexcept { return autograd::autocast_dtype() ? catena::compute_dtype(dtype) : dtype; }

Array compared(const catena::KernelDef& kernel, const Array& a, const autograd::Operand& b) {
  const Array y = autograd::apply(kernel, {a, b});
  if (!wants_elementary_nodes()) return y;
  autograd::internal::FunctionOptions options;
  Arrays inputs{a};
  if (b.is_array()) inputs.push_back(b.array());
  else options.number("c0", b.scalar().to_double());
  record(y, kernel.name, inputs, std::move(options));
  return y;
}

Array converted(const Array& a, Dtype dtype) {
  const Array y = autograd::astype(a, dtype);
  if (wants_elementary_nodes() && a.dtype() != dtype) record(y, "Cast", {a});
  return y;
}

Array expanded(const Array& a, int axis) {
  const Array y = autograd::expand_dims(a, axis);
  if (wants_elementary_nodes()) record(y, "Reshape", {a});
  return y;
}

Array complement(const Array& a) {
  const Array y = 1 - a;
  if (!wants_elementary_nodes()) return y;
  autograd::internal::FunctionOptions options;
  options.number("c0", 1);
  options.integer("constant_first", 1);
  record(y, "subtract", {a}, std::move(options));
  return y;
}

// In a file, the number of elements may depend on the inputs, and the mean needs none. Null where `count` is neither
// the number of all losses nor that of their first axis.
static Variable mean_of(const Variable& losses, double count) {
  if (count == double(losses.size())) return mean(losses);
  if (losses.ndim() == 0 || count != double(losses.shape(0))) return {};
  return mean(sum(reshape(losses, {losses.shape(0), losses.size() / std::max<std::int64_t>(losses.shape(0), 1)}), 1));
}

Variable reduced(const Variable& losses, const std::string& reduce, double count, Dtype dtype) {
  if (reduce == "no") return narrowed(losses, loss_dtype(dtype));
  if (reduce == "mean" && wants_elementary_nodes())
    if (const Variable y = mean_of(losses, count)) return narrowed(y, loss_dtype(dtype));
  const Variable total = sum(losses);
  return narrowed(reduce == "sum" ? total : total * (1.0 / std::max(count, 1.0)), loss_dtype(dtype));
}

Variable reduced(const Variable& losses, const std::string& reduce, const Array& count, Dtype dtype) {
  if (reduce == "no") return narrowed(losses, loss_dtype(dtype));
  const Variable total = sum(losses);
  if (reduce == "sum") return narrowed(total, loss_dtype(dtype));
  // The quotient by an array is a product with its reciprocal, which is no part of a graph.
  const bool for_file = wants_elementary_nodes();
  const Variable average = for_file ? total / autograd::internal::constant_variable(count) : total / count;
  return narrowed(average, loss_dtype(dtype));
}

Array count_of(const Array& condition, Dtype dtype) {
  const Array trues = autograd::astype(autograd::reduce(catena::kernels::count_nonzero, condition), dtype);
  const Array count = autograd::apply(catena::kernels::maximum, {trues, 1.0});
  if (wants_elementary_nodes()) record(count, "Count", {condition});
  return count;
}

}  // namespace nn::internal
