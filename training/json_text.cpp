#include <catena/training/json_text.h>

#include <charconv>
#include <cmath>
#include <limits>

#include <catena/kernels/base/error.h>

namespace training::internal {

using catena::check;
using catena::ValueError;

std::string json_of(const std::string& text) {
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

std::string json_of(const LogValue& value) {
  if (value.is_integer()) return std::to_string(value.integer());
  if (value.is_text()) return json_of(value.text());
  const double d = value.number();
  if (std::isfinite(d)) return repr(d);
  return std::isnan(d) ? "NaN" : d < 0 ? "-Infinity" : "Infinity";
}

std::string json_of(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() == 1 ? "" : ", ") + json_of(text);
  return out + "]";
}

namespace {

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += char(c);
  } else if (c < 0x800) {
    out += {char(0xC0 | (c >> 6)), char(0x80 | (c & 63))};
  } else if (c < 0x10000) {
    out += {char(0xE0 | (c >> 12)), char(0x80 | ((c >> 6) & 63)), char(0x80 | (c & 63))};
  } else {
    out += {char(0xF0 | (c >> 18)), char(0x80 | ((c >> 12) & 63)), char(0x80 | ((c >> 6) & 63)), char(0x80 | (c & 63))};
  }
}

}  // namespace

LogValue JsonReader::value() {
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

std::string JsonReader::string() {
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
std::uint32_t JsonReader::code_point() {
  const std::uint32_t high = hex4();
  if (high < 0xD800 || high > 0xDFFF) return high;
  check<ValueError>(high < 0xDC00 && next() == '\\' && next() == 'u', context_, "half a surrogate pair at byte ", at_);
  const std::uint32_t low = hex4();
  check<ValueError>(low >= 0xDC00 && low <= 0xDFFF, context_, "half a surrogate pair at byte ", at_);
  return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

std::uint32_t JsonReader::hex4() {
  check<ValueError>(text_.size() - at_ >= 4, context_, "the text ends within an escape");
  std::uint32_t unit = 0;
  const char* const begin = text_.data() + at_;
  check<ValueError>(std::from_chars(begin, begin + 4, unit, 16).ptr == begin + 4, context_,
                    "no hexadecimal digits at byte ", at_);
  at_ += 4;
  return unit;
}

void JsonReader::skip() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
    ++at_;
}
char JsonReader::next() {
  check<ValueError>(at_ < text_.size(), context_, "the text ends within a string");
  return text_[at_++];
}
bool JsonReader::accept(char c) {
  skip();
  const bool there = at_ < text_.size() && text_[at_] == c;
  at_ += there;
  return there;
}
void JsonReader::expect(char c) {
  check<ValueError>(accept(c), context_, "'", c, "' is needed at byte ", at_, " of ", text_.size());
}
bool JsonReader::word(std::string_view w) {
  const bool there = text_.substr(at_).starts_with(w);
  if (there) at_ += w.size();
  return there;
}

double JsonReader::number() {
  const LogValue read = value();
  check<ValueError>(!read.is_text(), context_, "a number is needed before byte ", at_);
  return read.number();
}

void JsonReader::finish() {
  skip();
  check<ValueError>(at_ == text_.size(), context_, "text follows the end at byte ", at_);
}

std::vector<std::string> JsonReader::strings() {
  std::vector<std::string> result;
  expect('[');
  if (!accept(']')) {
    do {
      skip();
      result.push_back(string());
    } while (accept(','));
    expect(']');
  }
  finish();
  return result;
}

}  // namespace training::internal
