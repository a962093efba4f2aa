#include "training/format.h"

#include <array>
#include <cstdio>
#include <limits>

#include "kernels/host/error.h"
#include "training/trainer.h"

namespace training {

using catena::check;
using catena::ValueError;

namespace {

struct Spec {
  char fill = ' ', align = 0, sign = '-', type = 0;
  int width = 0, precision = -1;
};

Spec parse_spec(std::string_view text) {
  Spec spec;
  std::size_t i = 0;
  auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  auto number = [&](int& to) {
    const std::size_t begin = i;
    for (to = 0; i < text.size() && text[i] >= '0' && text[i] <= '9' && i - begin < 4; ++i) to = to * 10 + (text[i] - '0');
    return i > begin;
  };
  if (text.size() > 1 && is_align(text[1])) {
    spec.fill = text[0];
    spec.align = text[1];
    i = 2;
  } else if (!text.empty() && is_align(text[0])) {
    spec.align = text[0];
    i = 1;
  }
  if (i < text.size() && (text[i] == '+' || text[i] == '-' || text[i] == ' ')) spec.sign = text[i++];
  if (i < text.size() && text[i] == '0') {
    if (spec.align == 0) spec.fill = '0', spec.align = '=';
    ++i;
  }
  number(spec.width);
  bool good = true;
  if (i < text.size() && text[i] == '.') {
    ++i;
    good = number(spec.precision);
  }
  if (i < text.size()) spec.type = text[i++];
  check<ValueError>(good && i == text.size() && (spec.type == 0 || std::string_view("sdeEfFgG%").find(spec.type) != std::string_view::npos),
                    "format", "the format specification \"", text, "\" is not understood");
  return spec;
}

std::string number_text(double value, const Spec& spec) {
  if (spec.type == 0 && spec.precision < 0) return repr(value);
  const char type = spec.type == 0 ? 'g' : spec.type == '%' ? 'f' : spec.type;
  const char pattern[] = {'%', '.', '*', type, '\0'};
  const double shown = spec.type == '%' ? value * 100 : value;
  std::array<char, 1024> buffer;
  std::snprintf(buffer.data(), buffer.size(), pattern, spec.precision < 0 ? 6 : std::min(spec.precision, 300), shown);
  return std::string(buffer.data()) + (spec.type == '%' ? "%" : "");
}

std::string padded(std::string text, const Spec& spec, char default_align) {
  const auto width = static_cast<std::size_t>(spec.width);
  if (text.size() >= width) return text;
  const std::size_t missing = width - text.size();
  const char align = spec.align == 0 ? default_align : spec.align;
  if (align == '<') return text + std::string(missing, spec.fill);
  if (align == '^') return std::string(missing / 2, spec.fill) + text + std::string(missing - missing / 2, spec.fill);
  const std::size_t sign = align == '=' && !text.empty() && (text[0] == '-' || text[0] == '+' || text[0] == ' ') ? 1 : 0;
  return text.insert(sign, std::string(missing, spec.fill));
}

}  // namespace

std::string format_value(const LogValue& value, std::string_view text) {
  const Spec spec = parse_spec(text);
  if (const auto* s = std::get_if<std::string>(&value)) {
    check<ValueError>(spec.type == 0 || spec.type == 's', "format", "the type ", spec.type, " is not for the text \"", *s, '"');
    return padded(spec.precision >= 0 ? s->substr(0, std::size_t(spec.precision)) : *s, spec, '<');
  }
  const auto* integer = std::get_if<std::int64_t>(&value);
  check<ValueError>(spec.type != 's' && (integer != nullptr || spec.type != 'd'), "format", "the type ", spec.type, " is not for the number ",
                    integer != nullptr ? std::to_string(*integer) : repr(std::get<double>(value)));
  std::string shown;
  if (integer != nullptr && (spec.type == 0 || spec.type == 'd')) shown = std::to_string(*integer);
  else shown = number_text(integer != nullptr ? double(*integer) : std::get<double>(value), spec);
  if (spec.sign != '-' && shown[0] != '-') shown.insert(0, 1, spec.sign);
  return padded(shown, spec, '>');
}

std::string format_fields(std::string_view pattern, const std::function<LogValue(std::string_view)>& lookup) {
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
