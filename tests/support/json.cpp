#include <catena/tests/support/json.h>

#include <charconv>
#include <ostream>

#include <catena/kernels/base/error.h>

namespace test {

Json::Json() = default;
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  Json whole() {
    Json v = value();
    skip_space();
    if (at_ != text_.size()) fail("the end of the text");
    return v;
  }

 private:
  [[noreturn]] void fail(const char* expected) const {
    catena::fail<catena::ValueError>("Json", "character ", at_, ": expected ", expected);
  }
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool take(std::string_view part) {
    skip_space();
    if (!text_.substr(at_).starts_with(part)) return false;
    at_ += part.size();
    return true;
  }
  void expect(const char* part) {
    if (!take(part)) fail(part);
  }

  Json value() {
    Json v;
    if (take("null")) return v;
    if (const bool yes = take("true"); yes || take("false")) {
      v.kind_ = Json::Kind::boolean;
      v.integer_ = yes;
    } else if (take("\"")) {
      v.kind_ = Json::Kind::text;
      v.text_ = rest_of_string();
    } else if (take("[")) {
      v.kind_ = Json::Kind::list;
      if (take("]")) return v;
      do v.list_.push_back(value());
      while (take(","));
      expect("]");
    } else if (take("{")) {
      v.kind_ = Json::Kind::object;
      if (take("}")) return v;
      do {
        expect("\"");
        std::string key = rest_of_string();
        expect(":");
        v.members_.emplace_back(std::move(key), value());
      } while (take(","));
      expect("}");
    } else {
      number(v);
    }
    return v;
  }

  void number(Json& v) {
    const std::size_t length = text_.substr(at_).find_first_not_of("+-.0123456789Ee");
    const std::string_view digits = text_.substr(at_, length);
    const char* const end = digits.data() + digits.size();
    if (digits.find_first_of(".Ee") == std::string_view::npos) {
      v.kind_ = Json::Kind::integer;
      std::int64_t negative = 0;
      const auto r = digits.starts_with('-') ? std::from_chars(digits.data(), end, negative)
                                             : std::from_chars(digits.data(), end, v.integer_);
      if (r.ec != std::errc() || r.ptr != end) fail("a number");
      if (negative != 0) v.integer_ = std::uint64_t(negative);
      v.real_ = negative != 0 ? double(negative) : double(v.integer_);
      v.negative_ = negative != 0;
    } else {
      v.kind_ = Json::Kind::real;
      const auto r = std::from_chars(digits.data(), end, v.real_);
      if (r.ec != std::errc() || r.ptr != end) fail("a number");
    }
    at_ += digits.size();
  }

  unsigned code_unit() {
    unsigned unit = 0;
    const char* const first = text_.data() + at_;
    if (text_.size() - at_ < 4 || std::from_chars(first, first + 4, unit, 16).ptr != first + 4) fail("4 hex digits");
    at_ += 4;
    return unit;
  }

  std::string rest_of_string() {
    std::string s;
    for (;;) {
      if (at_ == text_.size()) fail("the end of a string");
      const char c = text_[at_++];
      if (c == '"') return s;
      if (c != '\\') {
        s += c;
        continue;
      }
      if (at_ == text_.size()) fail("an escape");
      const char escape = text_[at_++];
      const std::size_t known = std::string_view("\"\\/bfnrt").find(escape);
      if (known != std::string_view::npos) {
        s += "\"\\/\b\f\n\r\t"[known];
        continue;
      }
      if (escape != 'u') fail("an escape");
      unsigned code = code_unit();
      if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_).starts_with("\\u")) {
        at_ += 2;
        code = 0x10000 + ((code - 0xd800) << 10) + (code_unit() - 0xdc00);
      }
      const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes that follow, in UTF-8
      constexpr unsigned kFirst[] = {0, 0xc0, 0xe0, 0xf0};
      s += char(kFirst[more] | code >> 6 * more);
      for (int k = more - 1; k >= 0; --k) s += char(0x80 | (code >> 6 * k & 0x3f));
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Json Json::parse(std::string_view text) { return JsonParser(text).whole(); }

void Json::wrong_kind(const char* wanted) const { catena::fail<catena::TypeError>("Json", dump(), " is no ", wanted); }

std::size_t Json::size() const { return is_array() ? list_.size() : is_object() ? members_.size() : is_null() ? 0 : 1; }
const Json* Json::begin() const {
  if (!is_array()) wrong_kind("list");
  return list_.data();
}
const Json* Json::end() const { return begin() + list_.size(); }
const Json::Members& Json::items() const {
  if (!is_object()) wrong_kind("object");
  return members_;
}

bool Json::contains(std::string_view key) const {
  for (const auto& m : members_)
    if (m.first == key) return true;
  return false;
}
const Json& Json::at(std::string_view key) const {
  for (const auto& m : members_)
    if (m.first == key) return m.second;
  catena::fail<catena::KeyError>("Json", "\"", key, "\" is not in ", dump());
}
const Json& Json::element(std::size_t i) const {
  catena::check<catena::IndexError>(i < list_.size(), "Json", i, " is not in ", dump());
  return list_[i];
}

template <class T> T Json::number() const {
  if (is_number_float()) return T(real_);
  if (!is_number_integer()) wrong_kind("number");
  if constexpr (std::same_as<T, double>) return real_;
  else return T(integer_);
}
template <class T> std::vector<T> Json::list_of() const {
  std::vector<T> v;
  for (const Json& j : *this) v.push_back(j.get<T>());
  return v;
}

template <> bool Json::get() const {
  if (!is_boolean()) wrong_kind("boolean");
  return integer_ != 0;
}
template <> int Json::get() const { return number<int>(); }
template <> std::int64_t Json::get() const { return number<std::int64_t>(); }
template <> std::uint64_t Json::get() const { return number<std::uint64_t>(); }
template <> double Json::get() const { return number<double>(); }
template <> std::string Json::get() const {
  if (!is_string()) wrong_kind("string");
  return text_;
}
template <> std::vector<bool> Json::get() const { return list_of<bool>(); }
template <> std::vector<std::int64_t> Json::get() const { return list_of<std::int64_t>(); }
template <> std::vector<std::uint64_t> Json::get() const { return list_of<std::uint64_t>(); }
template <> std::vector<double> Json::get() const { return list_of<double>(); }
template <> std::vector<std::string> Json::get() const { return list_of<std::string>(); }

void Json::update(const Json& other) {
  for (const auto& [key, value] : other.items()) {
    std::erase_if(members_, [&](const auto& m) { return m.first == key; });
    members_.emplace_back(key, value);
  }
}

std::string Json::dump() const {
  const auto joined = [](const auto& parts, char open, char close, auto text_of) {
    std::string s{open};
    for (const auto& part : parts) s += (s.size() == 1 ? "" : ", ") + text_of(part);
    return s + close;
  };
  switch (kind_) {
    case Kind::null: return "null";
    case Kind::boolean: return integer_ != 0 ? "true" : "false";
    case Kind::integer: return negative_ ? std::to_string(std::int64_t(integer_)) : std::to_string(integer_);
    case Kind::real: return catena::concat(real_);
    case Kind::text: return '"' + text_ + '"';
    case Kind::list: return joined(list_, '[', ']', [](const Json& j) { return j.dump(); });
    case Kind::object: break;
  }
  return joined(members_, '{', '}', [](const auto& m) { return '"' + m.first + "\": " + m.second.dump(); });
}

std::ostream& operator<<(std::ostream& out, const Json& j) { return out << j.dump(); }

}  // namespace test
