#include <catena/training/log_entry.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/training/json_text.h>

namespace training {

using catena::check;
using catena::KeyError;

constexpr std::size_t kSearched = 16;  // up to this number of items, a linear search is used

std::size_t LogEntry::place(std::string_view key) const noexcept {
  if (items_.size() <= kSearched) {
    const auto found = std::find_if(items_.begin(), items_.end(), [&](const Item& item) { return item.first == key; });
    return static_cast<std::size_t>(found - items_.begin());
  }
  const auto found = places_.find(key);
  return found == places_.end() ? items_.size() : found->second;
}

void LogEntry::number() {
  places_.clear();
  if (items_.size() <= kSearched) return;
  for (std::size_t i = 0; i < items_.size(); ++i) places_.emplace(items_[i].first, i);
}

std::int64_t LogValue::integer() const {
  check<catena::TypeError>(is_integer(), "LogValue", is_text() ? "a text" : "a float", " is no integer");
  return integer_;
}

double LogValue::number() const {
  check<catena::TypeError>(!is_text(), "LogValue", "the text '", text_, "' is no number");
  return is_integer() ? double(integer_) : floating_;
}

const std::string& LogValue::text() const {
  check<catena::TypeError>(is_text(), "LogValue", "a number is no text");
  return text_;
}

void LogEntry::set(const std::string& key, LogValue value) {
  if (const std::size_t i = place(key); i < items_.size()) {
    items_[i].second = std::move(value);
    return;
  }
  items_.emplace_back(key, std::move(value));
  if (places_.empty()) number();
  else places_.emplace(key, items_.size() - 1);
}

void LogEntry::erase(std::string_view key) {
  std::erase_if(items_, [&](const Item& item) { return item.first == key; });
  number();
}

const LogValue* LogEntry::find(std::string_view key) const noexcept {
  const std::size_t i = place(key);
  return i < items_.size() ? &items_[i].second : nullptr;
}

const LogValue& LogEntry::at(std::string_view key) const {
  if (const LogValue* found = find(key)) return *found;
  std::string keys;
  for (const Item& item : items_) keys += (keys.empty() ? "" : ", ") + item.first;
  catena::fail<KeyError>("LogEntry", "there is no value ", key, " (there are: ", keys, ")");
}

std::string repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific).ptr;
  const std::string text(buffer, end);
  const std::size_t e = text.find('e');
  const auto exponent = static_cast<int>(catena::leading_integer(text.substr(e + 1)));
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

LogEntry read_entry(internal::JsonReader& reader) {
  LogEntry result;
  reader.expect('{');
  if (reader.accept('}')) return result;
  do {
    const std::string key = reader.string();
    reader.expect(':');
    result.set(key, reader.value());
  } while (reader.accept(','));
  reader.expect('}');
  return result;
}

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
      out += (first ? "" : separator) + inner + internal::json_of(key) + ": " + internal::json_of(value);
      first = false;
    }
    out += (log[i].size() == 0 ? "" : outer) + "}";
  }
  return out + (lines ? "\n]" : "]");
}

Log log_from_json(std::string_view text, std::string_view context) {
  internal::JsonReader reader(text, context);
  Log result;
  reader.expect('[');
  if (!reader.accept(']')) {
    do result.push_back(read_entry(reader));
    while (reader.accept(','));
    reader.expect(']');
  }
  reader.finish();
  return result;
}

}  // namespace training
