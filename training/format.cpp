#include <catena/training/format.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/training/trainer.h>

namespace training {

using catena::check;
using catena::ValueError;

namespace {

// Rejects widths that would need a gigabyte of text, and the types L, a and A, which depend on the program's locale and
// which Python does not have.
void check_spec(std::string_view spec) {
  constexpr std::int64_t kMost = 4096;  // characters
  const std::size_t align = spec.size() > 1 && std::string_view("<>^").find(spec[1]) != std::string_view::npos ? 2 : 0;
  for (std::size_t i = align; i < spec.size();) {
    const std::size_t end = std::min(spec.find_first_not_of("0123456789", i), spec.size());
    const std::string_view digits = spec.substr(i, end - i);
    if (!digits.empty())
      check<ValueError>(digits.size() < 10 && catena::parse_integer(digits).value() <= kMost, "format",
                        "the format specification \"", spec, "\" asks for more than ", kMost, " characters");
    else
      check<ValueError>(std::string_view("LaA").find(spec[i]) == std::string_view::npos, "format",
                        "the format specification \"", spec, "\" is not understood: ", spec[i],
                        " is none of its types");
    i = std::max(end, i + 1);
  }
}

template <class T> std::string formatted(std::string_view spec, const T& value) {
  check_spec(spec);
  try {
    return fmt::format(fmt::runtime(catena::concat("{:", spec, "}")), value);
  } catch (const fmt::format_error& e) {
    catena::fail<ValueError>("format", "the format specification \"", spec, "\" is not understood: ", e.what());
  }
}

// Returns the specification with right alignment, unless it has another alignment.
std::string to_the_right(std::string_view spec) {
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^'; };
  const bool given = !spec.empty() && (is_align(spec[0]) || (spec.size() > 1 && is_align(spec[1])));
  return given ? std::string(spec) : catena::concat('>', spec);
}

std::string number_text(double value, std::string_view spec) {
  const std::size_t point = spec.find('.');
  // Python's percentage type, which fmt does not have.
  if (spec.ends_with('%')) {
    const std::string_view digits = point == spec.npos ? "" : spec.substr(point, spec.size() - 1 - point);
    return formatted(to_the_right(spec.substr(0, std::min(point, spec.size() - 1))),
                     formatted(catena::concat(digits, 'f'), value * 100) + "%");
  }
  const bool plain = point == spec.npos && (spec.empty() || (spec.back() >= '0' && spec.back() <= '9'));
  if (plain) return formatted(to_the_right(spec), repr(value));
  // fmt would align inf and nan to the left.
  return std::isfinite(value) ? formatted(spec, value) : formatted(to_the_right(spec), value);
}

}  // namespace

std::string format_value(const LogValue& value, std::string_view spec) {
  if (value.is_text()) return formatted(spec, value.text());
  if (!value.is_integer()) return number_text(value.number(), spec);
  const std::int64_t integer = value.integer();
  const bool as_real = spec.find('.') != spec.npos ||
                       (!spec.empty() && std::string_view("eEfFgG%").find(spec.back()) != std::string_view::npos);
  return as_real ? number_text(double(integer), spec) : formatted(spec, integer);
}

std::string format_fields(std::string_view pattern, const catena::Function<LogValue(std::string_view)>& lookup) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const bool doubled = i + 1 < pattern.size() && pattern[i + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      out += c;
      ++i;
    } else if (c == '{') {
      const std::size_t end = pattern.find('}', i);
      check<ValueError>(end != pattern.npos, "format", "a brace of \"", pattern, "\" is not closed");
      const std::string_view field = pattern.substr(i + 1, end - i - 1);
      const std::size_t colon = field.find(':');
      out += format_value(lookup(field.substr(0, colon)), colon == field.npos ? "" : field.substr(colon + 1));
      i = end;
    } else {
      check<ValueError>(c != '}', "format", "a brace of \"", pattern, "\" is not opened");
      out += c;
    }
  }
  return out;
}

namespace {

struct TrainerField {
  std::string_view name;
  LogValue example;
  LogValue (*get)(const Trainer&);
};

const std::array<TrainerField, 5>& trainer_fields() {
  static const std::array<TrainerField, 5> fields = {{
      {".updater.iteration", std::int64_t(1), [](const Trainer& t) -> LogValue { return t.updater().iteration(); }},
      {".updater.epoch", std::int64_t(1), [](const Trainer& t) -> LogValue { return t.updater().epoch(); }},
      {".updater.epoch_detail", 1.0, [](const Trainer& t) -> LogValue { return t.updater().epoch_detail(); }},
      {".elapsed_time", 1.0, [](const Trainer& t) -> LogValue { return t.elapsed_time(); }},
      {".out", std::string("result"), [](const Trainer& t) -> LogValue { return t.out(); }},
  }};
  return fields;
}

const TrainerField& trainer_field(std::string_view name) {
  const std::string_view wanted = name.starts_with("0") ? name.substr(1) : name;
  std::string names;
  for (const TrainerField& f : trainer_fields()) {
    if (f.name == wanted) return f;
    names += (names.empty() ? "" : ", ") + std::string(f.name);
  }
  catena::fail<ValueError>("format", "there is no field {", name, "} (there are: ", names, ")");
}

}  // namespace

std::string format_trainer(std::string_view pattern, const Trainer& trainer) {
  return format_fields(pattern, [&](std::string_view name) { return trainer_field(name).get(trainer); });
}

void check_trainer_pattern(std::string_view pattern) {
  format_fields(pattern, [](std::string_view name) { return trainer_field(name).example; });
}

}  // namespace training
