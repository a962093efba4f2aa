#include <catena/training/log_entry.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <catena/kernels/base/error.h>

namespace training {

using catena::check;
using catena::KeyError;
using catena::ValueError;

void LogEntry::set(const std::string& key, LogValue value) {
  for (Item& item : items_) {
    if (item.first == key) {
      item.second = std::move(value);
      return;
    }
  }
  items_.emplace_back(key, std::move(value));
}

void LogEntry::erase(std::string_view key) {
  std::erase_if(items_, [&](const Item& item) { return item.first == key; });
}

const LogValue* LogEntry::find(std::string_view key) const noexcept {
  for (const Item& item : items_)
    if (item.first == key) return &item.second;
  return nullptr;
}

const LogValue& LogEntry::at(std::string_view key) const {
  if (const LogValue* found = find(key)) return *found;
  std::string keys;
  for (const Item& item : items_) keys += (keys.empty() ? "" : ", ") + item.first;
  catena::fail<KeyError>("LogEntry", "there is no value ", key, " (there are: ", keys, ")");
}

double LogEntry::number(std::string_view key) const {
  const LogValue& value = at(key);
  if (const auto* i = std::get_if<std::int64_t>(&value)) return double(*i);
  check<catena::TypeError>(std::holds_alternative<double>(value), "LogEntry", "the value of ", key, " is a text");
  return std::get<double>(value);
}

std::string repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific).ptr;
  const std::string text(buffer, end);
  const std::size_t e = text.find('e');
  const int exponent = std::atoi(text.c_str() + e + 1);
  const bool negative = text[0] == '-';
  std::string digits = text.substr(negative, e - negative);
  if (digits.size() > 1) digits.erase(1, 1);  // removes the decimal point
  const int n = int(digits.size());
  std::string result;
  if (exponent < -4 || exponent >= 16) {  // Python's limits of exponent notation
    result = digits.substr(0, 1) + (n > 1 ? "." + digits.substr(1) : "") + (exponent < 0 ? "e-" : "e+");
    result += (std::abs(exponent) < 10 ? "0" : "") + std::to_string(std::abs(exponent));
  } else if (exponent < 0) {
    result = "0." + std::string(std::size_t(-exponent - 1), '0') + digits;
  } else if (n <= exponent + 1) {
    result = digits + std::string(std::size_t(exponent + 1 - n), '0') + ".0";
  } else {
    result = digits.substr(0, std::size_t(exponent) + 1) + "." + digits.substr(std::size_t(exponent) + 1);
  }
  return negative ? "-" + result : result;
}

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          constexpr char hex[] = "0123456789abcdef";
          out += "\\u00";
          out += hex[c >> 4];
          out += hex[c & 15];
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

std::string value_json(const LogValue& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
  if (const auto* s = std::get_if<std::string>(&value)) return quoted(*s);
  const double d = std::get<double>(value);
  if (std::isfinite(d)) return repr(d);
  return std::isnan(d) ? "NaN" : d < 0 ? "-Infinity" : "Infinity";
}

// A list of flat objects is read without recursion, so no input can overflow the stack.
class Reader {
 public:
  Reader(std::string_view text, std::string_view context) : text_(text), context_(context) {}

  Log log() {
    Log result;
    expect('[');
    if (!accept(']')) {
      do result.push_back(entry());
      while (accept(','));
      expect(']');
    }
    skip();
    check<ValueError>(at_ == text_.size(), context_, "text follows the end of the log at byte ", at_);
    return result;
  }

 private:
  LogEntry entry() {
    LogEntry result;
    expect('{');
    if (accept('}')) return result;
    do {
      const std::string key = string();
      expect(':');
      result.set(key, value());
    } while (accept(','));
    expect('}');
    return result;
  }

  LogValue value() {
    skip();
    if (at_ < text_.size() && text_[at_] == '"') return string();
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    if (word("NaN") || word("null")) return nan;
    if (word("Infinity")) return inf;
    if (word("-Infinity")) return -inf;
    if (word("true")) return std::int64_t(1);
    if (word("false")) return std::int64_t(0);
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    std::int64_t integer = 0;
    const auto as_integer = std::from_chars(begin, end, integer);
    double number = 0;
    const auto as_number = std::from_chars(begin, end, number);
    check<ValueError>(as_number.ec == std::errc() && as_number.ptr != begin, context_,
                      "a number or a text is needed at byte ", at_);
    at_ += std::size_t(as_number.ptr - begin);
    if (as_integer.ec == std::errc() && as_integer.ptr == as_number.ptr) return integer;
    return number;
  }

  std::string string() {
    expect('"');
    std::string result;
    while (true) {
      const char c = next();
      if (c == '"') return result;
      if (c != '\\') {
        result += c;
        continue;
      }
      switch (const char escape = next()) {
        case 'n': result += '\n'; break;
        case 'r': result += '\r'; break;
        case 't': result += '\t'; break;
        case 'b': result += '\b'; break;
        case 'f': result += '\f'; break;
        case 'u': append_utf8(result, code_point()); break;
        default:
          check<ValueError>(escape == '"' || escape == '\\' || escape == '/', context_, "an unknown escape at byte ",
                            at_ - 1);
          result += escape;
      }
    }
  }

  // Reads after "\u": one code unit or a surrogate pair.
  std::uint32_t code_point() {
    const std::uint32_t high = hex4();
    if (high < 0xD800 || high > 0xDFFF) return high;
    check<ValueError>(high < 0xDC00 && next() == '\\' && next() == 'u', context_, "half a surrogate pair at byte ",
                      at_);
    const std::uint32_t low = hex4();
    check<ValueError>(low >= 0xDC00 && low <= 0xDFFF, context_, "half a surrogate pair at byte ", at_);
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }

  std::uint32_t hex4() {
    check<ValueError>(text_.size() - at_ >= 4, context_, "the text ends within an escape");
    std::uint32_t unit = 0;
    const char* const begin = text_.data() + at_;
    check<ValueError>(std::from_chars(begin, begin + 4, unit, 16).ptr == begin + 4, context_,
                      "no hexadecimal digits at byte ", at_);
    at_ += 4;
    return unit;
  }

  static void append_utf8(std::string& out, std::uint32_t c) {
    if (c < 0x80) {
      out += char(c);
    } else if (c < 0x800) {
      out += {char(0xC0 | (c >> 6)), char(0x80 | (c & 63))};
    } else if (c < 0x10000) {
      out += {char(0xE0 | (c >> 12)), char(0x80 | ((c >> 6) & 63)), char(0x80 | (c & 63))};
    } else {
      out +=
          {char(0xF0 | (c >> 18)), char(0x80 | ((c >> 12) & 63)), char(0x80 | ((c >> 6) & 63)), char(0x80 | (c & 63))};
    }
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }
  char next() {
    check<ValueError>(at_ < text_.size(), context_, "the text ends within a string");
    return text_[at_++];
  }
  bool accept(char c) {
    skip();
    const bool there = at_ < text_.size() && text_[at_] == c;
    at_ += there;
    return there;
  }
  void expect(char c) {
    check<ValueError>(accept(c), context_, "'", c, "' is needed at byte ", at_, " of ", text_.size());
  }
  bool word(std::string_view w) {
    const bool there = text_.substr(at_).starts_with(w);
    if (there) at_ += w.size();
    return there;
  }

  std::string_view text_, context_;
  std::size_t at_ = 0;
};

}  // namespace

std::string to_json(const Log& log, int indent) {
  const bool lines = indent >= 0;
  const std::string outer = lines ? "\n" + std::string(std::size_t(indent), ' ') : "";
  const std::string inner = lines ? outer + std::string(std::size_t(indent), ' ') : "";
  const std::string separator = lines ? "," : ", ";
  if (log.empty()) return "[]";
  std::string out = "[";
  for (std::size_t i = 0; i < log.size(); ++i) {
    out += (i == 0 ? "" : separator) + outer + "{";
    bool first = true;
    for (const auto& [key, value] : log[i]) {
      out += (first ? "" : separator) + inner + quoted(key) + ": " + value_json(value);
      first = false;
    }
    out += (log[i].size() == 0 ? "" : outer) + "}";
  }
  return out + (lines ? "\n]" : "]");
}

Log log_from_json(std::string_view text, std::string_view context) { return Reader(text, context).log(); }

}  // namespace training
