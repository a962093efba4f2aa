#include <catena/kernels/base/scalar.h>

#include <charconv>
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

// Prints as Python does: True, -3, 1.0, 1e+300, nan. A float always has a point, an exponent or is nan or inf.
std::ostream& operator<<(std::ostream& out, const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::bool_: return out << (s.to<bool>() ? "True" : "False");
    case Scalar::Kind::integer: return out << s.to<std::int64_t>();
    case Scalar::Kind::unsigned_: return out << s.to<std::uint64_t>();
    case Scalar::Kind::floating: break;
  }
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), s.to<double>()).ptr;
  const std::string_view digits(text, static_cast<std::size_t>(end - text));
  out << digits;
  return digits.find_first_of(".enai") == std::string_view::npos ? out << ".0" : out;
}

}  // namespace catena
