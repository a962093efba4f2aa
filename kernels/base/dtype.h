// Folder kernels/base/: host types that both libraries share: dtype, shape, scalar, index keys, errors, the array
// header, the thread pool. It contains no kernels, devices or file formats, and includes only itself and the element
// types of kernels/.
//
// This header: element types, with their sizes, characters, names, promotion table and casting rules (NumPy's).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <utility>

#include <catena/kernels/base/export.h>
#include <catena/kernels/bfloat16.h>
#include <catena/kernels/complex.h>
#include <catena/kernels/float16.h>

namespace catena {

// g++ warns that enumerators of a scoped enumeration hide types of the same names.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
// The order is the search order of the loops of a kernel.
enum class Dtype : std::uint8_t {
  bool_,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  bfloat16,
  complex64,
  complex128,
};
#pragma GCC diagnostic pop
inline constexpr int kNumDtypes = 15;
inline constexpr int kMaxItemsize = 16;  // bytes of the widest element

// The kinds of dtypes, from the least to the most general.
enum class DtypeKind : std::uint8_t { bool_, unsigned_, signed_, floating, complex };

// no and equiv require equal types; same_kind never casts to an earlier kind of bool < unsigned < signed < float.
enum class Casting : std::uint8_t { no, equiv, safe, same_kind, unsafe };

namespace internal {
struct DtypeInfo {
  const char* name;
  char character;  // NumPy's type character; bfloat16, which NumPy lacks, is 'E'
  std::uint8_t itemsize;
  DtypeKind kind;
};
inline constexpr std::array<DtypeInfo, kNumDtypes> kDtypeInfo = {{
    {"bool", '?', 1, DtypeKind::bool_},
    {"int8", 'b', 1, DtypeKind::signed_},
    {"uint8", 'B', 1, DtypeKind::unsigned_},
    {"int16", 'h', 2, DtypeKind::signed_},
    {"uint16", 'H', 2, DtypeKind::unsigned_},
    {"int32", 'i', 4, DtypeKind::signed_},
    {"uint32", 'I', 4, DtypeKind::unsigned_},
    {"int64", 'l', 8, DtypeKind::signed_},
    {"uint64", 'L', 8, DtypeKind::unsigned_},
    {"float16", 'e', 2, DtypeKind::floating},
    {"float32", 'f', 4, DtypeKind::floating},
    {"float64", 'd', 8, DtypeKind::floating},
    {"bfloat16", 'E', 2, DtypeKind::floating},
    {"complex64", 'F', 8, DtypeKind::complex},
    {"complex128", 'D', 16, DtypeKind::complex},
}};
constexpr const DtypeInfo& info(Dtype t) { return kDtypeInfo[static_cast<std::size_t>(t)]; }
}  // namespace internal

constexpr std::string_view name_of(Dtype t) { return internal::info(t).name; }
// NumPy's letter of a dtype, the bytes of an element, and the kind with tests for it.
constexpr char char_of(Dtype t) { return internal::info(t).character; }
constexpr std::size_t itemsize(Dtype t) { return internal::info(t).itemsize; }
constexpr DtypeKind kind_of(Dtype t) { return internal::info(t).kind; }
constexpr bool is_floating(Dtype t) { return kind_of(t) == DtypeKind::floating; }
constexpr bool is_complex_dtype(Dtype t) { return kind_of(t) == DtypeKind::complex; }
constexpr bool is_integer(Dtype t) { return kind_of(t) == DtypeKind::signed_ || kind_of(t) == DtypeKind::unsigned_; }
constexpr bool is_exact(Dtype t) { return is_integer(t) || t == Dtype::bool_; }
// Returns NumPy's dtype.kind: b, u, i, f, c.
constexpr char kind_char(Dtype t) { return "buifc"[static_cast<int>(kind_of(t))]; }

// Returns the dtype of a type character ('f' -> float32; 'q' and 'Q' also name int64 and uint64); Dtype(-1) for other
// characters.
constexpr Dtype dtype_from_char(char c) {
  if (c == 'q') return Dtype::int64;
  if (c == 'Q') return Dtype::uint64;
  for (std::size_t i = 0; i < internal::kDtypeInfo.size(); ++i)
    if (internal::kDtypeInfo[i].character == c) return static_cast<Dtype>(i);
  return static_cast<Dtype>(0xff);
}

// The dtype of a name ("float32", "half", "int_", "f", ...). Throws TypeError for an unknown name, ValueError for the
// name of a dtype of NumPy whose elements are no numbers ("object", "str").
CATENA_EXPORT Dtype dtype_from_name(std::string_view name);

// NumPy's promotion of two dtypes; symmetric. bfloat16 with float16 gives float32. As for float16, bfloat16 with bool
// and 8-bit integers gives bfloat16, with 16-bit integers float32, with wider integers float64.
CATENA_EXPORT Dtype promote_types(Dtype a, Dtype b);
CATENA_EXPORT bool can_cast(Dtype from, Dtype to, Casting casting = Casting::safe);
CATENA_EXPORT std::string_view name_of(Casting casting);
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, Dtype t);

template <class T> struct dtype_traits;  // undefined for types that are not element types
#define CATENA_DTYPE_OF(T, D) \
  template <> struct dtype_traits<T> { static constexpr Dtype value = Dtype::D; }
CATENA_DTYPE_OF(bool, bool_);
CATENA_DTYPE_OF(signed char, int8);
CATENA_DTYPE_OF(char, int8);
CATENA_DTYPE_OF(unsigned char, uint8);
CATENA_DTYPE_OF(short, int16);
CATENA_DTYPE_OF(unsigned short, uint16);
CATENA_DTYPE_OF(int, int32);
CATENA_DTYPE_OF(unsigned, uint32);
CATENA_DTYPE_OF(long, int64);
CATENA_DTYPE_OF(unsigned long, uint64);
CATENA_DTYPE_OF(long long, int64);
CATENA_DTYPE_OF(unsigned long long, uint64);
CATENA_DTYPE_OF(float16, float16);
CATENA_DTYPE_OF(bfloat16, bfloat16);
CATENA_DTYPE_OF(float, float32);
CATENA_DTYPE_OF(double, float64);
CATENA_DTYPE_OF(complex64, complex64);
CATENA_DTYPE_OF(complex128, complex128);
#undef CATENA_DTYPE_OF
template <foreign_complex Z> struct dtype_traits<Z> : dtype_traits<complex<typename Z::value_type>> {};
template <class T> inline constexpr Dtype dtype_of = dtype_traits<T>::value;

// The C++ element type of a dtype. visit_dtype calls a generic function with it:
//   visit_dtype(d, [](auto tag) { using T = typename decltype(tag)::type; ... });
template <Dtype D> struct element_type;
#define CATENA_ELEMENT(D, T) \
  template <> struct element_type<Dtype::D> { using type = T; }
CATENA_ELEMENT(bool_, bool);
CATENA_ELEMENT(int8, std::int8_t);
CATENA_ELEMENT(uint8, std::uint8_t);
CATENA_ELEMENT(int16, std::int16_t);
CATENA_ELEMENT(uint16, std::uint16_t);
CATENA_ELEMENT(int32, std::int32_t);
CATENA_ELEMENT(uint32, std::uint32_t);
CATENA_ELEMENT(int64, std::int64_t);
CATENA_ELEMENT(uint64, std::uint64_t);
CATENA_ELEMENT(float16, catena::float16);
CATENA_ELEMENT(bfloat16, catena::bfloat16);
CATENA_ELEMENT(float32, float);
CATENA_ELEMENT(float64, double);
CATENA_ELEMENT(complex64, catena::complex64);
CATENA_ELEMENT(complex128, catena::complex128);
#undef CATENA_ELEMENT

template <class T> struct type_tag { using type = T; };

namespace internal {
[[noreturn]] CATENA_EXPORT void throw_no_element_type(std::string_view op, Dtype t);
}

// As visit_dtype, for functions that are not defined for complex numbers: for complex dtypes, TypeError
// "<op>: complex64 numbers are not ordered".
template <class F> decltype(auto) visit_real_dtype(std::string_view op, Dtype t, F&& f) {
  switch (t) {
    case Dtype::bool_: return f(type_tag<bool>{});
    case Dtype::int8: return f(type_tag<std::int8_t>{});
    case Dtype::uint8: return f(type_tag<std::uint8_t>{});
    case Dtype::int16: return f(type_tag<std::int16_t>{});
    case Dtype::uint16: return f(type_tag<std::uint16_t>{});
    case Dtype::int32: return f(type_tag<std::int32_t>{});
    case Dtype::uint32: return f(type_tag<std::uint32_t>{});
    case Dtype::int64: return f(type_tag<std::int64_t>{});
    case Dtype::uint64: return f(type_tag<std::uint64_t>{});
    case Dtype::float16: return f(type_tag<float16>{});
    case Dtype::bfloat16: return f(type_tag<bfloat16>{});
    case Dtype::float32: return f(type_tag<float>{});
    case Dtype::float64: return f(type_tag<double>{});
    default: internal::throw_no_element_type(op, t);
  }
}

// As visit_real_dtype, for complex dtypes, too.
template <class F> decltype(auto) visit_dtype(Dtype t, F&& f) {
  switch (t) {
    case Dtype::complex64: return f(type_tag<complex64>{});
    case Dtype::complex128: return f(type_tag<complex128>{});
    default: return visit_real_dtype("dtype", t, std::forward<F>(f));
  }
}

// Returns the dtype of the real part: float32 for complex64; a real dtype unchanged.
constexpr Dtype real_dtype(Dtype t) {
  return t == Dtype::complex64 ? Dtype::float32 : (t == Dtype::complex128 ? Dtype::float64 : t);
}

// Returns the type in which kernels compute: float32 for the 16-bit floats, otherwise the type itself.
constexpr Dtype compute_dtype(Dtype t) { return t == Dtype::float16 || t == Dtype::bfloat16 ? Dtype::float32 : t; }

}  // namespace catena
