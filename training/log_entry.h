// What a training log is made of, and its JSON text, which is the reference's to the character.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <catena/kernels/base/export.h>

namespace training {

using LogValue = std::variant<std::int64_t, double, std::string>;

// A map in insertion order.
class CATENA_EXPORT LogEntry {
 public:
  using Item = std::pair<std::string, LogValue>;
  void set(const std::string& key, LogValue value);  // keeps the place of a key that is there
  void erase(std::string_view key);
  const LogValue* find(std::string_view key) const noexcept;
  const LogValue& at(std::string_view key) const;  // KeyError listing the keys
  double number(std::string_view key) const;       // TypeError for a text
  bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
  std::size_t size() const noexcept { return items_.size(); }
  auto begin() const noexcept { return items_.begin(); }
  auto end() const noexcept { return items_.end(); }
  friend bool operator==(const LogEntry&, const LogEntry&) = default;

 private:
  std::vector<Item> items_;
};
using Log = std::vector<LogEntry>;

// The shortest text that reads back as the same number, as Python prints it: 1.0, 0.0005, 1e-05, 1e+22, inf, nan.
CATENA_EXPORT std::string repr(double value);

// An array of objects. indent < 0: on one line with ", " and ": "; else over several lines. Numbers that are not finite
// are NaN, Infinity and -Infinity.
CATENA_EXPORT std::string to_json(const Log& log, int indent = -1);
// Reads what to_json wrote, whatever its spacing; ValueError starting with `context` for other text. true and false are
// read as 1 and 0, null as NaN.
CATENA_EXPORT Log log_from_json(std::string_view text, std::string_view context);

}  // namespace training
