#include <catena/ndarray/routines/reduction.h>

#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/engine/reduction.h>
#include <catena/ndarray/routines/complex_order.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/statistics.h>

namespace nd {
namespace {

using catena::check;
using internal::apply_reduction;

internal::ReductionOptions engine_options(const ReduceOptions& o) {
  return {.axis = o.axis, .dtype = o.dtype, .out = &o.out, .keepdims = o.keepdims};
}
// The elementwise function by which a reduction combines two numbers. The table compares addresses of kernels, because
// the kernels of kernels/ do not know the ufuncs of ndarray.
const BinaryUfunc& combination_of(const catena::KernelDef& def) {
  static const std::pair<const catena::KernelDef*, BinaryUfunc> all[] = {{&catena::kernels::sum, ufuncs::add},
                                                                         {&catena::kernels::prod, ufuncs::multiply},
                                                                         {&catena::kernels::amax, ufuncs::maximum},
                                                                         {&catena::kernels::amin, ufuncs::minimum}};
  for (const auto& [reduction, function] : all)
    if (reduction == &def) return function;
  catena::fail<TypeError>(def.name,
                          "the reduction takes no `where` and no `initial`; instead of `where`, reduce nd::where(mask, "
                          "a, b) with a number b that changes no result; instead of `initial`, combine the result with "
                          "the number");
}

bool is_complex(const Array& a) { return !a.is_null() && catena::is_complex_dtype(a.dtype()); }

Array reduce(const catena::KernelDef& def, const Array& a, const ReduceOptions& o) {
  if (o.where.is_null() && !o.initial) return apply_reduction(def, a, engine_options(o));
  return combination_of(def).reduce(
      a,
      {.axis = o.axis, .dtype = o.dtype, .out = o.out, .keepdims = o.keepdims, .initial = o.initial, .where = o.where});
}

internal::ReductionOptions engine_options(const TestOptions& o) {
  return {.axis = o.axis, .out = &o.out, .keepdims = o.keepdims};
}
Array reduce(const catena::KernelDef& def, const Array& a, const TestOptions& o) {
  return apply_reduction(def, a, engine_options(o));
}

Array extremum(const catena::KernelDef& def, const Array& a, const ReduceOptions& o, bool greatest) {
  if (is_complex(a) && o.where.is_null() && !o.initial) return internal::complex_extremum(def.name, a, o, greatest);
  return reduce(def, a, o);
}

Array position(const catena::KernelDef& def, const Array& a, const ArgReduceOptions& o, bool greatest) {
  if (o.dtype) check<TypeError>(catena::is_integer(*o.dtype), def.name, "positions cannot have the dtype ", *o.dtype);
  if (is_complex(a)) return internal::complex_position(def.name, a, o, greatest);
  const catena::Input input = Operand(a);
  const int loop = catena::choose_loop(def, {&input, 1});
  return internal::reduce_with_loop(def, loop, a, {.axis = o.axis, .out = &o.out, .keepdims = o.keepdims},
                                    o.dtype.value_or(Dtype::int64));
}

// Warns before the output is written, because the handler of warnings may throw.
Array without_nans(const catena::KernelDef& def, const Array& a, const TestOptions& o, bool greatest) {
  const TestOptions new_result = {.axis = o.axis, .keepdims = o.keepdims};
  const Array result = is_complex(a) ? internal::complex_nan_extremum(def.name, a, new_result, greatest)
                                     : apply_reduction(def, a, engine_options(new_result));
  if (!o.out.is_null())
    check<ValueError>(o.out.shape() == result.shape(), def.name, "the output has shape ", o.out.shape(),
                      ", the result ", result.shape());
  if ((catena::is_floating(a.dtype()) || is_complex(a)) && any(isnan(result)).item<bool>())
    catena::warn("RuntimeWarning", catena::concat(def.name, ": a slice has no elements but NaN"));
  if (o.out.is_null()) return result;
  internal::assign(def.name, o.out, result);
  return o.out;
}

}  // namespace

#define CATENA_REDUCTION(name, Options) \
  Array name(const Array& a, const Options& o) { return reduce(catena::kernels::name, a, o); }
#include <catena/kernels/lists/reductions.inc>
#undef CATENA_REDUCTION

Array amax(const Array& a, const ReduceOptions& o) { return extremum(catena::kernels::amax, a, o, true); }
Array amin(const Array& a, const ReduceOptions& o) { return extremum(catena::kernels::amin, a, o, false); }
Array nanmax(const Array& a, const TestOptions& o) { return without_nans(catena::kernels::nanmax, a, o, true); }
Array nanmin(const Array& a, const TestOptions& o) { return without_nans(catena::kernels::nanmin, a, o, false); }

Array argmax(const Array& a, const ArgReduceOptions& options) {
  return position(catena::kernels::argmax, a, options, true);
}
Array argmin(const Array& a, const ArgReduceOptions& options) {
  return position(catena::kernels::argmin, a, options, false);
}

Array count_nonzero(const Array& a, const TestOptions& o) {
  return apply_reduction(catena::kernels::count_nonzero, a, engine_options(o));
}
std::int64_t count_nonzero(const Array& a) { return count_nonzero(a, TestOptions{}).item<std::int64_t>(); }

// ---- methods ------------------------------------------------------------------------------------
#define CATENA_MEMBER(name, Options) \
  Array Array::name(const Options& options) const { return nd::name(*this, options); }
#include <catena/kernels/lists/members.inc>
#undef CATENA_MEMBER

}  // namespace nd
