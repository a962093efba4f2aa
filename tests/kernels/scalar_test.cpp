#include <boost/test/unit_test.hpp>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/scalar.h>
#include <complex>

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>

using namespace catena;

namespace {

std::string text(const Scalar& s) {
  std::ostringstream out;
  out << s;
  return out.str();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scalar)

BOOST_AUTO_TEST_CASE(kinds_follow_the_type_of_the_value) {
  BOOST_TEST(int(Scalar(true).kind()) == int(Scalar::Kind::bool_));
  BOOST_TEST(int(Scalar('a').kind()) == int(Scalar::Kind::integer));
  BOOST_TEST(int(Scalar(3u).kind()) == int(Scalar::Kind::integer));
  BOOST_TEST(int(Scalar(std::uint64_t(INT64_MAX)).kind()) == int(Scalar::Kind::integer));
  BOOST_TEST(int(Scalar(std::uint64_t(INT64_MAX) + 1).kind()) == int(Scalar::Kind::unsigned_));
  BOOST_TEST(int(Scalar(1.0f).kind()) == int(Scalar::Kind::floating));
  BOOST_TEST(int(Scalar(float16(1.5f)).kind()) == int(Scalar::Kind::floating));
  BOOST_TEST(Scalar(true).natural_dtype() == Dtype::bool_);
  BOOST_TEST(Scalar(-1).natural_dtype() == Dtype::int64);
  BOOST_TEST(Scalar(UINT64_MAX).natural_dtype() == Dtype::uint64);
  BOOST_TEST(Scalar(1.f).natural_dtype() == Dtype::float64);
  BOOST_TEST(int(Scalar(std::complex<float>(1, 2)).kind()) == int(Scalar::Kind::complex));
  BOOST_TEST(Scalar(std::complex<float>(1, 2)).natural_dtype() == Dtype::complex128);
}

BOOST_AUTO_TEST_CASE(values_convert_by_the_rules_of_the_library) {
  BOOST_TEST(Scalar(300).to<std::uint8_t>() == 44);
  BOOST_TEST(Scalar(-1).to<std::uint32_t>() == 4294967295u);
  BOOST_TEST(Scalar(UINT64_MAX).to<std::uint64_t>() == UINT64_MAX);
  BOOST_TEST(Scalar(UINT64_MAX).to_double() == 18446744073709551616.0);
  BOOST_TEST(Scalar(1e30).to<std::int32_t>() == INT32_MAX);
  BOOST_TEST(Scalar(-2.9).to<std::int32_t>() == -2);
  BOOST_TEST(Scalar(std::nan("")).to<std::int64_t>() == 0);
  BOOST_TEST(Scalar(0.25).to<bool>());
  BOOST_TEST(Scalar(true).to<double>() == 1.0);
  const Scalar z(std::complex<double>(-1.5, 2));
  BOOST_TEST((z.to<std::complex<double>>() == std::complex<double>(-1.5, 2)));
  BOOST_TEST((z.to_double() == -1.5 && z.to<int>() == -1 && z.to<bool>()));
  BOOST_TEST((Scalar(3).to<std::complex<float>>() == std::complex<float>(3)));
}

BOOST_AUTO_TEST_CASE(store_writes_one_element_and_nothing_more) {
  for (int i = 0; i < kNumDtypes; ++i) {
    const auto t = static_cast<Dtype>(i);
    unsigned char memory[18];
    std::memset(memory, 0xab, sizeof(memory));
    Scalar(1).store(t, memory + 1);
    BOOST_TEST(memory[0] == 0xab);
    for (std::size_t k = 1 + itemsize(t); k < sizeof(memory); ++k) BOOST_TEST(memory[k] == 0xab);
    visit_dtype(t, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T v;
      std::memcpy(&v, memory + 1, sizeof(T));
      BOOST_TEST(convert<double>(v) == 1.0);
    });
  }
  std::uint16_t bits = 0;
  Scalar(65520.0).store(Dtype::float16, &bits);
  BOOST_TEST(bits == 0x7c00);  // rounds to infinity
  Scalar(1.0).store(Dtype::bfloat16, &bits);
  BOOST_TEST(bits == 0x3f80);
  complex64 z;
  Scalar(std::complex<double>(1, -2)).store(Dtype::complex64, &z);
  BOOST_TEST((z == complex64(1, -2)));
}

BOOST_AUTO_TEST_CASE(converts_to_numbers_and_calculates_with_them) {
  const Scalar half = 0.5, three = 3, greatest = UINT64_MAX;
  const double d = three;
  const float f = half;
  const std::int8_t i = three;
  BOOST_TEST(d == 3.0);
  BOOST_TEST(f == 0.5f);
  BOOST_TEST(int(i) == 3);
  BOOST_TEST(std::uint64_t(greatest) == UINT64_MAX);
  static_assert(!std::is_convertible_v<Scalar, bool> && !std::is_convertible_v<Scalar, char>);
  BOOST_TEST(text(three + 1) == "4");
  BOOST_TEST(text(1.0 - three) == "-2.0");
  BOOST_TEST(text(three * half) == "1.5");
  BOOST_TEST(text(2 * three) == "6");
  BOOST_TEST(text(7 / Scalar(2)) == "3.5");
  BOOST_TEST(text(three / 2) == "1.5");
  BOOST_TEST((half < 1 && 1 > half && half == 0.5 && 3 == three && half != 1 && 2 <= three));
  double total = 1;
  total += half;
  total *= three;
  total -= 0.5 * three;
  total /= Scalar(2);
  BOOST_TEST(total == 1.5);
  int count = 3;
  count += three;
  count -= half;  // toward zero, as with numbers of C++
  BOOST_TEST(count == 5);
}

// An imaginary part is not dropped silently.
BOOST_AUTO_TEST_CASE(complex_numbers_are_no_real_ones) {
  const Scalar z = std::complex<double>(1, 2), real = std::complex<double>(3, 0);
  BOOST_CHECK_THROW((void)double(z), TypeError);
  BOOST_CHECK_THROW((void)int(z), TypeError);
  double total = 1;
  BOOST_CHECK_THROW(total += z, TypeError);
  BOOST_TEST(total == 1);
  BOOST_TEST(bool(z));
  BOOST_TEST(z.to<double>() == 1);
  BOOST_TEST(double(real) == 3);
  total += real;
  BOOST_TEST(total == 4);
}

BOOST_AUTO_TEST_CASE(prints_as_python_does) {
  BOOST_TEST(text(true) == "True");
  BOOST_TEST(text(false) == "False");
  BOOST_TEST(text(-7) == "-7");
  BOOST_TEST(text(UINT64_MAX) == "18446744073709551615");
  BOOST_TEST(text(1.0) == "1.0");
  BOOST_TEST(text(-0.0) == "-0.0");
  BOOST_TEST(text(0.1) == "0.1");
  BOOST_TEST(text(1e300) == "1e+300");
  BOOST_TEST(text(std::numeric_limits<double>::infinity()) == "inf");
  BOOST_TEST(text(std::nan("")) == "nan");
  BOOST_TEST(text(std::complex<double>(1, 2)) == "(1+2j)");
  BOOST_TEST(text(std::complex<double>(-0.0, -2.5)) == "(-0-2.5j)");
  BOOST_TEST(text(std::complex<double>(0, 2)) == "2j");
  BOOST_TEST(text(std::complex<double>(std::nan(""), 1e300)) == "(nan+1e+300j)");
}

BOOST_AUTO_TEST_SUITE_END()
