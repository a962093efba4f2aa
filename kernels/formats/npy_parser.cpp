#include <catena/kernels/formats/npy_parser.h>

#include <charconv>

namespace catena {
namespace {

// Parser of the Python literals that occur in a header: strings, True and False, tuples of integers.
class Parser {
 public:
  Parser(const std::string& context, std::string_view text) : context_(context), text_(text) {}

  NpyDictionary dictionary() {
    NpyDictionary d;
    bool have_descr = false, have_order = false, have_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !have_descr) {
        have_descr = true;
        d.descr = descr();
      } else if (key == "fortran_order" && !have_order) {
        have_order = true;
        d.fortran_order = boolean();
      } else if (key == "shape" && !have_shape) {
        have_shape = true;
        d.shape = shape();
      } else {
        fail<ValueError>(context_, "header key '", printable(key),
                         "' is repeated or not one of descr, fortran_order, shape");
      }
      if (!accept(',') && peek() != '}') wrong("',' or '}'");
    }
    const char* missing = !have_descr ? "descr" : !have_order ? "fortran_order" : !have_shape ? "shape" : nullptr;
    if (missing) fail<ValueError>(context_, "header has no key '", missing, "'");
    if (peek() != '\0' || at_ < text_.size()) wrong("its end");
    return d;
  }

 private:
  // Returns the next character that is not white space; NUL at the end.
  char peek() {
    while (at_ < text_.size() && std::string_view(" \t\n\r\f\v").find(text_[at_]) != std::string_view::npos) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (at_ >= text_.size() || peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    const char text[] = {'\'', c, '\'', '\0'};
    if (!accept(c)) wrong(text);
  }

  std::string string() {
    if (peek() == 'u' || peek() == 'b') ++at_;  // Python 2 and some other writers prefix strings
    const char quote = peek();
    if (quote != '\'' && quote != '"') wrong("a string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) wrong("a string that ends");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(inside);
  }

  std::string descr() {
    if (peek() == '[' || peek() == '(')
      fail<ValueError>(context_, "structured elements are not supported (", printable(text_.substr(at_, 40)), "...)");
    std::string text = string();
    if (text.size() > 64 || printable(text) != text)
      fail<ValueError>(context_, "descr '", printable(text), "' is no element type");
    return text;
  }

  bool boolean() {
    peek();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    wrong("True or False");
  }

  Shape shape() {
    Shape result;
    expect('(');
    while (!accept(')')) {
      const std::int64_t n = integer();
      if (result.size() == kMaxRank) fail<ValueError>(context_, "shape has more than ", kMaxRank, " axes");
      result.push_back(n);
      const bool comma = accept(',');
      if (!comma && peek() != ')') wrong("',' or ')'");
      if (!comma && result.size() == 1) wrong("',': a tuple of one length needs it");
    }
    return result;
  }

  std::int64_t integer() {
    peek();
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range)
      fail<ValueError>(context_, "a length of the shape does not fit 63 bits");
    if (error != std::errc()) wrong("an integer");
    if (value < 0) fail<ValueError>(context_, "shape has the negative length ", value);
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 marks long integers with an L
    return value;
  }

  [[noreturn]] void wrong(std::string_view expected) {
    fail<ValueError>(context_, "header is malformed at byte ", at_, " (",
                     printable(text_.substr(std::min(at_, text_.size()), 16)), "): expected ", expected);
  }

  // Prepares text for error messages, which go to terminals and logs: bytes that are not printable ASCII become '?'.
  static std::string printable(std::string_view text) {
    std::string result(text.substr(0, 80));
    for (char& c : result)
      if (c < ' ' || c > '~') c = '?';
    return result;
  }

  const std::string& context_;
  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_code_point(char32_t c) { return c < 0xd800 || (c > 0xdfff && c <= 0x10ffff); }

}  // namespace

NpyDictionary parse_npy_dictionary(const std::string& context, std::string_view text) {
  return Parser(context, text).dictionary();
}

std::string utf8_of(std::span<const char32_t> points) {
  std::string s;
  s.reserve(points.size());
  for (const char32_t c : points) {
    check<ValueError>(is_code_point(c), "text", "U+", static_cast<std::uint32_t>(c),
                      " (decimal) is no Unicode code point");
    const auto tail = [&](int shift) { s += static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
    if (c < 0x80) {
      s += static_cast<char>(c);
    } else if (c < 0x800) {
      s += static_cast<char>(0xc0 | (c >> 6));
      tail(0);
    } else if (c < 0x10000) {
      s += static_cast<char>(0xe0 | (c >> 12));
      tail(6), tail(0);
    } else {
      s += static_cast<char>(0xf0 | (c >> 18));
      tail(12), tail(6), tail(0);
    }
  }
  return s;
}

std::vector<char32_t> code_points_of(std::string_view utf8) {
  constexpr char32_t kSmallest[] = {
      0, 0x80, 0x800,
      0x10000};  // the least code point by number of continuation bytes: longer encodings of a code point are invalid
  std::vector<char32_t> points;
  points.reserve(utf8.size());
  for (std::size_t i = 0; i < utf8.size();) {
    const auto lead = static_cast<unsigned char>(utf8[i]);
    const std::size_t more = lead < 0x80 ? 0 : lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    bool valid = lead < 0x80 || (lead >= 0xc2 && lead <= 0xf4);
    valid = valid && more < utf8.size() - i;
    char32_t c = more == 0 ? lead : lead & (0x3f >> more);
    for (std::size_t k = 1; valid && k <= more; ++k) {
      const auto byte = static_cast<unsigned char>(utf8[i + k]);
      valid = (byte & 0xc0) == 0x80;
      c = c << 6 | (byte & 0x3f);
    }
    check<ValueError>(valid && is_code_point(c) && c >= kSmallest[more], "text", "byte ", i, " of ", utf8.size(),
                      " is no valid UTF-8");
    points.push_back(c);
    i += more + 1;
  }
  return points;
}

}  // namespace catena
