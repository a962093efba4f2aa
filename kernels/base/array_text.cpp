#include <catena/kernels/base/array_text.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>

namespace catena {
namespace {

// The bytes of a bool may have any value.
template <class E> using Storable = std::conditional_t<std::is_same_v<E, bool>, unsigned char, E>;

bool is_summarised(const Shape& shape, const PrintOptions& options) { return size_of(shape) > options.threshold; }

// ---- floats -------------------------------------------------------------------------------------
constexpr int kMostDigits = 1100;  // no double has more digits behind the point

// A value as 0.DIGITS x 10^exponent with the fewest digits that identify it in its dtype; "0" for zero.
struct Decimal {
  std::string digits;
  int exponent;
};

Decimal from_scientific(const std::string& text) {
  const std::size_t e = text.find('e');
  Decimal d{text.substr(0, 1), int(leading_integer(text.substr(e + 1))) + 1};
  if (e > 2) d.digits += text.substr(2, e - 2);
  d.digits.erase(std::max<std::size_t>(d.digits.find_last_not_of('0') + 1, 1));
  if (d.digits == "0") d.exponent = 1;
  return d;
}

template <class E> Decimal shortest(double magnitude) {
  if constexpr (std::is_same_v<E, float> || std::is_same_v<E, double>) {
    char text[64];
    const auto end =
        std::to_chars(text, text + sizeof text, static_cast<E>(magnitude), std::chars_format::scientific).ptr;
    return from_scientific(std::string(text, end));
  } else {
    // Five digits identify every 16-bit value. At powers of two the spacing below is finer than above; the next decimal
    // above may identify the value there although the nearest decimal does not.
    const auto identifies = [&](const std::string& text) {
      return static_cast<float>(E(static_cast<float>(parse_real(text).value()))) == static_cast<float>(magnitude);
    };
    for (int digits = 0; digits < 5; ++digits) {
      const std::string nearest = scientific_text(magnitude, digits);
      if (identifies(nearest)) return from_scientific(nearest);
      const double unit =
          std::pow(10.0, static_cast<double>(leading_integer(nearest.substr(nearest.find('e') + 1)) - digits));
      const std::string above = scientific_text(parse_real(nearest).value() + unit, digits);
      if (identifies(above)) return from_scientific(above);
    }
    return from_scientific(scientific_text(magnitude, 5));
  }
}

void trim_zeros(std::string& s) { s.erase(s.find_last_not_of('0') + 1); }

// A number split at its decimal point; the fraction has trailing zeros only if the number of digits is fixed.
struct Parts {
  std::string whole, fraction;  // the whole part includes the sign; neither includes the point
  std::string exponent;         // "+08"
};

Parts split_text(const std::string& text) {
  const std::size_t e = std::min(text.find('e'), text.size()), point = std::min(text.find('.'), e);
  Parts p;
  p.whole = text.substr(0, point);
  if (point < e) p.fraction = text.substr(point + 1, e - point - 1);
  if (e < text.size()) p.exponent = text.substr(e + 1);
  return p;
}

// Splits a number with at most `precision` digits behind the point.
template <class E> Parts positional(double v, int precision) {
  const Decimal d = shortest<E>(std::abs(v));
  const int behind = static_cast<int>(d.digits.size()) - d.exponent;
  Parts p;
  if (behind > precision) p = split_text(fixed_text(v, precision));
  else if (behind <= 0) p = split_text(fixed_text(v, 0));
  else {
    const std::string sign = std::signbit(v) ? "-" : "";
    p.whole = sign + (d.exponent > 0 ? d.digits.substr(0, std::size_t(d.exponent)) : "0");
    p.fraction = d.exponent > 0 ? d.digits.substr(std::size_t(d.exponent))
                                : std::string(std::size_t(-d.exponent), '0') + d.digits;
  }
  trim_zeros(p.fraction);
  return p;
}

template <class E> Parts scientific(double v, int precision) {
  const int digits = static_cast<int>(shortest<E>(std::abs(v)).digits.size()) - 1;
  Parts p = split_text(scientific_text(v, std::min(digits, precision)));
  trim_zeros(p.fraction);
  return p;
}

// The magnitudes from which on NumPy prints exponents: 10 to the power of the type's decimal digits; in arrays at most
// 1e8.
template <class E>
constexpr double kScalarCutoff = std::is_same_v<E, double>    ? 1e16
                                 : std::is_same_v<E, float16> ? 1e3
                                                              : 1e6;
template <class E> constexpr double kArrayCutoff = std::is_same_v<E, double> ? 1e8 : kScalarCutoff<E>;

// Formats a single number with at most `precision` digits behind the point.
template <class E> std::string rounded_number(double v, int precision) {
  const double magnitude = std::abs(v);
  if (magnitude != 0 && (magnitude >= kScalarCutoff<E> || magnitude < 1e-4)) {
    const Parts p = scientific<E>(v, precision);
    return concat(p.whole, p.fraction.empty() ? "" : ".", p.fraction, "e", p.exponent);
  }
  const Parts p = positional<E>(v, precision);
  return concat(p.whole, ".", p.fraction.empty() ? "0" : p.fraction);
}

// Formats a single number as NumPy prints its scalars; rounded if there is a precision.
template <class E> std::string number(double v, std::optional<int> precision = {}) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  if (precision) return rounded_number<E>(v, std::min(*precision, kMostDigits));
  const double magnitude = std::abs(v);
  const Decimal d = shortest<E>(magnitude);
  const std::string sign = std::signbit(v) ? "-" : "";
  const int n = static_cast<int>(d.digits.size());
  if (magnitude != 0 && (magnitude >= kScalarCutoff<E> || magnitude < 1e-4)) {
    const std::string fraction = n > 1 ? "." + d.digits.substr(1) : "";
    const int exponent = d.exponent - 1;
    return sign + d.digits[0] + fraction + (exponent < 0 ? "e-" : "e+") + padded_text(std::abs(exponent), 2);
  }
  if (d.exponent <= 0) return sign + "0." + std::string(std::size_t(-d.exponent), '0') + d.digits;
  if (n <= d.exponent) return sign + d.digits + std::string(std::size_t(d.exponent - n), '0') + ".0";
  return sign + d.digits.substr(0, std::size_t(d.exponent)) + "." + d.digits.substr(std::size_t(d.exponent));
}

// The common format of all floats of an array: scientific or not, and the widths on both sides of the point.
template <class E> class FloatFormat {
 public:
  // `plus`: numbers that are not negative have a sign, too.
  FloatFormat(const std::vector<E>& values, const PrintOptions& options, bool plus = false)
      : precision_(std::min(options.precision, kMostDigits)), plus_(plus) {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const E e : values) {
      const double m = std::abs(static_cast<double>(e));
      if (!std::isfinite(m) || m == 0) continue;
      low = std::min(low, m);
      high = std::max(high, m);
    }
    if (high > 0) {
      const double ratio = static_cast<double>(E(static_cast<Compute>(high) / static_cast<Compute>(low)));
      scientific_ = high >= kArrayCutoff<E> || (!options.suppress_small && (low < 1e-4 || ratio > 1000));
    }
    measure(values);
  }

  std::string operator()(double v) const {
    if (!std::isfinite(v)) {
      const std::string text = concat(plus_ && !(v < 0) ? "+" : "", std::isnan(v) ? "nan" : (v < 0 ? "-inf" : "inf"));
      return std::string(std::size_t(std::max(left_ + right_ + 1 - int(text.size()), 0)), ' ') + text;
    }
    if (scientific_) {
      Parts p = split_text(scientific_text(v, precision_));
      while (int(p.exponent.size()) < exponent_ + 1) p.exponent.insert(1, "0");
      return padded(signed_whole(p, v)) + "." + p.fraction + "e" + p.exponent;
    }
    const Parts p = positional<E>(v, precision_);
    return padded(signed_whole(p, v)) + "." + p.fraction +
           std::string(std::size_t(std::max(right_ - int(p.fraction.size()), 0)), ' ');
  }

 private:
  using Compute = std::conditional_t<std::is_same_v<E, double>, double, float>;

  std::string padded(const std::string& whole) const {
    return std::string(std::size_t(std::max(left_ - int(whole.size()), 0)), ' ') + whole;
  }

  std::string signed_whole(const Parts& p, double v) const {
    return plus_ && !std::signbit(v) ? "+" + p.whole : p.whole;
  }

  void measure(const std::vector<E>& values) {
    bool special = false, negative_infinity = plus_;
    int fraction = 0;
    for (const E e : values) {
      const double v = static_cast<double>(e);
      if (!std::isfinite(v)) {
        special = true;
        negative_infinity |= std::isinf(v) && v < 0;
        continue;
      }
      const Parts p = scientific_ ? scientific<E>(v, precision_) : positional<E>(v, precision_);
      left_ = std::max(left_, int(signed_whole(p, v).size()));
      fraction = std::max(fraction, int(p.fraction.size()));
      exponent_ = std::max(exponent_, int(p.exponent.size()) - 1);
    }
    right_ = fraction;
    if (scientific_) {
      precision_ = fraction;
      right_ = exponent_ + 2 + fraction;
    }
    if (special) left_ = std::max({left_, 3 - (right_ + 1), (negative_infinity ? 4 : 3) - (right_ + 1)});
  }

  int precision_;
  bool plus_, scientific_ = false;
  int left_ = 0, right_ = 0, exponent_ = 0;  // width of the whole part, width of the fraction, digits of the exponent
};

// ---- elements -----------------------------------------------------------------------------------
void align_right(std::vector<std::string>& words) {
  std::size_t width = 0;
  for (const std::string& w : words) width = std::max(width, w.size());
  for (std::string& w : words) w.insert(0, width - w.size(), ' ');
}

// Real and imaginary parts are aligned separately; the j follows the last digit: " 1. +2.5j".
template <class R>
std::vector<std::string> complex_words(const std::vector<complex<R>>& values, const PrintOptions& options) {
  std::vector<R> re, im;
  for (const complex<R> z : values) re.push_back(z.re), im.push_back(z.im);
  const FloatFormat<R> real(re, options), imaginary(im, options, true);
  std::vector<std::string> words;
  for (const complex<R> z : values) {
    std::string part = imaginary(static_cast<double>(z.im));
    part.insert(part.find_last_not_of(' ') + 1, "j");
    words.push_back(real(static_cast<double>(z.re)) + part);
  }
  return words;
}

// Formats a single complex number as NumPy prints it: (1+2j), 2j.
template <class R> std::string complex_number(complex<R> z, std::optional<int> precision) {
  const auto part = [&](R v) {
    std::string text = number<R>(static_cast<double>(v), precision);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text;
  };
  if (z.re == R(0) && !std::signbit(z.re)) return part(z.im) + "j";
  return concat("(", part(z.re), std::signbit(z.im) && !std::isnan(z.im) ? "" : "+", part(z.im), "j)");
}

std::vector<std::string> words_of(const HostElements& a, const PrintOptions& options) {
  std::vector<std::string> words;
  visit_dtype(a.dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    std::vector<Storable<E>> values(a.bytes.size() / sizeof(E));
    std::memcpy(values.data(), a.bytes.data(), a.bytes.size());
    words.reserve(values.size());
    if constexpr (std::is_same_v<E, bool>) {
      for (const auto v : values) words.emplace_back(v != 0 ? "True" : "False");
      if (!a.shape.empty())  // True has a leading space even if the array has no False
        for (std::string& w : words) w.insert(0, 5 - w.size(), ' ');
    } else if constexpr (std::is_integral_v<E>) {
      for (const E v : values) words.push_back(std::to_string(v));
      align_right(words);
    } else if constexpr (is_complex<E>) {
      words = complex_words(values, options);
    } else {
      const FloatFormat<E> format(values, options);
      for (const E v : values) words.push_back(format(static_cast<double>(v)));
    }
  });
  return words;
}

// ---- rows ---------------------------------------------------------------------------------------
class Layout {
 public:
  Layout(const HostElements& a, const PrintOptions& options, std::string_view separator)
      : shape_(a.shape),
        separator_(separator),
        short_separator_(separator.substr(0, separator.find(' '))),
        edge_(options.edgeitems),
        summarised_(is_summarised(a.shape, options)),
        words_(words_of(a, options)) {}

  // Lines after the first begin with `indent`.
  std::string text(const std::string& indent, int width) {
    next_ = 0;
    return block(0, indent, width);
  }

 private:
  bool shortens(int axis) const { return summarised_ && shape_[axis] > 2 * edge_; }
  // Returns the number of elements shown of an axis; in a summary, "..." precedes element edge_.
  std::int64_t shown(int axis) const { return shortens(axis) ? 2 * edge_ : shape_[axis]; }

  std::string block(int axis, const std::string& indent, int width) {
    if (axis == shape_.size()) return words_[next_++];
    std::string s = axis == shape_.size() - 1 ? line(axis, indent, width) : lines(axis, indent, width);
    return "[" + s.substr(indent.size()) + "]";
  }

  std::string lines(int axis, const std::string& indent, int width) {
    const std::string end = short_separator_ + std::string(std::size_t(shape_.size() - axis - 1), '\n');
    const std::int64_t n = shown(axis);
    std::string s;
    if (shortens(axis) && n == 0) s += indent + "..." + end;
    for (std::int64_t i = 0; i < n; ++i) {
      if (shortens(axis) && i == edge_) s += indent + "..." + end;
      s += indent + block(axis + 1, indent + " ", width - 1);
      if (i < n - 1) s += end;
    }
    return s;
  }

  std::string line(int axis, const std::string& indent, int width) {
    const int limit = width - std::max(int(short_separator_.size()), 1);
    const std::int64_t n = shown(axis);
    std::string done, current = indent;
    const auto add = [&](const std::string& word) {
      // A word longer than a line is not moved to a new line.
      if (current.size() > indent.size() && int(current.size() + word.size()) > limit) {
        while (!current.empty() && current.back() == ' ') current.pop_back();
        done += current + "\n";
        current = indent;
      }
      current += word;
    };
    for (std::int64_t i = 0; i < n; ++i) {
      if (shortens(axis) && i == edge_) {
        add("...");
        current += separator_;
      }
      add(words_[next_++]);
      if (i < n - 1) current += separator_;
    }
    if (shortens(axis) && n == 0) add("...");
    return done + current;
  }

  Shape shape_;
  std::string separator_, short_separator_;
  int edge_;
  bool summarised_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

}  // namespace

std::string array_text(const HostElements& a, const PrintOptions& options, const TextLayout& layout) {
  if (size_of(a.shape) == 0) return "[]";
  return Layout(a, options, layout.separator)
      .text(std::string(1 + layout.prefix, ' '), options.linewidth - layout.suffix);
}

std::string element_text(const HostElements& a, std::optional<int> precision) {
  return visit_dtype(a.dtype, [&](auto tag) -> std::string {
    using E = typename decltype(tag)::type;
    Storable<E> value;
    std::memcpy(&value, a.bytes.data(), sizeof value);
    if constexpr (std::is_same_v<E, bool>) return value != 0 ? "True" : "False";
    else if constexpr (std::is_integral_v<E>) return std::to_string(value);
    else if constexpr (is_complex<E>) return complex_number(value, precision);
    else return number<E>(static_cast<double>(value), precision);
  });
}

namespace {

PrintOptions& options_of_thread() noexcept {
  static thread_local PrintOptions options;
  return options;
}

}  // namespace

const PrintOptions& get_printoptions() noexcept { return options_of_thread(); }
void set_printoptions(const PrintOptions& o) {
  check<ValueError>(o.precision >= 0 && o.threshold >= 0 && o.edgeitems >= 0 && o.linewidth >= 0, "set_printoptions",
                    "precision ", o.precision, ", threshold ", o.threshold, ", edgeitems ", o.edgeitems,
                    " and linewidth ", o.linewidth, " cannot be negative");
  options_of_thread() = o;
}
printoptions::printoptions(const PrintOptions& options) : before_(get_printoptions()) { set_printoptions(options); }
printoptions::~printoptions() { options_of_thread() = before_; }

}  // namespace catena
