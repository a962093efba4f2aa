#include <catena/ndarray/routines/special.h>

#include <cmath>

#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>

namespace nd::special {
namespace {

using catena::check;
using catena::KernelDef;
namespace kernels = catena::kernels;

Array apply(const KernelDef& def, const Operand& x, const UfuncOptions& options) {
  return internal::apply_ufunc(def, {&x, 1}, options);
}
Array apply(const KernelDef& def, const Operand& x1, const Operand& x2, const UfuncOptions& options) {
  const Operand in[2] = {x1, x2};
  return internal::apply_ufunc(def, in, options);
}

// Integers and bools as float64.
Array as_floats(std::string_view op, const Array& a) {
  check<TypeError>(!a.is_null(), op, "the array is null");
  check<TypeError>(!catena::is_complex_dtype(a.dtype()), op, "complex numbers are not supported");
  return catena::is_floating(a.dtype()) ? a : a.astype(Dtype::float64);
}

Array apply_rows(const KernelDef& def, const Array& a, const Axes& axis) {
  const Array x = as_floats(def.name, a);
  const Shape& shape = x.shape();
  const catena::Dims axes = catena::normalize_axes(def.name, axis, x.ndim());
  const Array out(internal::new_array(shape, x.dtype(), x.device(), def.name));
  const catena::Input in(*x.get());
  catena::ArrayHeader* const to = out.get();
  internal::execute(catena::call::RowWise{&def, def.loop_of(x.dtype()), &shape, axes, {&in, 1}, {&to, 1}});
  return out;
}

}  // namespace

#define ND_SPECIAL1(name, kernel) \
  Array name(const Operand& x, const UfuncOptions& options) { return apply(kernels::kernel, x, options); }
#define ND_SPECIAL2(name)                                                         \
  Array name(const Operand& x1, const Operand& x2, const UfuncOptions& options) { \
    return apply(kernels::name, x1, x2, options);                                 \
  }
ND_SPECIAL1(erf, erf)
ND_SPECIAL1(erfc, erfc)
ND_SPECIAL1(erfinv, erfinv)
ND_SPECIAL1(erfcinv, erfcinv)
ND_SPECIAL1(ndtr, ndtr)
ND_SPECIAL1(log_ndtr, log_ndtr)
ND_SPECIAL1(ndtri, ndtri)
ND_SPECIAL1(gamma, gamma)
ND_SPECIAL1(gammaln, gammaln)
ND_SPECIAL1(digamma, digamma)
ND_SPECIAL1(psi, digamma)
ND_SPECIAL2(beta)
ND_SPECIAL2(betaln)
ND_SPECIAL1(zeta, riemann_zeta)
ND_SPECIAL2(zeta)
ND_SPECIAL1(j0, j0)
ND_SPECIAL1(j1, j1)
ND_SPECIAL1(y0, y0)
ND_SPECIAL1(y1, y1)
ND_SPECIAL1(i0, i0)
ND_SPECIAL1(i0e, i0e)
ND_SPECIAL1(i1, i1)
ND_SPECIAL1(i1e, i1e)
ND_SPECIAL1(expit, sigmoid)
ND_SPECIAL1(logit, logit)
ND_SPECIAL1(log_expit, log_expit)
ND_SPECIAL2(xlogy)
ND_SPECIAL2(xlog1py)
ND_SPECIAL1(entr, entr)
ND_SPECIAL2(rel_entr)
#undef ND_SPECIAL1
#undef ND_SPECIAL2

Array polygamma(std::int64_t n, const Operand& x) {
  check<ValueError>(n >= 0, "polygamma", "the order is ", n, ", must be at least 0");
  if (n == 0) return digamma(x);
  return zeta(double(n + 1), x) * ((n % 2 == 0 ? -1 : 1) * std::tgamma(double(n + 1)));
}

Array logsumexp(const Array& a, const LogSumExpOptions& o) {
  Array x = as_floats("logsumexp", a);
  if (!o.b.is_null()) x = where(o.b != 0, x, -inf);
  const Axes axes = catena::normalize_axes("logsumexp", o.axis, x.ndim());
  if (x.size() == 0) return log(sum(x, {.axis = axes, .keepdims = o.keepdims}));
  Array largest = amax(x, {.axis = axes, .keepdims = true});
  largest = where(isfinite(largest), largest, 0);
  Array terms = x - largest;
  exp(terms, {.out = terms});
  if (!o.b.is_null()) terms = terms * o.b;
  const Array total = log(sum(terms, {.axis = axes, .keepdims = o.keepdims}));
  return total + largest.reshape(total.shape());
}

Array softmax(const Array& x, const Axes& axis) { return apply_rows(kernels::softmax, x, axis); }
Array log_softmax(const Array& x, const Axes& axis) { return apply_rows(kernels::log_softmax, x, axis); }

}  // namespace nd::special
