// PyTorch's members that write the elements of an array and return the array, for chains: a.add_(1),
// a.mul_(0.9).add_(b, {.alpha = 0.1}), a.clamp_({.max = 1}), a.normal_(0, 0.02).
//
// They are members of nd::Array, of the framework's arrays and of its variables, and functions of nd::internal::InPlace
// (ndarray/routines/in_place.h) do the work. Operands broadcast to the array, and have its device. Errors, before
// anything is changed: ValueError for operands that do not broadcast, TypeError for a result that does not cast to the
// dtype of the array under 'same_kind' (a floating result in an integer array); fill_ and copy_ convert any dtype, as
// in PyTorch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <catena/kernels/base/scalar.h>

namespace catena {

// Must be specialised for each class derived from InPlaceMembers, with the functions of nd::internal::InPlace and
//   static A target(const Derived&, std::string_view op);           the array to be written
//   template <class T> static B operand(const T&, std::string_view op);
template <class Derived> struct in_place_of;

// Options of the members below: of sums and differences, of addcmul_ and addcdiv_, of quotients, of bounds and of
// random numbers.
struct AlphaOption {
  Scalar alpha = 1;  // factor of the other operand
};
struct ValueOption {
  Scalar value = 1;  // factor of the product or the quotient
};
struct RoundingOption {
  std::string_view rounding_mode = {};  // "trunc": toward 0; "floor": toward -inf; empty: the quotient itself
};
struct ClampRange {
  std::optional<Scalar> min = {}, max = {};
};
struct NormalRange {
  double mean = 0, std = 1;
};
struct UniformRange {
  double from = 0, to = 1;
};

namespace internal {
// Depends on the types of a call, so that in_place_of is not used before there is a call.
template <class Derived, class... X> struct in_place_call { using type = in_place_of<Derived>; };
}  // namespace internal

// Functions of the elements alone: a.exp_(), a.zero_().
// clang-format off
#define CATENA_IN_PLACE_FUNCTIONS(X) \
  X(abs) X(neg) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sqrt) X(rsqrt) X(square) X(reciprocal) \
  X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(sigmoid) X(relu) X(floor) X(ceil) X(round) \
  X(trunc) X(frac) X(sign) X(nan_to_num) X(zero)
// Functions of the elements and of an array or a number: a.mul_(b), a.fill_(1), a.copy_(b).
#define CATENA_IN_PLACE_OPERATIONS(X) \
  X(mul) X(pow) X(remainder) X(fmod) X(floor_divide) X(clamp_min) X(clamp_max) X(fill) X(copy)
// clang-format on

// The members, for a class `Derived` with a specialisation of in_place_of.
template <class Derived> class InPlaceMembers {
  template <class... X> using behind = typename internal::in_place_call<Derived, X...>::type;
  const Derived& self() const { return static_cast<const Derived&>(*this); }

 public:
#define CATENA_IN_PLACE(name)                                    \
  template <class B = behind<>> const Derived& name##_() const { \
    B::name(B::target(self(), #name "_"));                       \
    return self();                                               \
  }
  CATENA_IN_PLACE_FUNCTIONS(CATENA_IN_PLACE)
#undef CATENA_IN_PLACE
#define CATENA_IN_PLACE(name)                                       \
  template <class T> const Derived& name##_(const T& other) const { \
    using B = behind<T>;                                            \
    const auto& given = B::operand(other, #name "_");               \
    B::name(B::target(self(), #name "_"), given);                   \
    return self();                                                  \
  }
  CATENA_IN_PLACE_OPERATIONS(CATENA_IN_PLACE)
#undef CATENA_IN_PLACE

  template <class T> const Derived& add_(const T& other, const AlphaOption& o = {}) const {
    using B = behind<T>;
    const auto& given = B::operand(other, "add_");
    B::add(B::target(self(), "add_"), given, o.alpha);
    return self();
  }
  template <class T> const Derived& sub_(const T& other, const AlphaOption& o = {}) const {
    using B = behind<T>;
    const auto& given = B::operand(other, "sub_");
    B::sub(B::target(self(), "sub_"), given, o.alpha);
    return self();
  }
  template <class T> const Derived& subtract_(const T& other, const AlphaOption& o = {}) const {
    return sub_(other, o);
  }
  template <class T> const Derived& multiply_(const T& other) const { return mul_(other); }
  template <class T> const Derived& divide_(const T& other, const RoundingOption& o = {}) const {
    return div_(other, o);
  }
  template <class B = behind<>> const Derived& negative_() const { return neg_(); }
  template <class B = behind<>> const Derived& absolute_() const { return abs_(); }
  // ValueError for another rounding mode.
  template <class T> const Derived& div_(const T& other, const RoundingOption& o = {}) const {
    using B = behind<T>;
    const auto& given = B::operand(other, "div_");
    B::div(B::target(self(), "div_"), given, o.rounding_mode);
    return self();
  }
  // a + weight (end - a); the weight is a number or an array.
  template <class T, class W> const Derived& lerp_(const T& end, const W& weight) const {
    using B = behind<T, W>;
    const auto& given = B::operand(end, "lerp_");
    const auto& factor = B::operand(weight, "lerp_");
    B::lerp(B::target(self(), "lerp_"), given, factor);
    return self();
  }
  // a + value x y and a + value x / y
  template <class T, class U> const Derived& addcmul_(const T& x, const U& y, const ValueOption& o = {}) const {
    using B = behind<T, U>;
    const auto& first = B::operand(x, "addcmul_");
    const auto& second = B::operand(y, "addcmul_");
    B::addcmul(B::target(self(), "addcmul_"), first, second, o.value);
    return self();
  }
  template <class T, class U> const Derived& addcdiv_(const T& x, const U& y, const ValueOption& o = {}) const {
    using B = behind<T, U>;
    const auto& first = B::operand(x, "addcdiv_");
    const auto& second = B::operand(y, "addcdiv_");
    B::addcdiv(B::target(self(), "addcdiv_"), first, second, o.value);
    return self();
  }
  // Bounds are numbers. ValueError without a bound.
  template <class B = behind<>> const Derived& clamp_(const ClampRange& range) const {
    B::clamp(B::target(self(), "clamp_"), range);
    return self();
  }
  template <class B = behind<>> const Derived& clamp_(const Scalar& min, const Scalar& max) const {
    return clamp_(ClampRange{min, max});
  }
  template <class B = behind<>> const Derived& clip_(const ClampRange& range) const { return clamp_(range); }
  template <class B = behind<>> const Derived& clip_(const Scalar& min, const Scalar& max) const {
    return clamp_(min, max);
  }

  // `value`, of the size 1, where the bool mask, which broadcasts to the array, is true (TypeError for another dtype).
  template <class M, class T> const Derived& masked_fill_(const M& mask, const T& value) const {
    using B = behind<M, T>;
    const auto& where = B::operand(mask, "masked_fill_");
    const auto& given = B::operand(value, "masked_fill_");
    B::masked_fill(B::target(self(), "masked_fill_"), where, given);
    return self();
  }
  // The positions `index`, of rank 1, along the axis `dim`: alpha source is added to them, source is copied there, or
  // they get one value. IndexError for a position out of range (on the CPU) and an index of another rank.
  template <class I, class T>
  const Derived& index_add_(int dim, const I& index, const T& source, const AlphaOption& o = {}) const {
    using B = behind<I, T>;
    const auto& at = B::operand(index, "index_add_");
    const auto& given = B::operand(source, "index_add_");
    B::index_add(B::target(self(), "index_add_"), dim, at, given, o.alpha);
    return self();
  }
  template <class I, class T> const Derived& index_copy_(int dim, const I& index, const T& source) const {
    using B = behind<I, T>;
    const auto& at = B::operand(index, "index_copy_");
    const auto& given = B::operand(source, "index_copy_");
    B::index_copy(B::target(self(), "index_copy_"), dim, at, given);
    return self();
  }
  template <class I, class T> const Derived& index_fill_(int dim, const I& index, const T& value) const {
    using B = behind<I, T>;
    const auto& at = B::operand(index, "index_fill_");
    const auto& given = B::operand(value, "index_fill_");
    B::index_copy(B::target(self(), "index_fill_"), dim, at, given);
    return self();
  }
  // a[.., index[.., i, ..], ..] = src[.., i, ..], or += with scatter_add_. The index has the rank of the array and is
  // nowhere longer than src, nor, but for the axis, than the array (IndexError). src is an array or a number.
  template <class I, class T> const Derived& scatter_(int dim, const I& index, const T& src) const {
    using B = behind<I, T>;
    const auto& at = B::operand(index, "scatter_");
    const auto& given = B::operand(src, "scatter_");
    B::scatter(B::target(self(), "scatter_"), dim, at, given, false);
    return self();
  }
  template <class I, class T> const Derived& scatter_add_(int dim, const I& index, const T& src) const {
    using B = behind<I, T>;
    const auto& at = B::operand(index, "scatter_add_");
    const auto& given = B::operand(src, "scatter_add_");
    B::scatter(B::target(self(), "scatter_add_"), dim, at, given, true);
    return self();
  }
  // Matrices over the last two axes: 0 above (tril_) or below (triu_) the diagonal; the value on the diagonal.
  template <class B = behind<>> const Derived& tril_(std::int64_t diagonal = 0) const {
    B::triangle(B::target(self(), "tril_"), diagonal, true);
    return self();
  }
  template <class B = behind<>> const Derived& triu_(std::int64_t diagonal = 0) const {
    B::triangle(B::target(self(), "triu_"), diagonal, false);
    return self();
  }
  template <class B = behind<>> const Derived& fill_diagonal_(const Scalar& value) const {
    B::fill_diagonal(B::target(self(), "fill_diagonal_"), value);
    return self();
  }

  // Random numbers of the generators of nd::random, whose seed autograd::manual_seed sets, too. normal_, uniform_ (in
  // [from, to)) and exponential_ are for floating arrays (TypeError). bernoulli_: 1 with the probability p, a number or
  // an array, else 0. random_: integers in [from, to), or, without bounds, from 0 to the greatest number up to which
  // the dtype has all integers. ValueError for an empty range, a negative deviation and a rate that is not positive.
  template <class B = behind<>> const Derived& normal_(double mean = 0, double std = 1) const {
    B::normal(B::target(self(), "normal_"), mean, std);
    return self();
  }
  template <class B = behind<>> const Derived& normal_(const NormalRange& o) const { return normal_(o.mean, o.std); }
  template <class B = behind<>> const Derived& uniform_(double from = 0, double to = 1) const {
    B::uniform(B::target(self(), "uniform_"), from, to);
    return self();
  }
  template <class B = behind<>> const Derived& uniform_(const UniformRange& o) const { return uniform_(o.from, o.to); }
  template <class B = behind<>> const Derived& exponential_(double lambd = 1) const {
    B::exponential(B::target(self(), "exponential_"), lambd);
    return self();
  }
  template <class T = double> const Derived& bernoulli_(const T& p = 0.5) const {
    using B = behind<T>;
    const auto& given = B::operand(p, "bernoulli_");
    B::bernoulli(B::target(self(), "bernoulli_"), given);
    return self();
  }
  template <class B = behind<>> const Derived& random_() const {
    B::random(B::target(self(), "random_"));
    return self();
  }
  template <class B = behind<>> const Derived& random_(std::int64_t to) const { return random_(0, to); }
  template <class B = behind<>> const Derived& random_(std::int64_t from, std::int64_t to) const {
    B::random(B::target(self(), "random_"), from, to);
    return self();
  }
};

}  // namespace catena
