#include <catena/ndarray/routines/element_format.h>

#include <algorithm>
#include <optional>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>

namespace nd::internal {

using catena::check;
using catena::Scalar;
using catena::TypeError;
using catena::ValueError;

namespace {

constexpr std::int64_t kMaxWidth = 4096;

bool are_numbers_small(std::string_view flags) {
  for (std::size_t i = 0; (i = flags.find_first_of("123456789", i)) != flags.npos;) {
    const std::size_t end = std::min(flags.find_first_not_of("0123456789", i), flags.size());
    const std::optional<std::int64_t> n = catena::parse_integer(flags.substr(i, end - i));
    if (!n || *n > kMaxWidth) return false;
    i = end;
  }
  return true;
}

}  // namespace

ElementFormat::ElementFormat(std::string_view op, std::string_view format) : op_(op), text_(format) {
  const std::size_t percent = text_.find('%'), end = text_.find_first_not_of("-+ #0123456789.", percent + 1);
  const bool one = percent != text_.npos && end != text_.npos && text_.find('%', end) == text_.npos;
  const bool known = one && std::string_view("sdixXoeEfFgG").find(text_[end]) != std::string_view::npos;
  check<ValueError>(known, op, "'", format, "' is no format with one of the conversions s d i x X o e E f F g G");
  check<ValueError>(are_numbers_small(text_.substr(percent, end - percent)), op, "'", format,
                    "' asks for a width or a precision of more than ", kMaxWidth, " characters");
  conversion_ = text_[end];
  if (conversion_ != 's' && is_integral()) text_.insert(end, "ll");
}

std::string ElementFormat::operator()(const Scalar& value) const {
  if (text_ == "%s") return catena::concat(value);
  if (conversion_ == 's') return catena::printf_text(text_, catena::concat(value).c_str());
  check<TypeError>(!value.is_complex(), op_, "the complex number ", value, " has no conversion '", conversion_, "'");
  if (!is_integral()) return catena::printf_text(text_, value.to_double());
  const bool digits = conversion_ == 'd' || conversion_ == 'i';
  check<TypeError>(digits || !value.is_floating(), op_, value, " is no integer, as '", conversion_, "' needs");
  return catena::printf_text(text_, static_cast<long long>(value.to<std::int64_t>()));
}

}  // namespace nd::internal
