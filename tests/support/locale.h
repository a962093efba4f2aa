// A locale that reveals code which depends on it: numbers have points between groups and a decimal comma, in C++, and
// in C if the C library has the locale de_DE.UTF-8. (tests/CMakeLists.txt makes one in the build folder and sets
// LOCPATH.)
#pragma once

#include <clocale>
#include <locale>
#include <string>

namespace test {

struct GermanNumbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

// Sets the locale of the whole program. Returns false if the C library does not have it, so that only C++ uses it.
inline bool set_german_locale() {
  std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
  const bool found = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
  std::setlocale(LC_MESSAGES, "C");  // keeps the system's error texts in English, which tests expect
  return found;
}

// The same during the lifetime of the object.
class GermanLocale {
 public:
  GermanLocale() : before_c_(std::setlocale(LC_ALL, nullptr)), before_() { in_c = set_german_locale(); }
  ~GermanLocale() {
    std::locale::global(before_);
    std::setlocale(LC_ALL, before_c_.c_str());
  }
  GermanLocale(const GermanLocale&) = delete;
  GermanLocale& operator=(const GermanLocale&) = delete;
  bool in_c = false;

 private:
  std::string before_c_;
  std::locale before_;
};

}  // namespace test
