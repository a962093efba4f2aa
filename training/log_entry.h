// The entries of a training log, and their JSON text, identical to Chainer's.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/export.h>

namespace training {

// A value of a log: an integer, a float or a text.
class CATENA_EXPORT LogValue {
 public:
  LogValue() = default;
  template <std::integral I> LogValue(I value) : integer_(static_cast<std::int64_t>(value)) {}
  LogValue(double value) : kind_(Kind::floating), floating_(value) {}
  LogValue(std::string text) : kind_(Kind::text), text_(std::move(text)) {}
  LogValue(const char* text) : LogValue(std::string(text)) {}

  bool is_integer() const noexcept { return kind_ == Kind::integer; }
  bool is_text() const noexcept { return kind_ == Kind::text; }
  std::int64_t integer() const;     // TypeError for another value
  double number() const;            // TypeError for a text
  const std::string& text() const;  // TypeError for a number
  explicit operator double() const { return number(); }
  friend bool operator==(const LogValue& a, const LogValue& b) = default;

 private:
  enum class Kind : std::uint8_t { integer, floating, text };
  Kind kind_ = Kind::integer;
  std::int64_t integer_ = 0;
  double floating_ = 0;
  std::string text_;
};

// A map in insertion order.
class CATENA_EXPORT LogEntry {
 public:
  using Item = std::pair<std::string, LogValue>;
  void set(const std::string& key, LogValue value);  // an existing key keeps its position
  void erase(std::string_view key);
  const LogValue* find(std::string_view key) const noexcept;
  const LogValue& at(std::string_view key) const;  // the KeyError lists the keys
  const LogValue& operator[](std::string_view key) const { return at(key); }
  double number(std::string_view key) const { return at(key).number(); }
  bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
  std::size_t count(std::string_view key) const noexcept { return contains(key) ? 1 : 0; }
  std::size_t size() const noexcept { return items_.size(); }
  auto begin() const noexcept { return items_.begin(); }
  auto end() const noexcept { return items_.end(); }
  friend bool operator==(const LogEntry& a, const LogEntry& b) { return a.items_ == b.items_; }

 private:
  std::size_t place(std::string_view key) const noexcept;  // index of its item, or size()
  void number();
  std::vector<Item> items_;
  // index for entries with many items, as a file may have them
  std::map<std::string, std::size_t, std::less<>> places_;
};
using Log = std::vector<LogEntry>;

// Returns the shortest text that parses to the same number, as Python prints it: 1.0, 0.0005, 1e-05, 1e+22, inf, nan.
CATENA_EXPORT std::string repr(double value);

// Returns an array of objects. indent < 0: on one line with ", " and ": "; else on several lines. Non-finite numbers
// are written as NaN, Infinity and -Infinity.
CATENA_EXPORT std::string to_json(const Log& log, int indent = -1);
// Parses the output of to_json, with any spacing. For other text, throws a ValueError that starts with `context`. true
// and false are read as 1 and 0, null as NaN.
CATENA_EXPORT Log log_from_json(std::string_view text, std::string_view context);

}  // namespace training
