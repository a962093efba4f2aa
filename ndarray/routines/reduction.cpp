#include <catena/ndarray/routines/reduction.h>

#include <catena/kernels/registry/families.h>
#include <catena/ndarray/engine/reduction.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/statistics.h>

namespace nd {
namespace {

using catena::check;
using internal::apply_reduction;

Array position(const catena::KernelDef& def, const Array& a, const ArgReduceOptions& o) {
  if (o.dtype) check<TypeError>(catena::is_integer(*o.dtype), def.name, "positions cannot have the dtype ", *o.dtype);
  const catena::Input input = Operand(a);
  const int loop = catena::choose_loop(def, {&input, 1});
  return internal::reduce_with_loop(def, loop, a, {.axis = o.axis, .out = o.out, .keepdims = o.keepdims},
                                    o.dtype.value_or(Dtype::int64));
}

// Warns before the output is written, because the handler of warnings may throw.
Array without_nans(const catena::KernelDef& def, const Array& a, const TestOptions& o) {
  const Array result = apply_reduction(def, a, {.axis = o.axis, .keepdims = o.keepdims});
  if (!o.out.is_null())
    check<ValueError>(o.out.shape() == result.shape(), def.name, "the output has shape ", o.out.shape(),
                      ", the result ", result.shape());
  if (catena::is_floating(a.dtype()) && any(isnan(result)).item<bool>())
    catena::warn("RuntimeWarning", catena::concat(def.name, ": a slice has no elements but NaN"));
  if (o.out.is_null()) return result;
  internal::assign(def.name, o.out, result);
  return o.out;
}

}  // namespace

#define ND_DEFINE_REDUCTION(name)                                                                     \
  Array name(const Array& a, const ReduceOptions& o) {                                                \
    return apply_reduction(catena::kernels::name, a,                                                  \
                           {.axis = o.axis, .dtype = o.dtype, .out = o.out, .keepdims = o.keepdims}); \
  }
ND_DEFINE_REDUCTION(sum)
ND_DEFINE_REDUCTION(prod)
ND_DEFINE_REDUCTION(amax)
ND_DEFINE_REDUCTION(amin)

Array nanmax(const Array& a, const TestOptions& o) { return without_nans(catena::kernels::nanmax, a, o); }
Array nanmin(const Array& a, const TestOptions& o) { return without_nans(catena::kernels::nanmin, a, o); }

#define ND_DEFINE_TEST(name)                                                                                  \
  Array name(const Array& a, const TestOptions& o) {                                                          \
    return apply_reduction(catena::kernels::name, a, {.axis = o.axis, .out = o.out, .keepdims = o.keepdims}); \
  }
ND_DEFINE_TEST(any)
ND_DEFINE_TEST(all)
ND_DEFINE_TEST(count_nonzero)

Array argmax(const Array& a, const ArgReduceOptions& options) { return position(catena::kernels::argmax, a, options); }
Array argmin(const Array& a, const ArgReduceOptions& options) { return position(catena::kernels::argmin, a, options); }

std::int64_t count_nonzero(const Array& a) { return count_nonzero(a, TestOptions{}).item<std::int64_t>(); }

// ---- methods ------------------------------------------------------------------------------------
Array Array::sum(const ReduceOptions& options) const { return nd::sum(*this, options); }
Array Array::prod(const ReduceOptions& options) const { return nd::prod(*this, options); }
Array Array::mean(const ReduceOptions& options) const { return nd::mean(*this, options); }
Array Array::max(const ReduceOptions& options) const { return nd::amax(*this, options); }
Array Array::min(const ReduceOptions& options) const { return nd::amin(*this, options); }
Array Array::var(const VarOptions& options) const { return nd::var(*this, options); }
Array Array::std(const VarOptions& options) const { return nd::std(*this, options); }
Array Array::argmax(const ArgReduceOptions& options) const { return nd::argmax(*this, options); }
Array Array::argmin(const ArgReduceOptions& options) const { return nd::argmin(*this, options); }
Array Array::any(const TestOptions& options) const { return nd::any(*this, options); }
Array Array::all(const TestOptions& options) const { return nd::all(*this, options); }

}  // namespace nd
