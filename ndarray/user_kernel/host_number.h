// C++ numbers inside a fused function: operators on two of them compute as in C++.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/scalar.h>

namespace nd::internal {

using catena::Scalar;

// The types to which C++ promotes operands. Another C++ type counts as the type of the same width and kind.
enum class NumberType : std::uint8_t { bool_, int32, uint32, int64, uint64, float32, float64, complex64, complex128 };

template <class T> constexpr NumberType number_type() {
  if constexpr (std::is_same_v<T, bool>) return NumberType::bool_;
  else if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? NumberType::float32 : NumberType::float64;
  else if constexpr (!std::is_integral_v<T>) return NumberType::float64;
  else if constexpr (sizeof(T) < 4) return NumberType::int32;
  else if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? NumberType::int32 : NumberType::uint32;
  else return std::is_signed_v<T> ? NumberType::int64 : NumberType::uint64;
}
template <catena::foreign_complex Z> constexpr NumberType number_type() {
  return sizeof(Z) == 8 ? NumberType::complex64 : NumberType::complex128;
}
// Returns the widest type with values of this kind, for a number whose type is unknown.
CATENA_EXPORT NumberType widest_type(const Scalar& value);

struct HostNumber {
  Scalar value;
  NumberType type = NumberType::float64;
};

enum class NumberOperation : std::uint8_t {
  negate,  // negate, invert and convert have one operand
  invert,
  convert,
  add,
  subtract,
  multiply,
  divide,
  remainder,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal
};

// Returns the result of `a op b` in C++: integers divide to integers, and floats stay floats. Returns nothing if C++
// has no such operator, as for the remainder of a double. Signed integers wrap. ValueError for an integer divided by
// zero. Also computes `-a`, `~a`, and the conversion of `a` to the type of `b`.
std::optional<HostNumber> compute(NumberOperation op, const HostNumber& a, const HostNumber& b);

}  // namespace nd::internal
