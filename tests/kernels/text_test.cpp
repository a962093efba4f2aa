// Numbers and texts beside printf of the C locale, and none of it depends on the program's locale.
#include <catena/kernels/base/text.h>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/scalar.h>
#include <catena/kernels/base/warning.h>
#include <catena/kernels/formats/npy.h>
#include <catena/tests/support/locale.h>
#include <catena/tests/support/message_of.h>

using namespace catena;

namespace {

// As a program without a locale prints it.
template <class... Args> std::string in_c_locale(const char* format, Args... args) {
  static const locale_t c = newlocale(LC_ALL_MASK, "C", nullptr);
  const locale_t before = uselocale(c);
  char text[2000];
  const int n = std::snprintf(text, sizeof text, format, args...);
  uselocale(before);
  return {text, static_cast<std::size_t>(n)};
}

std::vector<double> many_numbers() {
  std::vector<double> all = {0.0,     -0.0,    1,    -1,       0.5,       0.1,    1e-7,      123456.5,
                             1234567, 1e15,    1e16, 1e17,     1e300,     5e-324, -2.5e-310, 999999.5,
                             9999995, 0.00001, 1e22, INFINITY, -INFINITY, NAN};
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    double v = 0;
    std::memcpy(&v, &bits, sizeof v);
    if (std::isfinite(v)) all.push_back(v);
    all.push_back(std::ldexp(static_cast<double>(random() >> 11), -int(random() % 80)));
  }
  return all;
}

struct Own {
  friend std::ostream& operator<<(std::ostream& out, Own) { return out << 1234567 << ' ' << 0.25; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(text)

BOOST_AUTO_TEST_CASE(numbers_are_those_of_printf) {
  for (const bool german : {false, true}) {
    std::unique_ptr<test::GermanLocale> locale(german ? new test::GermanLocale : nullptr);
    int wrong = 0;
    for (const double v : many_numbers()) {
      for (const int digits : {0, 1, 3, 8, 17}) {
        wrong += fixed_text(v, digits) != in_c_locale("%.*f", digits, v);
        wrong += scientific_text(v, digits) != in_c_locale("%.*e", digits, v);
        wrong += general_text(v, digits) != in_c_locale("%.*g", digits, v);
      }
      wrong += concat(v) != in_c_locale("%g", v);
      wrong += std::isfinite(v) && parse_real(shortest_text(v)) != v;
      wrong += printf_text("%+12.4e|", v) != in_c_locale("%+12.4e|", v);
    }
    BOOST_TEST(wrong == 0);
  }
  BOOST_TEST(fixed_text(5e-324, 1074).ends_with("65625"));
  BOOST_CHECK_THROW(fixed_text(1, -1), ValueError);
  BOOST_CHECK_THROW(fixed_text(1, 1 << 30), ValueError);
}

BOOST_AUTO_TEST_CASE(integers) {
  const test::GermanLocale locale;
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) {
    const auto v = static_cast<long long>(random() >> random() % 64) - (1 << 20);
    BOOST_TEST(padded_text(v, 9) == in_c_locale("%09lld", v));
    BOOST_TEST(hexadecimal_text(static_cast<std::uint64_t>(v), 16) == in_c_locale("%016llx", v));
    BOOST_TEST(concat(v) == in_c_locale("%lld", v));
    BOOST_TEST(*parse_integer(concat(v)) == v);
  }
  BOOST_TEST(hexadecimal_text(0) == "0");
  for (const char* text : {"", " 1", "1 ", "+1", "1.0", "0x1", "9223372036854775808", "1.000"})
    BOOST_TEST(!parse_integer(text), text);
  for (const char* text : {"", " 1", "1,5", "1.5 ", "1e999"}) BOOST_TEST(!parse_real(text), text);
  BOOST_TEST(*parse_real("1.5e-3") == 1.5e-3);
  BOOST_TEST(leading_integer(" \t12,3") == 12);
  BOOST_TEST(leading_integer("+7") == 7);
  BOOST_TEST(leading_integer("-7x") == -7);
  BOOST_TEST(leading_integer("x") == 0);
}

BOOST_AUTO_TEST_CASE(messages_and_headers_do_not_depend_on_the_locale) {
  const test::GermanLocale locale;
  BOOST_TEST((std::ostringstream() << 1234.5).str() == "1.234,5");  // the locale is there
  const Shape shape{1234, 5};
  BOOST_TEST(concat(1234567, ' ', 0.5, ' ', 1234567u, ' ', shape, ' ', Scalar(1234.5), ' ', Own()) ==
             "1234567 0.5 1234567 (1234, 5) 1234.5 1234567 0.25");
  BOOST_TEST(to_string(shape) == "(1234, 5)");
  BOOST_TEST(to_string(Device{Device::Kind::cuda, 12345}) == "cuda:12345");
  BOOST_TEST(concat(Scalar(complex128{1234.5, -0.25})) == "(1234.5-0.25j)");
  // A user's stream with a locale of its own shows them as NumPy does.
  std::ostringstream out;
  out << shape << ' ' << Scalar(1234567) << ' ' << Scalar(0.5) << ' ' << Device{Device::Kind::cuda, 1234};
  BOOST_TEST(out.str() == "(1234, 5) 1234567 0.5 cuda:1234");
  BOOST_TEST(npy_header("<f8", shape).find("'shape': (1234, 5), }") != std::string::npos);
  BOOST_TEST(test::message_of<ValueError>([] { checked_size(Shape{-1234567}); }) ==
             "shape: (-1234567,) has a negative length");
}

BOOST_AUTO_TEST_CASE(parts) {
  BOOST_TEST(words_of(" a\tb\r\nc\v\fd ") == (std::vector<std::string>{"a", "b", "c", "d"}),
             boost::test_tools::per_element());
  BOOST_TEST(words_of("").empty());
  BOOST_TEST(words_of(" \n").empty());
  BOOST_TEST(words_of("\xc3\xa0 \xc2\xa0x") == (std::vector<std::string>{"\xc3\xa0", "\xc2\xa0x"}),
             boost::test_tools::per_element());
  for (const char* text : {"", "a", "a\n", "a\n\n", "\n", "\na", "a\nb\n\nc"}) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    BOOST_TEST(parts_of(text, '\n') == lines, boost::test_tools::per_element());
  }
  BOOST_TEST(lower_case("PNG.\xc3\x84I") == "png.\xc3\x84i");
}

BOOST_AUTO_TEST_CASE(control_characters_are_shown) {
  BOOST_TEST(printable("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\n\tx") ==
             "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\n\tx");
  BOOST_TEST(printable("a\x1b[31mb\r\b\x7f") == "a\\x1b[31mb\\x0d\\x08\\x7f");
  BOOST_TEST(printable(std::string_view("\0", 1)) == "\\x00");
  BOOST_TEST(printable("\xc2\x9b[31m") == "\\xc2\\x9b[31m");   // the control character U+009B
  BOOST_TEST(printable("\x9b\xff\xc3") == "\\x9b\\xff\\xc3");  // no UTF-8
  BOOST_TEST(printable("\xc0\x9b\xe0\x82\x9b") ==
             "\\xc0\\x9b\\xe0\\x82\\x9b");  // the same characters, longer than needed
  BOOST_TEST(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");
  // Whoever throws.
  BOOST_TEST(std::string(ValueError("layer \"\x1b]0;title\x07\"").what()) == "layer \"\\x1b]0;title\\x07\"");
  BOOST_TEST(std::string(InvalidType("\x1b", "x").what()) == "Expect: \\x1b\nActual: x");
}

BOOST_AUTO_TEST_CASE(warnings_show_control_characters) {
  static std::string seen;
  const WarningHandler before = set_warning_handler([](std::string_view, std::string_view m) { seen = m; });
  warn("UserWarning", "the layer \x1b[2J");
  set_warning_handler(before);
  BOOST_TEST(seen == "the layer \\x1b[2J");
}

BOOST_AUTO_TEST_SUITE_END()
