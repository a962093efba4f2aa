#include <catena/tests/support/json.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include <catena/kernels/base/error.h>

namespace test {

Json::Json() = default;
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

// Builds a Json from the parser's values.
class JsonReader {
 public:
  static Json read(const nlohmann::ordered_json& from) {
    Json v;
    switch (from.type()) {
      case nlohmann::json::value_t::boolean:
        v.kind_ = Json::Kind::boolean;
        v.integer_ = from.get<bool>();
        break;
      case nlohmann::json::value_t::number_unsigned:
        v.kind_ = Json::Kind::integer;
        v.integer_ = from.get<std::uint64_t>();
        v.real_ = from.get<double>();
        break;
      case nlohmann::json::value_t::number_integer:
        v.kind_ = Json::Kind::integer;
        v.negative_ = true;
        v.integer_ = static_cast<std::uint64_t>(from.get<std::int64_t>());
        v.real_ = from.get<double>();
        break;
      case nlohmann::json::value_t::number_float:
        v.kind_ = Json::Kind::real;
        v.real_ = from.get<double>();
        break;
      case nlohmann::json::value_t::string:
        v.kind_ = Json::Kind::text;
        v.text_ = from.get<std::string>();
        break;
      case nlohmann::json::value_t::array:
        v.kind_ = Json::Kind::list;
        for (const auto& element : from) v.list_.push_back(read(element));
        break;
      case nlohmann::json::value_t::object:
        v.kind_ = Json::Kind::object;
        for (const auto& [key, member] : from.items()) v.members_.emplace_back(key, read(member));
        break;
      default: break;
    }
    return v;
  }
};

Json Json::parse(std::string_view text) {
  try {
    return JsonReader::read(nlohmann::ordered_json::parse(text));
  } catch (const nlohmann::json::parse_error& e) {
    catena::fail<catena::ValueError>("Json", e.what());
  }
}

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
    std::erase_if(members_, [&key = key](const auto& m) { return m.first == key; });
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
