// A JSON value, for the descriptions of golden cases. Its header is small: the parser, nlohmann::json, is compiled
// once, in json.cpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

class Json {
 public:
  using Members = std::vector<std::pair<std::string, Json>>;

  static Json parse(std::string_view text);  // ValueError

  Json();  // null
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  bool is_null() const { return kind_ == Kind::null; }
  bool is_boolean() const { return kind_ == Kind::boolean; }
  bool is_number() const { return is_number_integer() || is_number_float(); }
  bool is_number_integer() const { return kind_ == Kind::integer; }
  bool is_number_float() const { return kind_ == Kind::real; }
  bool is_string() const { return kind_ == Kind::text; }
  bool is_array() const { return kind_ == Kind::list; }
  bool is_object() const { return kind_ == Kind::object; }

  // Returns the number of elements of a list or an object; 0 for null, 1 for all other values.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  const Json* begin() const;  // elements of a list
  const Json* end() const;
  const Members& items() const;  // members of an object, in the order of the text
  bool contains(std::string_view key) const;

  // A missing element is a KeyError or IndexError.
  const Json& at(std::string_view key) const;
  const Json& operator[](std::string_view key) const { return at(key); }
  const Json& operator[](const std::string& key) const { return at(key); }
  const Json& operator[](const char* key) const { return at(key); }
  template <std::integral I> const Json& operator[](I i) const { return element(std::size_t(i)); }

  // Returns a bool, int, std::int64_t, std::uint64_t, double, std::string, or a vector of these except int; numbers
  // convert into each other. Another type of value is a TypeError.
  template <class T> T get() const;
  template <class T> T value(std::string_view key, T otherwise) const {
    return contains(key) ? at(key).get<T>() : otherwise;
  }
  template <class T>
  requires(std::same_as<T, bool> || std::same_as<T, int> || std::same_as<T, std::int64_t> || std::same_as<T, double> ||
           std::same_as<T, std::string>)
  operator T() const {
    return get<T>();
  }
  bool operator==(std::string_view text) const { return is_string() && text_ == text; }

  void update(const Json& other);  // copies the members of `other`
  std::string dump() const;        // on one line

 private:
  friend class JsonReader;
  enum class Kind { null, boolean, integer, real, text, list, object };

  const Json& element(std::size_t i) const;
  [[noreturn]] void wrong_kind(const char* wanted) const;
  template <class T> T number() const;
  template <class T> std::vector<T> list_of() const;

  Kind kind_ = Kind::null;
  bool negative_ = false;      // integer_ must be read as std::int64_t
  std::uint64_t integer_ = 0;  // also of a boolean
  double real_ = 0;            // also of an integer
  std::string text_;
  std::vector<Json> list_;
  Members members_;
};

std::ostream& operator<<(std::ostream& out, const Json& j);  // dump()

template <> bool Json::get() const;
template <> int Json::get() const;
template <> std::int64_t Json::get() const;
template <> std::uint64_t Json::get() const;
template <> double Json::get() const;
template <> std::string Json::get() const;
template <> std::vector<bool> Json::get() const;
template <> std::vector<std::int64_t> Json::get() const;
template <> std::vector<std::uint64_t> Json::get() const;
template <> std::vector<double> Json::get() const;
template <> std::vector<std::string> Json::get() const;

}  // namespace test
