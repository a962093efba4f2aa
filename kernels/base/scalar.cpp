#include <catena/kernels/base/scalar.h>

#include <cmath>
#include <cstring>
#include <ostream>
#include <string>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/complex_math.h>

namespace catena {

void Scalar::store(Dtype t, void* out) const {
  visit_dtype(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T v = to<T>();
    std::memcpy(out, &v, sizeof(T));
  });
}

void Scalar::expect_real() const {
  check<TypeError>(z_.im == 0, "Scalar", "the number ", *this, " is complex, and a real one is expected: ",
                   ".real() of the array, or item<double>(), drops the imaginary part");
}

namespace {

// True if the value fits an integer dtype of `bits` bits. The limits are powers of two, which float64 holds exactly.
bool is_within(double v, int bits, bool is_signed) {
  const double whole = std::trunc(v), above = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  return whole < above && whole >= (is_signed ? -above : 0.0);
}

}  // namespace

bool Scalar::fits(Dtype t) const noexcept {
  if (!is_integer(t)) return true;
  const bool is_signed = kind_of(t) == DtypeKind::signed_;
  const int bits = static_cast<int>(8 * itemsize(t));
  if (kind_ == Kind::floating || kind_ == Kind::complex) return is_within(z_.re, bits, is_signed);
  if (kind_ == Kind::bool_) return true;
  if (kind_ == Kind::unsigned_) return t == Dtype::uint64;
  if (bits == 64) return is_signed || i_ >= 0;
  const std::int64_t above = std::int64_t(1) << (is_signed ? bits - 1 : bits);
  return i_ < above && i_ >= (is_signed ? -above : 0);
}

Scalar Scalar::lowest(Dtype t) noexcept {
  return kind_of(t) == DtypeKind::signed_ ? Scalar(std::int64_t(-1) << (8 * itemsize(t) - 1)) : Scalar(0);
}
Scalar Scalar::highest(Dtype t) noexcept {
  const std::uint64_t all = ~std::uint64_t(0) >> (64 - 8 * itemsize(t));
  return Scalar(kind_of(t) == DtypeKind::signed_ ? all >> 1 : all);
}

void check_fits(std::string_view op, const Scalar& value, Dtype t) {
  if (value.fits(t)) [[likely]]
    return;
  const double number = value.to_double();
  check<ValueError>(!std::isnan(number), op, "NaN is no value of ", t);
  fail<OverflowError>(op, "the number ", value, " does not fit ", t, ", which holds ", Scalar::lowest(t), " to ",
                      Scalar::highest(t));
}

namespace {

// Prints whole parts without a point, and omits a real part of 0: 2j, (1+2j), (nan-0.5j).
std::string complex_text(complex128 z) {
  const std::string imaginary = shortest_text(z.im) + 'j';
  if (z.re == 0 && !std::signbit(z.re)) return imaginary;
  const char* const plus = std::signbit(z.im) && z.im == z.im ? "" : "+";
  return '(' + shortest_text(z.re) + plus + imaginary + ')';
}

}  // namespace

// ---- arithmetic ---------------------------------------------------------------------------------
namespace {

using Wide = __int128;

Wide wide(const Scalar& s) noexcept {
  return s.kind() == Scalar::Kind::unsigned_ ? Wide(s.to<std::uint64_t>()) : Wide(s.to<std::int64_t>());
}
Scalar narrow(Wide v) noexcept {
  if (v >= INT64_MIN && v <= INT64_MAX) return Scalar(static_cast<std::int64_t>(v));
  if (v > 0 && v <= Wide(UINT64_MAX)) return Scalar(static_cast<std::uint64_t>(v));
  return Scalar(static_cast<double>(v));
}
bool is_whole(const Scalar& s) noexcept { return !s.is_floating() && !s.is_complex(); }

// Calls f with both numbers in the narrowest kind that holds both: integers of 128 bits, doubles or complex numbers.
template <class F> auto in_common_kind(const Scalar& a, const Scalar& b, F&& f) {
  if (a.is_complex() || b.is_complex()) return f(a.to<complex128>(), b.to<complex128>());
  if (is_whole(a) && is_whole(b)) return f(wide(a), wide(b));
  return f(a.to_double(), b.to_double());
}
template <class T> Scalar as_scalar(T v) noexcept {
  if constexpr (std::is_same_v<T, Wide>) return narrow(v);
  else return Scalar(v);
}

}  // namespace

Scalar operator+(const Scalar& a, const Scalar& b) noexcept {
  return in_common_kind(a, b, [](auto x, auto y) { return as_scalar(x + y); });
}
Scalar operator-(const Scalar& a, const Scalar& b) noexcept {
  return in_common_kind(a, b, [](auto x, auto y) { return as_scalar(x - y); });
}
Scalar operator*(const Scalar& a, const Scalar& b) noexcept {
  // The product of two 64-bit numbers has at most 127 bits and a sign.
  return in_common_kind(a, b, [](auto x, auto y) { return as_scalar(x * y); });
}
Scalar operator/(const Scalar& a, const Scalar& b) noexcept {
  return in_common_kind(a, b, [](auto x, auto y) {
    if constexpr (std::is_same_v<decltype(x), Wide>) return Scalar(static_cast<double>(x) / static_cast<double>(y));
    else return Scalar(x / y);
  });
}
Scalar operator-(const Scalar& a) noexcept {
  if (a.is_complex()) return Scalar(-a.to<complex128>());
  return a.is_floating() ? Scalar(-a.to_double()) : Scalar(0) - a;
}
bool operator==(const Scalar& a, const Scalar& b) noexcept {
  return in_common_kind(a, b, [](auto x, auto y) { return x == y; });
}
std::partial_ordering operator<=>(const Scalar& a, const Scalar& b) {
  return in_common_kind(a, b, [](auto x, auto y) -> std::partial_ordering {
    if constexpr (is_complex<decltype(x)>) fail<TypeError>("<=>", "complex numbers have no order");
    else
      return x < y    ? std::partial_ordering::less
             : x > y  ? std::partial_ordering::greater
             : x == y ? std::partial_ordering::equivalent
                      : std::partial_ordering::unordered;
  });
}

// ---- text ---------------------------------------------------------------------------------------
namespace {

std::string text_of(const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::bool_: return s.to<bool>() ? "True" : "False";
    case Scalar::Kind::integer: return concat(s.to<std::int64_t>());
    case Scalar::Kind::unsigned_: return concat(s.to<std::uint64_t>());
    case Scalar::Kind::complex: return complex_text(s.to<complex128>());
    case Scalar::Kind::floating: break;
  }
  const std::string digits = shortest_text(s.to<double>());
  return digits.find_first_of(".enai") == std::string::npos ? digits + ".0" : digits;
}

}  // namespace

// Prints as Python does: True, -3, 1.0, 1e+300, nan, (1+2j). A float always has a point, an exponent or is nan or inf.
std::ostream& operator<<(std::ostream& out, const Scalar& s) { return out << text_of(s); }

}  // namespace catena
