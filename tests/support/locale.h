// A locale that shows what depends on it: numbers are grouped by points and have a decimal comma, in C++ and, where the
// C library has the locale de_DE.UTF-8 (tests/CMakeLists.txt makes one in the build folder and names it by LOCPATH), in
// C, too.
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

// Sets the locale of the whole program. False if the C library has none, so that only that of C++ is set.
inline bool set_german_locale() {
  std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
  const bool found = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
  std::setlocale(LC_MESSAGES, "C");  // the system's reasons of failures stay in English, which tests look for
  return found;
}

// The same as long as the object exists.
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
