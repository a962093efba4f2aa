// A host number: a value and its kind. As an operand it is weakly typed: it does not promote an array of its kind.
//
// A long double becomes a double. Scalars calculate like Python's numbers: a bool counts as an integer, `/` gives a
// floating number, and integers that exceed 64 bits become floating. Division by zero gives an infinity or NaN.
// Ordering complex numbers is a TypeError.
#pragma once

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>

#include <catena/kernels/base/dtype.h>
#include <catena/kernels/convert.h>

namespace catena {

// A number of C++; characters are none.
template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t> &&
                 !std::is_same_v<T, char8_t> && !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>;

// A number of the host with its dtype: bool, integer, float or complex.
class Scalar {
 public:
  // unsigned_: only values above the int64 maximum
  enum class Kind : std::uint8_t { bool_, integer, unsigned_, floating, complex };

  Scalar() noexcept : Scalar(0) {}
  Scalar(bool v) noexcept : kind_(Kind::bool_) { i_ = v; }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> Scalar(T v) noexcept {
    if constexpr (std::is_floating_point_v<T>) {
      kind_ = Kind::floating;
      z_.re = static_cast<double>(v);
    } else if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
      kind_ = v > static_cast<T>(INT64_MAX) ? Kind::unsigned_ : Kind::integer;
      i_ = static_cast<std::int64_t>(v);
    } else {
      kind_ = Kind::integer;
      i_ = static_cast<std::int64_t>(v);
    }
  }
  Scalar(float16 v) noexcept : Scalar(static_cast<float>(v)) {}
  Scalar(bfloat16 v) noexcept : Scalar(static_cast<float>(v)) {}
  Scalar(complex128 v) noexcept : kind_(Kind::complex), z_(v) {}
  Scalar(complex64 v) noexcept : Scalar(complex128(v)) {}
  template <foreign_complex Z> Scalar(const Z& v) noexcept : Scalar(complex<typename Z::value_type>(v)) {}

  Kind kind() const noexcept { return kind_; }
  bool is_floating() const noexcept { return kind_ == Kind::floating; }
  bool is_complex() const noexcept { return kind_ == Kind::complex; }
  // Returns the value as T by the library's conversion rules (saturating, wrapping, without the imaginary part).
  template <class T> T to() const noexcept {
    if constexpr (foreign_complex<T>) return to<complex<typename T::value_type>>();
    else return converted<T>();
  }
  double to_double() const noexcept { return to<double>(); }
  // A number where one is expected: double mean = a.mean().item(). A bool is asked for: bool(a.any().item()). TypeError
  // for a complex number with an imaginary part, whose real part is to<double>().
  template <Number T> explicit(std::is_same_v<T, bool>) operator T() const {
    if (!std::is_same_v<T, bool> && is_complex()) expect_real();
    return to<T>();
  }
  // True if an element of dtype t can hold the value. False if an integer, or the whole part of a floating number, is
  // outside the range of an integer dtype t, and for NaN as an integer.
  CATENA_EXPORT bool fits(Dtype t) const noexcept;
  // Return the least and the greatest number of an integer dtype.
  CATENA_EXPORT static Scalar lowest(Dtype t) noexcept;
  CATENA_EXPORT static Scalar highest(Dtype t) noexcept;
  // Writes the value as an element of dtype t to `out` (itemsize(t) bytes).
  CATENA_EXPORT void store(Dtype t, void* out) const;
  // Returns the dtype of the scalar if no array determines it: bool, int64, uint64, float64 or complex128.
  Dtype natural_dtype() const noexcept {
    constexpr Dtype natural[] = {Dtype::bool_, Dtype::int64, Dtype::uint64, Dtype::float64, Dtype::complex128};
    return natural[static_cast<int>(kind_)];
  }

  friend CATENA_EXPORT Scalar operator+(const Scalar& a, const Scalar& b) noexcept;
  friend CATENA_EXPORT Scalar operator-(const Scalar& a, const Scalar& b) noexcept;
  friend CATENA_EXPORT Scalar operator*(const Scalar& a, const Scalar& b) noexcept;
  friend CATENA_EXPORT Scalar operator/(const Scalar& a, const Scalar& b) noexcept;
  friend CATENA_EXPORT Scalar operator-(const Scalar& a) noexcept;
  friend CATENA_EXPORT bool operator==(const Scalar& a, const Scalar& b) noexcept;
  friend CATENA_EXPORT std::partial_ordering operator<=>(const Scalar& a, const Scalar& b);
  // With a number, which becomes a Scalar.
  template <Number T> friend Scalar operator+(const Scalar& a, T b) noexcept { return a + Scalar(b); }
  template <Number T> friend Scalar operator+(T a, const Scalar& b) noexcept { return Scalar(a) + b; }
  template <Number T> friend Scalar operator-(const Scalar& a, T b) noexcept { return a - Scalar(b); }
  template <Number T> friend Scalar operator-(T a, const Scalar& b) noexcept { return Scalar(a) - b; }
  template <Number T> friend Scalar operator*(const Scalar& a, T b) noexcept { return a * Scalar(b); }
  template <Number T> friend Scalar operator*(T a, const Scalar& b) noexcept { return Scalar(a) * b; }
  template <Number T> friend Scalar operator/(const Scalar& a, T b) noexcept { return a / Scalar(b); }
  template <Number T> friend Scalar operator/(T a, const Scalar& b) noexcept { return Scalar(a) / b; }
  template <Number T> friend bool operator==(const Scalar& a, T b) noexcept { return a == Scalar(b); }
  template <Number T> friend std::partial_ordering operator<=>(const Scalar& a, T b) { return a <=> Scalar(b); }
  // A number remains one: double total = 0; total += loss.item().
  template <Number T> friend T& operator+=(T& a, const Scalar& b) { return a = static_cast<T>(Scalar(a) + b); }
  template <Number T> friend T& operator-=(T& a, const Scalar& b) { return a = static_cast<T>(Scalar(a) - b); }
  template <Number T> friend T& operator*=(T& a, const Scalar& b) { return a = static_cast<T>(Scalar(a) * b); }
  template <Number T> friend T& operator/=(T& a, const Scalar& b) { return a = static_cast<T>(Scalar(a) / b); }

 private:
  CATENA_EXPORT void expect_real() const;  // TypeError for an imaginary part that is not 0
  template <class T> T converted() const noexcept {
    switch (kind_) {
      case Kind::floating: return convert<T>(z_.re);
      case Kind::complex: return convert<T>(z_);
      case Kind::unsigned_: return convert<T>(static_cast<std::uint64_t>(i_));
      case Kind::bool_: return convert<T>(i_ != 0);
      default: return convert<T>(i_);
    }
  }

  Kind kind_;
  union {
    std::int64_t i_;
    complex128 z_;  // floating: the real part
  };
};

CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const Scalar& s);

// Throws unless an element of dtype t can hold the value: OverflowError, or ValueError for NaN as an integer.
CATENA_EXPORT void check_fits(std::string_view op, const Scalar& value, Dtype t);

}  // namespace catena
