#include <catena/ndarray/routines/ufunc_loops.h>

#include <type_traits>

#include <catena/kernels/numeric.h>
#include <catena/ndarray/memory/memory.h>
#include <catena/ndarray/routines/math.h>

namespace nd::internal {
namespace {

namespace kernels = catena::kernels;

// Calls f(function, E()); false for functions and dtypes without a loop.
template <class F> bool with_loop(const catena::KernelDef& def, Dtype dtype, F f) {
  return visit_dtype(dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<E> && !std::is_same_v<E, bool>) {
      if (&def == &kernels::add) f([](E a, E b) { return static_cast<E>(catena::wrap_add(a, b)); }, E());
      else if (&def == &kernels::multiply) f([](E a, E b) { return static_cast<E>(catena::wrap_mul(a, b)); }, E());
      else if (&def == &kernels::maximum) f([](E a, E b) { return static_cast<E>(catena::nan_max(a, b)); }, E());
      else if (&def == &kernels::minimum) f([](E a, E b) { return static_cast<E>(catena::nan_min(a, b)); }, E());
      else return false;
      return true;
    } else {
      return false;
    }
  });
}

template <class E> E* elements(const Array& a) { return reinterpret_cast<E*>(a.data().ptr()); }

template <class E, class F> E combined(const E* p, std::int64_t n, F f) {
  if (n > 8) return f(combined(p, n / 2, f), combined(p + n / 2, n - n / 2, f));
  E result = p[0];
  for (std::int64_t i = 1; i < n; ++i) result = f(result, p[i]);
  return result;
}

}  // namespace

bool apply_at_positions(const catena::KernelDef& def, const Array& flat, const Array& positions, const Array& values) {
  return with_loop(def, flat.dtype(), [&](auto f, auto zero) {
    using E = decltype(zero);
    E* const to = elements<E>(flat);
    const E* const from = elements<E>(values);
    const std::int64_t* const at = elements<std::int64_t>(positions);
    for (std::int64_t i = 0; i < positions.size(); ++i) to[at[i]] = f(to[at[i]], from[i]);
  });
}

bool combine_ranges(const catena::KernelDef& def, const Array& x, const std::vector<std::int64_t>& first,
                    const std::vector<std::int64_t>& length, const Array& out) {
  return with_loop(def, x.dtype(), [&](auto f, auto zero) {
    using E = decltype(zero);
    const E* const from = elements<E>(x);
    E* const to = elements<E>(out);
    for (std::size_t k = 0; k < first.size(); ++k) to[k] = combined(from + first[k], length[k], f);
  });
}

}  // namespace nd::internal
