#include <catena/ndarray/routines/datatype.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <catena/kernels/base/text.h>
#include <catena/kernels/registry/bind.h>

namespace nd {

using catena::check;

// ---- common dtypes ------------------------------------------------------------------------------
Dtype internal::result_type(std::initializer_list<Typed> arguments) {
  // Arrays without elements represent the dtypes.
  std::vector<Array> arrays;
  for (const Typed& a : arguments)
    if (!a.is_number())
      arrays.push_back(Array(catena::make_header(nullptr, nullptr, a.dtype(), Shape{0},
                                                 Strides{std::int64_t(itemsize(a.dtype()))}, {}, nullptr)));
  std::vector<catena::Input> inputs;
  auto next = arrays.begin();
  for (const Typed& a : arguments)
    inputs.push_back(a.is_number() ? catena::Input(a.number()) : catena::Input(*(next++)->get()));
  return catena::result_type(inputs);
}

Dtype common_type(const std::vector<Array>& arrays) {
  Dtype common = Dtype::float16;
  for (const Array& a : arrays) {
    check<TypeError>(a.dtype() != Dtype::bool_, "common_type", "an array of bools has no floating dtype");
    common = promote_types(common, catena::is_integer(a.dtype()) ? Dtype::float64 : a.dtype());
  }
  // If all arrays are bfloat16, the result is bfloat16: the common dtype starts from float16, with which it would be
  // promoted.
  const bool brain = !arrays.empty() && std::all_of(arrays.begin(), arrays.end(),
                                                    [](const Array& a) { return a.dtype() == Dtype::bfloat16; });
  return brain ? Dtype::bfloat16 : common;
}

namespace {

Dtype smallest_integer(std::int64_t v) {
  if (v >= 0)
    return v <= UINT8_MAX ? Dtype::uint8
                          : (v <= UINT16_MAX ? Dtype::uint16 : (v <= UINT32_MAX ? Dtype::uint32 : Dtype::uint64));
  return v >= INT8_MIN ? Dtype::int8 : (v >= INT16_MIN ? Dtype::int16 : (v >= INT32_MIN ? Dtype::int32 : Dtype::int64));
}

// NumPy's bounds, which are slightly below the largest numbers of the dtypes.
Dtype smallest_float(double v) {
  const double magnitude = std::fabs(v);
  if (!std::isfinite(v) || magnitude < 65000) return Dtype::float16;
  return magnitude < 3.4e38 ? Dtype::float32 : Dtype::float64;
}

}  // namespace

Dtype min_scalar_type(const Operand& a) {
  if (a.is_array() && a.header()->shape.size() > 0) return a.header()->dtype;
  const Scalar v = a.is_array() ? a.array().item() : a.scalar();
  switch (v.kind()) {
    case Scalar::Kind::bool_: return Dtype::bool_;
    case Scalar::Kind::unsigned_: return Dtype::uint64;
    case Scalar::Kind::floating: return smallest_float(v.to_double());
    case Scalar::Kind::complex: {
      const auto z = v.to<complex128_t>();
      const bool wide = smallest_float(z.re) == Dtype::float64 || smallest_float(z.im) == Dtype::float64;
      return wide ? Dtype::complex128 : Dtype::complex64;
    }
    default: return smallest_integer(v.to<std::int64_t>());
  }
}

namespace {

// The order b, u or i, f, c; as in NumPy's list, signed and unsigned integers are different kinds here.
int rank_of_kind(Dtype t) { return static_cast<int>(std::string_view("buifc").find(catena::kind_char(t))); }

std::optional<Dtype> promoted(const std::vector<Dtype>& dtypes) {
  std::optional<Dtype> common;
  for (const Dtype t : dtypes) common = common ? promote_types(*common, t) : t;
  return common;
}

}  // namespace

Dtype find_common_type(const std::vector<Dtype>& array_types, const std::vector<Dtype>& scalar_types) {
  const std::optional<Dtype> arrays = promoted(array_types), scalars = promoted(scalar_types);
  check<ValueError>(arrays || scalars, "find_common_type", "there are no dtypes");
  if (!arrays || !scalars) return arrays ? *arrays : *scalars;
  return rank_of_kind(*scalars) > rank_of_kind(*arrays) ? promote_types(*scalars, *arrays) : *arrays;
}

// ---- limits -------------------------------------------------------------------------------------
finfo::finfo(Dtype t) : dtype(t) {
  check<ValueError>(catena::is_floating(t) || catena::is_complex_dtype(t), "finfo", t, " is not a floating dtype");
  dtype = catena::real_dtype(t);
  bits = 8 * static_cast<int>(catena::itemsize(dtype));
  nmant = dtype == Dtype::float64 ? 52 : (dtype == Dtype::float32 ? 23 : (dtype == Dtype::float16 ? 10 : 7));
  nexp = iexp = bits - 1 - nmant;
  machep = -nmant;
  negep = machep - 1;
  maxexp = 1 << (nexp - 1);
  minexp = 2 - maxexp;
  precision = static_cast<int>(nmant * std::log10(2.0));
  eps = std::ldexp(1.0, machep);
  epsneg = std::ldexp(1.0, negep);
  max = std::ldexp(2 - eps, maxexp - 1);
  min = -max;
  tiny = smallest_normal = std::ldexp(1.0, minexp);
  smallest_subnormal = std::ldexp(1.0, minexp - nmant);
  resolution = std::pow(10.0, -precision);
}

iinfo::iinfo(Dtype t) : dtype(t), bits(8 * static_cast<int>(catena::itemsize(t))), kind(catena::kind_char(t)) {
  check<ValueError>(catena::is_integer(t), "iinfo", t, " is not an integer dtype");
  const bool is_signed = kind == 'i';
  max = (is_signed ? std::uint64_t(INT64_MAX) : UINT64_MAX) >> (64 - bits);
  min = is_signed ? -static_cast<std::int64_t>(max) - 1 : 0;
}

MachAr::MachAr(Dtype t) {
  const finfo f(t);
  it = f.nmant + 1;
  machep = f.machep;
  negep = f.negep;
  iexp = f.iexp;
  minexp = f.minexp;
  maxexp = f.maxexp;
  precision = f.precision;
  eps = epsilon = f.eps;
  epsneg = f.epsneg;
  xmin = tiny = f.tiny;
  xmax = huge = f.max;
  resolution = f.resolution;
}

// ---- kinds --------------------------------------------------------------------------------------
namespace {

Kind kind_above(Kind k) {
  switch (k) {
    case Kind::signedinteger:
    case Kind::unsignedinteger: return Kind::integer;
    case Kind::floating:
    case Kind::complexfloating: return Kind::inexact;
    case Kind::integer:
    case Kind::inexact: return Kind::number;
    default: return Kind::generic;
  }
}

Kind abstract_kind(Dtype t) {
  constexpr Kind kinds[] = {Kind::boolean, Kind::unsignedinteger, Kind::signedinteger, Kind::floating,
                            Kind::complexfloating};
  return kinds[rank_of_kind(t)];
}

}  // namespace

bool issubdtype(Dtype a, Dtype b) { return a == b; }
bool issubdtype(Dtype a, Kind b) { return issubdtype(abstract_kind(a), b); }
bool issubdtype(Kind a, Kind b) {
  while (a != b && a != Kind::generic) a = kind_above(a);
  return a == b;
}

bool issctype(std::string_view name) {
  try {
    return issctype(dtype_from_name(name));
  } catch (const TypeError&) {
    return false;
  } catch (const ValueError&) {  // a dtype of NumPy that no array has
    return false;
  }
}

std::string_view type_name(char character) {
  switch (character) {
    case '?': return "bool";
    case 'b': return "signed char";
    case 'B': return "unsigned char";
    case 'h': return "short";
    case 'H': return "unsigned short";
    case 'i': return "integer";
    case 'I': return "unsigned integer";
    case 'l': return "long integer";
    case 'L': return "unsigned long integer";
    case 'q': return "long long integer";
    case 'Q': return "unsigned long long integer";
    case 'e': return "half precision";
    case 'E': return "brain floating point";
    case 'f': return "single precision";
    case 'd': return "double precision";
    case 'F': return "complex single precision";
    case 'D': return "complex double precision";
    default: catena::fail<KeyError>("type_name", "there is no type character '", character, "'");
  }
}

char mintypecode(std::string_view typechars, std::string_view typeset, char default_) {
  constexpr std::string_view kOrder = "GDFgdf";  // the wider ones first
  std::string_view::size_type best = kOrder.size();
  bool has_d = false, has_f = false;
  for (const char c : typechars) {
    if (typeset.find(c) == typeset.npos) continue;
    has_d |= c == 'd';
    has_f |= c == 'F';
    best = std::min(best, kOrder.find(c));
  }
  if (has_d && has_f) return 'D';
  return best < kOrder.size() ? kOrder[best] : default_;
}

namespace {

// Parses a name of a dtype, or a kind and a number of bytes: "f8", "<i4", "u2".
Dtype dtype_of_format(std::string_view format) {
  const std::string_view code = format.substr(format.find_first_of("<=|") == 0 ? 1 : 0);
  const auto is_code = [&](std::string_view digits) { return code.size() > 1 && code.substr(1) == digits; };
  for (const std::string_view digits : {"1", "2", "4", "8", "16"}) {
    if (!is_code(digits)) continue;
    const std::size_t kind = std::string_view("biufc").find(code[0]);
    if (kind == 0 && digits == "1") return Dtype::bool_;
    constexpr std::string_view kNames[] = {"bool", "int", "uint", "float", "complex"};
    if (kind != std::string_view::npos)
      return dtype_from_name(catena::concat(kNames[kind], 8 * catena::leading_integer(digits)));
  }
  return dtype_from_name(format);
}

}  // namespace

format_parser::format_parser(std::string_view formats, const std::vector<std::string>& names,
                             const std::vector<std::string>& titles, bool aligned) {
  std::size_t widest = 1;
  for (std::size_t at = 0; at <= formats.size();) {
    const std::size_t end = std::min(formats.find(',', at), formats.size());
    std::string_view format = formats.substr(at, end - at);
    format.remove_prefix(std::min(format.find_first_not_of(' '), format.size()));
    format = format.substr(0, format.find_last_not_of(' ') + 1);
    const std::size_t i = fields.size();
    const Dtype t = dtype_of_format(format);
    const std::size_t size = catena::itemsize(t);
    if (aligned) this->itemsize = (this->itemsize + size - 1) / size * size;
    fields.push_back(
        {i < names.size() ? names[i] : "f" + std::to_string(i), i < titles.size() ? titles[i] : "", t, this->itemsize});
    for (std::size_t k = 0; k < i; ++k)
      check<ValueError>(fields[k].name != fields[i].name, "format_parser", "the name '", fields[i].name,
                        "' is given twice");
    this->itemsize += size;
    widest = std::max(widest, size);
    at = end + 1;
  }
  if (aligned) this->itemsize = (this->itemsize + widest - 1) / widest * widest;
}

// ---- texts of integers --------------------------------------------------------------------------
namespace {

std::string digits_of(std::uint64_t number, unsigned base) {
  std::string text;
  for (; number != 0; number /= base) text += "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % base];
  std::reverse(text.begin(), text.end());
  return text;
}

std::uint64_t magnitude(std::int64_t number) {
  return number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
}

}  // namespace

std::string binary_repr(std::int64_t num, std::optional<int> width) {
  const std::string digits = num == 0 ? "0" : digits_of(magnitude(num), 2);
  if (!width) return num < 0 ? "-" + digits : digits;
  // A negative number needs a sign bit, except that 100... is its own complement.
  const bool power = digits.find('1', 1) == digits.npos;
  const int needed = static_cast<int>(digits.size()) + (num < 0 && !power ? 1 : 0);
  check<ValueError>(*width >= needed, "binary_repr", "a width of ", *width, " bits is not enough for ", num,
                    ", which needs ", needed);
  if (num >= 0) return std::string(static_cast<std::size_t>(*width) - digits.size(), '0') + digits;
  const auto bits = static_cast<std::uint64_t>(num);
  std::string text;
  for (int bit = *width - 1; bit >= 0; --bit) text += bit >= 64 || ((bits >> bit) & 1) != 0 ? '1' : '0';
  return text;
}

std::string base_repr(std::int64_t number, int base, int padding) {
  check<ValueError>(base >= 2 && base <= 36, "base_repr", "base ", base, " is not in the range from 2 to 36");
  const std::string text =
      std::string(static_cast<std::size_t>(std::max(padding, 0)), '0') + digits_of(magnitude(number), unsigned(base));
  return (number < 0 ? "-" : "") + (text.empty() ? "0" : text);
}

namespace {

std::string element_to_base(std::string_view op, const Array& a, unsigned base, std::string_view prefix) {
  const DtypeKind kind = kind_of(a.dtype());
  check<TypeError>(kind == DtypeKind::bool_ || kind == DtypeKind::signed_ || kind == DtypeKind::unsigned_, op,
                   "an array of ", a.dtype(), " is not one of integers");
  check<TypeError>(a.size() == 1, op, "an array of shape ", a.shape(), " has ", a.size(), " elements, not 1");
  const bool is_unsigned = kind == DtypeKind::unsigned_;
  const std::int64_t number = is_unsigned ? 0 : a.item<std::int64_t>();
  std::string digits = digits_of(is_unsigned ? a.item<std::uint64_t>() : magnitude(number), base);
  for (char& c : digits)
    if (c >= 'A') c += 'a' - 'A';  // Python uses lower-case letters here, unlike base_repr
  return catena::concat(number < 0 ? "-" : "", prefix, digits.empty() ? "0" : digits);
}

}  // namespace

std::string oct(const Array& a) { return element_to_base("oct", a, 8, "0o"); }
std::string hex(const Array& a) { return element_to_base("hex", a, 16, "0x"); }

}  // namespace nd
