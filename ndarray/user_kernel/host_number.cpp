#include <catena/ndarray/user_kernel/host_number.h>

#include <complex>
#include <limits>

#include <catena/kernels/base/error.h>

namespace nd::internal {
namespace {

using Op = NumberOperation;

// Calls f(T()) for the C++ type.
template <class F> auto visit(NumberType type, F&& f) {
  switch (type) {
    case NumberType::bool_:
    case NumberType::int32: return f(std::int32_t());
    case NumberType::uint32: return f(std::uint32_t());
    case NumberType::int64: return f(std::int64_t());
    case NumberType::uint64: return f(std::uint64_t());
    case NumberType::float32: return f(float());
    case NumberType::float64: return f(double());
    case NumberType::complex64: return f(std::complex<float>());
    default: return f(std::complex<double>());
  }
}

constexpr bool is_complex(NumberType t) { return t >= NumberType::complex64; }
constexpr bool is_floating(NumberType t) { return t >= NumberType::float32; }

NumberType promoted(NumberType t) { return t == NumberType::bool_ ? NumberType::int32 : t; }

// Returns the type of the usual arithmetic conversions. An integer and a float give a float; with a complex number, a
// real number counts as its part.
NumberType common(NumberType a, NumberType b) {
  a = promoted(a);
  b = promoted(b);
  if (is_complex(a) || is_complex(b)) {
    const auto wide = [](NumberType t) { return t == NumberType::float64 || t == NumberType::complex128; };
    return wide(a) || wide(b) ? NumberType::complex128 : NumberType::complex64;
  }
  return a > b ? a : b;  // the order of the enumerators
}

template <class T> T arithmetic(Op op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    switch (op) {
      case Op::add: return T(U(a) + U(b));
      case Op::subtract: return T(U(a) - U(b));
      case Op::multiply: return T(U(a) * U(b));
      case Op::bit_and: return T(a & b);
      case Op::bit_or: return T(a | b);
      case Op::bit_xor: return T(a ^ b);
      default: break;
    }
    catena::check<catena::ValueError>(b != 0, "fused function", "the integer ", a, " is divided by zero");
    const bool wraps = std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == T(-1);
    if (op == Op::divide) return wraps ? a : T(a / b);
    return wraps ? T(0) : T(a % b);
  } else {
    switch (op) {
      case Op::add: return a + b;
      case Op::subtract: return a - b;
      case Op::multiply: return a * b;
      default: return a / b;
    }
  }
}

template <class T> bool compared(Op op, const T& a, const T& b) {
  if (op == Op::equal) return a == b;
  if (op == Op::not_equal) return a != b;
  if constexpr (std::is_arithmetic_v<T>) {
    if (op == Op::less) return a < b;
    if (op == Op::less_equal) return a <= b;
    return op == Op::greater ? a > b : a >= b;
  }
  return false;
}

// The result has the type of `a`. Shifting by the width of the type or more shifts out all bits.
HostNumber shifted(Op op, const HostNumber& a, const HostNumber& b) {
  const NumberType type = promoted(a.type);
  const auto count = b.value.to<std::uint64_t>();
  return visit(type, [&](auto tag) -> HostNumber {
    using T = decltype(tag);
    if constexpr (std::is_integral_v<T>) {
      const T v = a.value.to<T>();
      const bool all = count >= 8 * sizeof(T);
      if (op == Op::shift_left) return {Scalar(all ? T(0) : T(std::make_unsigned_t<T>(v) << count)), type};
      return {Scalar(all ? T(v < 0 ? -1 : 0) : T(v >> count)), type};
    } else {
      return a;
    }
  });
}

HostNumber negated(const HostNumber& a) {
  return visit(promoted(a.type), [&](auto tag) -> HostNumber {
    using T = decltype(tag);
    const T v = a.value.to<T>();
    if constexpr (std::is_integral_v<T>) return {Scalar(T(-std::make_unsigned_t<T>(v))), promoted(a.type)};
    else return {Scalar(-v), a.type};
  });
}

std::optional<HostNumber> converted(const HostNumber& a, NumberType type) {
  if (is_complex(a.type) && !is_complex(type)) return {};
  if (type == NumberType::bool_) return HostNumber{Scalar(a.value.to<bool>()), type};
  return visit(type, [&](auto tag) -> HostNumber { return {Scalar(a.value.to<decltype(tag)>()), type}; });
}

}  // namespace

NumberType widest_type(const Scalar& value) {
  switch (value.kind()) {
    case Scalar::Kind::bool_: return NumberType::bool_;
    case Scalar::Kind::integer: return NumberType::int64;
    case Scalar::Kind::unsigned_: return NumberType::uint64;
    case Scalar::Kind::floating: return NumberType::float64;
    default: return NumberType::complex128;
  }
}

std::optional<HostNumber> compute(Op op, const HostNumber& a, const HostNumber& b) {
  if (op == Op::negate) return negated(a);
  if (op == Op::convert) return converted(a, b.type);
  if (op == Op::invert) return compute(Op::bit_xor, a, {Scalar(-1), NumberType::int32});
  const NumberType type = common(a.type, b.type);
  const bool needs_integers = op >= Op::remainder && op <= Op::shift_right;
  if (needs_integers && is_floating(type)) return {};
  if (op >= Op::less && is_complex(type)) return {};
  if (op == Op::shift_left || op == Op::shift_right) return shifted(op, a, b);
  return visit(type, [&](auto tag) -> HostNumber {
    using T = decltype(tag);
    const T x = a.value.to<T>(), y = b.value.to<T>();
    if (op >= Op::equal) return {Scalar(compared(op, x, y)), NumberType::bool_};
    return {Scalar(arithmetic(op, x, y)), type};
  });
}

}  // namespace nd::internal
