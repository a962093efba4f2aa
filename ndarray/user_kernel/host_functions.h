// C++ functions of single elements, such as lambdas with captures. They are called on the host, one element after the
// other in C order, and arrays of CUDA devices are copied there and back: nd::fuse and kernels given as text run on the
// device.
//
//   const auto soft = nd::vectorize([&](double x, double low) { return x < low ? low : table[int(x)]; });
//   nd::Array y = soft(a, 0.5);                                            // the arguments broadcast
//   nd::sort(a, [](float x, float y) { return std::abs(x) < std::abs(y); });
//   nd::scan(a, [](double x, double y) { return x > y ? x : y; });
//   auto [keys, sums] = nd::reduce_by_key(k, v, [](double x, double y) { return x + y; });
//
// The types of the parameters are the dtypes in which elements are passed, so a lambda has no `auto` parameters.
// Elements are converted to them where NumPy's casting "same_kind" permits it (TypeError). An exception of the function
// leaves the call.
//
// Thread safety: may be called from any thread; a function is called on the calling thread only.
#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/apply.h>
#include <catena/ndarray/routines/creation.h>

namespace nd {
namespace internal {

// The parameters and the result of a function that is not overloaded.
template <class F> struct Signature {};
template <class R, class... A> struct Signature<R (*)(A...)> {
  using Result = std::remove_cvref_t<R>;
  using Arguments = std::tuple<std::remove_cvref_t<A>...>;
};
template <class R, class... A> struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class C, class R, class... A> struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {};
template <class C, class R, class... A> struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <class C, class R, class... A> struct Signature<R (C::*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class C, class R, class... A> struct Signature<R (C::*)(A...) const noexcept> : Signature<R (*)(A...)> {};
template <class F>
requires requires { &F::operator(); }
struct Signature<F> : Signature<decltype(&F::operator())> {};

template <class F> using ResultOf = typename Signature<std::decay_t<F>>::Result;
template <class F> using ArgumentsOf = typename Signature<std::decay_t<F>>::Arguments;
// A function of two elements of one type.
template <class F>
concept OfTwoElements = requires {
  requires std::tuple_size_v<ArgumentsOf<F>>
  == 2;
  requires std::same_as<std::tuple_element_t<0, ArgumentsOf<F>>, std::tuple_element_t<1, ArgumentsOf<F>>>;
  requires Element<std::tuple_element_t<0, ArgumentsOf<F>>>;
};
template <OfTwoElements F> using ElementOf = std::tuple_element_t<0, ArgumentsOf<F>>;

CATENA_EXPORT Array host_array(const Shape& shape, Dtype dtype);
// Copies the arguments to the host, in C order, with their common shape and these dtypes.
CATENA_EXPORT std::vector<Array> on_host(const char* op, const std::vector<Array>& args, std::vector<Dtype> dtypes);
// Returns a result on the device on which the first argument is.
CATENA_EXPORT Array beside(const std::vector<Array>& args, const Array& result);

// The rows of an array along an axis, of this dtype, on the host.
struct HostRows {
  Array rows;
  Shape moved;
  Device device;
  std::int64_t length = 0, count = 0;
  int axis = 0;

  CATENA_EXPORT HostRows(const char* op, const Array& a, std::optional<int> axis, Dtype dtype);
  CATENA_EXPORT Array restored(const Array& result) const;
};
// Calls f(x, y) with pointers to elements.
using LessFunction = catena::Function<bool(const void* x, const void* y)>;
// Returns the positions that sort the rows, whose first element stands at `data`.
CATENA_EXPORT Array argsort_rows(const HostRows& x, const void* data, std::size_t itemsize, const LessFunction& less);
template <class F> Array argsort_on_host(const char* op, const Array& a, std::optional<int> axis, const F& less) {
  using E = ElementOf<F>;
  const HostRows x(op, a, axis, catena::dtype_of<E>);
  return argsort_rows(x, x.rows.template data<const E>(), sizeof(E), [&less](const void* p, const void* q) {
    return bool(less(*static_cast<const E*>(p), *static_cast<const E*>(q)));
  });
}
// Returns the elements at positions along an axis, or of the flattened array.
CATENA_EXPORT Array taken_along(const Array& a, const Array& positions, std::optional<int> axis);

// Keys and values of reduce_by_key on the host; ValueError unless they have rank 1 and one length.
CATENA_EXPORT std::vector<Array> keys_and_values(const Array& keys, const Array& values, Dtype dtype);
// The positions at which a key differs from the one before.
CATENA_EXPORT std::vector<std::int64_t> beginnings(const Array& keys);
CATENA_EXPORT Array taken(const Array& a, const std::vector<std::int64_t>& positions);

}  // namespace internal

// The result of vectorize.
template <class F> class Vectorized {
 public:
  using Result = internal::ResultOf<F>;
  static_assert(Element<Result>, "vectorize: the function returns an element: a number or a bool");

  explicit Vectorized(F f) : f_(std::move(f)) {}

  // Returns an array of the common shape, on the device of the first argument, of the dtype of the function's result.
  // ValueError for shapes that do not broadcast, TypeError for a null array.
  template <class... X>
  requires(sizeof...(X) == std::tuple_size_v<internal::ArgumentsOf<F>>) Array operator()(const X&... x) const {
    return over(std::vector<Array>{internal::as_result(x)...}, std::index_sequence_for<X...>());
  }

 private:
  template <std::size_t... I> Array over(const std::vector<Array>& args, std::index_sequence<I...>) const {
    using Types = internal::ArgumentsOf<F>;
    const std::vector<Array> host =
        internal::on_host("vectorize", args, {catena::dtype_of<std::tuple_element_t<I, Types>>...});
    const Array result = internal::host_array(host[0].shape(), catena::dtype_of<Result>);
    const auto data = std::make_tuple(host[I].template data<const std::tuple_element_t<I, Types>>()...);
    Result* const out = result.template data<Result>();
    for (std::int64_t k = 0; k < result.size(); ++k) out[k] = f_(std::get<I>(data)[k]...);
    return internal::beside(args, result);
  }

  mutable F f_;  // which may count its calls
};
// NumPy's vectorize: makes a function of arrays from a function of at least one element.
template <class F>
requires(std::tuple_size_v<internal::ArgumentsOf<F>> > 0) Vectorized<std::decay_t<F>> vectorize(F&& f) {
  return Vectorized<std::decay_t<F>>(std::forward<F>(f));
}

// The option of sort and argsort with a function.
struct HostAxisOption {
  [[no_unique_address]] Named named = Named();
  std::optional<int> axis = -1;  // without a value: the array is flattened
};
// Returns a copy sorted so that no element is `less` than one before it. less(x, y) is true if x must stand before y, a
// strict weak order. The sort is stable.
template <internal::OfTwoElements F> Array sort(const Array& a, const F& less, const HostAxisOption& o = {}) {
  return internal::taken_along(a, internal::argsort_on_host("sort", a, o.axis, less), o.axis);
}
// Returns the int64 positions that sort along the axis.
template <internal::OfTwoElements F> Array argsort(const Array& a, const F& less, const HostAxisOption& o = {}) {
  return internal::argsort_on_host("argsort", a, o.axis, less);
}

struct HostScanOptions {
  [[no_unique_address]] Named named = Named();
  std::optional<int> axis = {};  // default: the flattened array
};
// Returns the running results along an axis: element i is combine(element i - 1, x[i]), of the type of the parameters.
template <internal::OfTwoElements F> Array scan(const Array& a, F combine, const HostScanOptions& o = {}) {
  using E = internal::ElementOf<F>;
  const internal::HostRows x("scan", a, o.axis, catena::dtype_of<E>);
  const Array result = internal::host_array(x.rows.shape(), catena::dtype_of<E>);
  for (std::int64_t row = 0; row < x.count; ++row) {
    const E* const in = x.rows.template data<const E>() + row * x.length;
    E* const out = result.template data<E>() + row * x.length;
    out[0] = in[0];
    for (std::int64_t i = 1; i < x.length; ++i) out[i] = combine(out[i - 1], in[i]);
  }
  return x.restored(result);
}

// As reduce_by_key with a text (text_algorithms.h); equal keys compare equal by ==.
template <internal::OfTwoElements F>
std::pair<Array, Array> reduce_by_key(const Array& keys, const Array& values, F combine) {
  using E = internal::ElementOf<F>;
  const std::vector<Array> host = internal::keys_and_values(keys, values, catena::dtype_of<E>);
  const std::vector<std::int64_t> begins = internal::beginnings(host[0]);
  const auto runs = std::int64_t(begins.size());
  const Array results = internal::host_array({runs}, catena::dtype_of<E>);
  const E* const in = host[1].template data<const E>();
  E* const out = results.template data<E>();
  for (std::int64_t r = 0; r < runs; ++r) {
    const std::int64_t end = r + 1 < runs ? begins[std::size_t(r) + 1] : host[1].size();
    E value = in[begins[std::size_t(r)]];
    for (std::int64_t i = begins[std::size_t(r)] + 1; i < end; ++i) value = combine(value, in[i]);
    out[r] = value;
  }
  const Array first = internal::taken(host[0], begins);
  return {internal::beside({keys}, first), internal::beside({values}, results)};
}

}  // namespace nd
