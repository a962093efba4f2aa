#include <catena/kernels/base/scalar.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <ostream>
#include <string_view>

namespace catena {

void Scalar::store(Dtype t, void* out) const {
  visit_dtype(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T v = to<T>();
    std::memcpy(out, &v, sizeof(T));
  });
}

namespace {

struct Digits {
  char text[32];
  std::string_view view;
  explicit Digits(double v)
      : view(text, static_cast<std::size_t>(std::to_chars(text, text + sizeof(text), v).ptr - text)) {}
};

// Without the point of a whole part; the real part is left out if it is 0: 2j, (1+2j), (nan-0.5j).
std::ostream& print_complex(std::ostream& out, complex128 z) {
  if (z.re == 0 && !std::signbit(z.re)) return out << Digits(z.im).view << 'j';
  out << '(' << Digits(z.re).view;
  if (!std::signbit(z.im) || z.im != z.im) out << '+';
  return out << Digits(z.im).view << "j)";
}

}  // namespace

// Prints as Python does: True, -3, 1.0, 1e+300, nan, (1+2j). A float always has a point, an exponent or is nan or inf.
std::ostream& operator<<(std::ostream& out, const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::bool_: return out << (s.to<bool>() ? "True" : "False");
    case Scalar::Kind::integer: return out << s.to<std::int64_t>();
    case Scalar::Kind::unsigned_: return out << s.to<std::uint64_t>();
    case Scalar::Kind::complex: return print_complex(out, s.to<complex128>());
    case Scalar::Kind::floating: break;
  }
  const Digits digits(s.to<double>());
  out << digits.view;
  return digits.view.find_first_of(".enai") == std::string_view::npos ? out << ".0" : out;
}

}  // namespace catena
