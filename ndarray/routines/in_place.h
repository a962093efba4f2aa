// The members of catena::InPlaceMembers for nd::Array: a.add_(1), a.clamp_({.max = 1}), a.normal_(0, 0.02).
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include <catena/kernels/base/in_place_members.h>
#include <catena/ndarray/core/array.h>

namespace nd::internal {

// An operand that keeps its array.
class Given {
 public:
  template <class T>
  requires(Element<T> || std::same_as<T, Scalar>) Given(const T& number) : number_(number) {}
  Given(const Array& array) : array_(array), is_array_(true) {}

  bool is_array() const noexcept { return is_array_; }
  const Array& array() const noexcept { return array_; }
  const Scalar& number() const noexcept { return number_; }
  operator Operand() const { return is_array_ ? Operand(array_) : Operand(number_); }  // valid as long as this object

 private:
  Array array_;
  Scalar number_;
  bool is_array_ = false;
};

// The work of the members on the array `to`.
struct CATENA_EXPORT InPlace {
  template <class T> static Given operand(const T& x, std::string_view) {
    if constexpr (Element<T> || std::same_as<T, Scalar>) return Given(x);
    else if constexpr (std::convertible_to<const T&, Array>) return Given(static_cast<const Array&>(Array(x)));
    else return Given(static_cast<const Array&>(Array(x.data())));  // of a variable
  }

#define CATENA_IN_PLACE(name) static void name(const Array& to);
  CATENA_IN_PLACE_FUNCTIONS(CATENA_IN_PLACE)
#undef CATENA_IN_PLACE
#define CATENA_IN_PLACE(name) static void name(const Array& to, const Given& other);
  CATENA_IN_PLACE_OPERATIONS(CATENA_IN_PLACE)
#undef CATENA_IN_PLACE
  static void add(const Array& to, const Given& other, const Scalar& alpha);
  static void sub(const Array& to, const Given& other, const Scalar& alpha);
  static void div(const Array& to, const Given& other, std::string_view rounding_mode);
  static void lerp(const Array& to, const Given& end, const Given& weight);
  static void addcmul(const Array& to, const Given& x, const Given& y, const Scalar& value);
  static void addcdiv(const Array& to, const Given& x, const Given& y, const Scalar& value);
  static void clamp(const Array& to, const catena::ClampRange& range);
  static void masked_fill(const Array& to, const Given& mask, const Given& value);
  static void index_add(const Array& to, int dim, const Given& index, const Given& source, const Scalar& alpha);
  static void index_copy(const Array& to, int dim, const Given& index, const Given& source);
  static void scatter(const Array& to, int dim, const Given& index, const Given& src, bool adds);
  static void triangle(const Array& to, std::int64_t diagonal, bool lower);
  static void fill_diagonal(const Array& to, const Scalar& value);
  static void normal(const Array& to, double mean, double std);
  static void uniform(const Array& to, double from, double to_excluded);
  static void exponential(const Array& to, double lambd);
  static void bernoulli(const Array& to, const Given& p);
  static void random(const Array& to);
  static void random(const Array& to, std::int64_t from, std::int64_t to_excluded);
};

}  // namespace nd::internal

template <> struct catena::in_place_of<nd::Array> : nd::internal::InPlace {
  static const nd::Array& target(const nd::Array& a, std::string_view) { return a; }
};
