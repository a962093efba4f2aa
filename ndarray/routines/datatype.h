// Properties of dtypes and the texts of integers, as in NumPy. Nothing here needs a device, except that min_scalar_type
// waits for the value of a 0-d array.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace nd {

// ---- common dtypes ------------------------------------------------------------------------------
namespace internal {
// An argument of result_type: a dtype, an array or a weak scalar.
class Typed {
 public:
  Typed(Dtype dtype) : dtype_(dtype) {}
  Typed(const Array& a) : dtype_(a.dtype()) {}
  Typed(const Scalar& number) : is_number_(true), number_(number) {}
  template <Element E> Typed(E number) : Typed(Scalar(number)) {}

  bool is_number() const noexcept { return is_number_; }
  Dtype dtype() const noexcept { return dtype_; }
  const Scalar& number() const noexcept { return number_; }

 private:
  Dtype dtype_ = Dtype::bool_;
  bool is_number_ = false;
  Scalar number_;
};
CATENA_EXPORT Dtype result_type(std::initializer_list<Typed> arguments);
}  // namespace internal

// Returns the dtype of the result of an operation on dtypes, arrays and numbers: result_type(a, nd::int8, 2.5). A
// number does not promote operands of its kind. ValueError for no arguments.
template <class... A>
requires(std::convertible_to<const A&, internal::Typed>&&...) Dtype result_type(const A&... arguments) {
  return internal::result_type({internal::Typed(arguments)...});
}
// Returns the floating or complex dtype that holds the arrays; integers count as float64. float16 for no arrays,
// TypeError for bools.
CATENA_EXPORT Dtype common_type(const std::vector<Array>& arrays);
template <std::convertible_to<const Array&>... A> Dtype common_type(const A&... arrays) {
  return common_type(std::vector<Array>{arrays...});
}
// Returns the smallest dtype that holds a number, or the number in a 0-d array: for integers >= 0 an unsigned one; for
// floating numbers only the range counts. For other arrays, returns their dtype.
CATENA_EXPORT Dtype min_scalar_type(const Operand& a);
// Returns the promotion of array_types. If the promotion of scalar_types is of a higher kind, returns the promotion of
// both. ValueError for two empty lists.
CATENA_EXPORT Dtype find_common_type(const std::vector<Dtype>& array_types, const std::vector<Dtype>& scalar_types);

// ---- limits -------------------------------------------------------------------------------------
// The limits of a floating dtype; for a complex dtype, the limits of its parts. ValueError for others.
struct CATENA_EXPORT finfo {
  explicit finfo(Dtype t);

  Dtype dtype;
  int bits;
  int nmant, nexp, iexp;  // bits of the mantissa without the leading one, and of the exponent
  int machep, negep;      // eps = 2^machep, epsneg = 2^negep
  int minexp, maxexp;     // exponents of the smallest normal number and of the least power of 2 that overflows
  int precision;          // decimal digits that are exact
  double eps, epsneg;     // distances from 1 to the next number above and below
  double max, min;        // the largest number and its negative
  double tiny;            // the smallest positive number with full precision
  double smallest_normal, smallest_subnormal;
  double resolution;  // 10^-precision
};
// The limits of an integer dtype; ValueError for others.
struct CATENA_EXPORT iinfo {
  explicit iinfo(Dtype t);

  Dtype dtype;
  int bits;
  char kind;  // 'i' or 'u'
  std::int64_t min;
  std::uint64_t max;
};
// Parameters of floating-point arithmetic under the names of W. J. Cody's MACHAR.
struct CATENA_EXPORT MachAr {
  explicit MachAr(Dtype t = Dtype::float64);

  int ibeta = 2, it;  // base, and its digits in the mantissa
  int machep, negep, iexp, minexp, maxexp, precision;
  int irnd = 5;  // rounds to nearest even, with gradual underflow
  int ngrd = 0;  // guard digits for products
  double eps, epsneg, epsilon, xmin, tiny, xmax, huge, resolution;
};

// ---- kinds --------------------------------------------------------------------------------------
// The abstract kinds of dtypes: issubdtype(nd::int8, nd::Kind::integer).
enum class Kind : std::uint8_t {
  generic,
  number,
  integer,
  signedinteger,
  unsignedinteger,
  inexact,
  floating,
  complexfloating,
  boolean
};
// NumPy's np.floating, np.integer...
inline constexpr Kind integer = Kind::integer, signedinteger = Kind::signedinteger;
inline constexpr Kind unsignedinteger = Kind::unsignedinteger, inexact = Kind::inexact;
inline constexpr Kind floating = Kind::floating, complexfloating = Kind::complexfloating;
// True if a dtype or kind is the other one or a special case of it.
CATENA_EXPORT bool issubdtype(Dtype a, Dtype b);
CATENA_EXPORT bool issubdtype(Dtype a, Kind b);
CATENA_EXPORT bool issubdtype(Kind a, Kind b);
template <class A, class B> bool issubclass_(A a, B b) { return issubdtype(a, b); }
// Returns the dtype of an array, of a number or of a name; a dtype unchanged. TypeError for a name of no dtype.
inline Dtype obj2sctype(Dtype t) { return t; }
inline Dtype obj2sctype(const Array& a) { return a.dtype(); }
inline Dtype obj2sctype(std::string_view name) { return dtype_from_name(name); }
inline Dtype obj2sctype(const char* name) { return dtype_from_name(name); }
template <Element E> Dtype obj2sctype(E) { return catena::dtype_of<E>; }
template <class A, class B> bool issubsctype(const A& a, const B& b) {
  if constexpr (std::is_same_v<B, Kind>) return issubdtype(obj2sctype(a), b);
  else return issubdtype(obj2sctype(a), obj2sctype(b));
}
// True if the argument is or names a dtype.
inline bool issctype(Dtype t) { return static_cast<int>(t) < catena::kNumDtypes; }
CATENA_EXPORT bool issctype(std::string_view name);
inline bool issctype(const char* name) { return issctype(std::string_view(name)); }
template <class T>
requires(!std::convertible_to<const T&, std::string_view>) constexpr bool issctype(const T&) { return false; }
// True if the argument is a number; 0-d arrays are not.
template <class T> constexpr bool isscalar(const T&) { return Element<T> || std::is_same_v<T, Scalar>; }
inline char sctype2char(Dtype t) { return catena::char_of(t); }

// Returns NumPy's description of a type character: "single precision" for 'f'. KeyError for others. (typename is a C++
// keyword.)
CATENA_EXPORT std::string_view type_name(char character);
// Returns the character of the smallest type of `typeset` to which all of `typechars` cast; `default_` if none of them
// is in the set. Returns 'd' instead of 'F' if `typechars` contains 'd'.
CATENA_EXPORT char mintypecode(std::string_view typechars, std::string_view typeset = "GDFgdf", char default_ = 'd');

// The fields of a record: names, dtypes and offsets, from formats such as "i4, f8". Missing names are f0, f1...
// `aligned` fields begin at multiples of their itemsize. TypeError for a format that is no dtype, ValueError for
// repeated names. (Arrays cannot have records as elements: this describes the layout of files and structs.)
struct CATENA_EXPORT format_parser {
  struct Field {
    std::string name, title;
    Dtype dtype;
    std::size_t offset;
  };
  explicit format_parser(std::string_view formats, const std::vector<std::string>& names = {},
                         const std::vector<std::string>& titles = {}, bool aligned = false);

  std::vector<Field> fields;
  std::size_t itemsize = 0;
};

// ---- texts of integers --------------------------------------------------------------------------
// Returns the number in base 2: with a minus sign, or, if a width is given, as two's complement of that many bits.
// ValueError if the width is too small.
CATENA_EXPORT std::string binary_repr(std::int64_t num, std::optional<int> width = {});
// Returns the number in a base from 2 to 36 (ValueError), with `padding` zeros before it.
CATENA_EXPORT std::string base_repr(std::int64_t number, int base = 2, int padding = 0);
// Return the only element of an integer or bool array as Python writes it in base 8 and 16: "-0o17", "0xff". TypeError
// for other dtypes and for arrays of another size. Wait for the device.
CATENA_EXPORT std::string oct(const Array& a);
CATENA_EXPORT std::string hex(const Array& a);

}  // namespace nd
