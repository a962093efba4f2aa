#include <catena/ndarray/routines/ufunc_loops.h>

#include <algorithm>
#include <type_traits>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/numeric.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/memory/memory.h>
#include <catena/ndarray/routines/math.h>

#define CATENA_INLINE inline __attribute__((always_inline))

namespace nd::internal {
namespace {

namespace kernels = catena::kernels;

// Elements that a thread combines at least.
constexpr std::int64_t kGrain = 1 << 15;

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

// Eight combinations side by side, so that one does not wait for the other; at most kBlock elements.
constexpr std::int64_t kLanes = 8, kBlock = 128;
template <class E, class F> CATENA_INLINE E combined_block(const E* p, std::int64_t n, F f) {
  E result = p[0];
  std::int64_t i = 1;
  if (n >= 2 * kLanes) {
    E lane[kLanes];
    for (int k = 0; k < kLanes; ++k) lane[k] = p[k];
    for (i = kLanes; i + kLanes <= n; i += kLanes)
      for (int k = 0; k < kLanes; ++k) lane[k] = f(lane[k], p[i + k]);
    for (int step = 1; step < kLanes; step *= 2)
      for (int k = 0; k < kLanes; k += 2 * step) lane[k] = f(lane[k], lane[k + step]);
    result = lane[0];
  }
  for (; i < n; ++i) result = f(result, p[i]);
  return result;
}
template <class E, class F> CATENA_MULTIARCH E combined_halves(const E* p, std::int64_t n, F f) {
  if (n <= kBlock) return combined_block(p, n, f);
  const std::int64_t half = n / 2 / kLanes * kLanes;
  return f(combined_halves(p, half, f), combined_halves(p + half, n - half, f));
}
template <class E, class F>
CATENA_MULTIARCH void combine_each(const E* x, std::int64_t n, std::span<const std::int64_t> starts, E* to,
                                   std::size_t begin, std::size_t end, F f) {
  for (std::size_t k = begin; k < end; ++k) {
    const E* const p = x + starts[k];
    const std::int64_t length = length_of_range(starts, k, n);
    to[k] = length <= kBlock ? combined_block(p, length, f) : combined_halves(p, length, f);
  }
}

template <class I> bool are_inside(const I* at, std::int64_t n, std::int64_t length) {
  I least = 0, most = 0;
  for (std::int64_t i = 0; i < n; ++i) least = std::min(least, at[i]), most = std::max(most, at[i]);
  return length > 0 && std::int64_t(least) >= -length && std::int64_t(most) < length;
}

// Elements of large arrays are requested from memory before their turn.
template <bool fetches, class E, class I, class F>
void apply_at(E* to, std::int64_t length, const I* at, std::int64_t n, const E* from, std::int64_t step, F f) {
  constexpr std::int64_t kAhead = 16;
  const auto place = [length](I index) { return index < 0 ? std::int64_t(index) + length : std::int64_t(index); };
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (fetches) __builtin_prefetch(to + place(at[i + kAhead < n ? i + kAhead : i]), 1);
    E& x = to[place(at[i])];
    x = f(x, from[i * step]);
  }
}
template <class E, class I, class F>
void apply_at(const Array& flat, const I* at, std::int64_t n, const Array& values, F f) {
  constexpr std::int64_t kInCache = 1 << 21;  // bytes
  E* const to = elements<E>(flat);
  const E* const from = elements<E>(values);
  const std::int64_t step = values.size() == 1 ? 0 : 1;
  if (flat.size() * std::int64_t(sizeof(E)) > kInCache) apply_at<true>(to, flat.size(), at, n, from, step, f);
  else apply_at<false>(to, flat.size(), at, n, from, step, f);
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

bool apply_at_indices(const catena::KernelDef& def, const Array& flat, const Array& indices, const Array& values) {
  const bool wide = indices.dtype() == Dtype::int64;
  const std::int64_t n = indices.size(), length = flat.size();
  if (n == 0 || !(wide ? are_inside(elements<std::int64_t>(indices), n, length)
                       : are_inside(elements<std::int32_t>(indices), n, length)))
    return false;
  return with_loop(def, flat.dtype(), [&](auto f, auto zero) {
    using E = decltype(zero);
    if (wide) apply_at<E>(flat, elements<std::int64_t>(indices), n, values, f);
    else apply_at<E>(flat, elements<std::int32_t>(indices), n, values, f);
  });
}

bool combine_ranges(const catena::KernelDef& def, const Array& x, std::span<const std::int64_t> starts,
                    const Array& out) {
  return with_loop(def, x.dtype(), [&](auto f, auto zero) {
    using E = decltype(zero);
    const E* const from = elements<E>(x);
    E* const to = elements<E>(out);
    const auto n = static_cast<std::int64_t>(starts.size());
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain * n / std::max<std::int64_t>(x.size(), 1));
    catena::parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
      combine_each(from, x.size(), starts, to, std::size_t(begin), std::size_t(end), f);
    });
  });
}

}  // namespace nd::internal
