#include <catena/ndarray/routines/scan.h>

#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/nan_functions.h>

namespace nd {
namespace {

using catena::check;
using catena::KernelDef;

// The loop for elements of `a`, converted to `dtype` if that is given, and the dtype of its result.
struct ScanLoop {
  Array source;
  int loop;
  Dtype result;
};
ScanLoop scan_loop(const KernelDef& def, const Array& a, std::optional<Dtype> dtype) {
  for (int i = 0; dtype && i < def.num_loops; ++i)
    if (def.loop_table[i].type[0] == *dtype && def.loop_table[i].type[1] == *dtype) return {a, i, *dtype};
  // No loop computes in that dtype, so the elements are converted to it first.
  const Array source = dtype ? a.astype(*dtype, {.copy = false}) : a;
  const catena::Input input(*source.get());
  const int loop = catena::choose_loop(def, {&input, 1});
  return {source, loop, dtype.value_or(def.loop_table[loop].type[1])};
}

void check_scan_output(std::string_view op, const Array& a, const Array& out, const Shape& shape) {
  if (out.is_null()) return;
  check<ValueError>(out.shape() == shape, op, "the output has shape ", out.shape(), ", the result ", shape);
  internal::check_output_layout(op, *out.get());
  const Operand operand(a);
  internal::common_device(op, {&operand, 1}, {&out, 1});
}

// `initial`: prepended along the axis, as the result for no elements.
Array scan(std::string_view op, const KernelDef& def, const Array& a, int axis, const ScanOptions& o,
           std::optional<Scalar> initial) {
  Shape shape = a.shape();
  if (initial) ++shape[axis];
  check_scan_output(op, a, o.out, shape);
  const ScanLoop how = scan_loop(def, a, o.dtype);
  const bool direct =
      !o.out.is_null() && !o.out.shares_memory(how.source) && how.result == def.loop_table[how.loop].type[1];
  const Array out = direct ? o.out : Array(internal::new_array(shape, how.result, a.device(), op));
  Array rest = out;
  if (initial) {
    const auto step = out.strides()[axis];
    Shape first = shape;
    first[axis] = 1;
    internal::make_view(out, first, out.strides()).fill(*initial);
    rest = internal::make_view(out, a.shape(), out.strides(), step);
  }
  internal::execute(catena::call::Scan{&def, how.loop, how.source.get(), axis, rest.get()});
  if (o.out.is_null() || direct) return out;
  internal::assign(op, o.out, out);
  return o.out;
}

Array accumulate(std::string_view op, const KernelDef& def, const Array& a, const ScanOptions& o) {
  check<TypeError>(!a.is_null(), op, "the array is null");
  const Array source = o.axis && a.ndim() > 0 ? a : a.ravel();  // a 0-d array has length 1, as in NumPy
  return scan(op, def, source, o.axis ? catena::normalize_axis(op, *o.axis, source.ndim()) : 0, o, {});
}

Array cumulative(std::string_view op, const KernelDef& def, const Array& a, const CumulativeOptions& o, int identity) {
  check<TypeError>(!a.is_null(), op, "the array is null");
  check<ValueError>(a.ndim() > 0, op, "a 0-d array has no axis");
  check<ValueError>(o.axis || a.ndim() == 1, op, "an array of shape ", a.shape(),
                    " needs an axis; only rank 1 has a default");
  const int axis = catena::normalize_axis(op, o.axis.value_or(0), a.ndim());
  return scan(op, def, a, axis, {.dtype = o.dtype, .out = o.out},
              o.include_initial ? std::optional<Scalar>(identity) : std::nullopt);
}

}  // namespace

Array cumsum(const Array& a, const ScanOptions& options) {
  return accumulate("cumsum", catena::kernels::sum, a, options);
}
Array cumprod(const Array& a, const ScanOptions& options) {
  return accumulate("cumprod", catena::kernels::prod, a, options);
}
Array nancumsum(const Array& a, const ScanOptions& options) try {
  return accumulate("nancumsum", catena::kernels::sum, internal::without_nans("nancumsum", a, 0), options);
} catch (...) {
  internal::rethrow_out_of_memory("nancumsum");
}
Array nancumprod(const Array& a, const ScanOptions& options) try {
  return accumulate("nancumprod", catena::kernels::prod, internal::without_nans("nancumprod", a, 1), options);
} catch (...) {
  internal::rethrow_out_of_memory("nancumprod");
}
Array cumulative_sum(const Array& a, const CumulativeOptions& options) {
  return cumulative("cumulative_sum", catena::kernels::sum, a, options, 0);
}
Array cumulative_prod(const Array& a, const CumulativeOptions& options) {
  return cumulative("cumulative_prod", catena::kernels::prod, a, options, 1);
}

Array Array::cumsum(std::optional<int> axis, std::optional<Dtype> dtype) const {
  return nd::cumsum(*this, {.axis = axis, .dtype = dtype});
}
Array Array::cumprod(std::optional<int> axis, std::optional<Dtype> dtype) const {
  return nd::cumprod(*this, {.axis = axis, .dtype = dtype});
}

}  // namespace nd
