// Text of numbers, and numbers of text, that do not depend on the locale of the program: what files, kernel texts, logs
// and messages are made of. Neither std::locale::global nor setlocale changes it. (concat of kernels/base/error.h is
// made of the same functions.) Streams, printf, strtod and std::to_string(double) follow the locale, so the libraries
// do not use them for numbers; tests/lint_test.cmake and tests/locale_symbols_test.cmake check that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/export.h>

namespace catena {

// As printf writes them in the C locale, by %.<digits>f, %.<digits>e and %.<digits>g. ValueError for a negative number
// of digits and for more than 4096.
CATENA_EXPORT std::string fixed_text(double v, int digits);
CATENA_EXPORT std::string scientific_text(double v, int digits);
CATENA_EXPORT std::string general_text(double v, int digits);
// The fewest digits that identify the number: 0.1, 1e+300, 3, nan, -inf.
CATENA_EXPORT std::string shortest_text(double v);
// Decimal with zeros in front up to `width` characters: 0042; the sign of a negative number stands before them.
CATENA_EXPORT std::string padded_text(std::int64_t v, int width);
// Hexadecimal in lower case, with zeros in front up to `width` characters: 000000ff.
CATENA_EXPORT std::string hexadecimal_text(std::uint64_t v, int width = 0);

// One value in the manner of printf and of the C locale; `format` is a whole format with one conversion, which fits the
// type of the value. For formats that a user gives.
CATENA_EXPORT std::string printf_text(const std::string& format, double v);
CATENA_EXPORT std::string printf_text(const std::string& format, long long v);
CATENA_EXPORT std::string printf_text(const std::string& format, const char* v);

// The number that the whole text is; nothing if it is anything else, white space included, or does not fit.
CATENA_EXPORT std::optional<std::int64_t> parse_integer(std::string_view text);
CATENA_EXPORT std::optional<double> parse_real(std::string_view text);
// The integer at the beginning of the text, as atoi reads it: after white space; 0 if there is none.
CATENA_EXPORT std::int64_t leading_integer(std::string_view text);

// Of ASCII only; other bytes, such as those of UTF-8, are no white space and have no case.
constexpr bool is_ascii_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_ascii_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr char ascii_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr bool is_ascii_alphanumeric(char c) noexcept {
  return is_ascii_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z');
}
CATENA_EXPORT std::string lower_case(std::string text);

// The text with everything escaped that a terminal would obey: control characters other than line breaks and tabs, and
// bytes that are no UTF-8, as \x1b and the like. For texts of files, such as names of layers, that are shown to a
// person.
CATENA_EXPORT std::string printable(std::string_view text);

// The words between white space.
CATENA_EXPORT std::vector<std::string> words_of(std::string_view text);
// The parts between separators, as std::getline gives them: none after a separator at the end.
CATENA_EXPORT std::vector<std::string> parts_of(std::string_view text, char separator);

}  // namespace catena
