#include <catena/ndarray/routines/print.h>

#include <algorithm>
#include <ostream>

#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>

namespace nd {

using catena::check;

namespace {

void check_options(const char* op, const PrintOptions& o) {
  check<ValueError>(o.precision >= 0 && o.threshold >= 0 && o.edgeitems >= 0 && o.linewidth >= 0, op, "precision ",
                    o.precision, ", threshold ", o.threshold, ", edgeitems ", o.edgeitems, " and linewidth ",
                    o.linewidth, " cannot be negative");
}

catena::HostElements elements_of(const Array& a, const PrintOptions& options) {
  return catena::host_elements(a, options, internal::to_host, [](const Array& x, int axis, std::int64_t n) {
    return concatenate({internal::part(x, axis, 0, n), internal::part(x, axis, x.shape()[axis] - n, n)}, axis);
  });
}

}  // namespace

std::string array_str(const Array& a, const PrintOptions& options) try {
  check_options("array_str", options);
  const catena::HostElements elements = elements_of(a, options);
  return a.ndim() > 0 ? catena::array_text(elements, options) : catena::element_text(elements);
} catch (...) {
  internal::rethrow_out_of_memory("array_str");
}

std::string array_repr(const Array& a, const PrintOptions& options) try {
  check_options("array_repr", options);
  constexpr std::string_view kPrefix = "array(";
  const Dtype t = a.dtype();
  const bool implied =
      (t == Dtype::bool_ || t == Dtype::int64 || t == Dtype::float64 || t == Dtype::complex128) && a.size() > 0;
  std::string text(kPrefix);
  if (a.size() > 0 || a.shape() == Shape{0})
    text += catena::array_text(elements_of(a, options), options, {", ", kPrefix.size(), 1});
  else text += catena::concat("[], shape=", a.shape());
  if (implied) return text + ")";
  text += ",";
  const std::string dtype = catena::concat("dtype=", t, ")");
  const std::size_t newline = text.rfind('\n');
  const std::size_t last_line = text.size() - (newline == std::string::npos ? 0 : newline + 1);
  const bool wraps = last_line + dtype.size() + 1 > std::size_t(options.linewidth);
  return text + (wraps ? "\n" + std::string(kPrefix.size(), ' ') : " ") + dtype;
} catch (...) {
  internal::rethrow_out_of_memory("array_repr");
}

std::ostream& operator<<(std::ostream& out, const Array& a) {
  if (a.is_null()) return out << "null";
  constexpr std::streamsize kUnset = 6;  // the default precision of a stream
  if (out.precision() == kUnset) return out << array_str(a);
  const int precision = static_cast<int>(std::max<std::streamsize>(out.precision(), 0));
  PrintOptions with_precision = get_printoptions();
  with_precision.precision = precision;
  return out << (a.ndim() == 0 ? catena::element_text(elements_of(a, {}), precision) : array_str(a, with_precision));
}

}  // namespace nd
