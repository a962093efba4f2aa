// The members of nd::Array, other than conversions, for classes that represent an array: the array handle of the
// framework and the result of indexing by arrays. Each member forwards to the nd::Array member of the same name. A new
// member of nd::Array is added to the list below, or declared beside it if a call may contain a braced list; a
// reduction is a line of kernels/lists/.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/index_key.h>

namespace catena {

// Must be specialised for each class derived from ArrayMembers, with the class Array, the options of its members, and
//   static Array get(const Derived&);  or a reference to an array that lives as long as the object.
// The specialisation for autograd::Array is in <catena/autograd/ndarray_backend/convert.h>, which <catena/catena.h>
// includes.
template <class Derived> struct array_behind;

namespace internal {
template <class K> inline constexpr bool is_integer_list = false;
template <class I, std::size_t N>
inline constexpr bool is_integer_list<std::span<I, N>> = is_index<std::remove_const_t<I>>;
template <class I, std::size_t N> inline constexpr bool is_integer_list<std::array<I, N>> = is_index<I>;
template <class I> inline constexpr bool is_integer_list<std::vector<I>> = is_index<I>;
// Depends on the types of a call, so that array_behind is not used before there is a call.
template <class Derived, class... X> struct array_behind_call { using type = array_behind<Derived>; };
}  // namespace internal
// True for a standard container of indices.
template <class K> inline constexpr bool is_index_list = internal::is_integer_list<K>;
// True for the class of the results of a(i), which are arrays when they are used as keys.
template <class K> inline constexpr bool is_selection = false;
// True for a key that is an index array or a mask.
template <class K>
inline constexpr bool is_index_array =
    std::is_base_of_v<HeaderRef, K> || is_index_list<K> || std::is_same_v<K, std::vector<bool>> || is_selection<K>;
template <class K>
concept ArrayKey = std::convertible_to<const K&, Key> || is_index_array<K>;

// The members that can be called without braced lists.
// clang-format off
#define CATENA_ARRAY_MEMBERS(X) \
  X(shape) X(strides) X(ndim) X(dim) X(size) X(numel) X(dtype) X(itemsize) X(nbytes) X(device) X(is_c_contiguous) \
  X(is_f_contiguous) X(is_null) X(owndata) X(base) X(flags) X(shares_memory) X(len) X(version) X(begin) X(end) \
  X(T) X(swapaxes) X(ravel) X(flatten) X(view) X(real) X(imag) X(reduced_view) X(copy) X(to_device) X(to) X(cpu) \
  X(to_host) X(set) X(fill) X(tofile) X(tobytes) X(dump) X(dumps) X(tolist) \
  X(cumsum) X(cumprod) X(clip) X(conjugate) X(conj) X(round) X(dot) X(compress) X(diagonal) X(trace) X(repeat) \
  X(choose) X(scatter_add) X(nonzero) X(argsort) X(argpartition) X(searchsorted) X(sort)
// clang-format on

// Every member is a template, so that array_behind must be complete only where a member is called.
template <class Derived> class ArrayMembers {
  using List = std::initializer_list<Integer>;
  template <class B> decltype(auto) behind() const { return B::get(static_cast<const Derived&>(*this)); }
  template <class... X> using behind_t = typename internal::array_behind_call<Derived, X...>::type;

 public:
#define CATENA_FORWARD(name)                                     \
  template <class... X> decltype(auto) name(X&&... x) const {    \
    return behind<behind_t<X...>>().name(std::forward<X>(x)...); \
  }
  CATENA_ARRAY_MEMBERS(CATENA_FORWARD)
#undef CATENA_FORWARD

#define CATENA_MEMBER(name, Options)                                                               \
  template <class B = array_behind<Derived>> auto name() const { return behind<B>().name(); }      \
  template <class B = array_behind<Derived>> auto name(const typename B::Options& options) const { \
    return behind<B>().name(options);                                                              \
  }                                                                                                \
  template <std::convertible_to<Axes> A, class O = typename behind_t<A>::Options>                  \
  auto name(const A& axis, const O& more = {}) const {                                             \
    return behind<behind_t<A>>().name(axis, more);                                                 \
  }                                                                                                \
  template <class B = array_behind<Derived>, class O = typename B::Options>                        \
  auto name(List axes, const O& more = {}) const {                                                 \
    return behind<B>().name(Axes(axes), more);                                                     \
  }
#include <catena/kernels/lists/members.inc>
#undef CATENA_MEMBER

  template <int N, class B = array_behind<Derived>> auto shape() const { return behind<B>().template shape<N>(); }
  template <class E, class B = array_behind<Derived>> E* data() const { return behind<B>().template data<E>(); }
  template <int&..., std::integral... I> auto item(I... at) const { return behind<behind_t<I...>>().item(at...); }
  template <class E, std::integral... I> E item(I... at) const {
    return behind<behind_t<E, I...>>().template item<E>(at...);
  }
  template <class E, std::integral... I> E& at(I... positions) const {
    return behind<behind_t<E, I...>>().template at<E>(positions...);
  }
  template <class E, class B = array_behind<Derived>> std::vector<E> to_vector() const {
    return behind<B>().template to_vector<E>();
  }
  template <class E, int N, class B = array_behind<Derived>> auto accessor() const {
    return behind<B>().template accessor<E, N>();
  }

  template <ArrayKey... K>
  auto operator()(const K&... keys) const -> decltype(std::declval<const typename behind_t<K...>::Array&>()(keys...)) {
    return behind<behind_t<K...>>()(keys...);
  }
  template <ArrayKey K>
  auto operator[](const K& key) const -> decltype(std::declval<const typename behind_t<K>::Array&>()[key]) {
    return behind<behind_t<K>>()[key];
  }
  template <class B = array_behind<Derived>> decltype(auto) operator()(List list) const { return behind<B>()(list); }
  template <class B = array_behind<Derived>> decltype(auto) operator[](List list) const { return behind<B>()[list]; }
  template <class B = array_behind<Derived>> decltype(auto) operator()(List first, List second) const {
    return behind<B>()(first, second);
  }
  template <ArrayKey K> decltype(auto) operator()(const K& first, List second) const {
    return behind<behind_t<K>>()(first, second);
  }
  template <ArrayKey K> decltype(auto) operator()(List first, const K& second) const {
    return behind<behind_t<K>>()(first, second);
  }

  template <class B = array_behind<Derived>> auto reshape(const Shape& to) const { return behind<B>().reshape(to); }
  template <class B = array_behind<Derived>> auto reshape(const Shape& to, typename B::Order order) const {
    return behind<B>().reshape(to, order);
  }
  template <std::integral... I>
  requires(sizeof...(I) > 1) auto reshape(I... lengths) const { return behind<behind_t<I...>>().reshape(lengths...); }
  template <class B = array_behind<Derived>> auto transpose() const { return behind<B>().transpose(); }
  template <class B = array_behind<Derived>> auto transpose(const Dims& axes) const {
    return behind<B>().transpose(axes);
  }
  template <std::integral... I>
  requires(sizeof...(I) > 1) auto transpose(I... axes) const { return behind<behind_t<I...>>().transpose(axes...); }
  template <class B = array_behind<Derived>> auto squeeze(const Axes& axes = {}) const {
    return behind<B>().squeeze(axes);
  }
  template <class B = array_behind<Derived>>
  auto astype(Dtype dtype, const typename B::AstypeOptions& options = {}) const {
    return behind<B>().astype(dtype, options);
  }
  template <class B = array_behind<Derived>>
  auto astype(std::string_view dtype, const typename B::AstypeOptions& options = {}) const {
    return behind<B>().astype(dtype, options);
  }
  template <class E, class B = behind_t<E>> auto astype(const typename B::AstypeOptions& options = {}) const {
    return behind<B>().template astype<E>(options);
  }
  template <class I> auto take(const I& indices, std::optional<int> axis = {}) const {
    return behind<behind_t<I>>().take(indices, axis);
  }
  template <class I> auto take(const I& indices, const typename behind_t<I>::TakeOptions& options) const {
    return behind<behind_t<I>>().take(indices, options);
  }
  template <class B = array_behind<Derived>> auto take(List indices, std::optional<int> axis = {}) const {
    return behind<B>().take(indices, axis);
  }
  template <class B = array_behind<Derived>> auto take(List indices, const typename B::TakeOptions& options) const {
    return behind<B>().take(indices, options);
  }
};

}  // namespace catena
