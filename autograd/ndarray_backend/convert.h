// Conversions between autograd::Array and nd::Array. autograd::Array gets the members and operators of nd::Array, and
// each converts to the other. Both are handles to the same header, so a conversion costs a check and a reference count.
// Elements are shared: a write through one handle is visible through the other.
//
// As with nd::Array, keys with index arrays need <catena/ndarray/routines/indexing.h>.
//
//   nd::Array x = nd::ones({2, 3});
//   nn::Linear l(3, 4);
//   nd::Array y = l(x).data();                          // or auto
//   double s = y.sum().item<double>() + l(x).data().sum().item<double>();
//   l.W.data()(0) = nd::exp(l.W.data()(1)) * x(0, 0);   // keys, functions and operators take both
#pragma once

#include <concepts>
#include <iosfwd>

#include <catena/autograd/array.h>
#include <catena/autograd/ndarray_backend/ndarray_backend.h>
#include <catena/kernels/base/atomic.h>
#include <catena/kernels/base/retained.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/routines/in_place.h>

namespace autograd {

template <> struct foreign_array<nd::Array> {
  static Array from(const nd::Array& a) {
    if (nd::array_owner().framework.load(catena::MemoryOrder::acquire) == nullptr) [[unlikely]]
      ndarray_backend();
    return Array(retained(a));
  }
  // Throws a ValueError for an array of another library; copy_across copies the elements of such an array.
  static nd::Array to(const Array& a) {
    if (a) nd::internal::check_owner("nd::Array", a);
    return nd::Array(retained(a));
  }

 private:
  static catena::ArrayHeader* retained(const catena::HeaderRef& a) noexcept {
    return a ? catena::retained(*a.get()) : nullptr;
  }
};

// For classes derived from nd::Array, such as the result of a kernel.
template <std::derived_from<nd::Array> A>
requires(!std::same_as<A, nd::Array>) struct foreign_array<A> {
  static Array from(const A& a) { return foreign_array<nd::Array>::from(nd::Array(a)); }
};

// For the result of a(i): model(x(batch), t(batch)).
template <class P>
requires(catena::is_selection<P>) struct foreign_array<P> {
  static Array from(const P& p) { return foreign_array<nd::Array>::from(p.get()); }
};

}  // namespace autograd

template <> struct catena::array_behind<autograd::Array> : nd::internal::ArrayBehind {
  static nd::Array get(const autograd::Array& a) { return a; }
};
template <> struct catena::in_place_of<autograd::Array> : nd::internal::InPlace {
  static nd::Array target(const autograd::Array& a, std::string_view) { return a; }
};

namespace autograd {

// Prints an array like nd::Array; "None" for a null array.
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const Array& a);

namespace internal {
template <class X>
concept ArrayOrElement = std::derived_from<X, Array> || nd::Element<X> || std::same_as<X, Scalar>;
template <class X, class Y>
concept ArrayOperands = (std::derived_from<X, Array> && ArrayOrElement<Y>) ||
                        (ArrayOrElement<X> && std::derived_from<Y, Array>);
template <class X> decltype(auto) to_nd(const X& x) {
  if constexpr (std::derived_from<X, Array>) return nd::Array(x);
  else return x;
}
}  // namespace internal

// The operators that the framework itself does not use. If one operand is an nd::Array, the operators of nd::Array are
// called.
#define CATENA_OPERATOR(op)                                                              \
  template <class X, class Y>                                                            \
  requires internal::ArrayOperands<X, Y> nd::Array operator op(const X& x, const Y& y) { \
    return internal::to_nd(x) op internal::to_nd(y);                                     \
  }
#define CATENA_IN_PLACE(op, concept)                                                         \
  template <std::same_as<Array> X, concept Y> const X& operator op(const X& x, const Y& y) { \
    internal::to_nd(x)(nd::ellipsis) op internal::to_nd(y);                                  \
    return x;                                                                                \
  }
#define CATENA_BINARY(op, in_place) CATENA_OPERATOR(op) CATENA_IN_PLACE(in_place, internal::ArrayOrElement)
// The operators of nd::Array for arrays of the framework; the result is an nd::Array.
CATENA_BINARY(%, %=)
CATENA_BINARY(&, &=)
CATENA_BINARY(|, |=)
CATENA_BINARY(^, ^=)
CATENA_BINARY(<<, <<=)
CATENA_BINARY(>>, >>=)
CATENA_OPERATOR(==)
CATENA_OPERATOR(!=)
CATENA_OPERATOR(<)
CATENA_OPERATOR(<=)
CATENA_OPERATOR(>)
CATENA_OPERATOR(>=)
CATENA_IN_PLACE(+=, std::derived_from<nd::Array>)
CATENA_IN_PLACE(-=, std::derived_from<nd::Array>)
CATENA_IN_PLACE(*=, std::derived_from<nd::Array>)
CATENA_IN_PLACE(/=, std::derived_from<nd::Array>)
CATENA_IN_PLACE(%=, std::derived_from<nd::Array>)
CATENA_IN_PLACE(&=, std::derived_from<nd::Array>)
CATENA_IN_PLACE(|=, std::derived_from<nd::Array>)
CATENA_IN_PLACE(^=, std::derived_from<nd::Array>)
CATENA_IN_PLACE(<<=, std::derived_from<nd::Array>)
CATENA_IN_PLACE(>>=, std::derived_from<nd::Array>)
#undef CATENA_BINARY
#undef CATENA_IN_PLACE
#undef CATENA_OPERATOR
// As nd::invert.
inline nd::Array operator~(const Array& a) { return ~nd::Array(a); }
inline nd::Array operator+(const Array& a) { return +nd::Array(a); }

}  // namespace autograd
