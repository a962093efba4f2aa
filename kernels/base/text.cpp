#include <catena/kernels/base/text.h>

#include <locale.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include <catena/kernels/base/error.h>

namespace catena {
namespace {

constexpr int kMaxDigits = 4096;  // a double has at most 1074 digits behind the point

std::string with_digits(double v, int digits, std::chars_format format) {
  check<ValueError>(digits >= 0 && digits <= kMaxDigits, "text of a number", digits, " digits are not within 0 and ",
                    kMaxDigits);
  constexpr std::size_t kOthers = 320;  // the digits before the point, the point, the sign and the exponent
  std::string text(static_cast<std::size_t>(digits) + kOthers, '\0');
  text.resize(static_cast<std::size_t>(std::to_chars(text.data(), text.data() + text.size(), v, format, digits).ptr -
                                       text.data()));
  return text;
}

template <class T, class... Base> std::string shortest(T v, Base... base) {
  char text[72];
  return {text, std::to_chars(text, text + sizeof text, v, base...).ptr};
}

std::string with_zeros(std::string digits, int width) {
  const auto wanted = static_cast<std::size_t>(std::max(width, 0));
  if (digits.size() < wanted) digits.insert(digits[0] == '-' ? 1 : 0, wanted - digits.size(), '0');
  return digits;
}

// Sets the C locale for the calling thread while an object exists.
class CLocale {
 public:
  CLocale() : before_(::uselocale(c())) {}
  ~CLocale() { ::uselocale(before_); }
  CLocale(const CLocale&) = delete;
  CLocale& operator=(const CLocale&) = delete;

 private:
  static locale_t c() {
    static const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
    return locale;
  }
  locale_t before_;
};

template <class T> std::string printed(const std::string& format, T v) {
  const CLocale in_the_c_locale;
  const int size = std::snprintf(nullptr, 0, format.c_str(), v);
  check<ValueError>(size >= 0, "format", "'", format, "' makes a text that is too long");
  std::string text(static_cast<std::size_t>(size), '\0');
  std::snprintf(text.data(), text.size() + 1, format.c_str(), v);
  return text;
}

template <class T> std::optional<T> whole_number(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string fixed_text(double v, int digits) { return with_digits(v, digits, std::chars_format::fixed); }
std::string scientific_text(double v, int digits) { return with_digits(v, digits, std::chars_format::scientific); }
std::string general_text(double v, int digits) { return with_digits(v, digits, std::chars_format::general); }
std::string shortest_text(double v) { return shortest(v); }
std::string padded_text(std::int64_t v, int width) { return with_zeros(shortest(v), width); }
std::string hexadecimal_text(std::uint64_t v, int width) { return with_zeros(shortest(v, 16), width); }

std::string printf_text(const std::string& format, double v) { return printed(format, v); }
std::string printf_text(const std::string& format, long long v) { return printed(format, v); }
std::string printf_text(const std::string& format, const char* v) { return printed(format, v); }

std::optional<std::int64_t> parse_integer(std::string_view text) { return whole_number<std::int64_t>(text); }
std::optional<double> parse_real(std::string_view text) { return whole_number<double>(text); }

std::int64_t leading_integer(std::string_view text) {
  while (!text.empty() && is_ascii_space(text[0])) text.remove_prefix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

namespace {

// Returns the number of bytes of the UTF-8 character at the beginning of the text; 0 if there is none, or if it is a
// control character.
std::size_t shown_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return (lead >= 0x20 && lead != 0x7f) || lead == '\n' || lead == '\t' ? 1 : 0;
  const std::size_t n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool is_longer_than_needed = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool is_surrogate = lead == 0xed && byte(1) >= 0xa0, is_too_large = lead == 0xf4 && byte(1) >= 0x90;
  const bool is_control = lead == 0xc2 && byte(1) < 0xa0;  // U+0080 to U+009F
  return is_longer_than_needed || is_surrogate || is_too_large || is_control ? 0 : n;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t n = shown_character(text);
    if (n > 0) shown += text.substr(0, n);
    else shown += "\\x" + hexadecimal_text(static_cast<unsigned char>(text[0]), 2);
    text.remove_prefix(std::max<std::size_t>(n, 1));
  }
  return shown;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), ascii_lower);
  return text;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (auto begin = text.begin();;) {
    begin = std::find_if_not(begin, text.end(), is_ascii_space);
    if (begin == text.end()) return words;
    const auto end = std::find_if(begin, text.end(), is_ascii_space);
    words.emplace_back(begin, end);
    begin = end;
  }
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace catena
