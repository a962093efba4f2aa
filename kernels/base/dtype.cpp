#include <catena/kernels/base/dtype.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include <catena/kernels/base/error.h>

namespace catena {
namespace {

constexpr Dtype signed_of_size(std::size_t bytes) {
  return bytes == 1 ? Dtype::int8 : bytes == 2 ? Dtype::int16 : bytes == 4 ? Dtype::int32 : Dtype::int64;
}

// A signed and an unsigned type promote to the smallest signed type that holds both, or to float64 beyond 64 bits.
constexpr Dtype promote_mixed_sign(Dtype s, Dtype u) {
  if (itemsize(s) > itemsize(u)) return s;
  return itemsize(u) == 8 ? Dtype::float64 : signed_of_size(2 * itemsize(u));
}

// A float type holds an integer type when its significand is wide enough (NumPy counts 16-bit floats as wide enough for
// 8-bit integers).
constexpr Dtype promote_int_float(Dtype i, Dtype f) {
  if (itemsize(i) < itemsize(f)) return f;
  return itemsize(i) <= 2 ? Dtype::float32 : Dtype::float64;
}

constexpr Dtype promote(Dtype a, Dtype b) {
  if (a == b) return a;
  if (kind_of(a) > kind_of(b)) std::swap(a, b);
  const DtypeKind ka = kind_of(a), kb = kind_of(b);
  if (ka == DtypeKind::bool_) return b;
  if (kb == DtypeKind::complex) {
    if (ka == DtypeKind::complex) return Dtype::complex128;
    return promote(a, Dtype::float32) == Dtype::float64 ? Dtype::complex128 : b;
  }
  if (ka == kb) {
    if (itemsize(a) != itemsize(b)) return itemsize(a) > itemsize(b) ? a : b;
    return Dtype::float32;  // float16 and bfloat16, the only two dtypes of equal kind and size
  }
  if (kb == DtypeKind::floating) return promote_int_float(a, b);
  return promote_mixed_sign(b, a);
}

using PromotionTable = std::array<std::array<Dtype, internal::kDtypeInfo.size()>, internal::kDtypeInfo.size()>;
constexpr PromotionTable make_table() {
  PromotionTable t{};
  for (std::size_t a = 0; a < t.size(); ++a)
    for (std::size_t b = 0; b < t.size(); ++b) t[a][b] = promote(static_cast<Dtype>(a), static_cast<Dtype>(b));
  return t;
}
constexpr PromotionTable kPromotion = make_table();

constexpr std::pair<std::string_view, Dtype> kAliases[] = {
    {"bool_", Dtype::bool_},         {"byte", Dtype::int8},
    {"ubyte", Dtype::uint8},         {"short", Dtype::int16},
    {"ushort", Dtype::uint16},       {"intc", Dtype::int32},
    {"uintc", Dtype::uint32},        {"int_", Dtype::int64},
    {"int", Dtype::int64},           {"intp", Dtype::int64},
    {"longlong", Dtype::int64},      {"uint", Dtype::uint64},
    {"uintp", Dtype::uint64},        {"ulonglong", Dtype::uint64},
    {"half", Dtype::float16},        {"single", Dtype::float32},
    {"float", Dtype::float64},       {"float_", Dtype::float64},
    {"double", Dtype::float64},      {"longfloat", Dtype::float64},
    {"csingle", Dtype::complex64},   {"singlecomplex", Dtype::complex64},
    {"cdouble", Dtype::complex128},  {"cfloat", Dtype::complex128},
    {"complex_", Dtype::complex128}, {"complex", Dtype::complex128},
};

// The names and characters of NumPy's dtypes whose elements are no numbers.
constexpr std::string_view kNoNumbers[] = {"object", "object_", "O",      "str",        "str_",
                                           "U",      "bytes",   "bytes_", "S",          "void",
                                           "V",      "M",       "m",      "datetime64", "timedelta64"};

// Returns the dtype of a kind and a number of bytes: "f4". bfloat16 is behind float16 in the list, so "f2" is that.
Dtype of_kind_and_bytes(std::string_view name) {
  for (std::size_t i = 0; i < internal::kDtypeInfo.size(); ++i) {
    const auto t = static_cast<Dtype>(i);
    if (name == catena::concat(kind_char(t), itemsize(t))) return t;
  }
  return static_cast<Dtype>(0xff);
}

Dtype lookup(std::string_view name) {
  if (name.size() > 1 && std::string_view("<=|").find(name[0]) != std::string_view::npos) name.remove_prefix(1);
  if (name.size() == 1) return dtype_from_char(name[0]);
  if (const Dtype t = of_kind_and_bytes(name); t != static_cast<Dtype>(0xff)) return t;
  for (std::size_t i = 0; i < internal::kDtypeInfo.size(); ++i)
    if (name == internal::kDtypeInfo[i].name) return static_cast<Dtype>(i);
  const auto* alias =
      std::find_if(std::begin(kAliases), std::end(kAliases), [&](const auto& a) { return a.first == name; });
  return alias == std::end(kAliases) ? static_cast<Dtype>(0xff) : alias->second;
}

}  // namespace

Dtype dtype_from_name(std::string_view name) {
  const Dtype t = lookup(name);
  check<ValueError>(std::find(std::begin(kNoNumbers), std::end(kNoNumbers), name) == std::end(kNoNumbers), "dtype", '"',
                    name, "\" is supported by NumPy alone; elements are bools, integers, floats and complex numbers");
  check<TypeError>(t != static_cast<Dtype>(0xff), "dtype", '"', name, "\" names no element type");
  return t;
}

Dtype promote_types(Dtype a, Dtype b) { return kPromotion[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]; }

bool can_cast(Dtype from, Dtype to, Casting casting) {
  switch (casting) {
    case Casting::no:
    case Casting::equiv: return from == to;
    case Casting::safe: return promote_types(from, to) == to;
    case Casting::same_kind: return promote_types(from, to) == to || kind_of(from) <= kind_of(to);
    case Casting::unsafe: return true;
  }
  return false;
}

std::string_view name_of(Casting casting) {
  constexpr std::string_view names[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
  return names[static_cast<std::size_t>(casting)];
}

std::ostream& operator<<(std::ostream& out, Dtype t) { return out << name_of(t); }

void internal::throw_no_element_type(std::string_view op, Dtype t) {
  if (static_cast<std::size_t>(t) >= kDtypeInfo.size())
    fail<TypeError>(op, "value ", static_cast<int>(t), " is no element type");
  fail<TypeError>(op, t, " numbers are not ordered");
}

}  // namespace catena
