// Files, texts of kernels and printed arrays in a program that has set the locale of a country with a decimal comma.
#include <boost/test/unit_test.hpp>

#include <iostream>
#include <locale>
#include <nlohmann/json.hpp>
#include <sstream>

#include <catena/ndarray/memory/memory_snapshot.h>
#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/testing/assertions.h>
#include <catena/tests/support/locale.h>
#include <catena/tests/support/message_of.h>

namespace {

// The C++ locale in any case; that of C where there is one.
struct InGermany {
  test::GermanLocale locale;
  InGermany() {
    if (!locale.in_c) std::cout << "the C library has no locale de_DE.UTF-8: only that of C++ is set\n";
    BOOST_REQUIRE((std::ostringstream() << 1234.5).str() == "1.234,5");
  }
};

std::string written(const nd::Array& a, const char* sep, const char* format = "%s") {
  std::ostringstream out;
  a.tofile(out, sep, format);
  return out.str();
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(locales, InGermany)

BOOST_AUTO_TEST_CASE(files_come_back) {
  std::stringstream file;
  nd::save(file, nd::arange(2500));
  const nd::Array a = nd::load(file);
  BOOST_TEST(a.shape() == (nd::Shape{2500}));
  BOOST_TEST(a(2499).item<int>() == 2499);
  std::stringstream archive;
  std::vector<nd::Array> arrays;
  nd::NamedArrays named;
  for (int i = 0; i < 1100; ++i) named.emplace_back("arr_" + std::to_string(i), nd::full({1}, i));
  nd::savez(archive, named);
  const nd::NpzFile npz(archive);
  BOOST_TEST(npz.at("arr_1099").item<int>() == 1099);
  BOOST_TEST(npz.keys().size() == 1100u);
}

BOOST_AUTO_TEST_CASE(tofile_writes_what_programs_read) {
  BOOST_TEST(written(nd::array({1234567, 1, -1000}), " ") == "1234567 1 -1000");
  BOOST_TEST(written(nd::array({0.5, 1234.5, 1e-7}), ";") == "0.5;1234.5;1e-07");
  BOOST_TEST(written(nd::array({0.5, 1234.5}), ";", "%.2f") == "0.50;1234.50");
  BOOST_TEST(written(nd::array({0.5, 1234567.0}), ";", "%g") == "0.5;1.23457e+06");
  BOOST_TEST(written(nd::array({1234567}), ";", "%9d") == "  1234567");
  BOOST_TEST(written(nd::array({0.5}), ";", "%8s") == "     0.5");
  for (const char* format : {"%1000000000d", "%.99999f", "%5000s", "%99999999999999999999d"})
    BOOST_TEST(test::message_of<nd::ValueError>([&] { written(nd::array({1}), ";", format); }).find("4096") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(identities_of_reductions) {
  const auto least = nd::create_reduction_func("locale_least", {"d->d"}, {"in0", "min(a, b)", "out0 = a"}, 1000);
  BOOST_TEST(double(least(nd::full({5}, 5000.0))) == 1000);
  const auto most = nd::create_reduction_func("locale_most", {"l->l"}, {"in0", "max(a, b)", "out0 = a"}, -1000000);
  BOOST_TEST(most(nd::full({5}, -5000000)).item<long>() == -1000000);
  const auto half = nd::create_reduction_func("locale_half", {"d->d"}, {"in0", "min(a, b)", "out0 = a"}, 0.5);
  BOOST_TEST(double(half(nd::ones({3}))) == 0.5);
  const auto large = nd::create_reduction_func("locale_large", {"d->d"}, {"in0", "max(a, b)", "out0 = a"}, -1234567.25);
  BOOST_TEST(double(large(nd::full({2}, -1e9))) == -1234567.25);
}

BOOST_AUTO_TEST_CASE(kernels_of_texts) {
  const nd::ElementwiseKernel squared("T x, T y", "T z", "z = (x - y) * (x - y)", "locale_squared");
  BOOST_TEST(squared(nd::arange(5000.0), nd::ones({5000})).sum().item<double>() == 41629177500.0);
  const nd::ReductionKernel longest("T x", "T y", "abs(x)", "max(a, b)", "y = a", "0", "locale_longest");
  BOOST_TEST(longest(nd::arange(-3000.0, 1000.0)).item<double>() == 3000);
  const nd::Array x = nd::ones({2000}) * 1234.5;
  const auto f = nd::fuse([](auto a) { return a * 1000 + 0.25; });
  BOOST_TEST(nd::Array(f(x))(1999).item<double>() == 1234500.25);
}

BOOST_AUTO_TEST_CASE(snapshots_of_the_memory_are_json) {
  const nd::Array a = nd::ones({100000});
  const auto json = nlohmann::json::parse(nd::memory_snapshot().to_json());
  std::uint64_t used = 0;
  for (const auto& totals : json["totals"]) used += totals["used_bytes"].get<std::uint64_t>();
  BOOST_TEST(used == nd::memory_snapshot().totals().used_bytes);
  BOOST_TEST(used >= 800000u);
}

// In a stream of the user, too: its locale counts for the user's own numbers.
BOOST_AUTO_TEST_CASE(arrays_are_printed_as_numpy_prints_them) {
  std::ostringstream out;
  out << nd::array({1.5, 2500.25}) << nd::array({1234567}) << nd::array(3.75) << nd::array({1e-7, 1.0})
      << nd::array(1e300) << nd::array({0.1f, 2.5f}).astype(nd::float16) << nd::Shape{1234, 5}
      << nd::array({catena::complex128{1234.5, 0.5}}) << nd::array({{1234, 5}}).tolist();
  BOOST_TEST(out.str() ==
             "[1.50000e+00 2.50025e+03][1234567]3.75[1.e-07 1.e+00]1e+300[0.1 2.5](1234, 5)[1234.5+0.5j][[1234, 5]]");
  BOOST_TEST(nd::to_string(nd::array({0.5, 1234.5})) == "[5.0000e-01 1.2345e+03]");
  BOOST_TEST(nd::array_repr(nd::array({1.5f})) == "array([1.5], dtype=float32)");
}

BOOST_AUTO_TEST_CASE(messages) {
  BOOST_TEST(test::message_of<nd::ValueError>([] { nd::zeros({1234567}).reshape({5}); }).find("1234567") !=
             std::string::npos);
  const std::string message = test::message_of<nd::AssertionError>(
      [] { nd::testing::assert_allclose(nd::array({1.5}), nd::array({2.5}), 0.5e-3); });
  BOOST_TEST(message.find("rtol=0.0005") != std::string::npos, message);
}

BOOST_AUTO_TEST_SUITE_END()
