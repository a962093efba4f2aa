// Conversion between numbers and text, independent of the locale of the program, for files, kernel texts, logs and
// messages. Neither std::locale::global nor setlocale changes the results. (concat of kernels/base/error.h uses the
// same functions.) Streams, printf, strtod and std::to_string(double) depend on the locale, so the libraries do not use
// them for numbers; tests/lint_test.cmake and tests/locale_symbols_test.cmake check that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/export.h>

namespace catena {

// Same text as printf in the C locale with %.<digits>f, %.<digits>e and %.<digits>g. ValueError for a negative number
// of digits and for more than 4096.
CATENA_EXPORT std::string fixed_text(double v, int digits);
CATENA_EXPORT std::string scientific_text(double v, int digits);
CATENA_EXPORT std::string general_text(double v, int digits);
// Returns the fewest digits that identify the number: 0.1, 1e+300, 3, nan, -inf.
CATENA_EXPORT std::string shortest_text(double v);
// Returns decimal digits with leading zeros up to `width` characters: 0042; the sign of a negative number precedes
// them.
CATENA_EXPORT std::string padded_text(std::int64_t v, int width);
// Returns lower-case hexadecimal digits with leading zeros up to `width` characters: 000000ff.
CATENA_EXPORT std::string hexadecimal_text(std::uint64_t v, int width = 0);

// Formats one value as printf in the C locale. `format` is a complete format with one conversion, which must match the
// type of the value. For formats that users specify.
CATENA_EXPORT std::string printf_text(const std::string& format, double v);
CATENA_EXPORT std::string printf_text(const std::string& format, long long v);
CATENA_EXPORT std::string printf_text(const std::string& format, const char* v);

// Returns the number if the whole text is one; nothing for other texts, including white space, or if the number does
// not fit.
CATENA_EXPORT std::optional<std::int64_t> parse_integer(std::string_view text);
CATENA_EXPORT std::optional<double> parse_real(std::string_view text);
// Returns the integer at the beginning of the text, as atoi: after white space; 0 if there is none.
CATENA_EXPORT std::int64_t leading_integer(std::string_view text);

// For ASCII only; other bytes, such as those of UTF-8, are not white space and have no case.
constexpr bool is_ascii_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_ascii_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr char ascii_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr bool is_ascii_alphanumeric(char c) noexcept {
  return is_ascii_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z');
}
CATENA_EXPORT std::string lower_case(std::string text);

// Returns the text with everything escaped that would control a terminal: control characters other than line breaks and
// tabs, and bytes that are not UTF-8, as \x1b and so on. For texts from files, such as names of layers, that are shown
// to users.
CATENA_EXPORT std::string printable(std::string_view text);

// Returns the words between white space.
CATENA_EXPORT std::vector<std::string> words_of(std::string_view text);
// Returns the parts between separators, as std::getline: no part after a separator at the end.
CATENA_EXPORT std::vector<std::string> parts_of(std::string_view text, char separator);

}  // namespace catena
